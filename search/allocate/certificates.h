#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tessera/problem/proof/prover.h"

namespace tessera::search::allocate {

// A proof that the checker accepted, or the reason why there is none.
struct Certification {
  std::optional<std::string> proof;  // for problem::proof::CheckProof
  std::string prover;
  std::string reason;
};

// Searches for a proof that `problem`, which is well formed, has no placement when memories[0] has
// `capacity` bytes. Tries the bounds (bounds.h) first, then each prover in order, with `budget` in
// its own units. The answer "infeasible" of an engine is not evidence: for engines that cannot
// certify, such as canonical search, another engine supplies the proof. `progress` receives one
// line for each attempt; it may be empty.
Certification Certify(const problem::Problem& problem, problem::Bytes capacity,
                      std::span<const problem::proof::Prover* const> provers,
                      const base::Budget& budget, const base::Stop& stop,
                      const std::function<void(std::string_view)>& progress);

}  // namespace tessera::search::allocate
