// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <tessera/modes.h>

#include <CLI/CLI.hpp>
#include <array>

#include "tessera/base/files.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/outputs.h"

// `tessera modes`: finds the bank modes that a chip does not need.
namespace tessera::cli {
namespace {

class ModesCommand final : public Command {
 public:
  std::string Name() const override { return "modes"; }
  std::string Summary() const override {
    return "Find the fewest bank modes that plans can do with, and prove it";
  }
  std::string Examples() const override {
    return "Partition, tiles and sizes stay as they are; offsets and modes are free. Every plan "
           "must keep an answer\n"
           "with the modes that remain; smaller sets are proven not to be enough.\n\n"
           "Examples:\n"
           "  tessera modes plan.json\n"
           "  tessera modes a.json b.json --output smaller.yaml         one chip for two plans\n"
           "  tessera modes examples/problems/patent_five_banks.json    a Problem instead of a "
           "plan\n";
  }

  void Declare(CLI::App& app) override {
    app.add_option("files", files_,
                   "Plans of one profile, or Problems in JSON with the same memories")
        ->required();
    format_.Declare(app);
    app.add_option("--output", output_,
                   "Write what remains here: the profile of the plans (.yaml or .json), or the one "
                   "Problem (.json)");
    search_.Declare(app);
  }

  ExitCode Run(Console& console) override {
    if (!output_.empty() && !CheckSuffixes(console, {output_}, {".yaml", ".json"}))
      return ExitCode::kUsage;
    for (const std::string& file : files_) destinations_.Read("file", file);
    destinations_.Write("--output", output_);
    return destinations_.Around(console, [&] { return Answer(console); });
  }

 private:
  ExitCode Answer(Console& console) {
    std::vector<tessera::Plan> plans;
    std::vector<tessera::Problem> problems;
    for (const std::string& file : files_) {
      if (const ExitCode code = Read(console, file, plans, problems); code != ExitCode::kAnswer)
        return code;
    }
    if (!output_.empty() && plans.empty() && files_.size() > 1) {
      console.Note("--output: expected plans, or one Problem");
      return ExitCode::kUsage;
    }
    if (!output_.empty() && plans.empty() && FormatSuffixOf(output_) != ".json") {
      console.Note(
          fmt::format("--output {}: expected a name that ends in .json, for a Problem", output_));
      return ExitCode::kUsage;
    }
    const tessera::SearchOptions options = search_.ForSearch();
    const InterruptGuard guard(*options.canceller);
    const Result<ModesAnswer> found =
        plans.empty() ? Modes(problems, options, files_) : Modes(plans, options, files_);
    if (!found) return console.Refuse(found.Error());
    ExitCode saved = ExitCode::kAnswer;
    if (!output_.empty() && !found->reduced.empty())
      saved = destinations_.Save(console, std::array{base::Output{output_, found->reduced}});
    console.Print(format_.IsJson() ? found->json : found->text);
    if (saved != ExitCode::kAnswer) return saved;
    if (InterruptGuard::Interrupted()) return ExitCode::kInterrupted;
    if (found->outcome == Outcome::kInfeasible) return ExitCode::kInfeasible;
    return found->outcome == Outcome::kUnknown ? ExitCode::kLimit : ExitCode::kAnswer;
  }

  static ExitCode Read(Console& console, const std::string& file, std::vector<tessera::Plan>& plans,
                       std::vector<tessera::Problem>& problems) {
    const base::Expected<std::string> text = base::ReadInput(file);
    if (!text) return console.Refuse(text.error());
    const base::Expected<std::string> format = FormatOf(*text, file);
    if (!format) return console.Refuse(format.error());
    if (*format == "tessera-plan") {
      const Result<tessera::Plan> plan = tessera::Plan::Parse(*text, file);
      if (!plan) return console.Refuse(plan.Error());
      if (!problems.empty()) return RefuseMixed(console, file, "a plan among Problems");
      plans.push_back(*plan);
    } else {
      const Result<tessera::Problem> problem = tessera::Problem::Parse(*text, file, {"json"});
      if (!problem) return console.Refuse(problem.Error());
      if (!plans.empty()) return RefuseMixed(console, file, "a Problem among plans");
      problems.push_back(*problem);
    }
    return ExitCode::kAnswer;
  }

  static ExitCode RefuseMixed(Console& console, const std::string& file, const char* what) {
    base::Diagnostic fault;
    fault.file = file;
    fault.message = what;
    return console.Refuse(fault);
  }

  std::vector<std::string> files_;
  AnswerFormat format_;
  std::string output_;
  Destinations destinations_;
  SearchOptions search_;
};

}  // namespace

std::unique_ptr<Command> MakeModesCommand() { return std::make_unique<ModesCommand>(); }

}  // namespace tessera::cli
