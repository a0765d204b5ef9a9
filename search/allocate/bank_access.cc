// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/bank_access.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "tessera/problem/structure.h"

// Arc consistency between banks of buffers and modes of steps.
//
//     mode   bank 0   bank 1        Buffer 'slot' is written by the dma and read by the pe at
//     ping   pe       dma           step 2: no bank serves both in either mode, so the buffer has
//     pong   dma      pe            no place.
//
// Each buffer begins with all banks and each step with all modes. A mode is removed from a step if
// some buffer has no remaining bank that serves it at that step in that mode. A bank is removed
// from a buffer if at some step it serves the buffer in no remaining mode. No placement uses a
// removed bank or mode, so a buffer without banks proves that no placement exists. Sizes are not
// considered, so one answer is valid for all tiles of a ladder.
//
// Cost: steps x banks x modes x accesses of each buffer in each round. Each round but the last
// removes a bank or a mode; two or three rounds are usual.
namespace tessera::search::allocate {
namespace {

using problem::Buffer;
using problem::Memory;
using problem::Problem;
using problem::Step;

class Consistency {
 public:
  Consistency(const Problem& problem, int memory)
      : memory_(problem.memories[static_cast<size_t>(memory)]) {
    for (const Buffer& buffer : problem.buffers) {
      if (buffer.memory != memory || buffer.span == problem::Span::kAny) continue;
      subjects_.push_back({&buffer, problem::StepsThatMatter(memory_, buffer),
                           std::vector<bool>(memory_.banks.size(), true)});
      for (const Step step : subjects_.back().steps)
        modes_.try_emplace(step, memory_.modes.size(), true);
    }
  }

  std::optional<std::string> FindUnserved() {
    for (bool changed = true; changed;) {
      changed = false;
      for (Subject& subject : subjects_) {
        for (const Step step : subject.steps) {
          changed = DropModes(subject, step) || changed;
          changed = DropBanks(subject, step) || changed;
        }
        if (std::find(subject.banks.begin(), subject.banks.end(), true) == subject.banks.end())
          return "no bank of memory '" + memory_.name + "' serves every access of buffer '" +
                 subject.buffer->id + "'";
      }
    }
    return std::nullopt;
  }

 private:
  struct Subject {
    const Buffer* buffer = nullptr;
    std::vector<Step> steps;
    std::vector<bool> banks;  // that are left
  };

  bool Serves(size_t mode, size_t bank, const Subject& subject, Step step) const {
    return problem::Serves(memory_.modes[mode].banks[bank], *subject.buffer, step);
  }

  bool DropModes(const Subject& subject, Step step) {
    bool changed = false;
    std::vector<bool>& modes = modes_.at(step);
    for (size_t mode = 0; mode < modes.size(); ++mode) {
      bool serves = !modes[mode];
      for (size_t bank = 0; bank < subject.banks.size() && !serves; ++bank)
        serves = subject.banks[bank] && Serves(mode, bank, subject, step);
      if (!serves) modes[mode] = false;
      changed = changed || !serves;
    }
    return changed;
  }

  bool DropBanks(Subject& subject, Step step) const {
    bool changed = false;
    const std::vector<bool>& modes = modes_.at(step);
    for (size_t bank = 0; bank < subject.banks.size(); ++bank) {
      bool serves = !subject.banks[bank];
      for (size_t mode = 0; mode < modes.size() && !serves; ++mode)
        serves = modes[mode] && Serves(mode, bank, subject, step);
      if (!serves) subject.banks[bank] = false;
      changed = changed || !serves;
    }
    return changed;
  }

  const Memory& memory_;
  std::vector<Subject> subjects_;
  std::map<Step, std::vector<bool>> modes_;  // that are left
};

}  // namespace

std::optional<std::string> FindUnservedAccess(const Problem& problem) {
  for (size_t memory = 0; memory < problem.memories.size(); ++memory) {
    if (problem.memories[memory].modes.empty() || problem.memories[memory].banks.empty()) continue;
    if (auto reason = Consistency(problem, static_cast<int>(memory)).FindUnserved()) return reason;
  }
  return std::nullopt;
}

}  // namespace tessera::search::allocate
