// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tessera/search/engines/order_search/instance.h"

namespace tessera::search::engines::order_search {

// Places buffers from the bottom up along the skyline: the upper edge of all that is placed.
//
//     address           .---.         The lowest segment of the skyline takes the first buffer of
//        ^    .---.     | c |         the order whose life lies inside the segment. The rest of the
//        |    | a |_____|___|         segment becomes new, shorter segments. A segment that no
//        |____|   |  b  |   |____     buffer fits is lifted to its lower neighbour and joined with
//        |    '---'-----'---'    |    it: the bytes below are lost.
//        '-----------------------> section
//
// This is best fit for strip packing (Burke, Kendall and Whitwell, Operations Research 52, 2004),
// which Sekiyama et al. (arXiv 1804.10001) use for buffers. Conflicts are never computed, because a
// buffer above the skyline overlaps nothing. A tree over the buffers in order of birth, with the
// earliest death and the best rank of each range, finds the buffer. Cost: O(n log n) in practice; a
// query may visit more nodes if many buffers of good rank have late deaths.
class Skyline {
 public:
  // `instance` must outlive this object.
  explicit Skyline(const Instance& instance);

  // Places all buffers. Earlier buffers in the order are preferred. Returns false after a stop;
  // `offsets` is then incomplete.
  bool Place(const Order& order, Offsets& offsets, Effort& effort);

 private:
  struct Node {
    int earliest_death;
    int best_rank;
  };

  // A maximal range of sections with one height, and the first sections of the adjacent segments,
  // or -1.
  struct Segment {
    Bytes height = 0;
    int end = 0;
    int before = -1;
    int after = -1;
    bool exists = false;
  };

  void Reset(const Order& order);
  void FindBest(size_t node, int begin, int end);
  void Remove(int buffer);
  void Lift(int at);
  void Cover(int at, int buffer, Bytes top);
  void Write(int at, int end, Bytes height, int before, int after);

  const Instance& instance_;
  std::vector<int> first_buffer_;  // by section
  size_t width_ = 1;               // leaves of the tree
  std::vector<Node> tree_;
  std::vector<int> rank_;
  const Order* order_ = nullptr;
  std::vector<Segment> segments_;                 // by first section
  std::vector<std::pair<Bytes, int>> by_height_;  // a heap; entries may be outdated

  // Of the current query.
  int query_begin_ = 0;
  int query_end_ = 0;
  int latest_death_ = 0;
  int found_ = 0;
};

}  // namespace tessera::search::engines::order_search
