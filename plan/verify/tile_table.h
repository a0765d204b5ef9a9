// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/plan.h"

// Where the arithmetic of a plan runs: operator by operator and tile by tile, and on the host.
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

// The operators of a network that run on the host, with the reasons.

struct HostedOperator {
  int op = -1;
  std::string reason;
};

struct HostShare {
  std::vector<HostedOperator> operators;
  int64_t macs = 0;      // of these, as far as they are known
  int64_t all_macs = 0;  // of the network, as far as they are known

  double Percent() const;  // of the MACs
};
HostShare HostShareOf(const Plan& plan);

// The share in words, with each operator and its reason; nullopt if the host runs nothing.
std::optional<std::string> NoteOnHost(const Plan& plan);

}  // namespace tessera::plan::verify
