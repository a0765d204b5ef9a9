// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <numeric>

#include "tessera/problem/rule_check.h"

// Checks of rules about the distance from one buffer to another.
namespace tessera::problem {
namespace {

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
