// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/search/partition/analysis/remedies.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/tiling/candidate_search.h"

// Answers of commands other than plans, as text and as JSON.
namespace tessera::api::answers {

// A Problem that is infeasible within `capacity` bytes of its first memory, and the reason.
struct Collision {
  problem::Problem problem;
  problem::Bytes capacity = 0;
  problem::Explanation explanation;

  std::string Summary() const;
  // All sentences, one per line; all but the first are indented.
  std::string Text(size_t indent) const;
};

// Why `tessera plan` found no plan, and which changes would help.
struct PlanRefusal {
  const graph::Graph& network;
  const search::partition::answer::PartitionResult& result;
  std::optional<Collision> collision;  // of the obstacle's Problem
  std::vector<search::partition::analysis::Remedy> remedies;
  std::vector<std::string> notes;  // on the network, as a plan has them

  std::string AsText() const;
  std::string AsJson() const;  // docs/reasons.md has the keys
};

// Returns the text for stdout if an answer is refused: the violations as lines of text, or as a
// JSON document.
std::string DescribeRefusal(const std::vector<std::string>& violations, bool as_json);

// The answer of `tessera tile`, ready for printing.

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

}  // namespace tessera::api::answers
