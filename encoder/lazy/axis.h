#pragma once

#include <utility>
#include <vector>

#include "tessera/encoder/lazy/packing.h"
#include "tessera/encoder/lazy/trail.h"

namespace tessera::encoder::lazy {

// The two ends from which addresses can be counted. Whatever holds from the bottom holds, turned upside down,
// from the top, so every rule is written once:
//
//     side     floor of buffer i            before          room ends at
//     bottom   least offset                 lies below      the ceiling of its memory
//     top      -(greatest offset + size)    lies above      0
enum class Side : uint8_t { kBottom = 0, kTop = 1 };

constexpr Side OtherSide(Side side) { return side == Side::kBottom ? Side::kTop : Side::kBottom; }
constexpr View OffsetView(Side side, int buffer) { return 2 * buffer + static_cast<View>(side); }

// The bounds of the trail, read from either side, under the sizes in force.
class Axis {
 public:
  Axis(const Packing& packing, Trail& trail, std::vector<Bound> sizes)
      : packing_(packing), trail_(trail), sizes_(std::move(sizes)) {}

  void SetSizes(std::vector<Bound> sizes) { sizes_ = std::move(sizes); }
  const std::vector<Bound>& Sizes() const { return sizes_; }
  Bound Size(int buffer) const { return sizes_[static_cast<size_t>(buffer)]; }

  // No solution below the present decisions has the buffer begin before this.
  Bound Floor(Side side, int buffer) const { return trail_[OffsetView(side, buffer)] - Shift(side, buffer); }
  // The latest beginning.
  Bound Latest(Side side, int buffer) const { return -Floor(OtherSide(side), buffer) - Size(buffer); }
  // "The buffer begins at `floor` or later."
  Literal From(Side side, int buffer, Bound floor) const {
    return {OffsetView(side, buffer), floor + Shift(side, buffer)};
  }

  // "i comes before j", or the view -1 when the two may share addresses.
  Literal Before(Side side, int i, int j) const {
    return OrderLiteral(side == Side::kBottom ? packing_.BelowView(i, j) : packing_.BelowView(j, i));
  }

  // Where the room of a memory ends, and the literal that says so (from the top it needs none).
  Bound End(Side side, int memory) const { return side == Side::kBottom ? -trail_[CeilingView(memory)] : 0; }
  Literal EndsAt(int memory, Bound end) const { return {CeilingView(memory), -end}; }
  View CeilingView(int memory) const { return 2 * packing_.CeilingOf(memory) + 1; }

  const Packing& packing() const { return packing_; }
  Trail& trail() const { return trail_; }

 private:
  Bound Shift(Side side, int buffer) const { return side == Side::kBottom ? 0 : Size(buffer); }

  const Packing& packing_;
  Trail& trail_;
  std::vector<Bound> sizes_;
};

// By how much the difference asks its second view to lie above its first.
inline Bound DistanceOf(const Difference& difference, const Axis& axis) {
  const Bound size = difference.sized < 0 ? 0 : axis.Size(difference.sized);
  return difference.distance + (difference.negative ? -size : size);
}

}  // namespace tessera::encoder::lazy
