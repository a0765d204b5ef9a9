// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/problem/problem.h"

// Families of allocation instances, drawn from a seed. Benchmarks and tests need any number of
// problems of known nature. The same arguments lead to the same Problem on every machine. Each
// Problem has one memory, and buffers b0, b1, ... of alignment 1.
namespace tessera::problem::generate {

struct PackingShape {
  int buffers = 80;
  Step steps = 100;
  Bytes capacity = 1024;
};

// *perfect*: the rectangle steps x capacity, cut by guillotine cuts at random places into that many
// buffers. Every step is full: the load is the capacity everywhere, and the Problem is feasible
// without a byte to spare. Needs buffers <= steps * capacity.
Problem MakePerfect(const PackingShape& shape, uint64_t seed);

// A perfect packing: the Problem, and the offset of each buffer, which the Problem does not state.
struct KnownPacking {
  Problem problem;
  std::vector<Bytes> offsets;
};
KnownPacking MakePerfectPacking(const PackingShape& shape, uint64_t seed);

// *broken*: a disturbed perfect packing. The generator makes as many random moves as there are
// buffers; each move shifts up to half of one buffer's size to another buffer. Then 20 growths for
// each buffer lengthen a life by one step at either end. A change that would lift the load of a
// step above the capacity is not made. Some of the Problems are feasible, some are not, and the
// load does not decide which. Greedy orders solve none of 25 with 80 buffers.
Problem MakeBroken(const PackingShape& shape, uint64_t seed);

// *flat*: lives of exponential width (mean 0.3 of 8 to 24 steps, drawn) from random starts, each
// cut off where a step would be too full. Sizes are uniform from 0.3 to 1.9 times the size that
// makes an average step full. The capacity is the load, 64 KiB at most, or a byte for each buffer.
// A buffer that finds no space even for one step is shrunk until it does, so fewer buffers than
// requested come only when all steps are full. Greedy orders solve a quarter of those with 20
// buffers, and one of 100 with 30 to 60.
Problem MakeFlat(int buffers, uint64_t seed);

// *random*: sizes log-uniform from 64 B to 16 MiB, lives log-uniform up to 1000 steps, starts
// uniform over a horizon in which `concurrency` buffers live at a step on average. The capacity
// holds them all side by side.
Problem MakeRandom(int buffers, double concurrency, uint64_t seed);

// *log-uniform*: as many steps as buffers, starts uniform over them. Sizes are log-uniform
// multiples of 64 B up to 16 MiB; lives are log-uniform up to the length for which `alive` buffers
// live at a step on average. The capacity holds them all side by side.
Problem MakeLogUniform(int buffers, double alive, uint64_t seed);

// *equal*: lives as in *log-uniform*, and one size for all buffers. Interval colouring meets the
// load. The capacity holds them all side by side.
Problem MakeEqual(int buffers, double alive, uint64_t seed);

// *disjoint*: at most one buffer lives at each step. Lives are uniform from 1 to 16 steps, sizes as
// in *log-uniform*. The capacity holds the largest.
Problem MakeDisjoint(int buffers, uint64_t seed);

// *compiler-like*: a chain of operators. Each result lives until the next operator has read it;
// some, the skips, live longer. Sizes fall and rise by powers of two along the chain. Weights are
// double-buffered, loaded one step ahead of their use. The capacity holds all buffers side by side.
// `buffers` >= 2.
Problem MakeCompilerLike(int buffers, uint64_t seed);

struct BankedShape {
  int buffers = 40;
  Step steps = 20;
  int banks = 8;  // of equal size
  int modes = 4;
  int slack_percent = 10;  // of the capacity over the heaviest step
};

// *banked*: a chain of operators whose results and constants share a memory of banks (banked.cc).
// In each mode a bank allows reads, writes, both or neither, at random. For each step some mode
// serves the buffers accessed there, as long as nothing else is placed. Sizes are multiples of 64
// bytes and at most a bank; four of five buffers must lie in one bank. Some Problems are feasible,
// some are not. All numbers of the shape are at least 1.
Problem MakeBanked(const BankedShape& shape, uint64_t seed);

}  // namespace tessera::problem::generate
