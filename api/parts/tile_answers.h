// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/api/answers/answer_text.h"
#include "tessera/api/parts/engine_set.h"
#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/problem.h"
#include "tessera/search/tiling/feasible_frontier.h"
#include "tessera/search/tiling/tile_driver.h"

// The operators and the tile of a question, as a user states them.
namespace tessera::api::parts {

// The network, the profile and the interval of a query.
struct TileSubject {
  graph::Graph network;  // with homes, and the engines of least latency
  hw_profiles::Profile profile;
  graph::Interval interval;
  std::vector<std::string> notes;  // messages of the network's reader

  std::string Text() const;
};

// Assigns homes (encoder/program/homes.h) and engines (search/cost/engine_choice.h) to the network.
TileSubject MakeTileSubject(graph::Graph network, const hw_profiles::Profile& profile,
                            graph::Interval interval, std::vector<std::string> notes);

// A question that cannot be asked: bad input, or a network that the profile cannot run.
struct TileRefusal {
  base::Diagnostic diagnostic;
  bool is_unsupported = false;
};

// "conv2", "1": an id, or a number from 0. `option` is for messages.
base::Expected<int> ParseOperator(const std::string& word, const graph::Graph& network,
                                  const std::string& option);

// "conv1..conv3", "0..2", "conv2": operators, both ends included. Empty: the whole network.
base::Expected<graph::Interval> ParseInterval(const std::string& words, const graph::Graph& network,
                                              const std::string& option = "--ops");

// Returns a tile of the interval's output that the profile allows: "7x56" is rows by columns,
// "rows=7,channels=32" names axes, and "1x32x7x56" states every extent of the output in order. Axes
// that are not named stay whole. Refuses an invalid tile, and suggests the nearest valid ones.
base::Expected<graph::tiling::TileShape> ParseTileShape(const std::string& words,
                                                        const graph::Graph& network,
                                                        const hw_profiles::Profile& profile,
                                                        graph::Interval interval);

// Returns the Problem of one tile under one policy, as the user of `tessera tile` states them. An
// empty tile is the whole output; an empty policy is the one that the profile prefers.
tl::expected<problem::Problem, TileRefusal> FormulateTile(const TileSubject& subject,
                                                          const std::string& tile,
                                                          const std::string& policy);

inline constexpr int64_t kTileBudget = 200'000;  // of each query to an engine

// Converts the results of searches for tiles to answers with costs. If `explains` is true, they
// include the reasons why tiles are impossible. All arguments must outlive this object.
class TileAnswers {
 public:
  TileAnswers(const EngineSet& engines, std::optional<int64_t> budget, bool explains,
              const base::Stop& stop)
      : engines_(engines), budget_(budget), explains_(explains), stop_(stop) {}

  // Searches the ladder of the document. `name` is for messages.
  base::Expected<api::answers::TileAnswer> SearchCandidates(
      const problem::files::ProblemDocument& input, const std::string& name) const;

  // Returns the corners, and every shape that was considered if `all` is true.
  api::answers::TileAnswer Build(const TileSubject& subject, const search::tiling::Staircase& found,
                                 bool all) const;

  // Returns the answer about one shape that was decided under every policy.
  api::answers::ShapeAnswer Build(const TileSubject& subject, const graph::tiling::TileShape& shape,
                                  const search::tiling::IntervalTiles& tiles) const;

 private:
  bool IsTooLate() const;
  std::string ReasonOf(const search::tiling::IntervalTiles& tiles, size_t candidate) const;
  std::optional<api::answers::Collision> Explain(const search::tiling::IntervalTiles& tiles,
                                                 size_t candidate) const;
  std::optional<api::answers::Collision> Explain(const problem::Problem& problem,
                                                 const problem::Ladder* ladder,
                                                 size_t candidate) const;

  const EngineSet& engines_;
  const std::optional<int64_t> budget_;
  const bool explains_;
  const base::Stop& stop_;
};

}  // namespace tessera::api::parts
