// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "tessera/problem/rule_check.h"

// Checks of rules about the offsets of single buffers, and about distances between buffers.
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

// The distance from one buffer to another.

Bytes DistanceOf(const KnownPlace& first, const KnownPlace& second) {
  return second.least - first.least;
}

// The least and the greatest distance of a pair.
AddressRange DistancesOf(const KnownPlace& first, const KnownPlace& second) {
  return {second.least - first.greatest, second.greatest - first.least};
}

bool CanDiffer(const KnownItem& item) {
  const Requirement& wanted = item.wanted;
  return HasOffset(item.first, [&](Bytes offset) {
    return HasResidue(item.second, wanted.multiple,
                      Modulo(offset + wanted.residue, wanted.multiple));
  });
}

bool CanFlip(const KnownItem& item) {
  return HasOffset(item.first, [&](Bytes offset) {
    const Bytes other = offset ^ item.wanted.distance;
    return item.second.least <= other && other <= item.second.greatest &&
           other % item.second.stride == 0;
  });
}

bool CanMatch(const KnownItem& item) {
  if (item.other == nullptr) return true;
  const AddressRange own = DistancesOf(item.first, item.second);
  const AddressRange other = DistancesOf((*item.other)[0], (*item.other)[1]);
  return own.begin <= other.end && other.begin <= own.end;
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

extern const RuleCheck kDifferenceCheck = {
    .can_hold = CanDiffer,
    .fault =
        [](const KnownItem& item) {
          return fmt::format("are {} apart modulo {}, not {}",
                             Modulo(DistanceOf(item.first, item.second), item.wanted.multiple),
                             item.wanted.multiple, item.wanted.residue);
        },
    .divisor =
        [](const Problem&, const Rule& rule) {
          const Requirement& wanted = rule.requirement;
          return wanted.multiple == 1 ? 0 : std::gcd(wanted.multiple, wanted.residue);
        },
};

extern const RuleCheck kDistanceCheck = {
    .can_hold =
        [](const KnownItem& item) {
          const AddressRange distances = DistancesOf(item.first, item.second);
          return distances.begin <= item.wanted.distance && item.wanted.distance <= distances.end;
        },
    .fault =
        [](const KnownItem& item) {
          return fmt::format("are {} apart, not {}", DistanceOf(item.first, item.second),
                             item.wanted.distance);
        },
    .divisor = [](const Problem&, const Rule& rule) { return rule.requirement.distance; },
};

// Rounding must clear only bits in which both offsets agree, so it must be to a power of two that
// divides the distance.
extern const RuleCheck kXorDistanceCheck = {
    .can_hold = CanFlip,
    .fault =
        [](const KnownItem& item) {
          return fmt::format("differ in the address bits {:#x}, not {:#x}",
                             item.first.least ^ item.second.least, item.wanted.distance);
        },
    .divisor =
        [](const Problem&, const Rule& rule) {
          const Bytes distance = rule.requirement.distance;
          return distance == 0 ? base::kMaxTotal : distance & -distance;
        },
};

extern const RuleCheck kCommonDeltaCheck = {
    .can_hold = CanMatch,
    .fault =
        [](const KnownItem& item) {
          return fmt::format("are {} apart, where another pair is {}",
                             DistanceOf(item.first, item.second),
                             DistanceOf((*item.other)[0], (*item.other)[1]));
        },
    .divisor = CommonAlignment,
    .compares_pairs = true,
};

}  // namespace tessera::problem
