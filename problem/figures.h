// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "tessera/problem/problem.h"

// Figures about the buffers of one memory that measure how large and how tight an instance is.
namespace tessera::problem {

struct Spread {
  int64_t least = 0;
  int64_t median = 0;
  int64_t most = 0;
  friend bool operator==(const Spread&, const Spread&) = default;
};

// Births and deaths divide time into sections; in a section the set of live buffers does not
// change. A section is maximal if no adjacent section contains all of its buffers.
struct Figures {
  int64_t buffers = 0;
  int64_t steps = 0;  // at which a buffer lives
  Bytes load = 0;     // from lives alone
  Step load_step = 0;
  double fill = 0;  // the mean load of those steps, as a share of the load; 0 without buffers
  int64_t most_alive = 0;
  double mean_alive = 0;       // over the steps at which a buffer lives
  int64_t pairs = 0;           // of lifespans that share a step
  double density = 0;          // pairs, as a share of all pairs of buffers
  int64_t sections = 0;        // maximal ones
  int64_t parts = 0;           // stretches of time that no buffer connects
  int64_t tight_sections = 0;  // maximal ones with at least kTight of the load
  int64_t core = 0;            // buffers that live in a tight section
  Spread sizes;
  int64_t distinct_sizes = 0;
  Spread lives;         // steps from the first birth to the last death
  Bytes alignment = 1;  // the greatest
  int64_t fixed = 0;    // buffers with fixed offsets
  int64_t holed = 0;    // buffers with gaps in their lives
  int64_t relations = 0;
  int64_t rules = 0;  // of the whole problem
  int64_t costs = 0;  // of the whole problem

  static constexpr double kTight = 0.95;
};

// Cost: O(n log n).
Figures FiguresOf(const Problem& problem, int memory);

// The kinds of instances for which a placement at the load needs no search.
enum class Elementary : uint8_t {
  kNo,
  kDisjoint,  // never two buffers at a time
  kOneSize,   // interval colouring
};
Elementary ElementaryCaseOf(const Problem& problem, const Figures& figures);

// Estimates the work for the least peak and its proof: the decimal logarithm of 1 plus the
// milliseconds of processor time, at most 6. The estimate was fitted to the families of
// problem/generate (docs/generate.md) and does not model relations, rules, costs and fixed offsets.
// It is not a bound.
double PredictedHardness(const Problem& problem, const Figures& figures);

}  // namespace tessera::problem
