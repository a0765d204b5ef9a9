// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <tessera/lists.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/files.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"

// `tessera generate`: an instance of a family of the benchmarks, from a seed.
namespace tessera::cli {
namespace {

constexpr int kMostBuffers = 10'000'000;
constexpr double kMillion = 1e6;
constexpr std::string_view kGiven = "given";

class GenerateCommand final : public Command {
 public:
  std::string Name() const override { return "generate"; }
  std::string Summary() const override {
    return "Generate a list of buffers of a family of the benchmarks";
  }
  std::string Examples() const override {
    std::string text = "Families:\n";
    for (const ListFamily& family : *ListFamilies()) {
      std::string parameters;
      for (const ListParameter& parameter : family.parameters)
        parameters += fmt::format(" --{}", parameter.name);
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
    for (const ListFamily& family : *ListFamilies()) names.push_back(family.name);
    names.emplace_back(kGiven);
    app.add_option("family", request_.family, "What kind of list, see below")
        ->required()
        ->check(CLI::IsMember(names));
    buffers_option_ = app.add_option("--buffers", request_.buffers, "How many (default: 100)")
                          ->transform(WholeNumber(2, kMostBuffers));
    for (const ListParameter& parameter : *ListParameters()) {
      app.add_option(fmt::format("--{}", parameter.name), parameters_[parameter.name],
                     fmt::format("{} (default: {})", parameter.meaning, parameter.otherwise))
          ->transform(parameter.name == "capacity" ? ByteCount()
                                                   : WholeNumber(parameter.least, parameter.most));
    }
    app.add_option("--seed", request_.seed, "Draws another list (default: 1)")
        ->transform(WholeNumber(0, std::numeric_limits<int64_t>::max()));
    app.add_option("--fixed", fixed_ppm_,
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
    for (const auto& [name, value] : parameters_) {
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
    request_.fixed_share = static_cast<double>(fixed_ppm_) / kMillion;
    for (const auto& [name, value] : parameters_) {
      if (value) request_.parameters.emplace_back(name, *value);
    }
    const Result<GeneratedList> made = from_.empty() ? GenerateList(request_) : Vary();
    if (!made) {
      const ExitCode code = console.Refuse(made.Error(), from_);
      return from_.empty() ? ExitCode::kUsage : code;
    }
    NoteMissing(console, "--separated", request_.separated, made->separated);
    NoteMissing(console, "--penalties", request_.penalties, made->penalties);
    Result<std::string> text = made->problem.Render(format_ == "json" ? "json" : "csv");
    if (!text && format_.empty()) text = made->problem.Render("json");
    if (!text) return console.Refuse(text.Error());
    if (output_.empty()) {
      console.Print(*text);
      return ExitCode::kAnswer;
    }
    return files_.Save(console, std::array{base::Output{output_, *std::move(text)}});
  }

  // Notes missing pairs: the draw of pairs ends if few are left.
  static void NoteMissing(Console& console, std::string_view option, int64_t wanted,
                          int64_t found) {
    if (found >= wanted) return;
    console.Note(fmt::format("{} {}: only {} pairs were found; the list has hardly any others",
                             option, wanted, found));
  }

  Result<GeneratedList> Vary() const {
    const Result<tessera::Problem> given = tessera::Problem::Load(from_, {"", lifetimes_.Word()});
    return given ? VaryList(*given, request_) : given.Error();
  }

  ListRequest request_;
  int64_t fixed_ppm_ = 0;
  std::map<std::string, std::optional<int64_t>> parameters_;
  CLI::Option* buffers_option_ = nullptr;
  std::string from_;
  LifetimesOption lifetimes_;  // of the list of --from
  std::string format_;
  std::string output_;
  Destinations files_;
};

}  // namespace

std::unique_ptr<Command> MakeGenerateCommand() { return std::make_unique<GenerateCommand>(); }

}  // namespace tessera::cli
