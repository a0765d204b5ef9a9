// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/tiling/candidate_search.h"

// The tiles of one interval of operators, each selected tile shape under each policy that the
// profile allows, and which of them fit in the profile's tile memory.
namespace tessera::search::tiling {

// A buffer with a given address.
struct PinnedBuffer {
  std::string id;  // as in the program of the interval alone: "s0/conv1@0"
  problem::Bytes offset = 0;
  bool required = true;  // whether tiles without it are excluded
};

struct TileOptions {
  Engines engines;      // see candidate_search.h
  base::Budget budget;  // for each candidate and engine
  // nullopt: those with which a ShapeSearch of the profile's axes and granularities starts.
  std::optional<std::vector<graph::tiling::TileShape>> shapes;
  // nullopt: those that the profile allows.
  std::optional<std::vector<encoder::program::Policy>> policies;
  // the tensors that the profile's policies keep on chip (encoder::Policy::kept)
  std::vector<int> kept;
  encoder::program::TilesMade made = encoder::program::TilesMade::kThatDiffer;
  std::vector<PinnedBuffer> pins;
  bool infer = true;  // see CandidateSearchOptions
  // UsagesOf the network, which must outlive the tiles; computed if nullptr, at a cost that grows
  // with the network.
  const std::vector<graph::Usage>* usages = nullptr;
};

// Whether tiles of a shape are considered under a policy.
using TileFilter =
    std::function<bool(const encoder::program::Policy&, const graph::tiling::TileShape&)>;

// One tile shape under one policy.
struct TileCandidate {
  encoder::program::SubgraphChoice choice;
  size_t ladder = 0;               // the number of its ladder
  size_t index = 0;                // in the ladder
  problem::Bytes lower_bound = 0;  // no placement has a lower peak
};

// Returns the tile shapes of an interval by the profile's axes and granularities. On the host,
// tiles are not cut.
graph::tiling::ShapeGrid GridOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                graph::Interval interval);

// Fixes the offsets of the named buffers of the Problem. Returns whether all required ones exist.
bool FixOffsets(std::span<const PinnedBuffer> pins, problem::Problem& problem);

// The candidates of one interval. Bounds are computed immediately; the fit is decided on demand.
// Not thread-safe.
class IntervalTiles {
 public:
  // Returns an error if encoder::BuildCandidates refuses the shapes under every policy. Graph,
  // profile and engines must outlive the result. If a stop comes first, Build and Add add none.
  static base::Expected<IntervalTiles> Build(const graph::Graph& graph,
                                             const hw_profiles::Profile& profile,
                                             graph::Interval interval, const TileOptions& options,
                                             const TileFilter& filter = {},
                                             const base::Stop* stop = nullptr);

  // Adds policies, after the existing ones.
  void Allow(std::span<const encoder::program::Policy> policies);

  // Adds candidates for further shapes, after the existing ones. Returns the same errors as Build,
  // and then adds none.
  std::optional<base::Diagnostic> Add(const std::vector<graph::tiling::TileShape>& shapes,
                                      const TileFilter& filter = {},
                                      const base::Stop* stop = nullptr);

  // Returns the candidates by policy in the profile's order of preference, smallest tile first;
  // then the added ones, in the same order. Candidates whose bound exceeds the capacity are
  // included. Under a policy with results in place, shapes without any result in place are omitted
  // if the same policy without them is present too.
  std::span<const TileCandidate> Candidates() const { return candidates_; }

  // The policies that were tried, in the order of preference.
  const std::vector<encoder::program::Policy>& Policies() const { return policies_; }

  // Frees the classes of all tilings. These are large if there are many tiles, and only a
  // simulation needs them. If the process ends soon, they are left (Stop::EndProcess).
  void DropClasses(const base::Stop& stop);

  // Sorts candidates of all additions into one order. Indices of candidates change.
  void Sort();

  // Returns the ladder of a candidate.
  const encoder::program::SubgraphCandidates& CandidatesOf(size_t candidate) const;

  // Returns the contents and the work of a candidate's tiles. The classes are present until they
  // are dropped, but may be missing if the tiles are many and exceed the tile memory.
  const graph::tiling::TiledSubgraph& TilingOf(size_t candidate) const;

  // Returns the candidate's Problem, with its sizes: the subgraph alone, and the tensors that pass
  // over it.
  problem::Problem ProblemOf(size_t candidate) const;

  // Returns the current knowledge about the candidate; solves nothing. CandidateAnswer::implied_by
  // is the index of a candidate in the same ladder.
  const CandidateAnswer& Known(size_t candidate) const;

  // Decides whether the candidate fits; solves if necessary. Returns kUnknown after a limit, which
  // proves nothing; callers treat the candidate as not fitting.
  problem::Status Decide(size_t candidate, const base::Stop& stop);

  // Decides all candidates with as few solves as dominance allows.
  void DecideAll(const base::Stop& stop);

  // Returns the number of queries to engines.
  int64_t Solves() const;

  // Returns the first invalid allocation that an engine returned, an error of the program; nullptr
  // if there is none.
  const base::Diagnostic* Fault() const;

 private:
  using Usages = std::vector<graph::Usage>;

  IntervalTiles() = default;
  void AddPolicy(const encoder::program::Policy& policy,
                 std::vector<encoder::program::SubgraphCandidates> ladders);
  // Removes the candidates and the ladders from these indices on.
  void DropFrom(size_t candidate, size_t ladder, const base::Stop& stop);
  size_t RankOf(const encoder::program::Policy& policy) const;

  const graph::Graph* graph_ = nullptr;
  std::shared_ptr<const Usages> usages_;
  const hw_profiles::Profile* profile_ = nullptr;
  graph::Interval interval_;
  Engines engines_;
  CandidateSearchOptions options_;
  std::vector<encoder::program::Policy> policies_;
  encoder::program::TilesMade made_ = encoder::program::TilesMade::kThatDiffer;
  std::vector<PinnedBuffer> pins_;
  std::vector<std::unique_ptr<encoder::program::SubgraphCandidates>> ladders_;
  size_t without_classes_ = 0;             // the first ladders, whose classes are freed
  std::vector<CandidateSearch> searches_;  // parallel to ladders_, whose elements they refer to
  std::vector<TileCandidate> candidates_;
};

}  // namespace tessera::search::tiling
