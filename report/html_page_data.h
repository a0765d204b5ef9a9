#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "tessera/plan/plan.h"

// The files under page/, put into the program when it is built.
namespace tessera::report {

std::string_view PageTemplate();  // HTML with marks {{title}}, {{style}}, {{data}} and {{script}}
std::string_view StyleSheet();
std::string_view Script();

// A plan as the JSON that the page draws from. It refers by index where it can: operators, tensors
// and buffers are arrays. page/plan.js says what is in it.

nlohmann::ordered_json DataOf(const plan::Plan& plan);

// Its parts. memories, loops, steps and buffers of the joint Problem:
void AddMemory(const plan::Plan& plan, nlohmann::ordered_json& data);
// tracks, and for each subgraph its first and last tiles:
void AddTimelines(const plan::Plan& plan, nlohmann::ordered_json& data);

}  // namespace tessera::report
