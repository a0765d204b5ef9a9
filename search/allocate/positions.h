#pragma once

#include <vector>

#include "tessera/base/checked.h"
#include "tessera/problem/problem.h"

namespace tessera::search {

using problem::AddressRange;
using problem::Bytes;

// Beyond every address; small enough to add any size to it.
inline constexpr Bytes kNowhere = base::kMaxTotal / 2;

// The offsets that one buffer could take if it were alone: multiples of its alignment at which all its bytes
// lie inside one window. Reserved ranges cut windows apart; banks and spans can narrow them.
//
//     0      8        16          24                 size 6, alignment 4:
//     |#######|........|##########|.................   8 (not 12: it would reach 18), 24, 28, ...
class Positions {
 public:
  // `windows` are ascending, disjoint and not touching; the last may reach to kNowhere.
  Positions(std::vector<AddressRange> windows, Bytes alignment, Bytes size);

  // The least position >= offset, or kNowhere. offset <= kNowhere + any size. Cost: O(log windows).
  Bytes AtLeast(Bytes offset) const { return plain_ ? (offset < 0 ? 0 : offset) : Search(offset); }

  // The greatest position < offset, or -1.
  Bytes Below(Bytes offset) const { return plain_ ? (offset < 0 ? -1 : offset - 1) : SearchBelow(offset); }

  Bytes Size() const { return size_; }

 private:
  Bytes Search(Bytes offset) const;
  Bytes SearchBelow(Bytes offset) const;

  std::vector<AddressRange> windows_;
  Bytes alignment_;
  Bytes size_;
  bool plain_;  // every offset >= 0 will do
};

// Where the memory, its reserved ranges, and the buffer's span and allowed banks let the buffer lie; capacity
// apart.
std::vector<AddressRange> WindowsOf(const problem::Problem& problem, const problem::Buffer& buffer);

// Takes `hole` out of the windows.
void Subtract(std::vector<AddressRange>& windows, AddressRange hole);

// Takes all the holes out of the windows, which ascend. Cost: O(windows + holes log holes).
void SubtractAll(std::vector<AddressRange>& windows, std::vector<AddressRange> holes);

}  // namespace tessera::search
