#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/cli/reasons.h"
#include "tessera/plan/plan.h"
#include "tessera/search/tiling/ladder_search.h"

// What `tessera tile` answers, ready to be told.
namespace tessera::cli {

// One tile shape under one policy, or one rung of a ladder of one's own.
struct TileRow {
  std::string tile;
  std::string policy;  // empty: a rung
  int64_t tiles = 0;   // 0: a rung
  search::RungAnswer answer;
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
  std::vector<TileRow> rows;       // all shapes, or rungs, where wanted
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

}  // namespace tessera::cli
