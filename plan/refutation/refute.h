#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"

// The independent judge of "infeasible": no plan is refused without it. It shares no code with the
// search.
namespace tessera::plan::refutation {

// A proof that the Problem has no placement within so many bytes of memories[0], as
// problem::proof::CheckProof reads it.
struct PlacementProof {
  problem::Problem problem;
  problem::Bytes capacity = 0;
  std::string text;
};

// Why no plan exists.
struct Refutation {
  std::string argument;   // in words
  int64_t orders = 0;     // of the operators that were listed; 0 where the argument holds for all of them
  int64_t intervals = 0;  // of operators, over all orders, alike ones once
  int64_t ways =
      0;  // to run them, that only a proof about placements, or the way through the network, rules out
  std::vector<PlacementProof> proofs;  // each accepted by the checker
};

// What came of it: a refutation, or what it lacks.
struct Judgement {
  std::optional<Refutation> refutation;
  std::string gap;
};

// Gives the text of a PlacementProof, or nothing. What it gives is checked.
using FindProof =
    std::function<std::optional<std::string>(const problem::Problem& problem, problem::Bytes capacity)>;

// How much may be looked at: tiles times operators times policies, and Problems for which a proof
// is asked.
struct Effort {
  int64_t work = 3'000'000;
  int64_t proofs = 3'000;
};

// Judges whether the network of `question` has no plan on its profile that keeps the limits of its
// objective and its demands. Of the question these count: network, profile, objective.limits,
// demands, and of `run` searches_order, keeps_borders and prefetches. Operators are
// in the order of the file. Never throws.
Judgement Judge(const Plan& question, const FindProof& find_proof, const base::Stop& stop,
                const Effort& effort = {});

}  // namespace tessera::plan::refutation
