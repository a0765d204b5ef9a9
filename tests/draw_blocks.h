// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/base/random.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::hw_profiles {

// How an engine sums: images at once, taps of a kernel together, another form of sums, sets of
// weights that take time of their own, groups of channels in the output stage.
inline void DrawSums(base::Random& random, Throughput& throughput) {
  if (random.Chance(0.3)) throughput.channel_group = random.Uniform(2, 4);
  if (!base::TraitsOf(throughput.kind).multiplies) return;
  if (random.Chance(0.5)) throughput.unroll.kernel_taps = random.Uniform(1, 4);
  if (random.Chance(0.5)) throughput.other_sums = {random.Uniform(1, 4), random.Uniform(1, 4)};
  if (random.Chance(0.5)) throughput.weight_steps = random.Uniform(1, 6);
  if (random.Chance(0.3)) throughput.unroll.batch = random.Uniform(2, 4);
  if (throughput.kind == base::OperatorKind::kConv && random.Chance(0.5))
    throughput.fold_columns = random.Uniform(1, 8);
}

// Output blocks; sometimes too few bytes for any.
inline void DrawBlocks(base::Random& random, Engine& engine) {
  OutputBlocks& blocks = engine.blocks.emplace();
  blocks.rows = random.Uniform(1, 6);
  blocks.columns = random.Uniform(1, 6);
  blocks.channels = random.Uniform(1, 6);
  blocks.channel_step = random.Uniform(1, blocks.channels);
  blocks.input_channels = random.Uniform(1, 4);
  if (random.Chance(0.4)) blocks.input_channel_step = random.Uniform(1, blocks.input_channels);
  blocks.buffer_bytes = random.Chance(0.1) ? 1 : random.Uniform(20, 2'000);
  if (random.Chance(0.5)) blocks.input_granularity_bytes = random.Uniform(1, 64);
  if (random.Chance(0.5)) blocks.sum_granularity_bytes = random.Uniform(1, 64);
  blocks.sum_bytes = random.Uniform(1, 4);
  if (random.Chance(0.4)) blocks.table_request_bytes = random.Uniform(1, 8);
}

}  // namespace tessera::hw_profiles
