// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>
#include <cstdint>
#include <vector>

// The meaning of the steps and buffers of a program: shared by the encoder, which makes programs,
// and by plans, which state them. docs/program.md defines both.
namespace tessera::graph {

enum class StepKind : uint8_t { kPrologue, kLoad, kCompute, kStore, kEpilogue, kCopy };

// The action at a step. kPrologue, kEpilogue: P and E of a double-buffered subgraph. In a
// serialized subgraph the load steps before the pass are kLoad, like those inside it.
struct StepUse {
  StepKind kind = StepKind::kCompute;
  int subgraph = 0;
  int phase = 0;  // of the pass; 0 outside passes
  // kCompute: the operator; kLoad of a slice: its user; kCopy: the operator whose step the copy
  // accompanies; otherwise -1
  int op = -1;
  std::vector<int> transfers;  // tensors that links move at this step, each once, ascending
};

enum class BufferKind : uint8_t {
  kTile,
  kWhole,
  kResident,
  kSlice,
  kScratch,
  kRollingBuffer,
  kLine,
  kHalo,
  kAccumulator
};

// The content of a buffer of the Problem. An index that does not apply is -1.
struct BufferUse {
  BufferKind kind = BufferKind::kTile;
  int subgraph = -1;  // -1: kWhole
  int tensor = -1;    // -1: kScratch, kAccumulator
  int op = -1;        // kSlice, kScratch and kAccumulator: the user
  int phase = 0;
  int slot = 0;  // kSlice
  // clang-tidy 14 takes the comparison with 0 that this implies for one with a null pointer.
  friend auto operator<=>(const BufferUse&,
                          const BufferUse&) = default;  // NOLINT(modernize-use-nullptr)
};

}  // namespace tessera::graph
