#include "tessera/problem/proof/rule_ground.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "tessera/base/checked.h"

namespace tessera::problem::proof {
namespace {

constexpr int64_t kMostTries = int64_t{1} << 16;

// Whether some multiple of `stride` in the range is good; true when there are too many to try.
bool HasOffset(Range range, Bytes stride, const std::function<bool(Bytes)>& good) {
  const Bytes first = base::RoundUp(range.least, stride);
  if (first > range.greatest) return false;
  if ((range.greatest - first) / stride >= kMostTries) return true;
  for (Bytes offset = first; offset <= range.greatest; offset += stride) {
    if (good(offset)) return true;
  }
  return false;
}

Bytes Modulo(Bytes value, Bytes multiple) { return (value % multiple + multiple) % multiple; }

// Whether some multiple of `stride` in the range leaves the residue.
bool HasResidue(Range range, Bytes stride, Bytes multiple, Bytes residue) {
  Bytes offset = range.least + Modulo(residue - range.least, multiple);
  for (int64_t tries = 0; offset <= range.greatest; offset += multiple, ++tries) {
    if (offset % stride == 0 || tries >= kMostTries) return true;
  }
  return false;
}

}  // namespace

bool CanKeep(const Facts& facts, const Requirement& wanted, int buffer, Range range) {
  const Bytes stride = facts.StrideOf(buffer);
  const Bytes size = facts.SizeOf(buffer);
  switch (wanted.kind) {
    case RequirementKind::kOffset:
      return HasResidue(range, stride, wanted.multiple, wanted.residue);
    case RequirementKind::kNaturalAlignment:
      return HasResidue(range, stride, static_cast<Bytes>(std::bit_ceil(static_cast<uint64_t>(size))), 0);
    case RequirementKind::kWindow:
      range.least = std::max(range.least, wanted.window.begin);
      range.greatest = std::min(range.greatest, wanted.window.end - size);
      return base::RoundUp(range.least, stride) <= range.greatest;
    case RequirementKind::kNoCrossing:
      return HasOffset(range, stride, [&](Bytes offset) {
        return offset / wanted.multiple == (offset + size - 1) / wanted.multiple;
      });
    case RequirementKind::kGuard: {
      const int memory = facts.BufferAt(buffer).memory;
      range.least = std::max(range.least, wanted.before);
      range.greatest = std::min(range.greatest, facts.CapacityOf(memory) - size - wanted.after);
      return HasOffset(range, stride, [&](Bytes offset) {
        return facts.ReservedWithin(memory, offset - wanted.before, offset + size + wanted.after) == 0;
      });
    }
    default:
      return true;
  }
}

bool CanKeep(const Facts& facts, const Requirement& wanted, int first, Range first_range, int second,
             Range second_range) {
  const Bytes stride = facts.StrideOf(second);
  switch (wanted.kind) {
    case RequirementKind::kDistance:
      return first_range.least + wanted.distance <= second_range.greatest &&
             first_range.greatest + wanted.distance >= second_range.least;
    case RequirementKind::kDifference:
      return HasOffset(first_range, facts.StrideOf(first), [&](Bytes offset) {
        return HasResidue(second_range, stride, wanted.multiple,
                          Modulo(offset + wanted.residue, wanted.multiple));
      });
    case RequirementKind::kXorDistance:
      return HasOffset(first_range, facts.StrideOf(first), [&](Bytes offset) {
        const Bytes other = offset ^ wanted.distance;
        return second_range.least <= other && other <= second_range.greatest && other % stride == 0;
      });
    default:
      return true;
  }
}

Bytes GuardBetween(const Facts& facts, const std::vector<Guard>& guards, int below, int above) {
  if (guards.empty() || !facts.LieApart(below, above)) return 0;
  if (!LiveTogether(facts.BufferAt(below), facts.BufferAt(above)) || facts.MayShare(below, above)) return 0;
  return std::max(guards[static_cast<size_t>(below)].after, guards[static_cast<size_t>(above)].before);
}

}  // namespace tessera::problem::proof
