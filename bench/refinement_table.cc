// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <functional>
#include <string>

#include "tessera/bench/encode_tables.h"
#include "tessera/encoder/formulation/address_constraints.h"
#include "tessera/problem/generate/families.h"

namespace tessera::bench {

namespace {

using problem::Problem;

constexpr uint64_t kDraws = 10;

// Each buffer but the first occurs twice, as after a compiler unrolled by two. The slack is 5 %
// over the heaviest step.
Problem MakeInterchangeable(Problem problem) {
  const size_t count = problem.buffers.size();
  for (size_t i = 1; i < count; ++i) {
    problem::Buffer peer = problem.buffers[i];
    peer.id += "'";
    problem.buffers.push_back(peer);
  }
  problem.memories[0].capacity = encoder::formulation::LoadOf(problem)[0] * 21 / 20;
  return problem;
}

// Returns copies of the same Problem, one after another in time.
Problem Repeat(const Problem& once, int times) {
  Problem problem = once;
  const problem::Lifespan horizon = Horizon(once);
  for (int turn = 1; turn < times; ++turn) {
    const problem::Step shift = turn * (horizon.upper - horizon.lower);
    for (problem::Buffer buffer : once.buffers) {
      buffer.id += "." + std::to_string(turn);
      for (problem::Lifespan& life : buffer.lifespans)
        life = {life.lower + shift, life.upper + shift};
      for (problem::Access& access : buffer.accesses) access.step += shift;
      problem.buffers.push_back(buffer);
    }
  }
  return problem;
}

// Returns a few large tiles of three sizes, in bytes, that share no divisor.
Problem FewSizes(uint64_t seed) {
  Problem problem = problem::generate::MakeBroken({16, 12, 1000}, seed);
  for (problem::Buffer& buffer : problem.buffers)
    buffer.size = buffer.size < 100 ? 1571 : buffer.size < 250 ? 4099 : 9973;
  problem.memories[0].capacity = encoder::formulation::LoadOf(problem)[0] * 21 / 20;
  return problem;
}

struct Family {
  const char* name;
  std::function<Problem(uint64_t seed)> draw;
};

struct Switch {
  const char* name;
  void (*turn_off)(encoder::formulation::Refinements&);
};

constexpr Switch kSwitches[] = {
    {"all on", [](encoder::formulation::Refinements&) {}},
    {"- positions", [](encoder::formulation::Refinements& each) { each.positions = false; }},
    {"- symmetry", [](encoder::formulation::Refinements& each) { each.symmetry = false; }},
    {"- bank sums", [](encoder::formulation::Refinements& each) { each.bank_sums = false; }},
    {"- parts", [](encoder::formulation::Refinements& each) { each.decomposition = false; }},
    {"none",
     [](encoder::formulation::Refinements& each) {
       each = encoder::formulation::Refinements::None();
     }},
};

}  // namespace

void PrintRefinements(const EncodeArguments& arguments) {
  const Family families[] = {
      {"few sizes", FewSizes},
      {"broken 24",
       [](uint64_t seed) {
         return problem::generate::MakeBroken({24, 40, 200}, seed);
       }},
      {"interchangeable 23",
       [](uint64_t seed) {
         return MakeInterchangeable(problem::generate::MakeBroken({12, 20, 100}, seed));
       }},
      {"banked 40", [](uint64_t seed) { return problem::generate::MakeBanked({}, seed); }},
      {"banked 20, 3 times",
       [](uint64_t seed) {
         return Repeat(problem::generate::MakeBanked({.buffers = 20}, seed), 3);
       }},
  };
  std::printf(
      "refinements switched off: ms for %d problems, in brackets how many were open after %.0f s\n",
      static_cast<int>(kDraws), arguments.seconds);
  std::printf("%-20s", "family");
  for (const Switch& each : kSwitches) std::printf(" %14s", each.name);
  std::printf("\n");
  for (const Family& family : families) {
    std::printf("%-20s", family.name);
    for (const Switch& each : kSwitches) {
      encoder::sat::SatOptions options;
      each.turn_off(options.refinements);
      const encoder::sat::SatEngine engine(options);
      double milliseconds = 0;
      int open = 0;
      for (uint64_t seed = 1; seed <= kDraws; ++seed) {
        const Timed timed = SolveAnew(engine, family.draw(seed), arguments.seconds);
        milliseconds += timed.milliseconds;
        open += timed.result.status == problem::Status::kUnknown ? 1 : 0;
      }
      std::printf(" %10.0f (%d)", milliseconds, open);
      std::fflush(stdout);
    }
    std::printf("\n");
  }
  std::printf("\n");
}

}  // namespace tessera::bench
