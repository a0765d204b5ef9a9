// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/files.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/inputs.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/generate/catalog.h"

// `tessera generate`: an instance of a family of the benchmarks, from a seed.
namespace tessera::cli {
namespace {

using problem::generate::FamilyTraits;
using problem::generate::Parameter;

constexpr int kMostBuffers = 10'000'000;
constexpr std::string_view kGiven = "given";

class GenerateCommand final : public Command {
 public:
  std::string Name() const override { return "generate"; }
  std::string Summary() const override {
    return "Generate a list of buffers of a family of the benchmarks";
  }
  std::string Examples() const override {
    std::string text = "Families:\n";
    for (const FamilyTraits& family : problem::generate::Families()) {
      std::string parameters;
      for (const Parameter parameter : family.parameters)
        parameters += fmt::format(" --{}", TraitsOf(parameter).name);
      text += fmt::format("  {:<14} {}{}\n", family.name, family.meaning,
                          parameters.empty() ? "" : ";" + parameters);
    }
    return text +
           fmt::format(
               "  {:<14} the list of --from, with what --fixed, --separated, "
               "--penalties and --values add\n\n",
               kGiven) +
           "The same arguments give the same bytes on every machine. A list is written as CSV "
           "where CSV can state\n"
           "it, and as JSON, which states the capacity too, where the name of --output or "
           "--format says so.\n\n"
           "Examples:\n"
           "  tessera generate log-uniform --buffers 100000 --alive 300 --output large.csv\n"
           "  tessera generate perfect --buffers 80 --seed 7 --fixed 10% --output fixed.json\n"
           "  tessera generate flat --buffers 40 | tessera alloc -\n"
           "  tessera generate compiler-like --penalties 500 --output reuse.json\n"
           "  tessera alloc A.csv --capacity 1Mi --output placed.csv\n"
           "  tessera generate given --from placed.csv --fixed 10% --seed 3 --output some.json\n";
  }

  void Declare(CLI::App& app) override {
    std::vector<std::string> names;
    for (const FamilyTraits& family : problem::generate::Families())
      names.emplace_back(family.name);
    names.emplace_back(kGiven);
    app.add_option("family", request_.family, "What kind of list, see below")
        ->required()
        ->check(CLI::IsMember(names));
    buffers_option_ = app.add_option("--buffers", request_.buffers, "How many (default: 100)")
                          ->transform(WholeNumber(2, kMostBuffers));
    for (size_t i = 0; i < problem::generate::kParameters; ++i) {
      const auto& traits = TraitsOf(static_cast<Parameter>(i));
      auto* option =
          app.add_option(fmt::format("--{}", traits.name), request_.parameters[i],
                         fmt::format("{} (default: {})", traits.meaning, traits.otherwise));
      option->transform(static_cast<Parameter>(i) == Parameter::kCapacity
                            ? ByteCount()
                            : WholeNumber(traits.least, traits.most));
    }
    app.add_option("--seed", request_.seed, "Draws another list (default: 1)")
        ->transform(WholeNumber(0, std::numeric_limits<int64_t>::max()));
    app.add_option("--fixed", request_.fixed_ppm,
                   "Fix this share of the offsets, drawn from a known solution")
        ->transform(PartsPerMillion(100));
    app.add_option(
           "--separated", request_.separated,
           "The number of pairs that must not share addresses, and do not in the known solution")
        ->transform(WholeNumber(0, kMostBuffers));
    app.add_option(
           "--penalties", request_.penalties,
           "The number of pairs that never live together for which sharing addresses costs 1")
        ->transform(WholeNumber(0, kMostBuffers));
    app.add_flag("--values", request_.values,
                 "Give each buffer a value, its bytes times 1 to 8, for `tessera alloc --maximize "
                 "value`");
    CLI::Option* const from = app.add_option(
        "--from", from_,
        "The list of the family 'given'; for --fixed and --separated with offsets; - "
        "reads standard input");
    lifetimes_.Declare(app)->needs(from);
    app.add_option("--format", format_,
                   "csv or json; without it the suffix of --output says which, else csv if that "
                   "can state the list")
        ->check(CLI::IsMember({"csv", "json"}));
    app.add_option("--output", output_, "Write here instead of to stdout");
  }

