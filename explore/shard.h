// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/call.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/process.h"
#include "tessera/base/progress.h"
#include "tessera/explore/planner.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// The pairs of an exploration in pieces, for processes that share the work.
namespace tessera::explore {

// "3/8": the third of eight.
struct Piece {
  size_t index = 1;  // from 1
  size_t count = 1;
};

// Returns nullopt unless 1 <= index <= count <= 10 000.
std::optional<Piece> ParsePiece(std::string_view text);

// Returns the piece of each part, from 1. The costliest part goes first, and each to the piece with
// the least cost so far; of equal pieces, to the first. So no piece costs more than the mean and
// one part more. The result depends only on the costs. Cost: O(n log n + n log count).
std::vector<size_t> DivideParts(std::span<const double> costs, size_t count);

// A piece of an exploration, for one of several processes. The pieces are disjoint, and together
// they are all pairs.
//
//     spec --> pairs --> costs --> piece 1 --> store --.
//                             '--> piece 2 --> store --+--> merge   --> the document of one process
//                             '--> piece 3 --> store --'
//
// A piece plans its pairs as an exploration does, and skips a pair for the same reasons. In a
// common store it also sees the answers of the other pieces. Which pairs a piece skips depends on
// the answers that it has seen, so its result is not the final one: the document is made from all
// answers afterwards, by the rules of exploration.h. The few pairs that those rules need and no
// piece planned are planned then.

struct ShardOptions {
  Piece piece;
  base::Threads threads = {};
  Canceller canceller = {};
  bool plan_all = false;
  bool retry_failed = false;  // asks again what failed before in this piece
  base::ProgressFunction progress = {};
};

struct ShardReport {
  size_t pairs = 0;  // of the piece
  size_t planned = 0;
  size_t skipped = 0;                    // proven to add nothing, or no profile
  std::vector<std::string> failed = {};  // pairs with an answer "failed", with the reason
};

// Returns relative estimates of the planning time, one for each pair. They grow with the operators,
// and with the bytes that must cross the boundary of the tile memory for each byte of it: both make
// more tiles to examine.
std::vector<double> PredictCosts(const Spec& spec, const std::vector<Point>& points,
                                 const Planner& planner, std::span<const PairOf> pairs,
                                 std::span<const Planner::Bounds> bounds);

// Returns nullopt if it was cancelled. Everything found until then is in the store, with the
// specification; at the end, the store also records that the piece is done.
base::Expected<std::optional<ShardReport>> ExploreShard(const Spec& spec, const std::string& text,
                                                        const Store& store,
                                                        const ShardOptions& options);

// The share of a specification that a store holds.
struct StoredSpec {
  std::string digest;
  std::string text;
  std::string file;  // absolute: other files are relative to its folder
  bool plan_all = false;
  std::vector<std::string> missing = {};  // pieces that are not done: "2/4"
};

// Creates the tables of this file: specifications (digest, text, file, plan_all) and pieces
// (digest, piece, count, done).
void MakeShardTables(const Store& store);

// Returns the specifications of pieces, by digest.
std::vector<StoredSpec> FindSpecs(const Store& store);

// One store made of several that explored the same specification, in pieces or as a whole.

struct MergeOptions {
  base::Threads threads = {};
  Canceller canceller = {};
  base::ProgressFunction progress = {};
};

struct MergeReport {
  size_t answers = 0;                     // in the merged store
  size_t planned = 0;                     // that no store had
  std::vector<std::string> missing = {};  // pieces that are not done; then there is no document
  std::optional<Json> document = {};      // of the exploration
};

// Adds the content of the stores to `output` in one step; `output` may have some or all of it
// already. Then makes the document of the exploration, if all pieces are done, and plans the pairs
// that it needs and no piece planned. Refuses stores that have no specification in common, and
// different answers to one question; nothing is written then. Returns nullopt if it was cancelled.
tl::expected<std::optional<MergeReport>, StoreFault> Merge(const std::vector<std::string>& stores,
                                                           const std::string& output,
                                                           const MergeOptions& options);

}  // namespace tessera::explore
