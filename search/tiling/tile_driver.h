#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/tiling/candidate_search.h"

// The tiles of one interval of operators: every policy that the profile allows times every tile
// shape worth trying, and which of them find room in the profile's tile memory.
namespace tessera::search::tiling {

// A buffer whose address somebody stated.
struct PinnedBuffer {
  std::string id;  // as in the program of the interval alone: "s0/conv1@0"
  problem::Bytes offset = 0;
  bool required = true;  // whether tiles without it are left out
};

struct TileOptions {
  Engines engines;      // see ladder_search.h
  base::Budget budget;  // for each candidate and engine
  std::optional<std::vector<graph::tiling::TileShape>>
      shapes;  // instead of those with which a ShapeSearch of the profile's axes and granularities starts
  std::optional<std::vector<encoder::program::Policy>>
      policies;           // instead of those that the profile allows
  std::vector<int> kept;  // what the profile's policies keep on chip (encoder::Policy::kept)
  encoder::program::TilesMade made = encoder::program::TilesMade::kThatDiffer;
  std::vector<PinnedBuffer> pins;
  bool infer = true;  // see CandidateSearchOptions
};

// Whether tiles of a shape are looked at under a policy.
using TileFilter =
    std::function<bool(const encoder::program::Policy&, const graph::tiling::TileShape&)>;

// One tile shape under one policy.
struct TileCandidate {
  encoder::program::SubgraphChoice choice;
  size_t ladder = 0;  // where it stands
  size_t index = 0;
  problem::Bytes lower_bound = 0;  // no placement has a lower peak
};

// The tile shapes of an interval that the profile's axes and granularities suggest.
graph::tiling::ShapeGrid GridOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                graph::Interval interval);

// Fixes the offsets of those buffers of the Problem that are named; whether all that are required
// are there.
bool FixOffsets(std::span<const PinnedBuffer> pins, problem::Problem& problem);

// The candidates of one interval: bounds known at once, room decided on demand. Not safe to use
// from two threads at once.
class IntervalTiles {
 public:
  // Refuses what encoder::BuildCandidates refuses under every policy. Graph, profile and engines
  // outlive it. Once a stop is requested, here and in Add, further shapes are left out.
  static base::Expected<IntervalTiles> Build(const graph::Graph& graph,
                                             const hw_profiles::Profile& profile,
                                             graph::Interval interval, const TileOptions& options,
                                             const TileFilter& filter = {},
                                             const base::Stop* stop = nullptr);

  // Takes further policies from then on, behind the others.
  void Allow(std::span<const encoder::program::Policy> policies);

  // Adds candidates for further shapes, behind those that are there. Refuses like Build, and then
  // adds none.
  std::optional<base::Diagnostic> Add(const std::vector<graph::tiling::TileShape>& shapes,
                                      const TileFilter& filter = {},
                                      const base::Stop* stop = nullptr);

  // Policy by policy in the profile's order of preference, smallest tile first; then what was
  // added, likewise. Those whose bound exceeds the capacity are listed too. A policy in place lists
  // only shapes for which some result is in place, when the same policy without is there as well.
  std::span<const TileCandidate> Candidates() const { return candidates_; }

  // Those that were tried, in the order of preference.
  const std::vector<encoder::program::Policy>& Policies() const { return policies_; }

  // Frees the classes of all tilings, which are large where tiles are many and which nothing but a
  // simulation needs.
  void DropClasses();

  // Brings candidates of all additions into one order. Indices of candidates change.
  void Sort();

  // The structure behind a candidate.
  const encoder::program::SubgraphCandidates& CandidatesOf(size_t candidate) const;

  // What a candidate's tiles hold and compute; the classes only until they are dropped.
  const graph::tiling::TiledSubgraph& TilingOf(size_t candidate) const;

  // The candidate's Problem, with its sizes: the subgraph alone, and whatever passes over it.
  problem::Problem ProblemOf(size_t candidate) const;

  // What is known of the candidate so far; solves nothing. CandidateAnswer::implied_by is a
  // candidate of the same ladder.
  const CandidateAnswer& Known(size_t candidate) const;

  // Whether the candidate fits, solved if need be. kUnknown when a limit came first: not proven, to
  // be treated as not fitting.
  problem::Status Decide(size_t candidate, const base::Stop& stop);

  // Decides all of them with as few solves as dominance allows.
  void DecideAll(const base::Stop& stop);

  // Questions put to engines.
  int64_t Solves() const;

  // The first wrong allocation that an engine returned, or nullptr: a fault of the program.
  const base::Diagnostic* Fault() const;

 private:
  IntervalTiles() = default;
  void AddPolicy(const encoder::program::Policy& policy,
                 std::vector<encoder::program::SubgraphCandidates> ladders);
  size_t RankOf(const encoder::program::Policy& policy) const;

  const graph::Graph* graph_ = nullptr;
  const hw_profiles::Profile* profile_ = nullptr;
  graph::Interval interval_;
  Engines engines_;
  CandidateSearchOptions options_;
  std::vector<encoder::program::Policy> policies_;
  encoder::program::TilesMade made_ = encoder::program::TilesMade::kThatDiffer;
  std::vector<PinnedBuffer> pins_;
  std::vector<std::unique_ptr<encoder::program::SubgraphCandidates>> ladders_;
  std::vector<CandidateSearch> searches_;  // parallel to ladders_, to whose elements they refer
  std::vector<TileCandidate> candidates_;
};

}  // namespace tessera::search::tiling
