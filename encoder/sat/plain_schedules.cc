#include <algorithm>
#include <numeric>
#include <set>

#include "tessera/encoder/sat/plain_formula.h"

// Banks, modes and ports in a plain formula: which banks a buffer touches, what that forbids at which step.
namespace tessera::encoder {
namespace {

using problem::Access;
using problem::AccessKind;
using problem::BankMode;
using problem::Buffer;
using problem::Bytes;
using problem::Memory;
using problem::Step;
using problem::proof::AtLeast;
using problem::proof::Ground;
using problem::proof::InMode;
using problem::proof::Literal;
using problem::proof::Touches;
using problem::proof::Under;

bool Allows(const BankMode& bank, const Buffer& buffer, Step step) {
  if (bank.off) return false;
  return std::all_of(buffer.accesses.begin(), buffer.accesses.end(), [&](const Access& access) {
    return access.step != step ||
           std::any_of(bank.allowed.begin(), bank.allowed.end(), [&](const problem::Permission& permission) {
             return permission.kind == access.kind &&
                    (permission.engine.empty() || permission.engine == access.engine);
           });
  });
}

// Steps at which some mode could be in the way of the buffer.
std::set<Step> StepsThatMatter(const Memory& memory, const Buffer& buffer) {
  std::set<Step> steps;
  for (const Access& access : buffer.accesses) steps.insert(access.step);
  const bool can_be_off =
      std::any_of(memory.modes.begin(), memory.modes.end(), [](const problem::Mode& mode) {
        return std::any_of(mode.banks.begin(), mode.banks.end(),
                           [](const BankMode& bank) { return bank.off; });
      });
  if (!can_be_off) return steps;
  for (const problem::Lifespan& life : buffer.lifespans) {
    for (Step step = life.lower; step < life.upper; ++step) steps.insert(step);
  }
  return steps;
}

}  // namespace

// The first question about a buffer and a bank says what the answer means.
Literal PlainFormula::Touch(int buffer, int bank) {
  const Literal touches = Touches(buffer, bank);
  if (touches_.contains({buffer, bank})) return touches;
  const problem::AddressRange& range = MemoryOf(buffer).banks[static_cast<size_t>(bank)].range;
  const Bytes first = range.begin - BufferAt(buffer).size + 1;
  Add(Ground::kTouch, {buffer, bank}, {~touches, Under(buffer, range.end)});
  Add(Ground::kTouch, {buffer, bank}, {~touches, AtLeast(buffer, first)});
  Add(Ground::kTouch, {buffer, bank}, {touches, AtLeast(buffer, range.end), Under(buffer, first)});
  return touches;
}

void PlainFormula::WriteModes(int memory) {
  const int count = static_cast<int>(problem_.memories[static_cast<size_t>(memory)].modes.size());
  for (Step step = horizon_.lower; step < horizon_.upper && !full_; ++step) {
    modes_[{memory, step}] = static_cast<int>(meanings_.size()) + 1;
    Literals some;
    for (int mode = 0; mode < count; ++mode) some.push_back(InMode(memory, step, mode));
    meanings_.insert(meanings_.end(), some.begin(), some.end());
    Add(Ground::kMode, {memory, step}, some);
    for (int a = 0; a < count; ++a) {
      for (int b = a + 1; b < count; ++b) {
        Add(Ground::kMode, {memory, step}, {~InMode(memory, step, a), ~InMode(memory, step, b)});
      }
    }
  }
}

void PlainFormula::WriteTransitions(int memory) {
  const Memory& home = problem_.memories[static_cast<size_t>(memory)];
  const std::set<std::pair<int, int>> allowed(home.transitions->begin(), home.transitions->end());
  const int count = static_cast<int>(home.modes.size());
  for (const auto& [from, to] : problem::Successions(problem_)) {
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < count; ++b) {
        if (a == b || allowed.contains({a, b})) continue;
        Add(Ground::kFollow, {memory, from, to}, {~InMode(memory, from, a), ~InMode(memory, to, b)});
      }
    }
  }
}

void PlainFormula::WriteAccesses(int buffer) {
  const Buffer& own = BufferAt(buffer);
  const Memory& home = MemoryOf(buffer);
  for (const Step step : StepsThatMatter(home, own)) {
    for (int bank = 0; bank < static_cast<int>(home.banks.size()) && !full_; ++bank) {
      for (int mode = 0; mode < static_cast<int>(home.modes.size()); ++mode) {
        if (Allows(home.modes[static_cast<size_t>(mode)].banks[static_cast<size_t>(bank)], own, step))
          continue;
        Add(Ground::kAccess, {buffer, bank, step}, {~Touch(buffer, bank), ~InMode(own.memory, step, mode)});
      }
    }
  }
}

void PlainFormula::WritePorts(int memory, int bank) {
  const problem::Ports& ports =
      problem_.memories[static_cast<size_t>(memory)].banks[static_cast<size_t>(bank)].ports;
  const auto limit = [&](const std::optional<int>& most, std::optional<AccessKind> kind) {
    if (!most) return;
    std::map<Step, std::set<int>> users;
    for (int i = 0; i < static_cast<int>(problem_.buffers.size()); ++i) {
      if (BufferAt(i).memory != memory) continue;
      for (const Access& access : BufferAt(i).accesses) {
        if (!kind || access.kind == *kind) users[access.step].insert(i);
      }
    }
    for (const auto& [step, buffers] : users) {
      WriteLimit(std::vector<int64_t>{memory, bank, step}, {buffers.begin(), buffers.end()}, *most);
    }
  };
  limit(ports.total, std::nullopt);
  limit(ports.reads, AccessKind::kRead);
  limit(ports.writes, AccessKind::kWrite);
}

// Of no most + 1 of the users all touch the bank. Walks over the sets in lexicographic order.
void PlainFormula::WriteLimit(std::span<const int64_t> subjects, const std::vector<int>& users, int most) {
  const size_t count = static_cast<size_t>(std::max(most, 0)) + 1;
  if (users.size() < count) return;
  std::vector<size_t> chosen(count);
  std::iota(chosen.begin(), chosen.end(), 0);
  while (!full_) {
    Literals literals;
    for (const size_t user : chosen) literals.push_back(~Touch(users[user], static_cast<int>(subjects[1])));
    Add(Ground::kPorts, {subjects.begin(), subjects.end()}, literals);
    size_t at = count;
    while (at > 0 && chosen[at - 1] == users.size() - (count - at) - 1) --at;
    if (at == 0) return;
    ++chosen[at - 1];
    for (size_t k = at; k < count; ++k) chosen[k] = chosen[k - 1] + 1;
  }
}

}  // namespace tessera::encoder
