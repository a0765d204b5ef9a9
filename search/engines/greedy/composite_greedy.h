// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "tessera/problem/engine.h"

namespace tessera::search::engines::greedy {

// The greedy engine for buffers at fixed distances (composites.h): composites are placed one by one
// in eight orders, each at the lowest base that no placed one forbids. The first order within the
// capacity is the answer; an order that exceeds it is repeated with the composite that exceeded it
// further in front (squeaky wheel, Joslin and Clements 1999). Answers and units are those of
// GreedyEngine.
std::unique_ptr<problem::Session> OpenCompositeGreedy(const problem::Problem& problem,
                                                      const problem::Ladder* ladder);

}  // namespace tessera::search::engines::greedy
