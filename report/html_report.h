// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "tessera/plan/plan.h"
#include "tessera/plan/timeline.h"

namespace tessera::report {

// The plan as one self-contained HTML page that loads nothing from the network (docs/report.md). It
// shows headline numbers next to the baseline and the lower bounds; the network with its cuts; the
// timeline of the program; and for every subgraph its memory map, its timeline and its costs. Names
// occur as data only, never as markup. Equal plans give equal bytes.
std::string WriteReport(const plan::Plan& plan, const plan::TimelineSource& timeline_of);

// The files in page/, embedded in the program at build time.

std::string_view PageTemplate();  // HTML with marks {{title}}, {{style}}, {{data}} and {{script}}
std::string_view StyleSheet();
std::string_view Script();

// A plan as the JSON that the page draws from. It uses indices as references: operators, tensors
// and buffers are arrays. page/plan.js documents the content.

nlohmann::ordered_json DataOf(const plan::Plan& plan, const plan::TimelineSource& timeline_of);

// Adds the memories, loops, steps and buffers of the joint Problem.
void AddMemory(const plan::Plan& plan, nlohmann::ordered_json& data);
// Adds the tracks and, for each subgraph, its first and last tiles.
void AddTimelines(const plan::Plan& plan, const plan::TimelineSource& timeline_of,
                  nlohmann::ordered_json& data);

// Adds the addresses of tensors in the memories off chip, and when their bytes are needed
// (home_data.cc).
void AddHomes(const plan::Plan& plan, nlohmann::ordered_json& data);

}  // namespace tessera::report
