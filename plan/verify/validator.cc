// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/validator.h"

#include <fmt/core.h>

#include <array>

#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/home_tiles.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"

// Typical errors of a planner are errors of derivation: a lifespan that is one step too short
// results in a valid placement of the wrong problem. So everything that the problem states is
// derived a second time, and the two are compared:
//
//     network, profile, partition
//       --- regions, tiles, residency, trace, sizes ---> what the problem must say --.
//     plan's problem ----------------------------------------------------- same? ---'
//     plan's offsets and modes --- problem::Validate ---> correct for that problem?
//     network, profile, partition
//       --- bytes at home ---> within the capacities of the other memories?
//       --- tiles, costs ----> cycles, energies and traffic that the plan states?
//
// Nothing here includes graph's propagation, the encoder or the search.
namespace tessera::plan::verify {
namespace {

void CheckAllocation(const Plan& plan, size_t most, Findings& findings) {
  for (const problem::Violation& violation :
       problem::Validate(plan.problem, plan.allocation, TileMemory(plan.profile).capacity, most)) {
    findings.Note(ViolationKind::kAllocation,
                  fmt::format("{}: {}", problem::NameOf(violation.kind), violation.message));
  }
}

std::optional<std::vector<Violation>> ValidateWithin(const Plan& plan, size_t most,
                                                     base::GraceWork& work) {
  Findings findings(most);
  CheckPartition(plan, findings);
  if (!findings.Empty()) return findings.Take();
  CheckConstraints(plan, findings);
  CheckHomes(plan, findings);
  const std::optional<Derivation> derivation = DeriveWithin(plan, work);
  if (!derivation) return std::nullopt;
  CheckHomesByTiles(plan, *derivation, findings);
  CheckProgram(plan, *derivation, findings);
  if (const auto fault = problem::CheckWellFormed(plan.problem)) {
    findings.Note(ViolationKind::kAllocation,
                  fmt::format("{}: {}", fault->pointer, fault->message));
    return findings.Take();
  }
  CheckAllocation(plan, most, findings);
  if (plan.allocation.offsets.size() == plan.problem.buffers.size())
    CheckMetrics(plan, *derivation, findings);
  return findings.Take();
}

}  // namespace

std::string_view NameOf(ViolationKind kind) {
  static constexpr std::array<std::string_view, 19> kNames = {
      "network",    "coverage", "tile",       "policy", "step",     "buffer", "size",
      "alignment",  "span",     "lifespan",   "access", "in place", "memory", "rule",
      "constraint", "metric",   "allocation", "claim",  "digest"};
  return kNames.at(static_cast<size_t>(kind));
}

std::vector<Violation> Validate(const Plan& plan, size_t most) {
  base::GraceWork unbounded(nullptr, 1);
  return *ValidateWithin(plan, most, unbounded);
}

std::optional<std::vector<Violation>> ValidateUnlessInterrupted(const Plan& plan, size_t most,
                                                                const base::Stop& stop) {
  base::GraceWork work(&stop, kWorkAfterInterruption);
  return ValidateWithin(plan, most, work);
}

}  // namespace tessera::plan::verify
