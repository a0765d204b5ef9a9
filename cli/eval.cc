// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "tessera/base/files.h"
#include "tessera/base/json_document.h"
#include "tessera/base/text.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/network_options.h"
#include "tessera/cli/outputs.h"
#include "tessera/plan/files/plan_draft.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/problem/files/json_sections.h"
#include "tessera/report/plan_text.h"
#include "tessera/search/partition/partition.h"

// `tessera eval`: the cost of a plan that the user wrote or changed, and whether it is valid.
namespace tessera::cli {
namespace {

constexpr int64_t kEvalBudget = 200'000;

class EvalCommand final : public Command {
 public:
  std::string Name() const override { return "eval"; }
  std::string Summary() const override {
    return "Price, complete and check a plan that was edited by hand";
  }
  std::string Examples() const override {
    return "The command reads the network, the profile and the objective of the file, and the "
           "operators, tile and\n"
           "policies of each subgraph. It derives the rest again, so the file may leave it out. A "
           "buffer or a tensor at\n"
           "home with an \"offset\" stays there; the others are placed. After a change of tile or "
           "partition old addresses\n"
           "seldom fit: delete those that no longer matter, or use --move.\n\n"
           "Examples:\n"
           "  tessera eval edited.json --move --output better.json    after a change of tile in an "
           "editor\n"
           "  tessera eval edited.json                                to see what it costs and "
           "what is wrong\n"
           "  tessera eval plan.json --hw new.yaml --move             the same partition on "
           "another profile\n\n"
           "`tessera plan --output plan.json` writes a plan to start from; `tessera diff plan.json "
           "better.json` compares the two.\n";
  }

  void Declare(CLI::App& app) override {
    app.add_option("file", file_, "The edited plan; - reads standard input")->required();
    app.add_option("--hw", profile_, "The hardware profile, in place of the one in the plan");
    app.add_option("--costs", costs_,
                   "CSV of tiles that were measured, in place of the cost model: "
                   "operator,tile,engine,cycles,pj");
    app.add_flag("--move", move_,
                 "Try the addresses in the file first, but place anew what does not fit there");
    threads_.Declare(app, "plan");
    format_.Declare(app);
    outputs_.Declare(app);
    search_.Declare(app);
    reasons_.Declare(app);
  }

  ExitCode Run(Console& console) override {
    if (!outputs_.Check(console)) return ExitCode::kUsage;
    files_.Read("file", file_);
    outputs_.AddTo(files_);
    if (profile_) AddProfile(files_, *profile_);
    files_.Read("--costs", costs_);
    return files_.Around(console, [&] { return Answer(console); });
  }

 private:
  ExitCode Answer(Console& console) {
    const base::Expected<std::string> text = base::ReadInput(file_);
    if (!text) return console.Refuse(text.error());
    base::Expected<plan::files::Draft> draft = plan::files::ReadDraft(*text, file_);
    if (!draft) return console.Refuse(draft.error());
    if (profile_) {
      base::Expected<hw_profiles::Profile> profile = LoadProfile(*profile_);
      if (!profile) return console.Refuse(profile.error());
      draft->profile = *std::move(profile);
    }
    if (!costs_.empty()) {
      const auto note = ReadCosts(costs_, draft->network);
      if (!note) return console.Refuse(note.error());
      if (*note) console.Note(**note);
    }
    base::Stop stop(search_.Deadline());
    search_.LimitLast(stop);
    const InterruptGuard guard(stop);
    const api::parts::EngineSet engines = search_.Engines();
    search::partition::answer::EvaluateOptions options;
    options.engines = engines.Pointers();
    options.switched_off = search_.switched_off;
    options.budget = search_.Limit(kEvalBudget);
    options.stop = &stop;
    options.threads = threads_.Get();
    options.version = TESSERA_VERSION;
    options.may_move = move_;
    const auto start = std::chrono::steady_clock::now();
    base::Expected<search::partition::Evaluation> evaluation =
        search::partition::Evaluate(*draft, options);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    if (!evaluation) {
      if (evaluation.error().file.empty()) evaluation.error().file = file_;
      return console.Refuse(evaluation.error());
    }
    if (!evaluation->violations.empty()) return RefuseAsBroken(console, evaluation->violations);
    if (!evaluation->plan) return Decline(console, *evaluation, stop);
    const ExitCode saved = files_.Save(console, outputs_.Render(*evaluation->plan));
    console.Print(format_.IsJson() ? plan::files::WritePlanJson(*evaluation->plan, elapsed.count())
                                   : report::DescribePlan(*evaluation->plan, elapsed.count()));
    if (saved != ExitCode::kAnswer) return saved;
    return InterruptGuard::Interrupted() ? ExitCode::kInterrupted : ExitCode::kAnswer;
  }

  ExitCode RefuseAsBroken(Console& console,
                          const std::vector<plan::verify::Violation>& violations) const {
    std::vector<std::string> lines;
    lines.reserve(violations.size());
    for (const plan::verify::Violation& violation : violations)
      lines.push_back(fmt::format("{}: {}", NameOf(violation.kind), violation.message));
    console.Print(api::answers::DescribeRefusal(lines, format_.IsJson()));
    return ExitCode::kCheckRefused;
  }

  ExitCode Decline(Console& console, const search::partition::Evaluation& evaluation,
                   const base::Stop& stop) const {
    std::optional<api::answers::Collision> collision;
    if (evaluation.infeasible_problem && evaluation.status == problem::Status::kInfeasible)
      collision = reasons_.Find(*evaluation.infeasible_problem, evaluation.capacity, search_, stop);
    console.Print(format_.IsJson() ? DeclineAsJson(evaluation, collision)
                                   : DeclineAsText(evaluation, collision));
    if (!move_ && evaluation.status == problem::Status::kInfeasible)
      console.Note("addresses in the file are kept; --move lets them change");
    problem::Result outcome;
    outcome.status = evaluation.status;
    return ExitCodeOf(outcome);
  }

  static std::string DeclineAsJson(const search::partition::Evaluation& evaluation,
                                   const std::optional<api::answers::Collision>& collision) {
    nlohmann::ordered_json document;
    document["status"] = NameOf(evaluation.status);
    document["reason"] = evaluation.reason;
    if (collision) {
      document["explanation"] = problem::files::ExplanationToJson(
          collision->problem, collision->explanation, collision->capacity);
    }
    return base::WriteJson(document);
  }

  static std::string DeclineAsText(const search::partition::Evaluation& evaluation,
                                   const std::optional<api::answers::Collision>& collision) {
    std::string text =
        fmt::format("{}: {}\n", NameOf(evaluation.status), base::Printable(evaluation.reason));
    if (collision) text += fmt::format("\nwhy it does not fit: {}", collision->Text(2));
    return text;
  }

  std::string file_;
  std::optional<std::string> profile_;
  std::string costs_;
  bool move_ = false;
  ThreadCount threads_;
  AnswerFormat format_;
  PlanOutputs outputs_;
  Destinations files_;
  SearchOptions search_;
  Reasons reasons_;
};

}  // namespace

std::unique_ptr<Command> MakeEvalCommand() { return std::make_unique<EvalCommand>(); }

}  // namespace tessera::cli
