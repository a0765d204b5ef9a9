#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/encoder/lazy/axis.h"

namespace tessera::encoder::lazy {

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

// Who is known to come before whom, as bits, so that "does j come before all of these?" is answered 64 buffers
// at a time. Follows the order literals of the trail as they are dispatched and undone.
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

  // Whether the buffer is known to come before every member of the set, seen from the side.
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
  std::vector<uint64_t> above_;  // row i: those that i is below
  std::vector<uint64_t> below_;  // row i: those that i is above
};

}  // namespace tessera::encoder::lazy
