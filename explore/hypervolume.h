// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/explore/pareto.h"

// The volume that points dominate: the measure of how good a front is.
namespace tessera::explore {

// The volume of what the points dominate below `reference`, a point that none of them should
// exceed; coordinates beyond it count nothing. All are minimised. Slices along the last axis
// (While, Hingston, Barone and Huband, "A faster algorithm for calculating hypervolume", 2006).
// Cost: n^(d-1) for n points of d coordinates.
double Hypervolume(std::vector<Values> points, const Values& reference);

// Without those that another one is at most equal to in every coordinate; of equal ones, the first.
std::vector<Values> WithoutDominated(const std::vector<Values>& points);

}  // namespace tessera::explore
