// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::verify {

enum class ViolationKind : uint8_t {
  kNetwork,   // the network contradicts itself
  kCoverage,  // an operator in no subgraph, in two, or out of order
  kTile,      // a tile that the shape or the profile does not allow, or a wrong number of tiles
  kPolicy,    // a tensor held in a form that the profile does not allow
  kStep,      // a step or a loop that the program does not have, or lacks
  kBuffer,    // a buffer that the program does not have, or lacks
  kSize,
  kAlignment,
  kSpan,
  kLifespan,
  kAccess,
  kInPlace,  // a pair of buffers placed together that may not be, or apart that must be together
  // the problem's memory differs from the profile's, or another memory holds more than its capacity
  kMemory,
  kRule,  // a rule that the profile does not state, or states for other buffers, or that is missing
  kConstraint,  // a constraint that is not satisfied
  kMetric,
  kAllocation,  // a violation that problem::Validate reports
  kClaim,       // a statement about the plan, such as its status, that a new run does not reproduce
  kDigest,      // an input or a choice of the plan was changed
};

std::string_view NameOf(ViolationKind kind);

// One violated requirement, in words that name operators, tensors, buffers and steps.
struct Violation {
  ViolationKind kind = ViolationKind::kCoverage;
  std::string message;
};

// Collects violations up to a maximum; the rest is dropped.
class Findings {
 public:
  explicit Findings(size_t most) : most_(most) {}
  void Note(ViolationKind kind, std::string message) {
    if (violations_.size() < most_) violations_.push_back({kind, std::move(message)});
  }
  bool Empty() const { return violations_.empty(); }
  std::vector<Violation> Take() { return std::move(violations_); }

 private:
  size_t most_;
  std::vector<Violation> violations_;
};

// Returns all violations of a plan, judged by its network, its profile and docs/program.md alone;
// empty if it is correct. Regions, sizes, steps, lifespans, accesses, in-place pairs, latencies,
// energies, MACs, off-chip bytes, peak bandwidths and the contents of every memory are derived
// again, by other methods than those of graph/, encoder/program and search/cost. problem::Validate
// then checks offsets and modes. Lower bounds, the baseline and bound_by are not recomputed. Stops
// after `most` violations, and early if a violation makes the derivation impossible. Cost: tiles
// times operators, plus that of problem::Validate.
std::vector<Violation> Validate(const Plan& plan, size_t most = 100);

// The same; nullopt if an interruption came while more than kWorkAfterInterruption work was left,
// in tiles times operators (about 50 ms).
inline constexpr int64_t kWorkAfterInterruption = 20'000;
std::optional<std::vector<Violation>> ValidateUnlessInterrupted(const Plan& plan, size_t most,
                                                                const base::Stop& stop);

}  // namespace tessera::plan::verify
