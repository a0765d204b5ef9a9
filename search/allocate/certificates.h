#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tessera/problem/proof/prover.h"

namespace tessera::search::allocate {

// A proof that the checker has accepted, or why there is none.
struct Certification {
  std::optional<std::string> proof;  // for problem::proof::CheckProof
  std::string prover;
  std::string reason;
};

// Looks for a proof that `problem`, which is well formed, has no placement when memories[0] has
// `capacity` bytes: first among the bounds (bounds.h), then from each prover in turn, with `budget`
// in its own units. That an engine said "infeasible" plays no part: engines that cannot certify,
// like canonical search, are proven right by one that can. `progress` is told of each attempt, a
// line each; it may be empty.
Certification Certify(const problem::Problem& problem, problem::Bytes capacity,
                      std::span<const problem::proof::Prover* const> provers,
                      const base::Budget& budget, const base::Stop& stop,
                      const std::function<void(std::string_view)>& progress);

}  // namespace tessera::search::allocate
