// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/memory_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/api/parts/memories.h"
#include "tessera/base/text.h"
#include "tessera/cli/common_options.h"

namespace tessera::cli {
namespace {

using api::parts::kLeastWeight;
using api::parts::kMostWeight;
using api::parts::NamedWeight;
using problem::Problem;

constexpr std::string_view kMinimize = "--minimize";

// The two parts of "sram=64Ki"; without a name the first is empty.
struct Named {
  std::string name;
  std::string value;
};

Named SplitAtName(const std::string& word) {
  const size_t at = word.rfind('=');
  if (at == std::string::npos) return {"", word};
  return {word.substr(0, at), word.substr(at + 1)};
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

// Writes the numbers of bytes as digits, or returns why one is invalid. A size without a name must
// stand alone.
std::string CheckCapacities(std::string& words) {
  std::vector<std::string> checked;
  const std::vector<std::string> parts = SplitAtCommas(words);
  for (const std::string& part : parts) {
    Named capacity = SplitAtName(part);
    if (capacity.name.empty() && (parts.size() > 1 || part.starts_with('=')))
      return fmt::format("'{}' names no memory: expected MEMORY=SIZE,MEMORY=SIZE", part);
    if (std::string wrong = ByteCount()(capacity.value); !wrong.empty()) return wrong;
    checked.push_back(capacity.name.empty() ? capacity.value
                                            : capacity.name + "=" + capacity.value);
  }
  words = fmt::format("{}", fmt::join(checked, ","));
  return "";
}

// Splits "sram=2,tcm" into "sram", "2" and "tcm", "1".
std::vector<Named> SplitWeights(std::string_view words) {
  std::vector<Named> weights;
  for (const std::string& word : SplitAtCommas(words))
    weights.push_back(word.find('=') == std::string::npos ? Named{word, "1"} : SplitAtName(word));
  return weights;
}

// Returns why a weight is invalid.
std::string CheckWeights(const std::string& words) {
  for (const Named& each : SplitWeights(words)) {
    const std::optional<double> weight = ParseDecimal(each.value);
    if (!weight || *weight < kLeastWeight || *weight > kMostWeight)
      return fmt::format("{}: bad weight of memory '{}': expected a number from {} to {}, found {}",
                         kMinimize, base::Printable(each.name), kLeastWeight, kMostWeight,
                         base::Printable(each.value));
  }
  return "";
}

}  // namespace

CLI::Option* MemoryOptions::Declare(CLI::App& app) {
  app.add_option("--capacity", capacities_,
                 "Bytes of the (first) memory, or of memories by name: 384Ki, sram=384Ki,tcm=64Ki")
      ->transform(CLI::Validator(CheckCapacities, "SIZE or MEMORY=SIZE,.."));
  return app
      .add_flag(
          "--minimize{sum}", minimized_,
          "Look for the least peak within the capacity. Of several memories: the least sum of "
          "their peaks (=sum), of their peaks over their lower bounds (=relative), or the least "
          "peaks of some, with weights or without (=sram, =sram=2,tcm=1)")
      ->check(CLI::Validator(CheckWeights, ""));
}

std::optional<base::Diagnostic> MemoryOptions::ApplyTo(Problem& problem) {
  if (auto fault = SetCapacities(problem)) return fault;
  if (!Minimizes()) return std::nullopt;
  std::vector<NamedWeight> weights;
  for (const Named& each : SplitWeights(minimized_))
    weights.emplace_back(each.name, ParseDecimal(each.value).value_or(1));
  auto objective = api::parts::FindObjective(problem, weights, kMinimize);
  if (!objective) return objective.error();
  objective_ = *std::move(objective);
  return std::nullopt;
}

// The first memory keeps the capacity of the file, because a certificate is about the file.
std::optional<base::Diagnostic> MemoryOptions::SetCapacities(Problem& problem) {
  if (capacities_.empty()) return std::nullopt;
  std::vector<api::parts::NamedCapacity> named;
  for (const std::string& word : SplitAtCommas(capacities_)) {
    const auto [name, value] = SplitAtName(word);
    const int64_t bytes = std::stoll(value);
    if (name.empty()) {
      capacity_ = bytes;
      return std::nullopt;
    }
    named.emplace_back(name, bytes);
  }
  problem::Memory& first = problem.memories.front();
  const int64_t stated = first.capacity;
  if (auto fault = api::parts::SetCapacities(problem, named, "--capacity")) return fault;
  for (const auto& [name, bytes] : named) {
    if (name == first.name)
      capacity_ = bytes;
    else
      sets_others_ = true;
  }
  first.capacity = stated;
  return std::nullopt;
}

}  // namespace tessera::cli
