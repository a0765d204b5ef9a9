// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::problem::proof {

// The outcome of a search for a proof.
struct Attempt {
  std::optional<std::string> proof;  // for CheckProof
  std::string reason;                // why there is no proof
  Statistics statistics;
};

// Searches for proofs of infeasibility in a form that an independent checker can verify.
class Prover {
 public:
  Prover() = default;
  Prover(const Prover&) = delete;
  Prover& operator=(const Prover&) = delete;
  virtual ~Prover() = default;

  virtual std::string_view Name() const = 0;

  // Searches for a proof that `problem`, which is well formed, has no placement when memories[0]
  // has `capacity` bytes. The proof has not been checked. Budget units are the prover's own. Never
  // throws.
  virtual Attempt Prove(const Problem& problem, Bytes capacity, const base::Budget& budget,
                        const base::Stop& stop) const = 0;
};

}  // namespace tessera::problem::proof
