#include "tessera/plan/execute/access_rules.h"

#include <algorithm>
#include <utility>

namespace tessera::plan::execute {
namespace {

constexpr size_t kMostBanks = 64;

bool Allows(const problem::BankMode& state, const std::string& engine, problem::AccessKind kind) {
  return !state.off &&
         std::any_of(state.allowed.begin(), state.allowed.end(), [&](const auto& permission) {
           return permission.kind == kind &&
                  (permission.engine.empty() || permission.engine == engine);
         });
}

}  // namespace

AccessRules::AccessRules(problem::Memory memory, int64_t cells_per_byte)
    : memory_(std::move(memory)), cells_per_byte_(cells_per_byte) {}

AccessRules::Banks AccessRules::BanksAt(int64_t begin, int64_t end) const {
  Banks banks = 0;
  for (size_t i = 0; i < std::min(memory_.banks.size(), kMostBanks); ++i) {
    const problem::AddressRange cells = CellsOf(memory_.banks[i].range);
    if (begin < cells.end && cells.begin < end) banks |= Banks{1} << i;
  }
  return banks;
}

bool AccessRules::IsReserved(int64_t begin, int64_t end) const {
  return std::any_of(memory_.reserved.begin(), memory_.reserved.end(), [&](const auto& reserved) {
    const problem::AddressRange cells = CellsOf(reserved.range);
    return begin < cells.end && cells.begin < end;
  });
}

int AccessRules::FirstForbidden(int mode, Banks banks, const std::string& engine,
                                problem::AccessKind kind) const {
  if (mode < 0 || static_cast<size_t>(mode) >= memory_.modes.size()) return -1;
  const std::vector<problem::BankMode>& states = memory_.modes[static_cast<size_t>(mode)].banks;
  for (size_t i = 0; i < std::min(states.size(), kMostBanks); ++i) {
    if ((banks >> i & 1) != 0 && !Allows(states[i], engine, kind)) return static_cast<int>(i);
  }
  return -1;
}

bool AccessRules::MayFollow(int mode, int next) const {
  const auto& allowed = memory_.transitions;
  return mode == next || !allowed ||
         std::find(allowed->begin(), allowed->end(), std::pair(mode, next)) != allowed->end();
}

}  // namespace tessera::plan::execute
