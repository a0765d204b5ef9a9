// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "tessera/encoder/formulation/cardinality.h"
#include "tessera/encoder/formulation/formulation.h"
#include "tessera/problem/structure.h"

// A schedule assigns each memory one mode at each step. Placement and schedule meet in a single
// kind of clause:
//
//     not touches(i, bank)  or  not mode(memory, t) = k    if mode k forbids in `bank` what i does
//                                                          at t
//
// At t, i lives there (forbidden when the bank is off) and is accessed (forbidden unless a
// permission names its engine, or every engine, and its kind). Loops matter only for the
// successions: a transition must be allowed wherever one step can follow another, including back
// edges and exits, because one schedule serves every iteration.
namespace tessera::encoder::formulation {
namespace {

using problem::Access;
using problem::AccessKind;
using problem::BankMode;
using problem::Memory;
using problem::Step;

// Whether a live buffer with these accesses may lie in a bank in this state.
bool Serves(const BankMode& bank, std::span<const Access> accesses) {
  return !bank.off && std::all_of(accesses.begin(), accesses.end(), [&bank](const Access& access) {
    return problem::Permits(bank, access);
  });
}

bool MayFollow(const Memory& memory, size_t from, size_t to) {
  if (from == to || !memory.transitions) return true;
  const std::pair wanted(static_cast<int>(from), static_cast<int>(to));
  return std::find(memory.transitions->begin(), memory.transitions->end(), wanted) !=
         memory.transitions->end();
}

}  // namespace

Schedules::Schedules(const FormulationInput& question, Addresses& addresses, ClauseSink& clauses)
    : question_(question),
      addresses_(addresses),
      clauses_(clauses),
      horizon_(problem::Horizon(question.problem)) {
  for (const problem::Buffer& buffer : question_.problem.buffers) {
    AccessesAt by_step;
    for (const Access& access : buffer.accesses) by_step[access.step].push_back(access);
    accesses_.push_back(std::move(by_step));
  }
}

void Schedules::Write() {
  for (size_t m = 0; m < question_.problem.memories.size(); ++m) {
    modes_.emplace_back();
    if (!question_.problem.memories[m].modes.empty()) {
      WriteModes(m);
      WriteTransitions(m);
    }
    WritePorts(m);
  }
  for (size_t i = 0; i < question_.problem.buffers.size() && !clauses_.Full(); ++i) {
    if (!question_.MemoryOf(i).modes.empty()) WriteAccesses(i);
  }
}

void Schedules::WriteModes(size_t memory) {
  clauses_.Enter(Topic::kModes);
  const size_t count = question_.problem.memories[memory].modes.size();
  for (Step step = horizon_.lower; step < horizon_.upper; ++step) {
    std::vector<Literal> modes(count, kTrue);
    if (count > 1)
      std::generate(modes.begin(), modes.end(), [this] { return clauses_.NewVariable(); });
    for (size_t mode = 0; mode < count; ++mode)
      clauses_.Explain(modes[mode],
                       ModeChoice{static_cast<int>(memory), step, static_cast<int>(mode)});
    clauses_.Add(modes);
    for (size_t a = 0; a < count; ++a) {
      for (size_t b = a + 1; b < count; ++b) clauses_.Add({~modes[a], ~modes[b]});
    }
    modes_[memory].push_back(std::move(modes));
  }
}

void Schedules::WriteTransitions(size_t memory) {
  const Memory& home = question_.problem.memories[memory];
  if (!home.transitions || home.modes.size() < 2) return;
  for (const auto& [from, to] : problem::Successions(question_.problem)) {
    const std::vector<Literal>& before = modes_[memory][static_cast<size_t>(from - horizon_.lower)];
    const std::vector<Literal>& after = modes_[memory][static_cast<size_t>(to - horizon_.lower)];
    for (size_t a = 0; a < before.size(); ++a) {
      for (size_t b = 0; b < after.size(); ++b) {
        if (!MayFollow(home, a, b)) clauses_.Add({~before[a], ~after[b]});
      }
    }
  }
}

void Schedules::WriteAccesses(size_t buffer) {
  for (const Step step :
       problem::StepsThatMatter(question_.MemoryOf(buffer), question_.BufferAt(buffer))) {
    if (clauses_.Full()) return;
    const auto found = accesses_[buffer].find(step);
    WriteAccessesAt(buffer, step,
                    found == accesses_[buffer].end() ? std::span<const Access>() : found->second);
  }
}

void Schedules::WriteAccessesAt(size_t buffer, Step step, std::span<const Access> accesses) {
  const Memory& home = question_.MemoryOf(buffer);
  const auto memory = static_cast<size_t>(question_.BufferAt(buffer).memory);
  for (size_t bank = 0; bank < home.banks.size(); ++bank) {
    for (size_t mode = 0; mode < home.modes.size(); ++mode) {
      if (Serves(home.modes[mode].banks[bank], accesses)) continue;
      const Literal touches = addresses_.Touches(buffer, bank);
      clauses_.Enter(Topic::kModes);
      clauses_.Add({~touches, ~ModeAt(memory, static_cast<size_t>(step - horizon_.lower), mode)});
    }
  }
}

void Schedules::WritePorts(size_t memory) {
  for (size_t bank = 0; bank < question_.problem.memories[memory].banks.size(); ++bank) {
    if (!clauses_.Full()) WritePortsOf(memory, bank);
  }
}

void Schedules::WritePortsOf(size_t memory, size_t bank) {
  const problem::Ports& ports = question_.problem.memories[memory].banks[bank].ports;
  const auto limit = [&](std::optional<int> most, std::optional<AccessKind> kind) {
    if (!most) return;
    // Distinct buffers with an access of this kind at that step.
    std::map<Step, std::vector<size_t>> users;
    for (size_t i = 0; i < accesses_.size(); ++i) {
      if (static_cast<size_t>(question_.BufferAt(i).memory) != memory) continue;
      for (const auto& [step, accesses] : accesses_[i]) {
        const bool uses =
            std::any_of(accesses.begin(), accesses.end(),
                        [kind](const Access& access) { return !kind || access.kind == *kind; });
        if (uses) users[step].push_back(i);
      }
    }
    for (const auto& [step, buffers] : users) {
      if (buffers.size() <= static_cast<size_t>(*most) || clauses_.Full()) continue;
      std::vector<Literal> touches;
      for (const size_t buffer : buffers) touches.push_back(addresses_.Touches(buffer, bank));
      clauses_.Enter(Topic::kPorts);
      AddAtMost(clauses_, touches, *most, [&, step = step](int held, int among) {
        return PortCount{static_cast<int>(memory), static_cast<int>(bank), step, kind, held, among};
      });
    }
  };
  limit(ports.total, std::nullopt);
  limit(ports.reads, AccessKind::kRead);
  limit(ports.writes, AccessKind::kWrite);
}

}  // namespace tessera::encoder::formulation
