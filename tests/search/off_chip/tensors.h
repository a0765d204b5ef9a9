// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/problem/tiled_tensor.h"

// Tensors of rows, and the bytes that they need step by step, by enumeration of addresses.
namespace tessera::search::off_chip {

using problem::Bytes;
using problem::Lifespan;
using problem::Step;
using problem::StridedBox;
using problem::TensorTile;
using problem::TiledTensor;

// Every address of the box, element by element.
inline std::vector<Bytes> AddressesOf(const StridedBox& box) {
  std::vector<Bytes> addresses = {box.offset};
  for (size_t axis = 0; axis < box.extents.size(); ++axis) {
    std::vector<Bytes> next;
    for (const Bytes at : addresses) {
      for (int64_t i = 0; i < box.extents[axis]; ++i) next.push_back(at + i * box.strides[axis]);
    }
    addresses = std::move(next);
  }
  std::vector<Bytes> bytes;
  for (const Bytes at : addresses) {
    for (Bytes i = 0; i < box.element; ++i) bytes.push_back(at + i);
  }
  return bytes;
}

// Whether byte `at` of the tensor is needed at the step.
inline bool NeedsByte(const TiledTensor& tensor, Bytes at, Step step) {
  Lifespan life = tensor.whole;
  for (const TensorTile& tile : tensor.tiles) {
    for (const problem::AddressRange& chunk : tile.chunks) {
      if (at < chunk.begin || chunk.end <= at) continue;
      life.lower = std::min(life.lower, tile.life.lower);
      life.upper = std::max(life.upper, tile.life.upper);
    }
  }
  return life.lower <= step && step < life.upper;
}

// Whether two of the tensors need one byte of the memory at one step.
inline bool Collide(const std::vector<TiledTensor>& tensors, const std::vector<Bytes>& bases) {
  for (size_t a = 0; a < tensors.size(); ++a) {
    for (size_t b = a + 1; b < tensors.size(); ++b) {
      for (Bytes at = 0; at < tensors[a].size; ++at) {
        const Bytes other = bases[a] + at - bases[b];
        if (other < 0 || other >= tensors[b].size) continue;
        const Lifespan x = tensors[a].Life(), y = tensors[b].Life();
        for (Step step = std::max(x.lower, y.lower); step < std::min(x.upper, y.upper); ++step) {
          if (NeedsByte(tensors[a], at, step) && NeedsByte(tensors[b], other, step)) return true;
        }
      }
    }
  }
  return false;
}

// A chain: tensor i is written row by row while tensor i - 1 is read, and both may have halos.
inline std::vector<TiledTensor> RandomTensors(base::Random& random) {
  std::vector<TiledTensor> tensors;
  Step step = 0;
  const auto count = random.Uniform(2, 4);
  for (int64_t i = 0; i < count; ++i) {
    TiledTensor& tensor = tensors.emplace_back();
    tensor.id = "t" + std::to_string(i);
    const Bytes planes = random.Uniform(1, 2), rows = random.Uniform(1, 4),
                row = random.Uniform(1, 2);
    tensor.size = planes * rows * row;
    const auto add = [&](Bytes first, Bytes end, Lifespan life) {
      tensor.tiles.push_back(
          {ChunksOf(StridedBox{{planes, end - first, row}, {rows * row, row, 1}, first * row, 1}),
           life});
    };
    const Step lag = random.Uniform(0, 2);
    const Step whole = step + rows + lag;
    tensor.whole = {whole, whole + 1};
    for (Bytes r = 0; r < rows; ++r) {
      add(r, r + 1, {step + lag + r, whole + 1});
      add(std::max<Bytes>(0, r - random.Uniform(0, 1)), r + 1,
          {whole, whole + 1 + r + random.Uniform(0, 1)});
    }
    step = whole;
  }
  return tensors;
}

}  // namespace tessera::search::off_chip
