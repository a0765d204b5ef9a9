// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/search/engines/order_search/instance.h"

namespace tessera::search::engines::order_search {

// Local search below a limit by ejection (after the guided ejection search of Nagata and Braysy for
// vehicle routing, Operations Research Letters 37, 2009).
//
//     limit -------------------       A placement in which nothing overlaps, and a list of buffers
//       | a |  | b | | c |  |         that are not placed. A step takes one of the list and looks
//       |   |  '---' '---'  |         for a gap among its neighbours. If there is none, it goes
//       '---' [== wanted ==]          where the neighbours in its way weigh least, here b and c;
//                                     they join the list.
//
// The weight of a buffer grows whenever it finds no gap, so buffers that are hard to place stay,
// and others move. The search has reached the limit when the list is empty.
//
// Time is divided into slabs of equal width, and each slab has the placed buffers that live in it,
// in the order of their offsets. A scan of the slabs of a buffer finds its neighbours in that
// order, so no list of pairs is needed, and the cost of a step is proportional to the number of
// buffers alive near the buffer, not to the number of all buffers.
//
// The windows in which buffers end above a limit are often far apart, and some are harder than
// others. If the search fails, windows without unplaced buffers keep their new placement.
class EjectionSearch {
 public:
  // Starts from a placement. `instance` must outlive this object.
  EjectionSearch(const Instance& instance, const Offsets& start, uint64_t seed);

  // Tries to lower every top to `limit`, in at most `steps` steps from the starting placement.
  // Returns whether it succeeded. If not, the starting placement may have improved in some windows;
  // none of its tops is higher than before.
  bool Reach(Bytes limit, int64_t steps, Effort& effort);

  // Returns the placement that Reach found; valid after it returned true.
  const Offsets& Placement() const { return offset_; }

  // Makes the placement of the last successful Reach the starting placement.
  void Accept() { start_ = offset_; }

  // Reduces the weights, so that old failures count less.
  void Relax();

 private:
  // The weight of the ejection of a buffer before it has failed.
  enum Measure : uint8_t { kSizeAndLife, kCount, kArea };
  enum Choice : uint8_t { kLowest, kTightestGap, kAny };

  struct Life {
    int first;
    int last;
  };

  // The placed buffers that live in a slab, by offset, then number: their lives, which a scan
  // reads, and their numbers.
  struct Slab {
    std::vector<Life> lives;
    std::vector<int> buffers;
  };

  struct Neighbour {
    Bytes begin;
    Bytes end;
    int buffer;
  };

  void Begin(Bytes limit);
  void Salvage();
  void Step(Bytes limit);
  int TakeWaiting();
  void Collect(int buffer);
  void MergeRuns();
  Bytes FindGap(int buffer, Bytes limit, Choice choice);
  Bytes FindEjection(int buffer, Bytes limit);
  void Shake(Bytes limit);
  void Put(int buffer, Bytes offset);
  void Remove(int buffer);
  std::ptrdiff_t IndexIn(const Slab& slab, int buffer) const;
  template <typename Function>
  void ForSlabsOf(int buffer, Function function);
  Bytes AlignDown(int buffer, Bytes offset) const;

  const Instance& instance_;
  base::Random random_;
  std::vector<double> area_;
  std::vector<double> base_weight_;
  std::vector<double> penalty_;
  std::vector<int64_t> moved_at_;  // step
  int64_t step_ = 0;
  Offsets offset_;  // -1: not placed
  Offsets start_;
  std::vector<int> waiting_;  // not placed

  int width_;  // of a slab, as a power of two
  std::vector<Slab> slabs_;
  int64_t scanned_ = 0;  // buffers, in all slabs

  // Of the current step.
  std::vector<Neighbour> neighbours_;  // by begin, then number
  std::vector<Neighbour> merged_;
  std::vector<size_t> runs_;  // the ends of sorted runs of neighbours
  std::vector<double> weight_by_begin_, weight_by_end_;
  std::vector<int> by_end_;
};

}  // namespace tessera::search::engines::order_search
