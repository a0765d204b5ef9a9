#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/tiling/ladder_search.h"

// The tiles of one interval of operators: every policy that the profile allows times every tile shape worth trying, and which of
// them find room in the profile's tile memory.
namespace tessera::search {

struct TileOptions {
  Engines engines;              // see ladder_search.h
  base::Budget budget;          // for each candidate and engine
  size_t shapes_per_axis = 16;  // the most values tried along one axis
  std::optional<std::vector<graph::TileShape>>
      shapes;  // instead of those that the profile's axes and granules suggest
  std::optional<std::vector<encoder::Policy>> policies;  // instead of those that the profile allows
  bool infer = true;                                     // see LadderOptions
};

// One tile shape under one policy.
struct TileCandidate {
  encoder::SubgraphChoice choice;
  size_t ladder = 0;  // where it stands: index into IntervalTiles::Ladders
  size_t rung = 0;
  problem::Bytes lower_bound = 0;  // no placement has a lower peak
};

// The candidates of one interval: bounds known at once, room decided on demand. Not safe to use from two threads at once.
class IntervalTiles {
 public:
  // Refuses what encoder::BuildLadders refuses under every policy. Graph and profile may go afterwards; the engines stay.
  static base::Expected<IntervalTiles> Build(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                             graph::Interval interval, const TileOptions& options);

  // Policy by policy in the profile's order of preference, smallest tile first. Those whose bound exceeds the capacity are listed
  // too. A policy in place lists only shapes for which some result is in place, when the same policy without is there as well.
  std::span<const TileCandidate> Candidates() const { return candidates_; }

  // The structures behind the candidates.
  std::span<const encoder::SubgraphLadder> Ladders() const { return ladders_; }

  // What a candidate's tiles hold and compute.
  const graph::TiledSubgraph& TilingOf(size_t candidate) const;

  // The candidate's Problem, with its sizes: the subgraph alone, and whatever passes over it.
  problem::Problem ProblemOf(size_t candidate) const;

  // What is known of the candidate so far; solves nothing. RungAnswer::implied_by is a rung of the same ladder.
  const RungAnswer& Known(size_t candidate) const;

  // Whether the candidate fits, solved if need be. kUnknown when a limit came first: not proven, to be treated as not fitting.
  problem::Status Decide(size_t candidate, const base::Stop& stop);

  // Decides all of them with as few solves as dominance allows.
  void DecideAll(const base::Stop& stop);

  // Questions put to engines.
  int64_t Solves() const;

  // The first wrong allocation that an engine returned, or nullptr: a fault of the program.
  const base::Diagnostic* Fault() const;

 private:
  IntervalTiles() = default;
  void AddPolicy(const encoder::Policy& policy, std::vector<encoder::SubgraphLadder> ladders);

  std::vector<encoder::SubgraphLadder> ladders_;
  std::vector<LadderSearch> searches_;  // parallel to ladders_, to whose elements they refer
  std::vector<TileCandidate> candidates_;
};

// Everything about the tiles of one interval.
struct TileSearch {
  IntervalTiles tiles;  // all decided
  std::optional<size_t>
      largest;  // the fitting candidate with most output elements in a tile; among equals the first
  // Every candidate with more elements is proven infeasible; with none that fits, every candidate is.
  bool largest_proven = false;
};

base::Expected<TileSearch> SearchTiles(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                       graph::Interval interval, const TileOptions& options,
                                       const base::Stop& stop);

}  // namespace tessera::search
