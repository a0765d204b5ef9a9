// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/explore/pareto.h"

// The volume that points dominate, which measures how good a front is.
namespace tessera::explore {

// Returns the volume of the region that the points dominate below `reference`; points that are not
// below it in every coordinate are ignored. All coordinates are minimised. The algorithm cuts
// slices along the last axis (While, Hingston, Barone and Huband, "A faster algorithm for
// calculating hypervolume", 2006). Cost: n^(d-1) for n points of d coordinates.
double Hypervolume(std::vector<Values> points, const Values& reference);

// Returns the points without those that another point equals or undercuts in every coordinate; of
// equal points, the first stays.
std::vector<Values> WithoutDominated(const std::vector<Values>& points);

}  // namespace tessera::explore
