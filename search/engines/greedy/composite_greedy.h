// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "tessera/problem/engine.h"

namespace tessera::search::engines::greedy {

// Opens a session of the greedy engine for buffers at fixed distances (composites.h). It places
// composites one by one in eight orders, each at the lowest base that no placed composite forbids.
// The first order within the capacity is the answer. If an order exceeds the capacity, it is
// repeated with the composite that exceeded it moved towards the front (squeaky wheel, Joslin and
// Clements 1999). Answers and budget units are those of GreedyEngine.
std::unique_ptr<problem::Session> OpenCompositeGreedy(const problem::Problem& problem,
                                                      const problem::Ladder* ladder);

}  // namespace tessera::search::engines::greedy
