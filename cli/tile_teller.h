#pragma once

#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/cli/reasons.h"
#include "tessera/cli/search_options.h"
#include "tessera/cli/tile_answer.h"
#include "tessera/cli/tile_subject.h"
#include "tessera/search/tiling/staircase.h"

// From what a search found to what `tessera tile` answers: with costs, and with reasons where something is impossible.
namespace tessera::cli {

// How reasons are looked for. All of it outlives the teller.
class TileTeller {
 public:
  TileTeller(const SearchOptions& search, const Reasons& reasons, const base::Stop& stop)
      : search_(search), reasons_(reasons), stop_(stop) {}

  // Climbs the ladder in that file.
  base::Expected<TileAnswer> ClimbLadder(const std::string& path, base::Budget budget) const;

  // The corners, and every shape that was considered where `all` are wanted.
  TileAnswer Tell(const TileSubject& subject, const search::Staircase& found, bool all) const;

  // One shape, decided under every policy.
  ShapeAnswer Tell(const TileSubject& subject, const graph::TileShape& shape,
                   const search::IntervalTiles& tiles) const;

 private:
  std::string ReasonOf(const search::IntervalTiles& tiles, size_t candidate) const;
  std::optional<Collision> Explain(const search::IntervalTiles& tiles, size_t candidate) const;

  const SearchOptions& search_;
  const Reasons& reasons_;
  const base::Stop& stop_;
};

}  // namespace tessera::cli
