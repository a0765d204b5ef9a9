// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/infeasibility/least_metrics.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/tiles.h"

// The arguments that need no order, no cut and no tile: the contents of homes, the need of one
// operator in any subgraph, the least work and traffic, and the subgraphs around one operator.
namespace tessera::plan::verify::infeasibility {

namespace {

// Whether some element of the first result is needed. A window may lie in the padding, so that no
// operator reads a result.
bool IsSurelyNeeded(const graph::Graph& network, const std::vector<Users>& users,
                    const std::vector<std::optional<Box>>& needed, int op) {
  const int result = network.operators[static_cast<size_t>(op)].outputs.front();
  if (needed[static_cast<size_t>(result)]) return true;
  const std::vector<int>& readers = users[static_cast<size_t>(result)].readers;
  return std::any_of(readers.begin(), readers.end(), [&](int reader) {
    const graph::Operator& facts = network.operators[static_cast<size_t>(reader)];
    const std::optional<Box>& made = needed[static_cast<size_t>(facts.outputs.front())];
    if (!made) return false;
    for (size_t operand = 0; operand < facts.inputs.size(); ++operand) {
      if (facts.inputs[operand] == result && !IsEmpty(NeedOf(network, facts, operand, *made)))
        return true;
    }
    return false;
  });
}

}  // namespace

// When the program begins, the homes hold constants, states and network inputs; when it ends,
// constants, states and network outputs. Their contents in between depend on the partition.
namespace {

constexpr std::array<std::string_view, 3> kContents = {"constants and states",
                                                       "constants, states and network inputs",
                                                       "constants, states and network outputs"};
using Contents = std::array<std::vector<HomeStay>, kContents.size()>;

// By memory, without the tile memory.
std::map<int, Contents> ContentsOfHomes(const Plan& plan) {
  Plan whole = plan;
  whole.subgraphs.assign(1, Subgraph());
  whole.subgraphs.front().interval = {0, static_cast<int>(plan.network.operators.size()) - 1};
  std::map<int, Contents> homes;
  for (const HomeStay& stay : FindHomeStays(whole)) {
    if (stay.memory == plan.profile.tile_memory) continue;
    const graph::Tensor& facts = plan.network.tensors[static_cast<size_t>(stay.tensor)];
    const bool stays = facts.constant || facts.state;
    Contents& home = homes[stay.memory];
    if (stays) home[0].push_back(stay);
    if (stays || facts.network_input) home[1].push_back(stay);
    if (stays || facts.network_output) home[2].push_back(stay);
  }
  return homes;
}

int64_t LoadOf(const std::vector<HomeStay>& stays) {
  int64_t load = 0;
  for (const HomeStay& stay : stays) load = Plus(load, stay.size);
  return load;
}

// A lower bound of the peak of every placement of these tensors. Let d be the greatest common
// divisor of their alignments. Each tensor begins at a multiple of d, so each tensor except the
// highest one occupies a multiple of d.
int64_t LeastPeakOf(const std::vector<HomeStay>& stays, int64_t alignment_of_memory) {
  int64_t divisor = 0;
  for (const HomeStay& stay : stays)
    divisor = std::gcd(divisor, std::lcm(stay.alignment, alignment_of_memory));
  divisor = std::max<int64_t>(1, divisor);  // without tensors
  int64_t sum = 0;
  int64_t last_gap = 0;
  for (const HomeStay& stay : stays) {
    const int64_t gap = (divisor - stay.size % divisor) % divisor;
    sum = Plus(sum, Plus(stay.size, gap));
    last_gap = std::max(last_gap, gap);
  }
  return sum - last_gap;
}

int64_t LeastOffChipPeak(const Plan& plan) {
  std::array<int64_t, kContents.size()> sums = {};
  for (const auto& [memory, contents] : ContentsOfHomes(plan)) {
    const int64_t alignment = HomeMemory(plan.profile, memory).alignment;
    for (size_t i = 0; i < contents.size(); ++i)
      sums[i] = Plus(sums[i], LeastPeakOf(contents[i], alignment));
  }
  return *std::max_element(sums.begin(), sums.end());
}

}  // namespace

std::optional<std::string> FindOverfullHome(const Plan& plan) {
  for (const auto& [memory, contents] : ContentsOfHomes(plan)) {
    const problem::Memory described = HomeMemory(plan.profile, memory);
    const int64_t free = FreeBytes(described, described.capacity);
    for (size_t i = 0; i < contents.size(); ++i) {
      const int64_t load = LoadOf(contents[i]);
      if (load <= free) continue;
      return fmt::format("{} take {} bytes of memory '{}', which has room for {}", kContents[i],
                         load, described.name, free);
    }
  }
  return std::nullopt;
}

std::optional<std::string> FindImpossible(const Plan& plan, const std::vector<Users>& users,
                                          int64_t room, int64_t end) {
  const std::vector<std::optional<Box>> needed = FindNeeded(plan.network, users);
  for (int op = 0; op < static_cast<int>(plan.network.operators.size()); ++op) {
    if (!IsSurelyNeeded(plan.network, users, needed, op)) continue;
    if (auto why = FindUnservedOperator(plan, op, end, needed)) return why;
    const int result = plan.network.operators[static_cast<size_t>(op)].outputs.front();
    const int64_t bytes = NeedAnywhere(plan, users, op, needed[static_cast<size_t>(result)]);
    if (bytes > room) {
      return fmt::format(
          "operator '{}' fits in no subgraph: each needs {} bytes of the tile memory, {} may be "
          "used",
          plan.network.operators[static_cast<size_t>(op)].id, bytes, room);
    }
  }
  Metrics least = LeastMetrics(plan, users);
  least.off_chip_peak_bytes = LeastOffChipPeak(plan);
  for (const auto& [metric, limit] : plan.objective.limits) {
    const double bound = LowerBoundOf(least, *FindMetric(metric), plan.objective.limits);
    if (metric != "peak" && IsBeyond(bound, limit))
      return fmt::format("every plan has {} {} at least, and {} is allowed", metric, bound, limit);
  }
  return std::nullopt;
}

}  // namespace tessera::plan::verify::infeasibility