  ExitCode Run(Console& console) override {
    if ((request_.family == kGiven) == from_.empty()) {
      console.Note(from_.empty() ? "--from: expected the list that the family 'given' varies"
                                 : "--from: expected with the family 'given' only");
      return ExitCode::kUsage;
    }
    if (!ChooseFormat(console)) return ExitCode::kUsage;
    if (!from_.empty() && HasShape()) {
      console.Note("the family 'given' takes --fixed, --separated, --penalties and --values only");
      return ExitCode::kUsage;
    }
    files_.Read("--from", from_);
    files_.Write("--output", output_);
    return files_.Around(console, [&] { return Answer(console); });
  }

 private:
  bool HasShape() const {
    for (const auto& value : request_.parameters) {
      if (value) return true;
    }
    return buffers_option_->count() > 0;
  }

  bool ChooseFormat(Console& console) {
    if (!format_.empty() || output_.empty()) return true;
    const std::string suffix = base::SuffixOf(output_);
    if (suffix == ".csv" || suffix == ".json") {
      format_ = suffix.substr(1);
      return true;
    }
    console.Note(fmt::format("--output {}: expected a name that ends in .csv or .json, or --format",
                             output_));
    return false;
  }

  ExitCode Answer(Console& console) {
    base::Expected<problem::Problem> made = Make();
    if (!made && from_.empty()) {
      console.Refuse(made.error());
      return ExitCode::kUsage;
    }
    if (!made) return console.Refuse(made.error());
    NoteMissing(console, "--separated", request_.separated, made->relations.size() - relations_);
    NoteMissing(console, "--penalties", request_.penalties, made->costs.size() - costs_);
    std::string text;
    if (format_ != "json") {
      base::Expected<std::string> csv = problem::files::WriteCsv(*made);
      if (!csv && format_ == "csv") return console.Refuse(csv.error());
      if (csv) text = *std::move(csv);
    }
    if (text.empty()) text = problem::files::WriteProblem(*made);
    if (output_.empty()) {
      console.Print(text);
      return ExitCode::kAnswer;
    }
    return files_.Save(console, std::vector<base::Output>{{output_, std::move(text)}});
  }

  // Notes missing pairs: the draw of pairs ends if few are left.
  static void NoteMissing(Console& console, std::string_view option, int wanted, size_t found) {
    if (found >= static_cast<size_t>(wanted)) return;
    console.Note(fmt::format("{} {}: only {} pairs were found; the list has hardly any others",
                             option, wanted, found));
  }

  base::Expected<problem::Problem> Make() {
    if (from_.empty()) return Generate(request_);
    base::Expected<problem::files::ProblemDocument> input = LoadProblem(from_, lifetimes_.Get());
    if (!input) return tl::unexpected(input.error());
    if (input->ladder || !input->fallbacks.empty()) {
      base::Diagnostic fault;
      fault.file = from_;
      fault.message = fmt::format("the family '{}' keeps no {}", kGiven,
                                  input->ladder ? "tile candidates" : "fallbacks");
      fault.hint = "take them out of the list";
      return base::Unexpected(std::move(fault));
    }
    relations_ = input->problem.relations.size();
    costs_ = input->problem.costs.size();
    auto varied = Vary(std::move(input->problem), request_);
    if (!varied) varied.error().file = from_;
    return varied;
  }

  problem::generate::Request request_;
  CLI::Option* buffers_option_ = nullptr;
  size_t relations_ = 0;  // of the list of --from
  size_t costs_ = 0;
  std::string from_;
  LifetimesOption lifetimes_;  // of the list of --from
  std::string format_;
  std::string output_;
  Destinations files_;
};

}  // namespace

std::unique_ptr<Command> MakeGenerateCommand() { return std::make_unique<GenerateCommand>(); }

}  // namespace tessera::cli
