// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/json_document.h"
#include "tessera/base/text.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/inputs.h"
#include "tessera/problem/figures.h"

// `tessera stats`: describes how large, tight and hard a list of buffers is, without a search.
namespace tessera::cli {
namespace {

using nlohmann::ordered_json;
using problem::Elementary;
using problem::Figures;
using problem::Spread;

constexpr std::array<std::string_view, 3> kElementaryWords = {"no", "disjoint", "one size"};

std::string_view WordOf(double hardness) {
  if (hardness < 1.5) return "at once";
  if (hardness < 3) return "easy";
  return hardness < 4.5 ? "hard" : "very hard";
}

ordered_json AsJson(const Spread& spread) {
  return {{"least", spread.least}, {"median", spread.median}, {"most", spread.most}};
}

double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

ordered_json AsJson(const problem::Problem& problem, int memory) {
  const Figures figures = FiguresOf(problem, memory);
  const problem::Memory& home = problem.memories[static_cast<size_t>(memory)];
  const Elementary elementary = ElementaryCaseOf(problem, figures);
  ordered_json json;
  json["memory"] = home.name;
  json["buffers"] = figures.buffers;
  json["steps"] = figures.steps;
  json["load"] = figures.load;
  json["load_step"] = figures.load_step;
  json["fill"] = Rounded(figures.fill);
  json["most_alive"] = figures.most_alive;
  json["mean_alive"] = Rounded(figures.mean_alive);
  json["pairs"] = figures.pairs;
  json["density"] = Rounded(figures.density);
  json["sections"] = figures.sections;
  json["tight_sections"] = figures.tight_sections;
  json["core"] = figures.core;
  json["parts"] = figures.parts;
  json["sizes"] = AsJson(figures.sizes);
  json["distinct_sizes"] = figures.distinct_sizes;
  json["lives"] = AsJson(figures.lives);
  json["alignment"] = figures.alignment;
  json["fixed_offsets"] = figures.fixed;
  json["lives_with_gaps"] = figures.holed;
  json["relations"] = figures.relations;
  json["rules"] = figures.rules;
  json["costs"] = figures.costs;
  json["elementary"] = kElementaryWords[static_cast<size_t>(elementary)];
  const double hardness = Rounded(PredictedHardness(problem, figures));
  json["hardness"] = hardness;
  json["predicted"] = WordOf(hardness);
  return json;
}

std::string LineOf(std::string_view name, const std::string& text) {
  return fmt::format("{:<16} {}\n", name, text);
}

std::string TextOf(const Spread& spread) {
  return fmt::format("{} to {}, median {}", spread.least, spread.most, spread.median);
}

std::string AsText(const problem::Problem& problem, int memory) {
  const Figures f = FiguresOf(problem, memory);
  const problem::Memory& home = problem.memories[static_cast<size_t>(memory)];
  const Elementary elementary = ElementaryCaseOf(problem, f);
  std::string text;
  if (!home.name.empty()) text += LineOf("memory", base::Printable(home.name));
  text += LineOf("buffers", fmt::format("{}, at most {} alive, {:.1f} on average", f.buffers,
                                        f.most_alive, f.mean_alive));
  text += LineOf("load", fmt::format("{} bytes, first at step {}; the mean over {} steps is "
                                     "{:.1f} % of it",
                                     f.load, f.load_step, f.steps, 100 * f.fill));
  text += LineOf("density",
                 fmt::format("{} pairs live together, {:.2f} % of all", f.pairs, 100 * f.density));
  text += LineOf("sections",
                 fmt::format("{} maximal ones in {} parts; {} within 5 % of the load, where {} "
                             "buffers live",
                             f.sections, f.parts, f.tight_sections, f.core));
  text += LineOf("sizes", fmt::format("{}; {} distinct", TextOf(f.sizes), f.distinct_sizes));
  text += LineOf("lives", TextOf(f.lives));
  const auto add_count = [&](std::string_view name, int64_t count) {
    if (count > 0) text += LineOf(name, std::to_string(count));
  };
  if (f.alignment > 1) add_count("alignment", f.alignment);
  add_count("fixed offsets", f.fixed);
  add_count("lives with gaps", f.holed);
  add_count("relations", f.relations);
  add_count("rules", f.rules);
  add_count("costs", f.costs);
  if (elementary != Elementary::kNo)
    text += LineOf("elementary", elementary == Elementary::kDisjoint
                                     ? "buffers never live together: the largest is the peak"
                                     : "one size: interval colouring meets the load");
  const double hardness = PredictedHardness(problem, f);
  text += LineOf("hardness", fmt::format("{:.1f} of 6, {} (a guess of log10 of the milliseconds "
                                         "to the least peak and its proof)",
                                         hardness, WordOf(hardness)));
  return text;
}

class StatsCommand final : public Command {
 public:
  std::string Name() const override { return "stats"; }
  std::string Summary() const override {
    return "Print how large, tight and hard a list of buffers is";
  }
  std::string Examples() const override {
    return "load      the most bytes that live at one step; no peak is lower\n"
           "density   the share of the pairs of buffers that live together at some step\n"
           "sections  ranges of steps with the same buffers; the maximal ones hold buffers that "
           "no neighbour has all of\n"
           "parts     ranges of time that no buffer connects; each is a problem of its own\n"
           "hardness  0 to 6, from a regression over generated families; no bound of any kind\n\n"
           "Nothing is searched for. Each memory of a Problem in JSON has figures of its own.\n\n"
           "Examples:\n"
           "  tessera stats buffers.csv\n"
           "  tessera stats problem.json --format json | jq .memories[0].load\n"
           "  tessera generate broken --buffers 40 | tessera stats -\n";
  }

  void Declare(CLI::App& app) override {
    app.add_option("file", file_,
                   "Buffers: MiniMalloc's CSV, or a Problem in JSON; - reads standard input")
        ->required();
    lifetimes_.Declare(app);
    app.add_option("--candidate", candidate_, "The tile candidate of the file whose sizes count");
    format_.Declare(app);
  }

  ExitCode Run(Console& console) override {
    base::Expected<problem::files::ProblemDocument> input = LoadProblem(file_, lifetimes_.Get());
    if (!input) return console.Refuse(input.error());
    if (!candidate_.empty()) {
      const base::Expected<size_t> candidate = FindCandidate(*input, candidate_, file_);
      if (!candidate) return console.Refuse(candidate.error());
      input->problem = AtCandidate(input->problem, input->ladder->candidates[*candidate]);
    }
    const problem::Problem& problem = input->problem;
    if (!format_.IsJson()) {
      for (size_t i = 0; i < problem.memories.size(); ++i)
        console.Print((i > 0 ? "\n" : "") + AsText(problem, static_cast<int>(i)));
      return ExitCode::kAnswer;
    }
    ordered_json memories = ordered_json::array();
    for (size_t i = 0; i < problem.memories.size(); ++i)
      memories.push_back(AsJson(problem, static_cast<int>(i)));
    console.Print(base::WriteJson({{"memories", std::move(memories)}}));
    return ExitCode::kAnswer;
  }

 private:
  std::string file_;
  LifetimesOption lifetimes_;
  std::string candidate_;
  AnswerFormat format_;
};

}  // namespace

std::unique_ptr<Command> MakeStatsCommand() { return std::make_unique<StatsCommand>(); }

}  // namespace tessera::cli
