#include <fmt/core.h>

#include <algorithm>

#include "tessera/base/operator_kind.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/residency.h"

// The idea. An engine writes the result of an operator into a buffer of the tile memory, and an
// engine or a link reads it there later. If no bank lets both happen, in whatever modes, no buffer
// can hold the result, and there is no plan:
//
//     mode       bank0  bank1  bank2
//     forward    read   read   write      nothing can be read that was written
//
// Why this is sound. It concerns results of convolutions and products, which only their engine
// makes, that some operator or output needs, and whose home is another memory, to which engines do
// not write. Such a result has a buffer in the tile memory in every subgraph that makes it: in
// place, rolling or whole, its elements are written there by the engine of the operator, and read
// by a user in the subgraph or by the link that stores it. With a span of single or contiguous
// banks every byte of the buffer lies in a bank, and each access needs a mode that allows it to
// that bank. Orders, tiles and policies do not matter. Cost: linear.
namespace tessera::plan::verify::infeasibility {
namespace {

bool Permits(const problem::BankMode& mode, problem::AccessKind kind, const std::string* engine) {
  return !mode.off && std::any_of(mode.allowed.begin(), mode.allowed.end(), [&](const auto& each) {
    return each.kind == kind &&
           (engine == nullptr || each.engine.empty() || each.engine == *engine);
  });
}

// Whether some bank can be written by the engine in one mode and read in one.
bool HasServingBank(const hw_profiles::Memory& memory, const std::string& engine) {
  for (size_t bank = 0; bank < memory.banks.size(); ++bank) {
    const auto in_some_mode = [&](problem::AccessKind kind, const std::string* by) {
      return std::any_of(memory.modes.begin(), memory.modes.end(),
                         [&](const auto& mode) { return Permits(mode.banks[bank], kind, by); });
    };
    if (in_some_mode(problem::AccessKind::kWrite, &engine) &&
        in_some_mode(problem::AccessKind::kRead, nullptr))
      return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> FindUnservedResult(const Plan& plan, int op) {
  const hw_profiles::Profile& profile = plan.profile;
  const hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  const graph::Operator& facts = plan.network.operators[static_cast<size_t>(op)];
  const hw_profiles::Engine* engine = EngineOf(plan, facts);
  const bool writes_elsewhere =
      std::any_of(profile.memories.begin(), profile.memories.end(),
                  [](const hw_profiles::Memory& each) { return each.direct_write; });
  if (memory.modes.empty() || memory.banks.empty() || memory.span == problem::Span::kAny ||
      writes_elsewhere || engine == nullptr || IsOnHost(plan, facts) ||
      !base::TraitsOf(facts.kind).multiplies ||
      HomeOf(plan, facts.outputs.front()) == profile.tile_memory ||
      HasServingBank(memory, engine->name))
    return std::nullopt;
  return fmt::format(
      "no bank of '{}' can hold the result of operator '{}': none is written by '{}' in one mode "
      "and read in one",
      memory.name, facts.id, engine->name);
}

}  // namespace tessera::plan::verify::infeasibility
