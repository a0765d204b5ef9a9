// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/process.h"
#include "tessera/base/stop.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/tiled_tensor.h"

namespace tessera::search::off_chip {

struct PlaceOptions {
  plan::OffChip method = plan::OffChip::kTileAware;  // not kWhole
  std::span<const problem::Engine* const> engines;   // for kTileAware; they must outlive the call
  base::Budget budget;                               // of the engines
  const base::Stop* stop = nullptr;
  base::Threads threads = {};
};

// A placement of tensors that share addresses tile by tile.
struct TiledPlacement {
  std::vector<problem::Bytes> bases;  // by tensor; empty if there is none
  problem::Bytes peak = 0;
  problem::Bytes lower_bound = 0;  // of every placement by tiles
  std::string reason;              // why there is none
};

// Places the tensors with the lowest peak that the method finds. kPaper uses the published method
// alone. kTileAware solves a Problem of composite buffers (problem/tiled_tensor.h) with the
// engines, and returns the placement of the published method if that is lower. `pins` contains the
// prescribed base of each tensor, or is empty. The published method does not support pins and
// reserved ranges, so it finds no placement if there are any.
//
// Tensors that live at all steps, such as constants, are stacked from address 0 on, unless there
// are pins or reserved ranges; the others share the addresses above.
base::Expected<TiledPlacement> Place(std::span<const problem::TiledTensor> tensors,
                                     const problem::Memory& memory,
                                     std::span<const std::optional<problem::Bytes>> pins,
                                     const PlaceOptions& options);

}  // namespace tessera::search::off_chip
