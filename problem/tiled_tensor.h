// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tessera/problem/problem.h"

// Tensors that are written and read tile by tile in an off-chip memory.
//
// A tile of a tensor is seldom one range of addresses. In row-major order, rows 2 and 3 of both
// planes of a 2 x 4 x 8 tensor are two chunks:
//
//     plane 0                 plane 1
//     | 0  1  2  3 |          | 0  1  2  3 |       rows
//            [----]                  [----]        chunks: bytes [16, 32) and [48, 64)
//
// A byte is needed from the first tile that writes it to the last that reads it, so another tensor
// may use a chunk as soon as that chunk was read for the last time, although the rest of its tensor
// still lives. (A. Kvochko et al., "Off-Chip Memory Allocation for Neural Processing Units", IEEE
// Access 2024, call this tile-aware.)
namespace tessera::problem {

// A box of a tensor in memory, by axis.
struct StridedBox {
  std::vector<int64_t> extents;  // elements
  std::vector<Bytes> strides;    // from one index to the next, positive
  Bytes offset = 0;              // of the first element
  Bytes element = 1;             // bytes of one
};

// Returns the bytes of the box as ascending ranges, as few as possible. Elements must not overlap;
// axes may come in any order. Empty if an extent is 0. Cost: linear in the chunks before the
// innermost ones are joined.
std::vector<AddressRange> ChunksOf(const StridedBox& box);

// The bytes of one tile, and the steps from its first use to one past its last use.
struct TensorTile {
  std::vector<AddressRange> chunks;  // from the base of the tensor, ascending, disjoint
  Lifespan life;
};

struct TiledTensor {
  std::string id;
  std::string role;
  Bytes size = 1;
  Bytes alignment = 1;            // of its base
  Lifespan whole;                 // all bytes live then; at least one step
  std::vector<TensorTile> tiles;  // of its maker, then of its readers

  // Returns the steps from the first to the last at which a byte lives.
  Lifespan Life() const;
};

// A part of a tensor whose bytes live at the same steps.
struct TensorChunk {
  AddressRange bytes;
  Lifespan life;
};

// Returns the bytes of the tensor as ascending chunks. A byte lives from the first to the last step
// at which the whole tensor or a tile with this byte lives. Neighbours with equal lives form one
// chunk.
std::vector<TensorChunk> ChunksOf(const TiledTensor& tensor);

// The most bytes that live at one step: no placement has a lower peak.
Bytes GreatestLoad(std::span<const TiledTensor> tensors);

// Returns the tensors as composite buffers: one buffer for each chunk, tied to the first one by
// kColocate relations. Chunk i of tensor "x" has the id "x" if it is the only one, else "x[i]". If
// a tensor has more chunks than kMostChunks, neighbours become one buffer, which lives as long as
// any of them.
inline constexpr size_t kMostChunks = 2'048;
struct TiledProblem {
  Problem problem;
  std::vector<size_t> first_chunk;  // by tensor: its buffer, which lies at the tensor's base
  // No chunks were joined: if `problem` has no placement, then the tensors have none.
  bool exact = true;
};
TiledProblem ProblemOfChunks(std::span<const TiledTensor> tensors, const Memory& memory);

// The tensors as plain buffers that live as long as any of their tiles.
Problem ProblemOfWholes(std::span<const TiledTensor> tensors, const Memory& memory);

}  // namespace tessera::problem
