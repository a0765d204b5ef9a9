#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tessera/plan/plan.h"

// A plan as the JSON that the page draws from. It refers by index where it can: operators, tensors and buffers are arrays.
// page/plan.js says what is in it.
namespace tessera::cli::report {

nlohmann::ordered_json DataOf(const plan::Plan& plan);

// Its parts. memories, loops, steps and buffers of the joint Problem:
void AddMemory(const plan::Plan& plan, nlohmann::ordered_json& data);
// tracks, and for each subgraph its first and last tiles:
void AddTimelines(const plan::Plan& plan, nlohmann::ordered_json& data);

}  // namespace tessera::cli::report
