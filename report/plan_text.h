// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/plan.h"

namespace tessera::report {

// Returns the plan as tables for a terminal: subgraphs, totals next to the baseline and the lower
// bounds, and notes.
std::string DescribePlan(const plan::Plan& plan, double time_ms);

// Returns the known error of the plan's profile in words; empty if the profile states none.
std::string DescribeKnownError(const plan::Plan& plan);

// Returns, for each home outside the tile memory, its off-chip peak with the lower bound, in words.
std::vector<std::string> DescribePeaksAtHome(const plan::Plan& plan);

// Returns the tiles of each operator with their arithmetic as CSV (docs/costs.md): operator, tile,
// engine, cycles, pj, signature, tiles (their number), source (`model` or `measured`).
std::string TilesAsCsv(const plan::Plan& plan);

// Returns "note: ..." as a line. A long note, such as a list of all nodes of a file, is shortened.
std::string NoteLine(const std::string& note);

// The output of `tessera plan --pareto`.

// A table of the points, each with the options that reproduce its plan.
std::string DescribeFront(const plan::PartitionFront& front, double time_ms);

// Returns the same front as a `tessera-front` document.
std::string FrontAsJson(const plan::PartitionFront& front, double time_ms);

// Return the changes from one plan to another and their cost, as `tessera diff` prints them.
std::string DifferenceAsText(const plan::Plan& a, const plan::Plan& b,
                             const plan::files::Difference& difference);
std::string DifferenceAsJson(const plan::Plan& a, const plan::Plan& b,
                             const plan::files::Difference& difference);

}  // namespace tessera::report
