// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "tessera/encoder/formulation/backend.h"

namespace tessera::encoder::formulation {

// The meaning of "at least `held` of the first `among` literals hold". Constants are not counted.
using Tally = std::function<Meaning(int held, int among)>;

// Requires that at most `most` of the literals hold; most >= 0. `tally`, if given, explains the
// counts. Cost: about 2 * n * most clauses and n * most variables.
void AddAtMost(ClauseSink& sink, std::span<const Literal> literals, int most,
               const Tally& tally = {});

// A literal and its weight when it holds; weight >= 1.
struct Weighted {
  Literal literal;
  int64_t weight = 1;
};

// Requires that the weights of the literals that hold add up to at most `limit` >= 0. Unit
// propagation alone makes every literal false that would exceed the limit. Adds nothing and returns
// false if that needs more than `most_nodes` nodes of the diagram (see cardinality.cc). Each node
// costs a variable and two clauses.
bool AddSumAtMost(ClauseSink& sink, std::span<const Weighted> terms, int64_t limit,
                  size_t most_nodes);

}  // namespace tessera::encoder::formulation
