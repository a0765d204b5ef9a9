// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/tiled_tensor.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::problem {

namespace {

struct Axis {
  Bytes stride = 0;
  int64_t extent = 0;
};

// Appends the chunk, or extends the last one if they touch.
void Append(std::vector<AddressRange>& chunks, AddressRange chunk) {
  if (!chunks.empty() && chunks.back().end == chunk.begin) {
    chunks.back().end = chunk.end;
  } else {
    chunks.push_back(chunk);
  }
}

// Repeats `block` along the axes, outermost first, by descending strides: addresses ascend.
void Repeat(std::span<const Axis> axes, Bytes at, Bytes block, std::vector<AddressRange>& chunks) {
  if (axes.empty()) return Append(chunks, {at, at + block});
  for (int64_t i = 0; i < axes.front().extent; ++i)
    Repeat(axes.subspan(1), at + i * axes.front().stride, block, chunks);
}

}  // namespace

std::vector<AddressRange> ChunksOf(const StridedBox& box) {
  std::vector<Axis> axes;
  for (size_t axis = 0; axis < box.extents.size(); ++axis) {
    if (box.extents[axis] <= 0) return {};
    if (box.extents[axis] > 1) axes.push_back({box.strides[axis], box.extents[axis]});
  }
  std::sort(axes.begin(), axes.end(),
            [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
  Bytes block = box.element;
  while (!axes.empty() && axes.back().stride == block) {
    block *= axes.back().extent;
    axes.pop_back();
  }
  std::vector<AddressRange> chunks;
  Repeat(axes, box.offset, block, chunks);
  return chunks;
}

Lifespan TiledTensor::Life() const {
  Lifespan life = whole;
  for (const TensorTile& tile : tiles) {
    if (tile.chunks.empty()) continue;
    life.lower = std::min(life.lower, tile.life.lower);
    life.upper = std::max(life.upper, tile.life.upper);
  }
  return life;
}

std::vector<TensorChunk> ChunksOf(const TiledTensor& tensor) {
  std::vector<Bytes> cuts = {0, tensor.size};
  for (const TensorTile& tile : tensor.tiles) {
    for (const AddressRange& chunk : tile.chunks) {
      cuts.push_back(chunk.begin);
      cuts.push_back(chunk.end);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Lifespan> lives(cuts.size() - 1, tensor.whole);
  for (const TensorTile& tile : tensor.tiles) {
    for (const AddressRange& chunk : tile.chunks) {
      auto at = static_cast<size_t>(std::lower_bound(cuts.begin(), cuts.end(), chunk.begin) -
                                    cuts.begin());
      for (; at < lives.size() && cuts[at] < chunk.end; ++at) {
        lives[at].lower = std::min(lives[at].lower, tile.life.lower);
        lives[at].upper = std::max(lives[at].upper, tile.life.upper);
      }
    }
  }
  std::vector<TensorChunk> chunks;
  for (size_t i = 0; i < lives.size(); ++i) {
    if (!chunks.empty() && chunks.back().life == lives[i]) {
      chunks.back().bytes.end = cuts[i + 1];
    } else {
      chunks.push_back({{cuts[i], cuts[i + 1]}, lives[i]});
    }
  }
  return chunks;
}

Bytes GreatestLoad(std::span<const TiledTensor> tensors) {
  std::map<Step, Bytes> changes;
  for (const TiledTensor& tensor : tensors) {
    for (const TensorChunk& chunk : ChunksOf(tensor)) {
      const Bytes bytes = chunk.bytes.end - chunk.bytes.begin;
      changes[chunk.life.lower] += bytes;
      changes[chunk.life.upper] -= bytes;
    }
  }
  Bytes load = 0, greatest = 0;
  for (const auto& [step, change] : changes) greatest = std::max(greatest, load += change);
  return greatest;
}

namespace {

// Joins equally long runs of neighbours, so that at most `most` chunks are left.
std::vector<TensorChunk> Join(const std::vector<TensorChunk>& chunks, size_t most) {
  const size_t together = (chunks.size() + most - 1) / most;
  std::vector<TensorChunk> joined;
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (i % together == 0) {
      joined.push_back(chunks[i]);
      continue;
    }
    joined.back().bytes.end = chunks[i].bytes.end;
    joined.back().life.lower = std::min(joined.back().life.lower, chunks[i].life.lower);
    joined.back().life.upper = std::max(joined.back().life.upper, chunks[i].life.upper);
  }
  return joined;
}

}  // namespace

// The alignment of the memory applies to the bases of tensors. Chunks after the first may lie
// anywhere, so the memory of the composites has no alignment.
TiledProblem ProblemOfChunks(std::span<const TiledTensor> tensors, const Memory& memory) {
  TiledProblem tiled;
  tiled.problem.memories = {memory};
  tiled.problem.memories.front().alignment = 1;
  std::vector<Buffer>& buffers = tiled.problem.buffers;
  for (const TiledTensor& tensor : tensors) {
    const std::vector<TensorChunk> all = ChunksOf(tensor);
    const std::vector<TensorChunk> chunks = Join(all, kMostChunks);
    tiled.exact = tiled.exact && chunks.size() == all.size();
    const size_t first = buffers.size();
    tiled.first_chunk.push_back(first);
    for (const TensorChunk& chunk : chunks) {
      Buffer& buffer = buffers.emplace_back();
      buffer.id = chunks.size() == 1 ? tensor.id
                                     : fmt::format("{}[{}]", tensor.id, buffers.size() - 1 - first);
      buffer.role = tensor.role;
      buffer.size = chunk.bytes.end - chunk.bytes.begin;
      buffer.lifespans = {chunk.life};
      if (chunk.bytes.begin == 0) {
        buffer.alignment = std::lcm(tensor.alignment, memory.alignment);
      } else {
        tiled.problem.relations.push_back({RelationKind::kColocate, static_cast<int>(first),
                                           static_cast<int>(buffers.size()) - 1,
                                           chunk.bytes.begin});
      }
    }
  }
  return tiled;
}

Problem ProblemOfWholes(std::span<const TiledTensor> tensors, const Memory& memory) {
  Problem problem;
  problem.memories = {memory};
  for (const TiledTensor& tensor : tensors) {
    Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = tensor.id;
    buffer.role = tensor.role;
    buffer.size = tensor.size;
    buffer.alignment = tensor.alignment;
    buffer.lifespans = {tensor.Life()};
  }
  return problem;
}

}  // namespace tessera::problem
