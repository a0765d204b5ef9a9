#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/plan/plan.h"

namespace tessera::plan::verify {

enum class ViolationKind : uint8_t {
  kNetwork,   // the network contradicts itself
  kCoverage,  // an operator in no subgraph, in two, or out of order
  kTile,      // a tile that the shape or the profile does not allow, or a wrong number of tiles
  kPolicy,    // a tensor held in a way that the profile does not allow
  kStep,      // a step or a loop that the program does not have, or lacks
  kBuffer,    // a buffer that the program does not have, or lacks
  kSize,
  kAlignment,
  kSpan,
  kLifespan,
  kAccess,
  kInPlace,  // a pair of buffers put in one place that may not be, or left apart that should be
  kMemory,  // the problem's memory is not the profile's, or another memory is home to more than it holds
  kRule,  // a rule that the profile does not make, or makes of other buffers, or that is missing
  kConstraint,  // what was required is not kept
  kMetric,
  kAllocation,  // what problem::Validate says
  kClaim,       // what is said of the plan, as its status, does not come out when it is made again
  kDigest,      // what the plan is made from is not what it was
};

std::string_view NameOf(ViolationKind kind);

// One broken requirement, in words that name operators, tensors, buffers and steps.
struct Violation {
  ViolationKind kind = ViolationKind::kCoverage;
  std::string message;
};

// Collects violations up to a number; the rest is dropped.
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

// Everything that is wrong with a plan, judged by its network, its profile and docs/program.md
// alone; empty when it is right. Regions, sizes, steps, lifespans, accesses, in-place pairs,
// latencies, energies, MACs, off-chip bytes and peak bandwidths are derived anew, by other means
// than graph/, encoder/program and search/cost use, as is what every memory is home to; offsets
// and modes are then judged by problem::Validate. Lower bounds, the baseline and bound_by are not
// recomputed. Stops after `most` violations, and early where what is broken leaves nothing to
// derive. Cost: tiles times operators, plus that of problem::Validate.
std::vector<Violation> Validate(const Plan& plan, size_t most = 100);

}  // namespace tessera::plan::verify
