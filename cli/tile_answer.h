#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/cli/network_options.h"
#include "tessera/cli/reasons.h"
#include "tessera/cli/search_options.h"
#include "tessera/plan/plan.h"
#include "tessera/search/tiling/candidate_search.h"
#include "tessera/search/tiling/feasible_frontier.h"

// The answer of `tessera tile`, ready for printing.
namespace tessera::cli {

// One tile shape under one policy, or one candidate of a given ladder.
struct TileRow {
  std::string tile;
  std::string policy;  // empty: a candidate
  int64_t tiles = 0;   // 0: a candidate
  search::tiling::CandidateAnswer answer;
  std::optional<plan::Metrics> cost = std::nullopt;  // of tiles that fit, if requested
};

// A tile that is proven impossible, and the reason.
struct RefusedTile {
  std::string tile;
  report::Collision collision;
};

// A tile one extent larger than a corner.
struct BeyondCorner {
  std::string tile;
  problem::Status status = problem::Status::kUnknown;
  std::string reason;  // why it does not fit, or is not known to
};

struct CornerRow {
  TileRow row;
  bool proven = false;
  std::vector<BeyondCorner> beyond;
};

struct FewestTilesFound {
  int64_t tiles = 0;
  bool proven = false;
};

struct TileAnswer {
  std::string subject;
  bool is_network = false;
  std::vector<CornerRow> corners;  // of a network
  std::vector<TileRow> rows;       // all shapes, or candidates, if requested
  std::optional<std::string> largest;
  bool largest_proven = false;
  std::optional<FewestTilesFound> fewest;
  int64_t solves = 0;
  bool thinned = false;  // not all extents were tried
  std::optional<RefusedTile> refused;
  std::vector<std::string> notes;  // of the network's reader
};

std::string TileText(const TileAnswer& answer);
std::string TileJson(const TileAnswer& answer);

// One shape under every policy.
struct ShapeAnswer {
  std::string subject;
  std::string tile;
  struct UnderPolicy {
    TileRow row;
    std::optional<report::Collision> collision;  // for impossible tiles
  };
  std::vector<UnderPolicy> policies;
  std::vector<std::string> notes;  // of the network's reader

  // kFeasible if it fits under some policy; kInfeasible if it is proven impossible under all.
  problem::Status Status() const;
};

std::string ShapeAnswerText(const ShapeAnswer& answer);
std::string ShapeAnswerJson(const ShapeAnswer& answer);

// Converts the result of a search to the answer of `tessera tile`: with costs, and with reasons if
// something is impossible.

// The way in which reasons are computed. All arguments must outlive this object.
class TilePrinter {
 public:
  TilePrinter(const SearchOptions& search, const Reasons& reasons, const base::Stop& stop)
      : search_(search), reasons_(reasons), stop_(stop) {}

  // Searches the ladder in that file.
  base::Expected<TileAnswer> SearchTileCandidates(const std::string& path,
                                                  base::Budget budget) const;

  // The corners; and every shape that was considered if `all` is true.
  TileAnswer Tell(const TileSubject& subject, const search::tiling::Staircase& found,
                  bool all) const;

  // One shape, decided under every policy.
  ShapeAnswer Tell(const TileSubject& subject, const graph::tiling::TileShape& shape,
                   const search::tiling::IntervalTiles& tiles) const;

 private:
  std::string ReasonOf(const search::tiling::IntervalTiles& tiles, size_t candidate) const;
  std::optional<report::Collision> Explain(const search::tiling::IntervalTiles& tiles,
                                           size_t candidate) const;

  const SearchOptions& search_;
  const Reasons& reasons_;
  const base::Stop& stop_;
};

}  // namespace tessera::cli
