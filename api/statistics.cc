// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <tessera/lists.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/api/content.h"
#include "tessera/base/json_document.h"
#include "tessera/base/text.h"
#include "tessera/problem/figures.h"

// Figures about a list of buffers, as values, as text and as JSON.
namespace tessera::api {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kElementaryWords = {"no", "disjoint", "one size"};

std::string_view WordOf(double hardness) {
  if (hardness < 1.5) return "at once";
  if (hardness < 3) return "easy";
  return hardness < 4.5 ? "hard" : "very hard";
}

Spread AsSpread(const problem::Spread& from) { return {from.least, from.median, from.most}; }

double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

MemoryStatistics Describe(const problem::Problem& problem, int memory) {
  const problem::Figures f = FiguresOf(problem, memory);
  MemoryStatistics found;
  found.memory = problem.memories[static_cast<size_t>(memory)].name;
  found.buffers = f.buffers;
  found.steps = f.steps;
  found.load = f.load;
  found.load_step = f.load_step;
  found.fill = f.fill;
  found.most_alive = f.most_alive;
  found.mean_alive = f.mean_alive;
  found.pairs = f.pairs;
  found.density = f.density;
  found.sections = f.sections;
  found.tight_sections = f.tight_sections;
  found.core = f.core;
  found.parts = f.parts;
  found.sizes = AsSpread(f.sizes);
  found.distinct_sizes = f.distinct_sizes;
  found.lives = AsSpread(f.lives);
  found.alignment = f.alignment;
  found.fixed_offsets = f.fixed;
  found.lives_with_gaps = f.holed;
  found.relations = f.relations;
  found.rules = f.rules;
  found.costs = f.costs;
  found.elementary = kElementaryWords[static_cast<size_t>(ElementaryCaseOf(problem, f))];
  found.hardness = PredictedHardness(problem, f);
  found.predicted = WordOf(Rounded(found.hardness));
  return found;
}

ordered_json AsJson(const Spread& spread) {
  return {{"least", spread.least}, {"median", spread.median}, {"most", spread.most}};
}

ordered_json AsJson(const MemoryStatistics& of) {
  ordered_json json;
  json["memory"] = of.memory;
  json["buffers"] = of.buffers;
  json["steps"] = of.steps;
  json["load"] = of.load;
  json["load_step"] = of.load_step;
  json["fill"] = Rounded(of.fill);
  json["most_alive"] = of.most_alive;
  json["mean_alive"] = Rounded(of.mean_alive);
  json["pairs"] = of.pairs;
  json["density"] = Rounded(of.density);
  json["sections"] = of.sections;
  json["tight_sections"] = of.tight_sections;
  json["core"] = of.core;
  json["parts"] = of.parts;
  json["sizes"] = AsJson(of.sizes);
  json["distinct_sizes"] = of.distinct_sizes;
  json["lives"] = AsJson(of.lives);
  json["alignment"] = of.alignment;
  json["fixed_offsets"] = of.fixed_offsets;
  json["lives_with_gaps"] = of.lives_with_gaps;
  json["relations"] = of.relations;
  json["rules"] = of.rules;
  json["costs"] = of.costs;
  json["elementary"] = of.elementary;
  json["hardness"] = Rounded(of.hardness);
  json["predicted"] = of.predicted;
  return json;
}

std::string LineOf(std::string_view name, const std::string& text) {
  return fmt::format("{:<16} {}\n", name, text);
}

std::string TextOf(const Spread& spread) {
  return fmt::format("{} to {}, median {}", spread.least, spread.most, spread.median);
}

std::string AsText(const MemoryStatistics& of) {
  std::string text;
  if (!of.memory.empty()) text += LineOf("memory", base::Printable(of.memory));
  text += LineOf("buffers", fmt::format("{}, at most {} alive, {:.1f} on average", of.buffers,
                                        of.most_alive, of.mean_alive));
  text += LineOf("load", fmt::format("{} bytes, first at step {}; the mean over {} steps is "
                                     "{:.1f} % of it",
                                     of.load, of.load_step, of.steps, 100 * of.fill));
  text += LineOf("density", fmt::format("{} pairs live together, {:.2f} % of all", of.pairs,
                                        100 * of.density));
  text += LineOf("sections",
                 fmt::format("{} maximal ones in {} parts; {} within 5 % of the load, where {} "
                             "buffers live",
                             of.sections, of.parts, of.tight_sections, of.core));
  text += LineOf("sizes", fmt::format("{}; {} distinct", TextOf(of.sizes), of.distinct_sizes));
  text += LineOf("lives", TextOf(of.lives));
  const auto add_count = [&](std::string_view name, int64_t count) {
    if (count > 0) text += LineOf(name, std::to_string(count));
  };
  if (of.alignment > 1) add_count("alignment", of.alignment);
  add_count("fixed offsets", of.fixed_offsets);
  add_count("lives with gaps", of.lives_with_gaps);
  add_count("relations", of.relations);
  add_count("rules", of.rules);
  add_count("costs", of.costs);
  if (of.elementary != kElementaryWords[0])
    text += LineOf("elementary", of.elementary == kElementaryWords[1]
                                     ? "buffers never live together: the largest is the peak"
                                     : "one size: interval colouring meets the load");
  text += LineOf("hardness", fmt::format("{:.1f} of 6, {} (a guess of log10 of the milliseconds "
                                         "to the least peak and its proof)",
                                         Rounded(of.hardness), of.predicted));
  return text;
}

Result<Statistics> Describe(const Problem::Content& content) {
  if (auto error = RefuseConstraints(content, "StatisticsOf")) return *std::move(error);
  const problem::Problem& problem = content.document.problem;
  Statistics all;
  ordered_json memories = ordered_json::array();
  for (size_t i = 0; i < problem.memories.size(); ++i) {
    const MemoryStatistics& of = all.memories.emplace_back(Describe(problem, static_cast<int>(i)));
    all.text += (i > 0 ? "\n" : "") + AsText(of);
    memories.push_back(AsJson(of));
  }
  all.json = base::WriteJson({{"memories", std::move(memories)}});
  return all;
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<Statistics> StatisticsOf(const Problem& problem) {
  return api::Guarded([&] { return api::Describe(problem.Get()); });
}

}  // namespace v0
}  // namespace tessera
