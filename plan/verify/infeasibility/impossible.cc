// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/operator_kind.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/infeasibility/least_metrics.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/residency.h"
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

// The idea. In one step, in one mode, the engine of an operator reads an operand from the tile
// memory and writes the result into it. The operand was written before and the result is read
// later, each possibly in another mode. If no mode has a bank for each of the two, there is no
// plan:
//
//     mode       bank0  bank1  bank2
//     forward    read   read   write     bank0 and bank1 are never written: there is no operand
//     drain      read   read   -         nothing is written: there is no result
//
// Why this is sound. It concerns convolutions and products, which only their engine computes, whose
// first operand every plan reads and whose result every plan needs, both at home in memories that
// engines neither read nor write. Such tensors have buffers in the tile memory in every subgraph:
// operands are written by their maker or by a link, results are read by a user or by a link. With a
// span of single or contiguous banks every byte of a buffer lies in a bank, and each access needs a
// mode that allows it to that bank. Under split K, sums are added in other steps than the one that
// writes the result, so nothing is claimed about operands there. Orders, tiles and other policies
// do not matter. Cost: linear.

namespace {

bool Permits(const problem::BankMode& mode, problem::AccessKind kind, const std::string* engine) {
  return !mode.off && std::any_of(mode.allowed.begin(), mode.allowed.end(), [&](const auto& each) {
    return each.kind == kind &&
           (engine == nullptr || each.engine.empty() || each.engine == *engine);
  });
}

bool IsPermittedInSomeMode(const hw_profiles::Memory& memory, size_t bank,
                           problem::AccessKind kind) {
  return std::any_of(memory.modes.begin(), memory.modes.end(), [&](const problem::Mode& mode) {
    return Permits(mode.banks[bank], kind, nullptr);
  });
}

// Whether some bank that begins below `end` allows the engine this access in the mode, and allows
// the opposite access in some mode.
bool HasBank(const hw_profiles::Memory& memory, const problem::Mode& mode, problem::AccessKind kind,
             const std::string& engine, int64_t end) {
  const problem::AccessKind opposite =
      kind == problem::AccessKind::kRead ? problem::AccessKind::kWrite : problem::AccessKind::kRead;
  for (size_t bank = 0; bank < memory.banks.size(); ++bank) {
    if (memory.banks[bank].range.begin < end && Permits(mode.banks[bank], kind, &engine) &&
        IsPermittedInSomeMode(memory, bank, opposite))
      return true;
  }
  return false;
}

bool HasSplitK(const hw_profiles::Profile& profile) {
  const auto& policies = profile.tiling.weights;
  return std::find(policies.begin(), policies.end(), hw_profiles::WeightPolicy::kSplitK) !=
         policies.end();
}

}  // namespace

std::optional<std::string> FindUnservedOperator(const Plan& plan, int op, int64_t end,
                                                const std::vector<std::optional<Box>>& needed) {
  const hw_profiles::Profile& profile = plan.profile;
  const hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  const graph::Operator& facts = plan.network.operators[static_cast<size_t>(op)];
  const hw_profiles::Engine* engine = EngineOf(plan, facts);
  const bool is_direct = std::any_of(
      profile.memories.begin(), profile.memories.end(),
      [](const hw_profiles::Memory& each) { return each.direct_read || each.direct_write; });
  if (memory.modes.empty() || memory.banks.empty() || memory.span == problem::Span::kAny ||
      is_direct || engine == nullptr || IsOnHost(plan, facts) ||
      !base::TraitsOf(facts.kind).multiplies ||
      HomeOf(plan, facts.outputs.front()) == profile.tile_memory)
    return std::nullopt;
  const int operand = facts.inputs.empty() ? -1 : facts.inputs.front();
  const bool reads = operand >= 0 && needed[static_cast<size_t>(operand)] &&
                     HomeOf(plan, operand) != profile.tile_memory && !HasSplitK(profile);
  const auto is_served_on = [&](const graph::Operator& on_engine) {
    const std::string& name = EngineOf(plan, on_engine)->name;
    return std::any_of(memory.modes.begin(), memory.modes.end(), [&](const problem::Mode& mode) {
      return HasBank(memory, mode, problem::AccessKind::kWrite, name, end) &&
             (!reads || HasBank(memory, mode, problem::AccessKind::kRead, name, end));
    });
  };
  const std::vector<graph::Operator> on_each = OnEachEngine(plan, facts);
  if (std::any_of(on_each.begin(), on_each.end(), is_served_on)) return std::nullopt;
  return fmt::format(
      "no mode of '{}' serves operator '{}': in none can '{}' {}write a bank that can be read in "
      "some mode{}",
      memory.name, facts.id, engine->name,
      reads ? "read a bank that can be written in some mode and " : "",
      end < memory.capacity_bytes ? fmt::format(", of the banks that begin below byte {}", end)
                                  : "");
}

}  // namespace tessera::plan::verify::infeasibility
