// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_TILE_H_
#define TESSERA_TILE_H_

#include <tessera/allocate.h>
#include <tessera/call.h>
#include <tessera/network.h>
#include <tessera/profile.h>
#include <tessera/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Tiles of some operators: which tiles fit, and why larger ones do not (docs/tile.md).
namespace tessera {
inline namespace v0 {

// A tile of the last operator's output, as the user of `tessera tile` states it.
struct TileChoice {
  std::string operators = {};  // "conv1..conv3", "0..2"; both ends included; empty: all
  std::string tile = {};       // "7x56", "rows=7,channels=32", "1x24x7x56"; empty: all of it
  std::string policy = {};     // "resident, in place"; empty: what the profile prefers
};

// Returns the buffers of one tile in the tile memory of the profile, as a Problem.
TESSERA_API Result<Problem> MakeProblem(const Network& network, const Profile& profile,
                                        const TileChoice& choice = {});

struct TileOptions : SearchOptions {
  std::string operators = {};  // as in TileChoice
  std::string tile = {};       // consider only this tile, under every policy
  bool all = false;            // TileAnswer::tiles has every shape that was considered
  bool explain = true;         // fill TileAnswer::explanation
};

// One tile shape under one policy, or one tile candidate of a Problem.
struct Tile {
  std::string shape;   // "1x24x7x56", or the name of the candidate
  std::string policy;  // empty for a candidate
  // kOptimal, kFeasible: it fits. kInfeasible: proven not to fit. kUnknown: a limit came first.
  Outcome outcome = Outcome::kUnknown;
  bool is_corner = false;            // it fits, and no known shape that contains it does
  bool is_proven_corner = false;     // no such shape exists
  std::int64_t tiles = 0;            // number that covers the output; 0 for a candidate
  std::int64_t lower_bound = 0;      // bytes; no placement has a lower peak
  std::optional<std::int64_t> peak;  // bytes, of the best known placement
  // Costs of all tiles together, if the shape fits; not set for candidates.
  std::optional<std::int64_t> latency_cycles;
  std::optional<double> energy_pj;
  std::optional<std::int64_t> off_chip_bytes;
  std::string reason;  // why it does not fit, or why that is not known
};

struct TileAnswer {
  // kFeasible: some tile fits. kInfeasible: proven that none does. kUnknown: a limit came first.
  Outcome outcome = Outcome::kUnknown;
  std::vector<Tile> tiles = {};    // the corners; or the requested tile; or all
  std::string largest = {};        // the shape with most elements that fits; empty: none
  bool largest_is_proven = false;  // no larger one fits
  // Sentences that say why a larger tile does not fit: the smallest one that is proven impossible.
  std::vector<std::string> explanation = {};
  std::string text = {};  // the answer as `tessera tile` prints it
  std::string json = {};  // the same with --format json
  bool stopped = false;   // a deadline, a memory limit or a cancellation cut it off
};

// Returns the largest tiles that fit, or what is known about the one tile of the options.
TESSERA_API Result<TileAnswer> FindTiles(const Network& network, const Profile& profile,
                                         const TileOptions& options = {});

// As above, for the tile candidates of a problem, which must have some. Options about operators and
// tiles must be empty.
TESSERA_API Result<TileAnswer> FindTiles(const Problem& problem, const TileOptions& options = {});

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_TILE_H_
