// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tessera/base/json_document.h"
#include "tessera/base/text.h"
#include "tessera/report/text_table.h"
#include "tessera/search/choose/items.h"

namespace tessera::api::parts {

using nlohmann::ordered_json;
using problem::Problem;
using search::choose::Choice;

namespace {

bool HasPlacement(const Choice& choice) {
  return choice.status == problem::Status::kOptimal || choice.status == problem::Status::kFeasible;
}

// Returns the buffers that are neither placed nor replaced by a fallback.
std::vector<std::string_view> LeftOut(const Problem& problem, const Choice& choice) {
  std::vector<std::string_view> ids;
  for (size_t i = 0; i < choice.chosen.size(); ++i) {
    if (!choice.chosen[i] && !choice.stands_in[i]) ids.emplace_back(problem.buffers[i].id);
  }
  return ids;
}

std::vector<std::string_view> Replaced(const Problem& problem, const Choice& choice) {
  std::vector<std::string_view> ids;
  for (size_t i = 0; i < choice.stands_in.size(); ++i) {
    if (choice.stands_in[i]) ids.emplace_back(problem.buffers[i].id);
  }
  return ids;
}

// Returns a line that names the first ones; empty if there are none.
std::string Names(std::string_view title, const std::vector<std::string_view>& ids) {
  static constexpr size_t kMostNamed = 12;
  if (ids.empty()) return "";
  std::vector<std::string> named;
  for (size_t i = 0; i < std::min(ids.size(), kMostNamed); ++i)
    named.push_back(base::Printable(ids[i]));
  const std::vector<std::string_view> views(named.begin(), named.end());
  std::string text = fmt::format("{:<13}{}", title, base::Join(views));
  if (ids.size() > kMostNamed)
    text += fmt::format(", and {} more (--format json names all)", ids.size() - kMostNamed);
  return text + '\n';
}

search::choose::Part ChosenPart(const Problem& problem, const ChoiceDocument& document) {
  const search::choose::Items items = search::choose::FindItems(problem, 0);
  std::vector<bool> chosen;
  for (const search::choose::Item& item : items.all)
    chosen.push_back(document.choice.chosen[static_cast<size_t>(item.buffers.front())]);
  return PartOf(problem, items, chosen, document.fallbacks);
}

ordered_json FallbacksAsJson(const Problem& problem, const ChoiceDocument& document) {
  ordered_json json = ordered_json::object();
  for (size_t i = 0; i < document.fallbacks.size(); ++i) {
    if (!document.choice.stands_in[i]) continue;
    const problem::Fallback& fallback = *document.fallbacks[i];
    json[problem.buffers[i].id] = {
        {"memory", problem.memories[static_cast<size_t>(fallback.memory)].name},
        {"size", fallback.size},
        {"offset", document.choice.offsets[i]}};
  }
  return json;
}

}  // namespace

std::string ChoiceAsJson(const Problem& problem, const ChoiceDocument& document) {
  const Choice& choice = document.choice;
  ordered_json json;
  json["format"] = "tessera-choice";
  json["version"] = 1;
  if (!problem.name.empty()) json["problem"] = problem.name;
  json["status"] = NameOf(choice.status);
  json["capacity"] = document.capacity;
  if (HasPlacement(choice)) {
    json["value"] = choice.value;
    json["bound"] = choice.bound;
    json["gap"] = choice.bound - choice.value;
  }
  if (!choice.engine.empty()) json["engine"] = choice.engine;
  if (!choice.reason.empty()) json["reason"] = choice.reason;
  if (document.seed) json["seed"] = *document.seed;
  if (document.time_ms) json["time_ms"] = *document.time_ms;
  if (HasPlacement(choice)) {
    ordered_json::object_t offsets;
    for (size_t i = 0; i < choice.chosen.size(); ++i) {
      if (choice.chosen[i])
        offsets.ordered_json::object_t::Container::emplace_back(problem.buffers[i].id,
                                                                choice.offsets[i]);
    }
    json["offsets"] = std::move(offsets);
    if (!document.fallbacks.empty()) json["fallbacks"] = FallbacksAsJson(problem, document);
    json["left_out"] = ordered_json::array();
    for (const std::string_view id : LeftOut(problem, choice)) json["left_out"].push_back(id);
  }
  return base::WriteJson(json);
}

std::string DescribeChoice(const Problem& problem, const ChoiceDocument& document) {
  const Choice& choice = document.choice;
  std::string text = fmt::format("status       {}\n", NameOf(choice.status));
  if (HasPlacement(choice)) {
    text +=
        fmt::format("placed       {} of {} buffers\n",
                    report::Grouped(std::count(choice.chosen.begin(), choice.chosen.end(), true)),
                    report::Grouped(static_cast<int64_t>(problem.buffers.size())));
  }
  text += fmt::format("capacity     {}\n", report::Grouped(document.capacity));
  if (HasPlacement(choice)) {
    const int64_t gap = choice.bound - choice.value;
    const double percent =
        choice.bound > 0 ? 100.0 * static_cast<double>(gap) / static_cast<double>(choice.bound) : 0;
    text += fmt::format("value        {}\n", report::Grouped(choice.value));
    text += fmt::format("bound        {}\n", report::Grouped(choice.bound));
    text += fmt::format("gap          {} ({:.2f} %)\n", report::Grouped(gap), percent);
  }
  if (!choice.engine.empty()) text += fmt::format("engine       {}\n", choice.engine);
  if (document.time_ms) text += fmt::format("time_ms      {:.3f}\n", *document.time_ms);
  if (!choice.reason.empty())
    text += fmt::format("reason       {}\n", base::Printable(choice.reason));
  return text + Names("fallbacks", Replaced(problem, choice)) +
         Names("left out", LeftOut(problem, choice));
}

Problem ChosenProblem(const Problem& problem, const ChoiceDocument& document) {
  return ChosenPart(problem, document).problem;
}

problem::Result ChosenPlacement(const Problem& problem, const ChoiceDocument& document) {
  const search::choose::Part part = ChosenPart(problem, document);
  problem::Result result;
  result.status = problem::Status::kFeasible;
  result.engine = document.choice.engine;
  problem::Allocation& allocation = result.allocation.emplace();
  for (const int buffer : part.buffers)
    allocation.offsets.push_back(document.choice.offsets[static_cast<size_t>(buffer)]);
  allocation.modes = document.choice.modes;
  result.peak = PeakOf(part.problem, allocation);
  return result;
}

}  // namespace tessera::api::parts
