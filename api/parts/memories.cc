// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/memories.h"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/base/text.h"

namespace tessera::api::parts {

using problem::Problem;
using search::allocate::PeakObjective;

namespace {

base::Diagnostic NamedTwice(std::string_view option, const std::string& name) {
  base::Diagnostic fault;
  fault.message = fmt::format("{}: memory '{}' is named twice", option, name);
  return fault;
}

base::Diagnostic OutOfRange(std::string_view option, const std::string& what, std::string expected,
                            std::string found) {
  base::Diagnostic fault;
  fault.message = fmt::format("{}: {}", option, what);
  fault.expected = std::move(expected);
  fault.found = std::move(found);
  return fault;
}

bool IsAll(const std::vector<NamedWeight>& weights, std::string_view word) {
  return weights.size() == 1 && weights[0].first == word && weights[0].second == 1;
}

base::Expected<std::vector<double>> WeightsByMemory(const Problem& problem,
                                                    const std::vector<NamedWeight>& weights,
                                                    std::string_view option) {
  std::vector<double> by_memory(problem.memories.size(), 0);
  for (const auto& [name, weight] : weights) {
    const base::Expected<size_t> memory = FindMemory(problem, name, option);
    if (!memory) return base::Unexpected(memory.error());
    if (!(kLeastWeight <= weight && weight <= kMostWeight))
      return base::Unexpected(
          OutOfRange(option, fmt::format("the weight of memory '{}' is out of range", name),
                     fmt::format("a number from {} to {}", base::NumberText(kLeastWeight),
                                 base::NumberText(kMostWeight)),
                     base::NumberText(weight)));
    if (by_memory[*memory] > 0) return base::Unexpected(NamedTwice(option, name));
    by_memory[*memory] = weight;
  }
  return by_memory;
}

}  // namespace

base::Expected<size_t> FindMemory(const Problem& problem, const std::string& name,
                                  std::string_view option) {
  std::vector<std::string_view> names;
  for (const problem::Memory& memory : problem.memories) names.emplace_back(memory.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  base::Diagnostic fault;
  fault.message = fmt::format("{}: the problem has no memory '{}'", option, name);
  const bool is_unnamed = names.size() == 1 && names[0].empty();
  fault.expected =
      is_unnamed ? "a number alone: the memory has no name" : "one of: " + base::Join(names);
  fault.hint = base::DidYouMean(name, names);
  return base::Unexpected(std::move(fault));
}

std::optional<base::Diagnostic> SetCapacities(Problem& problem,
                                              const std::vector<NamedCapacity>& capacities,
                                              std::string_view option) {
  std::vector<bool> given(problem.memories.size());
  for (const auto& [name, bytes] : capacities) {
    const base::Expected<size_t> memory = FindMemory(problem, name, option);
    if (!memory) return memory.error();
    if (bytes < 0 || bytes > base::kMaxTotal)
      return OutOfRange(option, fmt::format("the capacity of memory '{}' is out of range", name),
                        "bytes from 0 to 4Ei", std::to_string(bytes));
    if (given[*memory]) return NamedTwice(option, name);
    given[*memory] = true;
    problem.memories[*memory].capacity = bytes;
  }
  return std::nullopt;
}

base::Expected<std::optional<PeakObjective>> FindObjective(const Problem& problem,
                                                           const std::vector<NamedWeight>& weights,
                                                           std::string_view option) {
  PeakObjective objective;
  objective.is_relative = IsAll(weights, kRelativePeaks);
  if (objective.is_relative || IsAll(weights, kSumOfPeaks)) {
    objective.weights.assign(problem.memories.size(), 1);
  } else {
    base::Expected<std::vector<double>> by_memory = WeightsByMemory(problem, weights, option);
    if (!by_memory) return base::Unexpected(by_memory.error());
    objective.weights = *std::move(by_memory);
  }
  const bool is_about_the_first =
      std::all_of(objective.weights.begin() + 1, objective.weights.end(),
                  [](double weight) { return weight == 0; });
  if (is_about_the_first) return std::nullopt;
  return objective;
}

}  // namespace tessera::api::parts
