// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/paths/path_search.h"
#include "tessera/search/partition/placement/obstacles.h"

// The reasons that a path search without a result knows.
namespace tessera::search::partition::answer {

// Whether something has room in the tile memory.
enum class Room : uint8_t { kSome, kUndecided, kNone };

// An operator that was not seen to fit alone.
struct Stuck {
  int op = 0;
  placement::Alone alone;
};

// An operator around which every subgraph overflows the homes of its tensors.
struct FullHome {
  int op = 0;
  std::string message;
};

class Absence {
 public:
  // Refers to its arguments.
  Absence(const choices::SearchContext& context, const paths::PathSearch& paths)
      : context_(context), lattice_(paths.Lattice()) {}

  // The room of the operator in the subgraphs around it; with `at_home`, in those that keep only
  // required tensors on chip.
  Room RoomFor(int op, bool at_home = false) const;

  // Among the operators without room, the one that needs most alone, according to bounds.
  std::optional<int> FindTightest(bool at_home = false) const;

  // An operator that no subgraph around it can run, with any amount of memory.
  std::optional<int> FindRefused() const;

  std::optional<FullHome> FindFullHome() const;

  // The first operator that overflows a home if each operator is a subgraph and none is kept.
  std::optional<FullHome> FindFullHomeAlone() const;

  // Whether some path avoids everything that is proven impossible, and satisfies the limits if
  // required. Undecided choices count as fitting; after a stop the answer is true.
  bool HasPath(bool within_limits) const;

  // The last position that a sequence of subgraphs that may fit reaches, with any kept tensors;
  // nullopt if one covers all.
  std::optional<int> FarthestCut() const;

  // Whether nothing fits among the tile shapes of an interval that were tried, and there are more.
  bool LeavesOutShapes() const;

  // Those among the first operators that the search did not see fit, ascending; `first` in any
  // case. Each is tried alone; after a stop, only the one that needs most according to bounds.
  std::vector<Stuck> FindStuck(std::optional<int> first) const;

 private:
  template <typename Visit>
  void ForEachAround(int op, Visit visit) const;
  bool IsRefused(const choices::IntervalChoices& interval) const;
  problem::Bytes LeastBytes(int op) const;
  std::vector<Stuck> FindStuckAfterStop(std::span<const int> unseen) const;
  std::optional<Stuck> TryAlone(int op, const base::Stop& stop) const;

  const choices::SearchContext& context_;
  const paths::IntervalLattice& lattice_;
};

}  // namespace tessera::search::partition::answer
