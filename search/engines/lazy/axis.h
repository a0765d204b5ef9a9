// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tessera/search/engines/lazy/packing.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::lazy {

// The two ends from which addresses can be counted. Each rule is valid from the bottom and,
// mirrored, from the top, so its code is written once:
//
//     side     floor of buffer i            before          space ends at
//     bottom   least offset                 lies below      the ceiling of its memory
//     top      -(greatest offset + size)    lies above      0
enum class Side : uint8_t { kBottom = 0, kTop = 1 };

constexpr Side OtherSide(Side side) { return side == Side::kBottom ? Side::kTop : Side::kBottom; }
constexpr View OffsetView(Side side, int buffer) { return 2 * buffer + static_cast<View>(side); }

// The bounds of the trail, seen from either side, under the current sizes.
class Axis {
 public:
  Axis(const Packing& packing, Trail& trail, std::vector<Bound> sizes)
      : packing_(packing), trail_(trail), sizes_(std::move(sizes)) {}

  void SetSizes(std::vector<Bound> sizes) { sizes_ = std::move(sizes); }
  const std::vector<Bound>& Sizes() const { return sizes_; }
  Bound Size(int buffer) const { return sizes_[static_cast<size_t>(buffer)]; }

  // Returns a lower bound of the buffer's begin in every solution under the current decisions.
  Bound Floor(Side side, int buffer) const {
    return trail_[OffsetView(side, buffer)] - Shift(side, buffer);
  }
  // Returns the latest begin of the buffer.
  Bound Latest(Side side, int buffer) const {
    return -Floor(OtherSide(side), buffer) - Size(buffer);
  }
  // "The buffer begins at `floor` or later."
  BoundLiteral From(Side side, int buffer, Bound floor) const {
    return {OffsetView(side, buffer), floor + Shift(side, buffer)};
  }

  // "i comes before j". The view is -1 if the two may share addresses.
  BoundLiteral Before(Side side, int i, int j) const {
    return OrderLiteral(side == Side::kBottom ? packing_.BelowView(i, j)
                                              : packing_.BelowView(j, i));
  }

  // Returns the end of the space of a memory.
  Bound End(Side side, int memory) const {
    return side == Side::kBottom ? -trail_[CeilingView(memory)] : 0;
  }
  // "The space of the memory ends at `end` or before." Only needed from the bottom.
  BoundLiteral EndsAt(int memory, Bound end) const { return {CeilingView(memory), -end}; }
  View CeilingView(int memory) const { return 2 * packing_.CeilingOf(memory) + 1; }

  const Packing& packing() const { return packing_; }
  Trail& trail() const { return trail_; }

 private:
  Bound Shift(Side side, int buffer) const { return side == Side::kBottom ? 0 : Size(buffer); }

  const Packing& packing_;
  Trail& trail_;
  std::vector<Bound> sizes_;
};

// Returns the distance by which the difference requires its view `to` to lie above its view `from`.
inline Bound DistanceOf(const Difference& difference, const Axis& axis) {
  const Bound size = difference.sized < 0 ? 0 : axis.Size(difference.sized);
  return difference.distance + (difference.negative ? -size : size);
}

// A set of buffers, one bit each.
class BufferSet {
 public:
  explicit BufferSet(int buffers) : words_((static_cast<size_t>(buffers) + 63) / 64) {}

  void Clear() { words_.assign(words_.size(), 0); }
  void Add(int buffer) { words_[static_cast<size_t>(buffer) / 64] |= uint64_t{1} << (buffer % 64); }
  std::span<const uint64_t> words() const { return words_; }

 private:
  std::vector<uint64_t> words_;
};

// The known order of buffers as bits, so that "does j come before all of these?" is answered for 64
// buffers at a time. Follows the order literals of the trail as they are dispatched and undone.
class OrderMatrix {
 public:
  explicit OrderMatrix(const Packing& packing)
      : packing_(packing),
        width_((static_cast<size_t>(packing.buffers) + 63) / 64),
        above_(static_cast<size_t>(packing.buffers) * width_),
        below_(above_) {}

  void Set(View order) {
    const auto [lower, upper] = packing_.OrderedPair(order);
    above_[Word(lower, upper)] |= Bit(upper);
    below_[Word(upper, lower)] |= Bit(lower);
  }
  void Unset(View order) {
    const auto [lower, upper] = packing_.OrderedPair(order);
    above_[Word(lower, upper)] &= ~Bit(upper);
    below_[Word(upper, lower)] &= ~Bit(lower);
  }
  void Clear() {
    above_.assign(above_.size(), 0);
    below_.assign(below_.size(), 0);
  }

  // Returns whether the buffer is known to come before every member of the set, as seen from the
  // side.
  bool ComesBeforeAll(Side side, int buffer, const BufferSet& set) const {
    const auto& rows = side == Side::kBottom ? above_ : below_;
    const uint64_t* row = rows.data() + static_cast<size_t>(buffer) * width_;
    uint64_t missing = 0;
    for (size_t word = 0; word < width_; ++word) missing |= set.words()[word] & ~row[word];
    return missing == 0;
  }

 private:
  size_t Word(int row, int column) const {
    return static_cast<size_t>(row) * width_ + static_cast<size_t>(column) / 64;
  }
  static uint64_t Bit(int column) { return uint64_t{1} << (column % 64); }

  const Packing& packing_;
  size_t width_;
  std::vector<uint64_t> above_;  // row i: the buffers that i is below
  std::vector<uint64_t> below_;  // row i: the buffers that i is above
};

}  // namespace tessera::search::engines::lazy
