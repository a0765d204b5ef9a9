// SPDX-License-Identifier: Apache-2.0

#include <tessera/lists.h>

#include <CLI/CLI.hpp>
#include <string>

#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"

// `tessera stats`: describes how large, tight and hard a list of buffers is, without a search.
namespace tessera::cli {
namespace {

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
    const Result<tessera::Problem> given = tessera::Problem::Load(file_, {"", lifetimes_.Word()});
    if (!given) return console.Refuse(given.Error());
    const Result<tessera::Problem> problem =
        candidate_.empty() ? *given : given->AtCandidate(candidate_);
    if (!problem) return console.Refuse(problem.Error(), file_);
    const Result<Statistics> found = StatisticsOf(*problem);
    if (!found) return console.Refuse(found.Error(), file_);
    console.Print(format_.IsJson() ? found->json : found->text);
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
