// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "command_line.h"

// The files that `tessera plan` writes for compilers and for `tessera alloc`.
namespace tessera::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class PlanFilesTest : public CommandLineTest {
 protected:
  Outcome Plan(const std::string& network, const std::string& profile,
               const Arguments& more) const {
    Arguments arguments = {"plan", network, "--hw", Shipped("hw_profiles/" + profile + ".yaml")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }

  // Compiles the program against files in the folder and runs it; returns its exit code, or -1.
  int CompileAndRun(const std::string& compiler, const std::string& source) const {
    const std::string folder = Folder().string();
    const std::string program = (Streams() / "program").string();
    const std::string compile = compiler + " -Wall -Wextra -Werror -pedantic -I" + folder + " " +
                                folder + "/" + source + " -o " + program;
    if (std::system(compile.c_str()) != 0)
      return -1;                          // NOLINT(cert-env33-c): the system's compiler decides
    return std::system(program.c_str());  // NOLINT(cert-env33-c)
  }
};

// The macros and the tables agree, in both languages.
constexpr const char* kProgram = R"(
#include "plan.h"
int main(void) {
  if (tsr_patent_chain_buffers[0].size <= 0) return 1;
  if (TSR_PATENT_CHAIN_SUBGRAPHS != sizeof tsr_patent_chain_subgraphs / sizeof tsr_patent_chain_subgraphs[0]) return 2;
  if (tsr_patent_chain_subgraphs[0].first_operator != 0) return 3;
  if (TSR_PATENT_CHAIN_PEAK_BYTES <= 0 || tsr_patent_chain_steps[0].subgraph != 0) return 4;
  if (tsr_patent_chain_modes[tsr_patent_chain_steps[0].mode].name[0] == '\0') return 5;
  return (int)TSR_PATENT_CHAIN_TENSOR_IMAGE_SIZE == 0;
}
)";

TEST_F(PlanFilesTest, TheHeaderCompilesAsCAndAsCpp) {
  const Outcome outcome = Plan(Shipped("examples/networks/patent_chain.yaml"),
                               "three_bank_two_mode", {"--emit-header", "plan.h"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  Write("program.c", kProgram);
  Write("program.cc", kProgram);
  EXPECT_EQ(CompileAndRun("gcc -std=c99", "program.c"), 0);
  EXPECT_EQ(CompileAndRun("g++ -std=c++11", "program.cc"), 0);
}

// Ids that are no identifiers, ids with characters that are special in C, and ids that become equal
// once simplified.
TEST_F(PlanFilesTest, NamesAreMadeValidAndUnique) {
  Write("odd.yaml",
        "schema: 1\nname: \"2 */ odd?\?/\"\ninputs: [{id: \"x-1\", shape: [1, 4, 8, 8]}]\n"
        "operators:\n  - {id: \"x.1\", kind: pool, inputs: [\"x-1\"], kernel: 2, stride: 2}\n"
        "  - {id: \"x 1\", kind: pool, inputs: [\"x.1\"], kernel: 2, stride: 2}\n");
  const Outcome outcome = Plan("odd.yaml", "edge_npu_1mib", {"--emit-header", "plan.h"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  Write("program.c",
        "#include \"plan.h\"\nint main(void) { return tsr_2_odd_buffers[0].size == 0; }\n");
  EXPECT_EQ(CompileAndRun("gcc -std=c99", "program.c"), 0) << Read("plan.h");
  EXPECT_THAT(Read("plan.h"), HasSubstr("#define TSR_2_ODD_TENSOR_X_1_2_OFFSET "));
}

TEST_F(PlanFilesTest, DumpedProblemsAreAnsweredAgain) {
  const std::string network = Shipped("examples/networks/patent_chain.yaml");
  const Outcome outcome =
      Plan(network, "three_bank_two_mode", {"--dump-problems", "asked", "--threads", "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(" allocation problems in asked\n"));
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(Folder() / "asked"))
    names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, Not(IsEmpty()));
  for (const std::string& name : names) {
    const int64_t capacity = ReadJson("asked/" + name).at("memories").at(0).at("capacity");
    const int code =
        Run({"alloc", "asked/" + name, "--capacity", std::to_string(capacity)}).exit_code;
    EXPECT_TRUE(code == 0 || code == 20) << name << ": " << code;
  }
  Plan(network, "three_bank_two_mode", {"--dump-problems", "again", "--threads", "1"});
  for (const std::string& name : names)
    EXPECT_EQ(Read("again/" + name), Read("asked/" + name)) << name;
}

TEST_F(PlanFilesTest, AFolderThatCannotBeStopsThePlan) {
  Write("taken", "");
  const Outcome outcome =
      Plan(Shipped("examples/networks/patent_chain.yaml"), "three_bank_two_mode",
           {"--dump-problems", "taken", "--output", "plan.json"});
  EXPECT_EQ(outcome.exit_code, 74);
  EXPECT_THAT(Files(), SizeIs(1));
}

}  // namespace
}  // namespace tessera::cli
