// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/operator_kind.h"
#include "tessera/base/vocabulary.h"
#include "tessera/hw_profiles/section_fields.h"

// The engines of a profile: the work that each does in one step, its speed, and its output blocks.
namespace tessera::hw_profiles {

// The number of iterations of each loop that an engine does in one step; 1: not unrolled.
struct Unroll {
  int64_t batch = 1;
  int64_t out_rows = 1;
  int64_t out_columns = 1;
  int64_t out_channels = 1;
  int64_t in_channels = 1;
  int64_t kernel_rows = 1;
  int64_t kernel_columns = 1;
  int64_t kernel_taps = 0;  // of the kernel steps that the two above leave; 0: not unrolled
};

inline constexpr auto kUnrollFields = std::to_array<Field<Unroll>>({
    {"batch", &Unroll::batch, kCounts},
    {"out_rows", &Unroll::out_rows, kCounts},
    {"out_columns", &Unroll::out_columns, kCounts},
    {"out_channels", &Unroll::out_channels, kCounts},
    {"in_channels", &Unroll::in_channels, kCounts},
    {"kernel_rows", &Unroll::kernel_rows, kCounts},
    {"kernel_columns", &Unroll::kernel_columns, kCounts},
    {"kernel_taps", &Unroll::kernel_taps, kCounts, Presence::kOptional},
});

// A second way to unroll the loops of a sum, in place of the numbers in `unroll`.
struct OtherSums {
  int64_t in_channels = 1;
  int64_t kernel_taps = 1;
};

inline constexpr auto kOtherSumsFields = std::to_array<Field<OtherSums>>({
    {"in_channels", &OtherSums::in_channels, kCounts},
    {"kernel_taps", &OtherSums::kernel_taps, kCounts},
});

// The speed of one operator kind on an engine. Kinds with multiply-accumulates take cycles_per_step
// for each step of their unrolled loops (the product over the dimensions of ceil(dim / unroll);
// dimensions that share weights fold: docs/program.md, "Arithmetic"), but not less than their
// output stage, which takes cycles_per_output for each output element. The other kinds have only
// that stage.
struct Throughput {
  base::OperatorKind kind = base::OperatorKind::kConv;
  std::optional<base::DataType> type;  // nullopt: every type that no other entry of the kind names
  Unroll unroll;
  double cycles_per_step = 1;
  double cycles_per_output = 0;
  int64_t start_cycles = 0;  // once for each operator and tile
  // depthwise: the lanes for rows, columns and channels may do outputs of any channel
  bool fold_channels = false;
  // multiply-accumulates: each operator uses these or `unroll`, whichever takes fewer steps
  std::optional<OtherSums> other_sums = {};
  // multiply-accumulates: steps that a set of weights takes at least, however few outputs use it
  int64_t weight_steps = 0;
  // the output stage works on whole groups of so many channels; 0: of one
  int64_t channel_group = 0;
  // conv: where it has stride 2 along columns, two columns of a network input of at most so many
  // channels are one column of twice the channels; 0: never
  int64_t fold_columns = 0;
};

inline constexpr auto kThroughputFields = std::to_array<Field<Throughput>>({
    {"fold_channels", &Throughput::fold_channels, {}, Presence::kOptional},
    {"unroll"},
    {"other_sums"},
    {"cycles_per_step", &Throughput::cycles_per_step, kAmounts},
    {"weight_steps", &Throughput::weight_steps, kCountsOrZero, Presence::kOptional},
    {"cycles_per_output", &Throughput::cycles_per_output, kAmounts},
    {"channel_group", &Throughput::channel_group, kCountsOrZero, Presence::kOptional},
    {"start_cycles", &Throughput::start_cycles, kCycles},
    {"fold_columns", &Throughput::fold_columns, kCountsOrZero, Presence::kOptional},
});

// Returns the fields that an entry for this kind has. The first field is for depthwise convolutions
// only, the next four are for all multiply-accumulates, the last is for convolutions.
constexpr std::span<const Field<Throughput>> ThroughputFieldsOf(base::OperatorKind kind) {
  const std::span<const Field<Throughput>> all = kThroughputFields;
  const size_t begin = kind == base::OperatorKind::kDepthwise ? 0
                       : base::TraitsOf(kind).multiplies      ? 1
                                                              : 5;
  const size_t end = all.size() - (kind == base::OperatorKind::kConv ? 0 : 1);
  return all.subspan(begin, end - begin);
}

struct HostSpeed {           // for operators of every kind and data type
  int64_t start_cycles = 0;  // once for each operator
  double cycles_per_output = 1;
  double cycles_per_mac = 1;
};

inline constexpr auto kHostFields = std::to_array<Field<HostSpeed>>({
    {"start_cycles", &HostSpeed::start_cycles, kCycles},
    {"cycles_per_output", &HostSpeed::cycles_per_output, kAmounts},
    {"cycles_per_mac", &HostSpeed::cycles_per_mac, kAmounts},
});

// The blocks in which an engine makes the result of a convolution without groups or of a depthwise
// convolution, one after the other (docs/program.md, "Output blocks"). A private memory of the
// engine holds the sums of a block and the part of the input that they need, both twice.
struct OutputBlocks {
  int64_t rows = 1;  // at most
  int64_t columns = 1;
  int64_t channels = 1;
  int64_t channel_step = 1;    // blocks of some of the channels have a multiple of it
  int64_t input_channels = 1;  // at most, of an input block; a depthwise convolution: those of the
                               // block
  int64_t input_channel_step = 1;  // an input block has room for a multiple of it
  int64_t buffer_bytes = 0;
  int64_t input_granularity_bytes = 1;  // of the room for two input blocks
  int64_t sum_granularity_bytes = 1;    // of the room for the sums of two blocks
  int64_t sum_bytes = 4;                // of one output
  // the output stage requests the table of a block in parts of so many bytes, each of which waits
  // for the latency of its memory; 0: it does not wait
  int64_t table_request_bytes = 0;
};

inline constexpr FieldRange kBlockExtents = {1, 256};

inline constexpr auto kOutputBlocksFields = std::to_array<Field<OutputBlocks>>({
    {"rows", &OutputBlocks::rows, kBlockExtents, Presence::kRequired},
    {"columns", &OutputBlocks::columns, kBlockExtents, Presence::kRequired},
    {"channels", &OutputBlocks::channels, kBlockExtents, Presence::kRequired},
    {"channel_step", &OutputBlocks::channel_step, kBlockExtents},
    {"input_channels", &OutputBlocks::input_channels, kCounts, Presence::kRequired},
    {"input_channel_step", &OutputBlocks::input_channel_step, kCounts, Presence::kOptional},
    {"buffer_bytes", &OutputBlocks::buffer_bytes, {1, kMostBytes}, Presence::kRequired},
    {"input_granularity_bytes", &OutputBlocks::input_granularity_bytes, kCounts},
    {"sum_granularity_bytes", &OutputBlocks::sum_granularity_bytes, kCounts},
    {"sum_bytes", &OutputBlocks::sum_bytes, kCounts},
    {"table_request_bytes", &OutputBlocks::table_request_bytes, kCountsOrZero, Presence::kOptional},
});

// Limits the block sizes of one operator kind on one engine: rows * columns * channels of a block,
// counted in steps of the lanes and of channel_step. The choice of a tile's block tries all of
// them.
inline constexpr int64_t kMostBlockSizes = int64_t{1} << 16;

struct Engine {
  std::string name;  // also the engine of its accesses, as in a mode's "pe.read"
  std::vector<Throughput> throughputs;
  double mac_pj = 0;
  double operand_pj = 0;  // of the registers, for each operand of a multiply-accumulate
  // operators that run concurrently: those before an operator hide its start
  int outstanding = 1;
  std::optional<double> area_mm2 = {};
  // after it finishes a tile, before it begins the next one of the subgraph
  int64_t idle_cycles_between_tiles = 0;
  std::optional<OutputBlocks> blocks = {};
  // if set, the engine runs what no other engine lists, and lists nothing itself
  std::optional<HostSpeed> host = {};
};

inline constexpr auto kEngineFields = std::to_array<Field<Engine>>({
    {"operators"},
    {"blocks"},
    {"host"},
    {"mac_pj", &Engine::mac_pj, kAmounts},
    {"operand_pj", &Engine::operand_pj, kAmounts, Presence::kOptional},
    {"outstanding", &Engine::outstanding, kCounts},
    {"area_mm2", &Engine::area_mm2, kAmounts, Presence::kOptional},
    {"idle_cycles_between_tiles", &Engine::idle_cycles_between_tiles, kCycles, Presence::kOptional},
});

// The energy of a multiply-accumulate with its operands: two factors and the sum.
inline double MacPicojoules(const Engine& engine) {
  constexpr double kOperands = 3;
  return engine.mac_pj + kOperands * engine.operand_pj;
}

}  // namespace tessera::hw_profiles
