// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"
#include "tessera/search/allocate/occupancy.h"

// The test whether buffers conflict, for all engines, and the model of one memory for canonical
// search and local search. A model is built once and does not change during the search.
namespace tessera::search::allocate {

// A list of lists in one block of memory.
template <typename T>
class CompressedLists {
 public:
  CompressedLists() = default;
  explicit CompressedLists(const std::vector<std::vector<T>>& lists) {
    begin_.reserve(lists.size() + 1);
    for (const std::vector<T>& list : lists) {
      items_.insert(items_.end(), list.begin(), list.end());
      begin_.push_back(items_.size());
    }
  }

  // List i consists of the items from begin[i] up to begin[i + 1]. `begin` ascends from 0 to the
  // number of items.
  CompressedLists(std::vector<size_t> begin, std::vector<T> items)
      : begin_(std::move(begin)), items_(std::move(items)) {}

  std::span<const T> operator[](int i) const {
    const auto at = static_cast<size_t>(i);
    return {items_.data() + begin_[at], begin_[at + 1] - begin_[at]};
  }
  int Count() const { return static_cast<int>(begin_.size()) - 1; }
  int64_t Items() const { return static_cast<int64_t>(items_.size()); }  // of all lists
  const std::vector<size_t>& Begins() const { return begin_; }

 private:
  std::vector<size_t> begin_ = {0};
  std::vector<T> items_;
};

// Tests whether two buffers conflict: they are in one memory and must not share an address, because
// they live together and are neither exclusive nor colocated, or because they are separate. The
// Problem must outlive this object.
class Conflicts {
 public:
  explicit Conflicts(const problem::Problem& problem);

  bool operator()(int a, int b) const;

  bool AnySeparate() const { return !separate_.empty(); }
  bool AnySharing() const { return !sharing_.empty(); }

 private:
  const problem::Problem* problem_;
  std::set<std::pair<int, int>> separate_, sharing_;
};

// Returns the clique around `seed` that a greedy search finds when it tries the candidates in
// order. Members ascend.
std::vector<int> GrowClique(std::span<const int> candidates, int seed,
                            const std::function<bool(int, int)>& conflict);

// The movable buffers of one memory, numbered from 0. Buffers with a fixed offset are not part of
// the search: like reserved ranges, they remove positions of the buffers that conflict with them.
//
// A clique is a set of pairwise conflicting buffers of one section. A section is one clique, unless
// exclusive pairs divide it; then several cliques cover its members.
struct ConflictModel {
  std::vector<int> buffers;          // index in the Problem
  std::vector<Positions> positions;  // with the size without padding
  // padded: the space that a buffer takes from the neighbour on top of it
  std::vector<Bytes> sizes;
  std::vector<int> interchangeable_below;  // the interchangeable buffer that must lie lower, or -1
  std::vector<int> interchangeable_above;  // the interchangeable buffer that must lie higher, or -1
  // [first, last) of the cliques that the buffer's conflicts span.
  std::vector<std::pair<int, int>> extents;

  CompressedLists<int> neighbours;  // conflicting movable buffers
  CompressedLists<int> members;     // of a clique
  CompressedLists<int> cliques_of;  // of a buffer

  // Per clique: bytes occupied by fixed buffers and reserved ranges.
  std::vector<std::vector<AddressRange>> blocked;
  // Per clique: how far the padding of its topmost buffer may exceed the capacity.
  std::vector<Bytes> overhang;

  // Why the fixed offsets exclude every allocation, in words; empty if no reason was found.
  std::string contradiction;
  Bytes fixed_top = 0;  // the highest end of a fixed buffer

  int Count() const { return static_cast<int>(buffers.size()); }
  int CliqueCount() const { return members.Count(); }
};

// Returns a text that says why a model of the memory would be too large, or nullopt. If the cause
// is the memory limit of the stop, notes in the stop that work is declined.
std::optional<std::string> FindOversize(const problem::Problem& problem, int memory,
                                        const base::Stop& stop);

// Returns the model of `memory`; nullopt after a stop. FindUnsupported (engine_session.h) must
// accept the Problem. Cost: O(n^2) and the number of conflicting pairs.
std::optional<ConflictModel> BuildModel(const problem::Problem& problem, int memory,
                                        const base::Stop& stop);

}  // namespace tessera::search::allocate
