// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/plan.h"

// The arithmetic of a plan, operator by operator and tile by tile.
namespace tessera::plan::verify {

// Tiles of one operator that make parts of equal extents.
struct TileRow {
  int op = 0;                 // index into the network's operators
  std::vector<int64_t> tile;  // extents of the part of its first output
  std::string engine;
  int64_t count = 0;      // tiles of the plan
  int64_t cycles = 0;     // of one
  double pj = 0;          // of its multiply-accumulates
  bool measured = false;  // the cycles are measured (Operator::measured)
};

// The rows in the order of the operators, the largest tiles first. Left out are tiles that make
// nothing, tiles in slices of K, and operators that no engine runs. The plan has passed
// CheckPartition. Cost: tiles times operators.
std::vector<TileRow> TileTableOf(const Plan& plan);

// A note for the reader about measured tiles; nullopt if the plan's operators have none.
std::optional<std::string> NoteOnMeasured(const Plan& plan);

}  // namespace tessera::plan::verify
