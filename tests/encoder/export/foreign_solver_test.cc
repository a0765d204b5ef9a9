// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "../../draws.h"
#include "brute_force.h"
#include "random_problem.h"
#include "tessera/base/random.h"
#include "tessera/encoder/export/formula.h"
#include "tessera/problem/validator.h"

// Writes Problems as formulas for solvers that the product does not use, and reads allocations
// back. The solvers agree with an enumeration on whether anything fits, and their placements are
// valid.
namespace tessera::encoder {
namespace {

constexpr int kProblems = DrawsOf(120);

struct Solver {
  const char* name;  // of the program, and of the test
  const char* arguments;
  exports::FormulaFormat format;
  sat::IntegerEncoding integers;
};

bool IsInstalled(const Solver& solver) {
  return std::system((std::string("command -v ") + solver.name + " > /dev/null").c_str()) == 0;
}

// The output of the program about the file.
std::string OutputOf(const Solver& solver, const std::filesystem::path& formula) {
  const std::string command =
      std::string(solver.name) + ' ' + solver.arguments + " '" + formula.string() + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  std::array<char, 4096> block{};
  while (const size_t count = std::fread(block.data(), 1, block.size(), pipe.get()))
    output.append(block.data(), count);
  return output;
}

class ForeignSolver : public testing::TestWithParam<Solver> {
 protected:
  ForeignSolver()
      : formula_(std::filesystem::temp_directory_path() /
                 ("tessera-formula-" + std::to_string(getpid()) +
                  (GetParam().format == exports::FormulaFormat::kDimacs ? ".cnf" : ".smt2"))) {}
  ~ForeignSolver() override { std::filesystem::remove(formula_); }

  void SetUp() override {
    if (!IsInstalled(GetParam())) GTEST_SKIP() << GetParam().name << " is not installed";
  }

  base::Expected<exports::Decoded> Ask(const problem::files::ProblemDocument& document,
                                       problem::Bytes capacity) {
    exports::FormulaOptions options;
    options.format = GetParam().format;
    options.capacity = capacity;
    options.integers = GetParam().integers;
    const base::Expected<exports::Formula> formula = exports::Encode(document, options);
    if (!formula) return tl::unexpected(formula.error());
    std::ofstream(formula_, std::ios::binary) << formula->text;
    return exports::Decode(document, options, OutputOf(GetParam(), formula_), "output");
  }

 private:
  std::filesystem::path formula_;
};

TEST_P(ForeignSolver, AgreesWithEnumeration) {
  base::Random random(31);
  int infeasible = 0;
  for (int i = 0; i < kProblems && !HasFailure(); ++i) {
    SCOPED_TRACE("problem " + std::to_string(i));
    const problem::files::ProblemDocument document{DrawProblem(random), std::nullopt};
    const problem::Bytes capacity = document.problem.memories[0].capacity;
    const bool feasible = Enumerate(document.problem, capacity).has_value();
    infeasible += feasible ? 0 : 1;
    const base::Expected<exports::Decoded> decoded = Ask(document, capacity);
    ASSERT_TRUE(decoded.has_value()) << base::Format(decoded.error());
    EXPECT_EQ(decoded->broken, "");
    EXPECT_EQ(decoded->claim,
              feasible ? exports::Decoded::Claim::kModel : exports::Decoded::Claim::kNothingFits);
    if (!decoded->allocation) continue;
    const auto violations = problem::Validate(document.problem, *decoded->allocation, capacity);
    EXPECT_TRUE(violations.empty()) << violations.front().message;
  }
  EXPECT_GE(infeasible * 100, 25 * kProblems);
}

// Two buffers that live together in 10 bytes: 4 + 4 and 6 + 4 fit, 8 + 4 do not.
TEST_P(ForeignSolver, ChoosesACandidateOfALadder) {
  problem::files::ProblemDocument document;
  document.problem.memories.emplace_back().capacity = 10;
  for (const char* id : {"a", "b"}) {
    problem::Buffer& buffer = document.problem.buffers.emplace_back();
    buffer.id = id;
    buffer.lifespans = {{0, 1}};
  }
  document.ladder = problem::Ladder{{{"rows=3", {8, 4}}, {"rows=2", {6, 4}}, {"rows=4", {9, 4}}}};
  const base::Expected<exports::Decoded> decoded = Ask(document, 10);
  ASSERT_TRUE(decoded.has_value()) << base::Format(decoded.error());
  EXPECT_EQ(decoded->candidate, 1U);
  const base::Expected<exports::Decoded> refused = Ask(document, 9);
  ASSERT_TRUE(refused.has_value()) << base::Format(refused.error());
  EXPECT_EQ(refused->claim, exports::Decoded::Claim::kNothingFits);
}

INSTANTIATE_TEST_SUITE_P(
    Of, ForeignSolver,
    testing::Values(Solver{"cryptominisat5", "--verb 0", exports::FormulaFormat::kDimacs,
                           sat::IntegerEncoding::kOrder},
                    Solver{"cryptominisat5", "--verb 0", exports::FormulaFormat::kDimacs,
                           sat::IntegerEncoding::kBits},
                    Solver{"cvc5", "", exports::FormulaFormat::kSmtlib,
                           sat::IntegerEncoding::kByMagnitude}),
    [](const auto& info) {
      const bool bits = info.param.integers == sat::IntegerEncoding::kBits;
      return std::string(info.param.name) + (bits ? "_bits" : "");
    });

}  // namespace
}  // namespace tessera::encoder
