#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/search/allocate/occupancy.h"

// What canonical search and repair need to know of one memory: read once, never changed while
// searching.
namespace tessera::search::allocate {

// A list of lists in one piece of memory.
class CompressedLists {
 public:
  CompressedLists() = default;
  explicit CompressedLists(const std::vector<std::vector<int>>& lists);
  // The lists of partners of 0 to count - 1. Each pair is ascending, and so are the pairs; then the
  // lists are.
  CompressedLists(int count, std::span<const std::pair<int, int>> pairs);

  std::span<const int> operator[](int i) const {
    const auto at = static_cast<size_t>(i);
    return {items_.data() + begin_[at], begin_[at + 1] - begin_[at]};
  }
  int Count() const { return static_cast<int>(begin_.size()) - 1; }

 private:
  std::vector<size_t> begin_ = {0};
  std::vector<int> items_;
};

// The movable buffers of one memory, numbered from 0. Buffers with a fixed offset are no part of
// the search: they cut holes into the positions of those that conflict with them, just as reserved
// ranges do.
//
// Two buffers conflict when they must not share an address: they live together without being
// exclusive, or are separate. A clique is a set of pairwise conflicting buffers of one section; a
// section is one clique unless exclusive pairs break it up, then several cliques cover its members.
struct CanonicalModel {
  std::vector<int> buffers;          // index in the Problem
  std::vector<Positions> positions;  // with the bare size
  std::vector<Bytes> sizes;  // padded: what a buffer takes from the neighbour that lies on it
  std::vector<int> interchangeable_below;  // the identical buffer that must lie lower, or -1
  std::vector<int> interchangeable_above;  // the one that must lie higher, or -1
  std::vector<std::pair<int, int>>
      extents;  // [first, last) of the cliques between which the buffer's conflicts reach

  CompressedLists neighbours;  // conflicting movable buffers
  CompressedLists members;     // of a clique
  CompressedLists cliques_of;  // of a buffer

  std::vector<std::vector<AddressRange>>
      blocked;  // per clique: bytes taken by fixed buffers and reserved ranges
  std::vector<Bytes>
      overhang;  // per clique: by how much the padding of its topmost buffer may exceed the capacity

  std::string contradiction;  // fixed offsets that rule every allocation out, in words; else empty
  Bytes fixed_top = 0;        // the highest end of a fixed buffer

  int Count() const { return static_cast<int>(buffers.size()); }
  int CliqueCount() const { return members.Count(); }
};

// Why a model of that memory would be too large, in words; nullopt if it is not. `memory_limit`:
// bytes that the process may take.
std::optional<std::string> FindOversize(const problem::Problem& problem, int memory,
                                        int64_t memory_limit);

// The model of `memory`, whose Problem states nothing that FindUnsupported objects to
// (constraints.h). Cost: O(n^2) and the number of conflicting pairs.
CanonicalModel BuildModel(const problem::Problem& problem, int memory);

}  // namespace tessera::search::allocate
