// SPDX-License-Identifier: Apache-2.0

#include <tessera/plan.h>

#include <CLI/CLI.hpp>

#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"

// `tessera diff`: the changes from one plan to another, and their cost.
namespace tessera::cli {
namespace {

class DiffCommand final : public Command {
 public:
  std::string Name() const override { return "diff"; }
  std::string Summary() const override {
    return "Say what changed from one plan to another, and what it costs";
  }
  std::string Examples() const override {
    return "Subgraphs are compared between the cuts that both plans make, buffers where a subgraph "
           "has the same\n"
           "operators in both. The plans are read, not checked; the exit code is 0 whether they "
           "differ or not.\n\n"
           "Examples:\n"
           "  tessera diff plan.json edited.json\n"
           "  tessera diff old.json new.json --format json\n";
  }

  void Declare(CLI::App& app) override {
    app.add_option("first", first_, "A plan; - reads standard input")->required();
    app.add_option("second", second_, "The plan to compare with it")->required();
    format_.Declare(app);
  }

  ExitCode Run(Console& console) override {
    const Result<tessera::Plan> first = tessera::Plan::Load(first_);
    if (!first) return console.Refuse(first.Error());
    const Result<tessera::Plan> second = tessera::Plan::Load(second_);
    if (!second) return console.Refuse(second.Error());
    const Result<PlanDifference> difference = Difference(*first, *second);
    if (!difference) return console.Refuse(difference.Error());
    console.Print(format_.IsJson() ? difference->json : difference->text);
    return ExitCode::kAnswer;
  }

 private:
  std::string first_;
  std::string second_;
  AnswerFormat format_;
};

}  // namespace

std::unique_ptr<Command> MakeDiffCommand() { return std::make_unique<DiffCommand>(); }

}  // namespace tessera::cli
