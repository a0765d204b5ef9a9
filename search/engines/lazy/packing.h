// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/problem/tile_candidates.h"
#include "tessera/search/allocate/conflict_model.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::lazy {

// The limits of the lazy engine, and the description of Problems beyond them.

inline constexpr size_t kMostBuffers = 4096;
inline constexpr int64_t kMostPairs = 2'000'000;
inline constexpr int64_t kBytesPerPair = 200;  // of memory
inline constexpr problem::Bytes kFarthest = problem::Bytes{1} << 60;

// Returns the number of pairs of buffers that live together. Pairs of buffers with several
// lifespans may count more than once.
int64_t CountPairs(const problem::Problem& problem);

// Returns a text that names the first limit above that the Problem exceeds, or nullopt.
std::optional<std::string> FindTooLarge(const problem::Problem& problem,
                                        const problem::Ladder* ladder);

// Returns a text that names the first requirement that a packing does not contain, or nullopt.
// These are rules, and modes, ports, spans, allowed banks and bank relations that restrict
// something.
std::optional<std::string> FindUnpacked(const problem::Problem& problem);

// Returns the first reason of FindUnpacked or FindTooLarge why the engine does not support the
// Problem, or nullopt.
std::optional<std::string> FindUnsupported(const problem::Problem& problem,
                                           const problem::Ladder* ladder);

// Returns the height of the highest fixed boundary or hint with everything else stacked on top, for
// the candidate where it is largest; nullopt beyond kFarthest. Unless offsets are tied to each
// other, a Problem that does not fit below this height does not fit at all.
std::optional<problem::Bytes> HeightThatSuffices(const problem::Problem& problem,
                                                 const problem::Ladder* ladder);

// Returns sets of buffers of one memory that pairwise conflict and live at one step, in the order
// of their steps. Every such pair is in one of the sets. Each set is a maximal set of buffers that
// live together or, if exclusive or colocated pairs divide that set, one of the maximal cliques
// that cover it. Members ascend. After a stop some sets are missing. Cost: O(steps at which a
// buffer begins to live times live buffers), and O(members squared) for each clique.
std::vector<std::vector<int>> FindSections(const problem::Problem& problem, int memory,
                                           const std::function<bool(int, int)>& conflict,
                                           const base::Stop& stop);

using allocate::CompressedLists;

// Another buffer that must not share an address with this one.
struct Neighbour {
  int buffer = 0;
  View below = 0;  // OrderLiteral(below): this buffer lies below the other
};

// The constraint offset(to) >= offset(from) + distance, plus the size of `sized` if there is one.
// Sizes change from query to query; distances do not. `from` and `to` are views of offsets, not
// buffers, so both may be negated.
struct Difference {
  View from = 0;
  View to = 0;
  Bound distance = 0;
  int sized = -1;         // the buffer whose size is added; -1: none
  bool negative = false;  // subtract the size instead
};

// No buffer of the memory may touch [begin, end).
struct Hole {
  Bound begin = 0;
  Bound end = 0;
};

// A Problem in the form of the lazy engine, in units of its granularity. It contains all data that
// does not depend on sizes and capacity.
//
// Integers are numbered: first buffers (their offsets), then memories (their ceilings, the current
// capacity), then pairs (which buffer lies below). A section is a set of buffers that must not
// share addresses because they live at one step; only maximal ones are kept. Exclusive and
// colocated pairs divide a section into maximal cliques that cover it.
struct Packing {
  int buffers = 0;
  int memories = 0;
  // bytes of a unit: divides everything that an offset can depend on
  problem::Bytes granularity = 1;
  std::vector<int> memory;  // of each buffer
  std::vector<Bound> alignment;
  std::vector<Bound> duration;  // number of steps that it lives
  std::vector<std::optional<Bound>> fixed;
  std::vector<std::optional<Bound>> hint;
  std::vector<std::pair<int, int>> pairs;  // first < second
  CompressedLists<Neighbour> neighbours;   // of each buffer
  std::vector<View> below;                 // buffers * buffers
  CompressedLists<int> sections;           // members
  std::vector<int> section_memory;
  CompressedLists<int> sections_of;     // of each buffer
  CompressedLists<Hole> holes;          // of each memory: ascending, disjoint, not touching
  std::vector<Difference> differences;  // of colocated and adjacent buffers
  // interchangeable pairs: the first may lie below
  std::vector<std::pair<int, int>> interchangeable;
  // For each memory in which mirroring a solution gives another solution: a pair whose first may
  // lie below.
  std::vector<std::pair<int, int>> mirrored;
  std::optional<Bound> reach;  // a height that suffices for every feasible packing

  // Returns the view whose OrderLiteral means "i lies below j"; -1 if the two may share addresses.
  View BelowView(int i, int j) const {
    return below[static_cast<size_t>(i) * static_cast<size_t>(buffers) + static_cast<size_t>(j)];
  }
  int CeilingOf(int m) const { return buffers + m; }
  Bound HighestCeiling() const { return reach.value_or(kFarthest / granularity); }
  // Returns the lower and the upper buffer if OrderLiteral(order) holds.
  std::pair<int, int> OrderedPair(View order) const {
    const auto& [first, second] = pairs[static_cast<size_t>(IntegerOf(order) - buffers - memories)];
    return (order & 1) == 0 ? std::pair(first, second) : std::pair(second, first);
  }
};

// Returns the packing of a Problem that FindTooLarge accepts; nullopt after a stop. It leaves out
// the requirements that FindUnpacked names; if there are any, its symmetries and its reach are not
// valid for the Problem. The granularity of the result divides `unit`, unless that is 0. Cost:
// O(buffers squared + members of sections squared; if some may share addresses, to the fourth
// power).
std::optional<Packing> MakePacking(const problem::Problem& problem, const problem::Ladder* ladder,
                                   const base::Stop& stop, problem::Bytes unit = 0);

// Returns the sizes of the Problem, or of one candidate of its ladder, in units of the packing.
std::vector<Bound> SizesOf(const Packing& packing, const problem::Problem& problem,
                           const problem::Ladder* ladder, size_t candidate);

}  // namespace tessera::search::engines::lazy
