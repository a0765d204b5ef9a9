// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/paths/path_search.h"
#include "tessera/search/partition/placement/obstacles.h"

// The reasons why a path search has no result.
namespace tessera::search::partition::answer {

// Whether something has room in the tile memory.
enum class RoomStatus : uint8_t { kSome, kUndecided, kNone };

// An operator that is not known to fit alone.
struct OperatorWithoutRoom {
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

  // Returns whether the operator has room in the subgraphs around it; with `at_home`, in those that
  // keep only required tensors on chip.
  RoomStatus RoomFor(int op, bool at_home = false) const;

  // Returns, among the operators without room, the one that needs most alone according to bounds.
  std::optional<int> FindTightest(bool at_home = false) const;

  // Returns an operator that no subgraph around it can run with any amount of memory, if any.
  std::optional<int> FindRefused() const;

  // Returns an operator around which every subgraph overflows a home, if any.
  std::optional<FullHome> FindFullHome() const;

  // Returns the first operator that overflows a home if each operator is a subgraph and no tensor
  // is kept, if any.
  std::optional<FullHome> FindFullHomeAlone() const;

  // Whether some path avoids everything that is proven impossible, and satisfies the limits if
  // required. Undecided choices count as fitting; after a stop the answer is true.
  bool HasPath(bool within_limits) const;

  // Returns the last position that a sequence of subgraphs that may fit reaches, with any kept
  // tensors; nullopt if one reaches the end.
  std::optional<int> FarthestCut() const;

  // Whether some expanded interval without undecided choices has tile shapes that were not tried.
  bool LeavesOutShapes() const;

  // Tries operators that are not known to fit alone, at most the first kMostStuck, and `first` in
  // any case. Returns those that do not fit, ascending. After a stop, tries only the one that needs
  // most according to bounds.
  std::vector<OperatorWithoutRoom> FindWithoutRoom(std::optional<int> first) const;

 private:
  template <typename Visit>
  void ForEachAround(int op, Visit visit) const;
  bool IsRefused(const choices::IntervalChoices& interval) const;
  problem::Bytes LeastBytes(int op) const;
  std::vector<OperatorWithoutRoom> FindWithoutRoomAfterStop(std::span<const int> unseen) const;
  std::optional<OperatorWithoutRoom> TryAlone(int op, const base::Stop& stop) const;

  const choices::SearchContext& context_;
  const paths::IntervalLattice& lattice_;
};

}  // namespace tessera::search::partition::answer
