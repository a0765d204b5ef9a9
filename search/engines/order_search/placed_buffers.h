// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tessera/search/allocate/occupancy.h"
#include "tessera/search/engines/order_search/instance.h"

namespace tessera::search::engines::order_search {

// Stores buffers that are placed in any order, without a list of conflicting pairs.
//
// The data structure is the tree of allocate::Occupancy over blocks of sections instead of single
// sections. A node lists the addresses occupied in all its blocks (`whole`) and those occupied
// somewhere in them (`some`). A buffer that covers only a part of a block is kept in a list of that
// block, whose lives are compared one by one:
//
//     block     |.......|.......|.......|.......|
//     buffer        ---- ------- ------- --           the middle: nodes of the tree
//                   part                 part         the ends: lists of two blocks
//
// Blocks make the tree an order of magnitude smaller and avoid most of its updates, because most
// lives are short. Cost of a placement: O(log sections) lists, and the ranges passed in them.
class PlacedBuffers {
 public:
  // `instance` must outlive this object.
  explicit PlacedBuffers(const Instance& instance);

  void Clear();
  void Insert(int buffer, Bytes offset);

  // Returns the lowest free position at which the buffer ends at or below `limit`, or -1.
  Bytes FirstFit(int buffer, Bytes limit);

  // Returns the work of all calls so far, in visited lists and ranges (Effort).
  int64_t Work() const { return work_; }

 private:
  struct Node {
    allocate::RangeList whole;
    allocate::RangeList some;
  };

  struct Part {
    problem::AddressRange addresses;
    int first;
    int last;
  };

  struct Cursor {
    const problem::AddressRange* next;
    const problem::AddressRange* end;
  };

  struct Blocks {
    int first;  // of the blocks that the buffer covers as a whole
    int last;   // one past them
    int partial[2];
    int partials;
  };

  Blocks BlocksOf(int buffer) const;
  void AddParts(int block, int first, int last, size_t list);
  void Collect(int buffer);
  void Add(const allocate::RangeList& list);
  void MarkAncestors(size_t node);

  const Instance& instance_;
  size_t width_;             // leaves of the tree
  std::vector<Node> nodes_;  // 1 is the root, 2i and 2i+1 are the halves of i
  std::vector<std::vector<Part>> parts_;

  int64_t work_ = 0;

  // Of the current call.
  std::vector<Cursor> cursors_;
  std::vector<size_t> ancestors_;
  allocate::RangeList own_parts_[2];
};

// Places all buffers in the given order, each as low as possible. `placed` is cleared first.
// Returns false after a stop; `offsets` is then incomplete.
bool PlaceByFirstFit(const Instance& instance, PlacedBuffers& placed, const Order& order,
                     Offsets& offsets, Effort& effort);

}  // namespace tessera::search::engines::order_search
