// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/memory_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/cli/common_options.h"

namespace tessera::cli {
namespace {

using problem::Problem;

constexpr std::string_view kSum = "sum";
constexpr std::string_view kRelative = "relative";

// "sram=64Ki" in two parts; without a name the first is empty.
struct Named {
  std::string name;
  std::string value;
};

Named SplitAtName(const std::string& word) {
  const size_t at = word.rfind('=');
  if (at == std::string::npos) return {"", word};
  return {word.substr(0, at), word.substr(at + 1)};
}

base::Expected<size_t> FindMemory(const Problem& problem, const std::string& name,
                                  std::string_view option) {
  std::vector<std::string_view> names;
  for (const problem::Memory& memory : problem.memories) names.push_back(memory.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  base::Diagnostic fault;
  fault.message = fmt::format("{}: the problem has no memory '{}'", option, name);
  fault.expected = fmt::format("one of: {}", fmt::join(names, ", "));
  if (const std::string_view nearest = base::Nearest(name, names); !nearest.empty())
    fault.hint = fmt::format("did you mean '{}'?", nearest);
  return base::Unexpected(std::move(fault));
}

std::vector<std::string> SplitAtCommas(std::string_view words) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= words.size();) {
    const size_t end = std::min(words.find(',', begin), words.size());
    parts.emplace_back(words.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Writes the numbers of bytes as digits, or says why one is none. A size without a name stands
// alone.
std::string CheckCapacities(std::string& words) {
  std::vector<std::string> checked;
  const std::vector<std::string> parts = SplitAtCommas(words);
  for (const std::string& part : parts) {
    Named capacity = SplitAtName(part);
    if (capacity.name.empty() && parts.size() > 1)
      return fmt::format("'{}' names no memory: expected MEMORY=SIZE,MEMORY=SIZE", part);
    if (std::string wrong = ByteCount()(capacity.value); !wrong.empty()) return wrong;
    checked.push_back(capacity.name.empty() ? capacity.value
                                            : capacity.name + "=" + capacity.value);
  }
  words = fmt::format("{}", fmt::join(checked, ","));
  return "";
}

// "sram=2,tcm" as sram with 2 and tcm with 1.
std::vector<Named> WeightedMemories(std::string_view words) {
  std::vector<Named> memories;
  for (const std::string& word : SplitAtCommas(words))
    memories.push_back(word.find('=') == std::string::npos ? Named{word, "1"} : SplitAtName(word));
  return memories;
}

base::Diagnostic WrongWeight(const Named& weighted) {
  base::Diagnostic fault;
  fault.message =
      fmt::format("--minimize: the weight of memory '{}' is no number above 0", weighted.name);
  fault.found = weighted.value;
  return fault;
}

base::Diagnostic NamedTwice(std::string_view option, const std::string& name) {
  base::Diagnostic fault;
  fault.message = fmt::format("{}: memory '{}' is named twice", option, name);
  return fault;
}

}  // namespace

CLI::Option* MemoryOptions::Declare(CLI::App& app) {
  app.add_option("--capacity", capacities_,
                 "Bytes of the (first) memory, or of memories by name: 384Ki, sram=384Ki,tcm=64Ki")
      ->transform(CLI::Validator(CheckCapacities, "SIZE or MEMORY=SIZE,.."));
  return app.add_flag(
      "--minimize{sum}", minimized_,
      "Look for the least peak within the capacity. Of several memories: the least sum of their "
      "peaks (=sum), of their peaks over their lower bounds (=relative), or the least peaks of "
      "some, with weights or without (=sram, =sram=2,tcm=1)");
}

std::optional<base::Diagnostic> MemoryOptions::ApplyTo(Problem& problem) {
  if (capacities_.empty()) return FindObjective(problem);
  std::set<size_t> given;
  for (const std::string& word : SplitAtCommas(capacities_)) {
    const auto [name, value] = SplitAtName(word);
    const int64_t bytes = std::stoll(value);
    const base::Expected<size_t> memory =
        name.empty() ? size_t{0} : FindMemory(problem, name, "--capacity");
    if (!memory) return memory.error();
    if (!given.insert(*memory).second) return NamedTwice("--capacity", name);
    if (*memory == 0) {
      capacity_ = bytes;
    } else {
      problem.memories[*memory].capacity = bytes;
      sets_others_ = true;
    }
  }
  return FindObjective(problem);
}

std::optional<base::Diagnostic> MemoryOptions::FindObjective(const Problem& problem) {
  if (!Minimizes()) return std::nullopt;
  search::allocate::PeakObjective objective;
  objective.is_relative = minimized_ == kRelative;
  if (minimized_ == kSum || minimized_ == kRelative) {
    objective.weights.assign(problem.memories.size(), 1);
  } else {
    objective.weights.assign(problem.memories.size(), 0);
    for (const Named& weighted : WeightedMemories(minimized_)) {
      const base::Expected<size_t> memory = FindMemory(problem, weighted.name, "--minimize");
      if (!memory) return memory.error();
      const std::optional<double> weight = ParseDecimal(weighted.value);
      if (!weight || !(*weight > 0)) return WrongWeight(weighted);
      if (objective.weights[*memory] > 0) return NamedTwice("--minimize", weighted.name);
      objective.weights[*memory] = *weight;
    }
  }
  const bool is_about_the_first =
      std::all_of(objective.weights.begin() + 1, objective.weights.end(),
                  [](double weight) { return weight == 0; });
  if (!is_about_the_first) objective_ = std::move(objective);
  return std::nullopt;
}

}  // namespace tessera::cli
