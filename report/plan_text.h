// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/plan.h"

namespace tessera::report {

// The plan as tables for a terminal: subgraphs, totals next to the baseline and the lower bounds,
// and notes.
std::string DescribePlan(const plan::Plan& plan, double time_ms);

// For each home outside the tile memory its off-chip peak, with the lower bound, in words.
std::vector<std::string> DescribePeaksAtHome(const plan::Plan& plan);

// The tiles of each operator with their arithmetic as CSV (docs/costs.md): operator, tile, engine,
// cycles, pj, signature, tiles (how many there are), source (`model` or `measured`).
std::string TilesAsCsv(const plan::Plan& plan);

// "note: ..." as a line. Notes that list every node of a file are for programs to read; a terminal
// shows how they begin.
std::string NoteLine(const std::string& note);

// The output of `tessera plan --pareto`.

// A table of the points, each with the options that reproduce its plan.
std::string DescribeFront(const plan::PartitionFront& front, double time_ms);

// The same as a `tessera-front` document.
std::string FrontAsJson(const plan::PartitionFront& front, double time_ms);

// The changes from one plan to another and their cost, as `tessera diff` prints them.
std::string DifferenceAsText(const plan::Plan& a, const plan::Plan& b,
                             const plan::files::Difference& difference);
std::string DifferenceAsJson(const plan::Plan& a, const plan::Plan& b,
                             const plan::files::Difference& difference);

}  // namespace tessera::report
