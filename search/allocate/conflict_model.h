#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/search/allocate/occupancy.h"

// The model of one memory for canonical search and local search. It is built once and does not
// change during the search.
namespace tessera::search::allocate {

// A list of lists in one block of memory.
class CompressedLists {
 public:
  CompressedLists() = default;
  explicit CompressedLists(const std::vector<std::vector<int>>& lists);
  // For each of 0 to count - 1, the list of its partners. Each pair is ascending, and the pairs are
  // sorted; the lists are then ascending too.
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

// The movable buffers of one memory, numbered from 0. Buffers with a fixed offset are not part of
// the search: like reserved ranges, they remove positions of the buffers that conflict with them.
//
// Two buffers conflict when they must not share an address: they live together and are not
// exclusive, or they are separate. A clique is a set of pairwise conflicting buffers of one
// section. A section is one clique, unless exclusive pairs divide it; then several cliques cover
// its members.
struct CanonicalModel {
  std::vector<int> buffers;          // index in the Problem
  std::vector<Positions> positions;  // with the size without padding
  // padded: the space that a buffer takes from the neighbour on top of it
  std::vector<Bytes> sizes;
  std::vector<int> interchangeable_below;  // the interchangeable buffer that must lie lower, or -1
  std::vector<int> interchangeable_above;  // the interchangeable buffer that must lie higher, or -1
  std::vector<std::pair<int, int>>
      extents;  // [first, last) of the cliques that the buffer's conflicts span

  CompressedLists neighbours;  // conflicting movable buffers
  CompressedLists members;     // of a clique
  CompressedLists cliques_of;  // of a buffer

  std::vector<std::vector<AddressRange>>
      blocked;  // per clique: bytes occupied by fixed buffers and reserved ranges
  std::vector<Bytes>
      overhang;  // per clique: how far the padding of its topmost buffer may exceed the capacity

  // why the fixed offsets exclude every allocation, in words; else empty
  std::string contradiction;
  Bytes fixed_top = 0;  // the highest end of a fixed buffer

  int Count() const { return static_cast<int>(buffers.size()); }
  int CliqueCount() const { return members.Count(); }
};

// Returns why a model of that memory would be too large, in words, or nullopt. `memory_limit`:
// bytes that the process may use.
std::optional<std::string> FindOversize(const problem::Problem& problem, int memory,
                                        int64_t memory_limit);

// The model of `memory`. FindUnsupported (engine_session.h) must accept the Problem. Cost: O(n^2)
// and the number of conflicting pairs.
CanonicalModel BuildModel(const problem::Problem& problem, int memory);

}  // namespace tessera::search::allocate
