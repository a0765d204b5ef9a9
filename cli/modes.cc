// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/modes.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tessera/base/files.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/outputs.h"
#include "tessera/search/allocate/engine_queries.h"
#include "tessera/search/reasons/fewest_modes.h"

// `tessera modes`: finds the bank modes that a chip does not need.
namespace tessera::cli {
namespace {

using api::parts::ModeQuestion;
using problem::Status;
using search::reasons::FewestModes;

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
    const base::Expected<ModeQuestion> question = LoadModeQuestion(files_);
    if (!question) return console.Refuse(question.error());
    if (!output_.empty() && !question->Profile() && files_.size() > 1) {
      console.Note("--output: expected plans, or one Problem");
      return ExitCode::kUsage;
    }
    if (!output_.empty() && !question->Profile() && FormatSuffixOf(output_) != ".json") {
      console.Note(
          fmt::format("--output {}: expected a name that ends in .json, for a Problem", output_));
      return ExitCode::kUsage;
    }
    base::Stop stop(search_.Deadline());
    search_.LimitLast(stop);
    const InterruptGuard guard(stop);
    const api::parts::EngineSet engines = search_.Engines();
    const search::reasons::Decide decide = search::allocate::MakeDecider(engines.Pointers(), stop);
    const FewestModes found = search::reasons::FindFewestModes(
        question->Queries(), decide,
        {.budget = search_.Limit(api::parts::kModesBudget), .stop = &stop});
    const ExitCode saved = Write(console, *question, found);
    console.Print(format_.IsJson() ? api::parts::ModesAsJson(*question, found)
                                   : api::parts::DescribeModes(*question, found));
    if (saved != ExitCode::kAnswer) return saved;
    if (InterruptGuard::Interrupted()) return ExitCode::kInterrupted;
    if (found.status == Status::kInfeasible) return ExitCode::kInfeasible;
    return found.status == Status::kUnknown ? ExitCode::kLimit : ExitCode::kAnswer;
  }

  ExitCode Write(Console& console, const ModeQuestion& question, const FewestModes& found) {
    if (output_.empty() || !api::parts::IsEnough(found)) return ExitCode::kAnswer;
    return destinations_.Save(
        console,
        std::vector<base::Output>{{output_, api::parts::WithFewestModes(question, found)}});
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
