#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"
#include "tessera/search/partition/demands.h"

// Where a partition may cut the network, and which borders may be in the tile memory there.
//
// A border that is kept on chip (docs/program.md) costs no traffic, but takes room in every subgraph from its maker's to its last
// reader's. So a cut is not told by its position alone: what is kept there decides what the subgraphs on either side cost and
// whether they fit, while nothing further away matters.
//
//     position   0    1      2         3
//     crossing        a      a, b      c        results of the operators 0, 1 and 2, of which the last adds a and b
//     states     {}   {}     {}        {}
//                     {a}    {a}       {c}      an edge is a subgraph of one operator or more; a is kept all the way
//                            {b}                from 1 to 2 or not at all, so no edge leads from {a} to {b}
//                            {a, b}
//
// States that could never fit are left out, and those that keep more than MostKept() borders, or that keep some but not all that
// demands ask for; these do not count. Cost: for each cut the subsets of what crosses it, of at most MostKept() tensors.
namespace tessera::search {

// Operators of a network that is so small that a proof over all of its plans is in reach.
inline constexpr size_t kSmallNetwork = 12;

// The most borders that are kept on chip at one cut without being demanded.
inline constexpr size_t kMostKept = 2;
inline constexpr size_t kMostKeptInSmall = 4;  // in small networks

enum class Keeping : uint8_t { kNothing, kWherePossible };

// A subgraph between two states.
struct Crossing {
  int begin = 0;  // the states, by number
  int end = 0;
  std::vector<int> kept;  // what is kept at either: tensors, ascending
};

// The states at all cuts, numbered from 0, at which nothing is made yet, to the last, where all is done; those of one position
// stand together, that with nothing kept first. Refers to nothing.
class CutStates {
 public:
  // `room`: the most bytes of the tile memory that may be used. Where the tile memory is the home of borders, nothing is kept;
  // with Keeping::kNothing, what is demanded.
  CutStates(const graph::Graph& graph, const hw_profiles::Profile& profile, problem::Bytes room,
            Keeping keeping, const Demands& demands = {});

  int Last() const { return static_cast<int>(states_.size()) - 1; }
  int FirstAt(int position) const { return first_at_[static_cast<size_t>(position)]; }
  int CountAt(int position) const { return FirstAt(position + 1) - FirstAt(position); }

  // Every way for the interval to be one subgraph, that with nothing kept first.
  std::vector<Crossing> CrossingsOf(graph::Interval interval) const;

  size_t MostKept() const { return most_kept_; }

  // Whether something was left out for being more than that, not for its size.
  bool IsCapped() const { return capped_; }

  // Whether something that has room was left out by Keeping::kNothing alone.
  bool SpillsAll() const { return spills_all_; }

 private:
  // A tensor that may be kept.
  struct Border {
    int tensor = 0;
    int maker = 0;
    int last_reader = 0;
    problem::Bytes bytes = 0;
    bool demanded = false;
  };

  // What may be kept at one position.
  struct Subset {
    std::vector<int> kept;
    size_t free = 0;  // of those, how many are not demanded
    size_t next = 0;  // the first of what crosses that may join
    problem::Bytes bytes = 0;
  };

  static std::optional<Subset> FindDemanded(const std::vector<Border>& crossing, problem::Bytes room);
  void AddStates(int position);
  const Border& BorderOf(int tensor) const;
  bool Crosses(int tensor, int position) const;
  std::vector<int> CrossingOf(const std::vector<int>& kept, int position) const;
  bool HasRoom(const std::vector<int>& kept, graph::Interval interval) const;

  problem::Bytes room_;
  size_t most_kept_;
  std::vector<Border> borders_;           // by tensor
  std::vector<std::vector<int>> states_;  // what is kept
  std::vector<int> first_at_;             // by position: its first state; one more at the end
  std::vector<char> shares_;              // by operator: whether its result may take the place of an operand
  bool capped_ = false;
  bool spills_all_ = false;
};

}  // namespace tessera::search
