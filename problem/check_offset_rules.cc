// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "tessera/problem/rule_check.h"

// Checks of rules about the offsets of single buffers.
namespace tessera::problem {
namespace {

Bytes PowerFor(Bytes size) {
  return static_cast<Bytes>(std::bit_ceil(static_cast<uint64_t>(size)));
}

AddressRange Around(const KnownItem& item, Bytes offset) {
  return {offset - item.wanted.before, offset + item.first.size + item.wanted.after};
}

const Reserved* ReservedIn(const KnownItem& item, const AddressRange& range) {
  for (const Reserved& reserved : item.memory.reserved) {
    if (Intersect(range, reserved.range)) return &reserved;
  }
  return nullptr;
}

bool CanBeGuarded(const KnownItem& item) {
  KnownPlace place = item.first;
  place.least = std::max(place.least, item.wanted.before);
  place.greatest = std::min(place.greatest, item.capacity - place.size - item.wanted.after);
  return HasOffset(place,
                   [&](Bytes offset) { return ReservedIn(item, Around(item, offset)) == nullptr; });
}

std::string FaultOfGuard(const KnownItem& item) {
  const AddressRange guarded = Around(item, item.first.least);
  const std::string guard = fmt::format("has its guard [{}, {})", guarded.begin, guarded.end);
  if (guarded.begin < 0 || guarded.end > item.capacity)
    return fmt::format("{} outside [0, {})", guard, item.capacity);
  const Reserved* reserved = ReservedIn(item, guarded);
  return fmt::format("{} in the range reserved for '{}'", guard,
                     reserved == nullptr ? "" : reserved->reason);
}

}  // namespace

extern const RuleCheck kOffsetCheck = {
    .can_hold =
        [](const KnownItem& item) {
          return HasResidue(item.first, item.wanted.multiple, item.wanted.residue);
        },
    .fault =
        [](const KnownItem& item) {
          return fmt::format("leaves {} modulo {}, not {}", item.first.least % item.wanted.multiple,
                             item.wanted.multiple, item.wanted.residue);
        },
    .divisor =
        [](const Problem&, const Rule& rule) {
          const Requirement& wanted = rule.requirement;
          return wanted.multiple == 1 ? 0 : std::gcd(wanted.multiple, wanted.residue);
        },
};

extern const RuleCheck kWindowCheck = {
    .can_hold =
        [](const KnownItem& item) {
          const Bytes least = std::max(item.first.least, item.wanted.window.begin);
          const Bytes greatest =
              std::min(item.first.greatest, item.wanted.window.end - item.first.size);
          return base::RoundUp(least, item.first.stride) <= greatest;
        },
    .fault =
        [](const KnownItem& item) {
          return fmt::format("is outside [{}, {})", item.wanted.window.begin,
                             item.wanted.window.end);
        },
    .divisor = [](const Problem&, const Rule& rule) { return rule.requirement.window.begin; },
};

extern const RuleCheck kNoCrossingCheck = {
    .can_hold =
        [](const KnownItem& item) {
          const Bytes boundary = item.wanted.multiple;
          return HasOffset(item.first, [&](Bytes offset) {
            return offset / boundary == (offset + item.first.size - 1) / boundary;
          });
        },
    .fault =
        [](const KnownItem& item) {
          return fmt::format("crosses a multiple of {}", item.wanted.multiple);
        },
    .divisor = [](const Problem&, const Rule& rule) { return rule.requirement.multiple; },
};

extern const RuleCheck kNaturalAlignmentCheck = {
    .can_hold =
        [](const KnownItem& item) { return HasResidue(item.first, PowerFor(item.first.size), 0); },
    .fault =
        [](const KnownItem& item) {
          return fmt::format("is not at a multiple of {}", PowerFor(item.first.size));
        },
    .divisor =
        [](const Problem& problem, const Rule& rule) {
          Bytes divisor = 0;
          for (const int buffer : rule.buffers) {
            const Bytes size = problem.buffers[static_cast<size_t>(buffer)].size;
            divisor = std::gcd(divisor, PowerFor(size));
          }
          return divisor;
        },
};

extern const RuleCheck kGuardCheck = {
    .can_hold = CanBeGuarded,
    .fault = FaultOfGuard,
    .divisor =
        [](const Problem&, const Rule& rule) {
          return std::gcd(rule.requirement.before, rule.requirement.after);
        },
};

}  // namespace tessera::problem
