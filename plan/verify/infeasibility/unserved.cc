// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>

#include "tessera/base/operator_kind.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/residency.h"

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
namespace tessera::plan::verify::infeasibility {
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
  const bool is_served =
      std::any_of(memory.modes.begin(), memory.modes.end(), [&](const problem::Mode& mode) {
        return HasBank(memory, mode, problem::AccessKind::kWrite, engine->name, end) &&
               (!reads || HasBank(memory, mode, problem::AccessKind::kRead, engine->name, end));
      });
  if (is_served) return std::nullopt;
  return fmt::format(
      "no mode of '{}' serves operator '{}': in none can '{}' {}write a bank that can be read in "
      "some mode{}",
      memory.name, facts.id, engine->name,
      reads ? "read a bank that can be written in some mode and " : "",
      end < memory.capacity_bytes ? fmt::format(", of the banks that begin below byte {}", end)
                                  : "");
}

}  // namespace tessera::plan::verify::infeasibility
