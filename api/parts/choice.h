// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/search/choose/choose.h"

namespace tessera::api::parts {

// For one placement, in the units of engines.
inline constexpr int64_t kChoiceBudget = 500'000;

// A choice of buffers and the settings that produced it.
struct ChoiceDocument {
  search::choose::Choice choice;
  problem::Fallbacks fallbacks = {};  // of the problem
  problem::Bytes capacity = 0;
  std::optional<int64_t> seed = {};
  std::optional<double> time_ms = {};  // leave empty if the bytes must be the same in every run
};

// Returns "tessera-choice", version 1 (docs/choose.md).
std::string ChoiceAsJson(const problem::Problem& problem, const ChoiceDocument& document);

// Returns the choice in a few lines of text, with the first of the buffers that are left out.
std::string DescribeChoice(const problem::Problem& problem, const ChoiceDocument& document);

// Return the Problem of the chosen buffers and the fallbacks that replace others, and its
// allocation.
problem::Problem ChosenProblem(const problem::Problem& problem, const ChoiceDocument& document);
problem::Result ChosenPlacement(const problem::Problem& problem, const ChoiceDocument& document);

}  // namespace tessera::api::parts
