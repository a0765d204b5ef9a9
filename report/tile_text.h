#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/problem/result.h"
#include "tessera/report/refusal_text.h"
#include "tessera/search/tiling/candidate_search.h"

// The answer of `tessera tile`, ready for printing.
namespace tessera::report {

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
    std::optional<Collision> collision;  // for impossible tiles
  };
  std::vector<UnderPolicy> policies;
  std::vector<std::string> notes;  // of the network's reader

  // kFeasible if it fits under some policy; kInfeasible if it is proven impossible under all.
  problem::Status Status() const;
};

std::string ShapeAnswerText(const ShapeAnswer& answer);
std::string ShapeAnswerJson(const ShapeAnswer& answer);

}  // namespace tessera::report
