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

// What `tessera tile` answers, ready to be told.
namespace tessera::cli {

// One tile shape under one policy, or one candidate of a ladder of one's own.
struct TileRow {
  std::string tile;
  std::string policy;  // empty: a candidate
  int64_t tiles = 0;   // 0: a candidate
  search::tiling::CandidateAnswer answer;
  std::optional<plan::Metrics> cost = std::nullopt;  // of what fits, where wanted
};

// A tile that is proven impossible, and why.
struct RefusedTile {
  std::string tile;
  Collision collision;
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
  std::vector<TileRow> rows;       // all shapes, or candidates, where wanted
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
    std::optional<Collision> collision;  // of what is impossible
  };
  std::vector<UnderPolicy> policies;
  std::vector<std::string> notes;  // of the network's reader

  // kFeasible where it fits under some policy; kInfeasible where it is proven impossible under all.
  problem::Status Status() const;
};

std::string ShapeAnswerText(const ShapeAnswer& answer);
std::string ShapeAnswerJson(const ShapeAnswer& answer);

// From what a search found to what `tessera tile` answers: with costs, and with reasons where
// something is impossible.

// How reasons are looked for. All of it outlives the teller.
class TilePrinter {
 public:
  TilePrinter(const SearchOptions& search, const Reasons& reasons, const base::Stop& stop)
      : search_(search), reasons_(reasons), stop_(stop) {}

  // Climbs the ladder in that file.
  base::Expected<TileAnswer> SearchTileCandidates(const std::string& path,
                                                  base::Budget budget) const;

  // The corners, and every shape that was considered where `all` are wanted.
  TileAnswer Tell(const TileSubject& subject, const search::tiling::Staircase& found,
                  bool all) const;

  // One shape, decided under every policy.
  ShapeAnswer Tell(const TileSubject& subject, const graph::tiling::TileShape& shape,
                   const search::tiling::IntervalTiles& tiles) const;

 private:
  std::string ReasonOf(const search::tiling::IntervalTiles& tiles, size_t candidate) const;
  std::optional<Collision> Explain(const search::tiling::IntervalTiles& tiles,
                                   size_t candidate) const;

  const SearchOptions& search_;
  const Reasons& reasons_;
  const base::Stop& stop_;
};

}  // namespace tessera::cli
