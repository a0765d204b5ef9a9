// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/plan/plan.h"

// Plans that run and keep rows from tile to tile, with every buffer at its own address.
namespace tessera::plan::execute {

struct Keeping {
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRollingBuffer;
  hw_profiles::DmaSteps dma = hw_profiles::DmaSteps::kSerialized;
  bool stored_pads = false;
  hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
  int64_t columns = 0;  // of a strip of tiles; 0: one strip
};

// The whole network as one subgraph in tiles of so many rows, and of so many images if not all.
Plan Keep(const graph::Graph& network, int64_t rows, const Keeping& keeping, int64_t images = 0);

// The convolutions of TwoConvs on three images of 7 rows.
graph::Graph Images();

// queries [3, 6, 4] times keys [3, 5, 4], times values [3, 5, 2]: three heads.
graph::Graph Heads();

// x -> a -> m -> b -> y: 3x3, a with stride 2, of 16 rows.
graph::Graph StridedConvs();

// x -> a -> m, m -> b -> n, y = m + n: m waits for n, and is 10 rows long.
graph::Graph Skip();

// Two convolutions of 10 rows of which the map between them leaves too.
graph::Graph LeavingMiddle();

// x -> a 3x3 -> m -> nearest, twice as many rows -> y, of 8 rows: with tiles of one row, `a` is
// idle in every second tile.
graph::Graph Upsampling();

// One 5x5 convolution of 6 rows: a tile of one row keeps rows and reads pads above them; the last
// tiles get no row at all.
graph::Graph WideConv();

// One convolution of 1x1 and stride 3, of 9 rows, then one of 3x3: some rows of x are never read.
graph::Graph SkippingConv();

// Two convolutions of 10 rows in tiles of 4, 4 and 2. Rows of x: made 6, 4, 0 and kept 0, 2, 2; of
// m made 5, 4, 1 and kept 0, 2, 2.
//
//     rolling buffer  0 load wa  1 load wb | 2 load x  3 a  4 b  5 store y
//     line buffer     0 load wa  1 load wb | 2 load x  3 restore x, m  4 a  5 save x  6 b  7 save m
//                     8 store y
//     adjacent        0 load wa  1 load wb | 2 load x  3 a  4 save x  5 b  6 save m  7 store y
Plan RollingBufferSerialized();
Plan LineBufferSerialized();
Plan AdjacentSerialized();

// The same in five tiles of 2 with transfers that overlap compute. Rows of x: made 4, 2, 2, 2, 0,
// of m 3, 2, 2, 2, 1; kept 0, 2, 2, 2, 2.
//
//     rolling buffer  0 P | 1 a  2 b | 3 a  4 b | 5 E
//     line buffer     0 P | 1 restore x, m  2 a  3 save x  4 b  5 save m | 6 .. 10 | 11 E
//                     leaves after step 5
//     adjacent        0 P | 1 a  2 save x  3 b  4 save m | 5 .. 8 | 9 E       leaves after step 4
Plan RollingBufferDoubleBuffered();
Plan LineBufferDoubleBuffered();
Plan AdjacentDoubleBuffered();

// WideConv in tiles of one row, pads stored: 0 load w | 1 load x  2 conv  3 save x  4 store y
Plan AdjacentStoredPads();

// The same: 0 load w | 1 load x  2 conv  3 store y
Plan RollingBufferStoredPads();

// Images in tiles of one image and 3 rows, nine of them, transfers that overlap compute.
Plan RollingBufferOfImages();
Plan LineBufferOfImages();

// Heads in tiles of one head and 2 rows, nine of them: keys and values come with every third.
Plan RollingBufferOfHeads();

}  // namespace tessera::plan::execute
