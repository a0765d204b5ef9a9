// SPDX-License-Identifier: Apache-2.0

#include "tessera/bench/banked_greedy.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

namespace tessera::bench {
namespace {

using problem::Access;
using problem::BankMode;
using problem::Buffer;
using problem::Bytes;
using problem::Memory;
using problem::Problem;
using problem::Step;

using ModeSet = uint64_t;

bool Permits(const BankMode& bank, const Access& access) {
  return !bank.off &&
         std::any_of(bank.allowed.begin(), bank.allowed.end(),
                     [&](const problem::Permission& permission) {
                       return permission.kind == access.kind &&
                              (permission.engine.empty() || permission.engine == access.engine);
                     });
}

class FirstFit {
 public:
  explicit FirstFit(const Problem& problem)
      : problem_(problem),
        memory_(problem.memories[0]),
        horizon_(problem::Horizon(problem)),
        modes_(static_cast<size_t>(horizon_.upper - horizon_.lower),
               (ModeSet{1} << memory_.modes.size()) - 1) {}

  bool PlaceAll(const std::vector<size_t>& order) {
    return std::all_of(order.begin(), order.end(), [this](size_t buffer) { return Place(buffer); });
  }

 private:
  struct Placed {
    const Buffer* buffer;
    Bytes offset;
  };

  bool Place(size_t index) {
    const Buffer& buffer = problem_.buffers[index];
    std::vector<Bytes> offsets = {0};
    for (const problem::Bank& bank : memory_.banks) offsets.push_back(bank.range.begin);
    for (const Placed& other : placed_) offsets.push_back(other.offset + other.buffer->size);
    std::sort(offsets.begin(), offsets.end());
    for (const Bytes offset : offsets) {
      if (!IsFree(buffer, offset) || !StaysInBank(buffer, offset) || !KeepsModes(buffer, offset))
        continue;
      placed_.push_back({&buffer, offset});
      for (const Access& access : buffer.accesses)
        ModesAt(access.step) &= ServedBy(buffer, offset, access);
      return true;
    }
    return false;
  }

  bool IsFree(const Buffer& buffer, Bytes offset) const {
    return offset + buffer.size <= memory_.capacity &&
           std::none_of(placed_.begin(), placed_.end(), [&](const Placed& other) {
             return offset < other.offset + other.buffer->size &&
                    other.offset < offset + buffer.size && LiveTogether(buffer, *other.buffer);
           });
  }

  bool Touches(const problem::Bank& bank, const Buffer& buffer, Bytes offset) const {
    return offset < bank.range.end && bank.range.begin < offset + buffer.size;
  }

  bool StaysInBank(const Buffer& buffer, Bytes offset) const {
    if (buffer.span != problem::Span::kSingle) return true;
    return std::any_of(memory_.banks.begin(), memory_.banks.end(), [&](const problem::Bank& bank) {
      return bank.range.begin <= offset && offset + buffer.size <= bank.range.end;
    });
  }

  ModeSet ServedBy(const Buffer& buffer, Bytes offset, const Access& access) const {
    ModeSet serving = 0;
    for (size_t mode = 0; mode < memory_.modes.size(); ++mode) {
      bool serves = true;
      for (size_t bank = 0; bank < memory_.banks.size(); ++bank) {
        serves = serves && (!Touches(memory_.banks[bank], buffer, offset) ||
                            Permits(memory_.modes[mode].banks[bank], access));
      }
      if (serves) serving |= ModeSet{1} << mode;
    }
    return serving;
  }

  bool KeepsModes(const Buffer& buffer, Bytes offset) {
    return std::all_of(buffer.accesses.begin(), buffer.accesses.end(), [&](const Access& access) {
      return (ModesAt(access.step) & ServedBy(buffer, offset, access)) != 0;
    });
  }

  ModeSet& ModesAt(Step step) { return modes_[static_cast<size_t>(step - horizon_.lower)]; }

  const Problem& problem_;
  const Memory& memory_;
  problem::Lifespan horizon_;
  std::vector<ModeSet> modes_;  // by step: those that serve all that is placed
  std::vector<Placed> placed_;
};

}  // namespace

bool GreedySolvesBanked(const Problem& problem) {
  const auto life = [](const Buffer& buffer) {
    return buffer.lifespans.back().upper - buffer.lifespans.front().lower;
  };
  const std::function<double(const Buffer&)> keys[] = {
      [](const Buffer& buffer) { return -static_cast<double>(buffer.size); },
      [&](const Buffer& buffer) { return -static_cast<double>(life(buffer)); },
      [&](const Buffer& buffer) { return -static_cast<double>(buffer.size * life(buffer)); },
      [](const Buffer& buffer) { return static_cast<double>(buffer.lifespans.front().lower); },
      [](const Buffer& buffer) { return -static_cast<double>(buffer.lifespans.back().upper); },
  };
  return std::any_of(std::begin(keys), std::end(keys), [&](const auto& key) {
    std::vector<size_t> order(problem.buffers.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return key(problem.buffers[a]) < key(problem.buffers[b]);
    });
    return FirstFit(problem).PlaceAll(order);
  });
}

}  // namespace tessera::bench
