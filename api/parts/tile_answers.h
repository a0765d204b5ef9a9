// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tessera/api/answers/answer_text.h"
#include "tessera/api/parts/engine_set.h"
#include "tessera/api/parts/tile_question.h"
#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/search/tiling/feasible_frontier.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::api::parts {

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
