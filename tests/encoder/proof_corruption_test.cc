// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "../draws.h"
#include "brute_force.h"
#include "random_problem.h"
#include "tessera/base/random.h"
#include "tessera/encoder/sat/sat_prover.h"
#include "tessera/problem/proof/checker.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

// Damages proofs of engines and checks them against Problems that have a placement. No such proof
// may be accepted.

namespace tessera::encoder {
namespace {

using problem::Bytes;
using problem::Problem;

// The same Problem with slightly weaker requirements, such that a placement exists; nullopt when
// the draws do not find one.
std::optional<Problem> Relax(const Problem& problem, base::Random& random) {
  for (int attempt = 0; attempt < 12; ++attempt) {
    Problem relaxed = problem;
    problem::Buffer& buffer = relaxed.buffers[static_cast<size_t>(
        random.Uniform(0, static_cast<int64_t>(problem.buffers.size()) - 1))];
    switch (random.Uniform(0, 7)) {
      case 0:
        relaxed.memories[0].capacity += random.Uniform(1, 3);
        break;
      case 1:
        buffer.size = std::max<Bytes>(1, buffer.size - 1);
        break;
      case 2:
        buffer.accesses.clear();
        break;
      case 3:
        if (!relaxed.relations.empty()) relaxed.relations.pop_back();
        break;
      case 4:
        if (!relaxed.rules.empty()) relaxed.rules.pop_back();
        break;
      case 5:
        buffer.offset.reset();
        buffer.alignment = 1;
        break;
      case 6:
        buffer.allowed_banks.clear();
        buffer.span = problem::Span::kAny;
        break;
      default:
        for (problem::Memory& memory : relaxed.memories) {
          memory.transitions.reset();
          memory.reserved.clear();
          for (problem::Bank& bank : memory.banks) bank.ports = {};
        }
    }
    if (Enumerate(relaxed, relaxed.memories[0].capacity)) return relaxed;
  }
  return std::nullopt;
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::istringstream stream(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::string Join(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) text += (i > 0 ? separator : "") + parts[i];
  return text;
}

// Replaces a number in the word by another.
void ChangeNumber(std::string& word, base::Random& random) {
  const size_t digit = word.find_first_of("0123456789");
  if (digit == std::string::npos) return;
  size_t end = digit;
  const int64_t number = std::stoll(word.substr(digit), &end);
  word = word.substr(0, digit) +
         std::to_string(std::max<int64_t>(0, number + random.Uniform(-2, 2))) +
         word.substr(digit + end);
}

// Makes one to three changes, each of which leaves lines of the right form.
std::string Corrupt(const std::string& proof, base::Random& random) {
  std::vector<std::string> lines = Split(proof, '\n');
  const int64_t changes = random.Uniform(1, 3);
  for (int64_t change = 0; change < changes; ++change) {
    const auto at = static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(lines.size()) - 1));
    const auto other =
        static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(lines.size()) - 1));
    std::vector<std::string> words = Split(lines[at], ' ');
    const auto word =
        static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(words.size()) - 1));
    switch (random.Uniform(0, 5)) {
      case 0:
        std::swap(lines[at], lines[other]);
        continue;
      case 1:
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
        if (lines.empty()) return "";
        continue;
      case 2:
        if (words.size() > 1) words.erase(words.begin() + static_cast<std::ptrdiff_t>(word));
        break;
      case 3: {
        const std::vector<std::string> donors = Split(lines[other], ' ');
        words[word] =
            donors[static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(donors.size()) - 1))];
        break;
      }
      default:
        ChangeNumber(words[word], random);
    }
    lines[at] = Join(words, " ");
  }
  return Join(lines, "\n") + "\n";
}

TEST(ProofCorruption, NothingProvesThatAProblemWithAPlacementHasNone) {
  base::Random random(3);
  const search::engines::lazy::LazyProver lazy;
  const sat::SatProver cadical;
  const std::array<const problem::proof::Prover*, 2> provers = {&lazy, &cadical};
  int corruptions = 0;
  int proofs = 0;
  for (int drawn = 0; drawn < DrawsOf(1500); ++drawn) {
    const Problem problem = DrawProblem(random);
    const Bytes capacity = problem.memories[0].capacity;
    for (const problem::proof::Prover* prover : provers) {
      const auto attempt = prover->Prove(problem, capacity, {}, {});
      if (!attempt.proof) continue;
      const std::optional<Problem> relaxed = Relax(problem, random);
      if (!relaxed) continue;
      ++proofs;
      const auto refused = [&](const std::string& proof) {
        return !problem::proof::CheckProof(*relaxed, relaxed->memories[0].capacity, proof).accepted;
      };
      ASSERT_TRUE(refused(*attempt.proof)) << *attempt.proof;
      for (int k = 0; k < 60; ++k, ++corruptions) {
        const std::string corrupted = Corrupt(*attempt.proof, random);
        ASSERT_TRUE(refused(corrupted)) << "problem " << drawn << "\n" << corrupted;
      }
    }
  }
  EXPECT_GE(proofs, DrawsOf(60));
  EXPECT_GE(corruptions, DrawsOf(3000));
}

}  // namespace
}  // namespace tessera::encoder
