// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "tessera/api/parts/plan_check.h"
#include "tessera/api/parts/plan_reasons.h"
#include "tessera/base/files.h"
#include "tessera/cli/certificate_folders.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/network_options.h"
#include "tessera/cli/outputs.h"
#include "tessera/cli/plan_options.h"
#include "tessera/graph/import/formats.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/problem/draw/pictures.h"
#include "tessera/report/chrome_trace.h"
#include "tessera/report/html_report.h"
#include "tessera/report/plan_text.h"
#include "tessera/search/cost/timeline.h"
#include "tessera/search/partition/analysis/analyses.h"
#include "tessera/search/partition/answer/refusal.h"
#include "tessera/search/partition/partition.h"

// `tessera plan`: from a network and a profile to a verified plan.
namespace tessera::cli {
namespace {

constexpr int64_t kPlanBudget = 200'000;

constexpr double kPartWithLowering = 0.75;  // of the time, for the search

class PlanCommand final : public Command {
 public:
  std::string Name() const override { return "plan"; }
  std::string Summary() const override {
    return "Cut a network into subgraphs, tile each, and place every buffer";
  }
  std::string Examples() const override {
    return HelpOnMetrics() +
           "\n\nExamples:\n"
           "  tessera plan examples/networks/mobilenet_v2.yaml --hw "
           "hw_profiles/ethos_u65_256.yaml\n"
           "  tessera plan net.yaml --hw npu.yaml --minimize off_chip_bytes --output plan.json "
           "--output plan.html\n" +
           ImportExamples() +
           "  tessera plan net.yaml --hw npu.yaml --score latency=0.5,energy=0.5 --limit "
           "peak=300000\n"
           "  tessera plan net.yaml --hw npu.yaml --minimize energy --sensitivity\n"
           "  tessera plan net.yaml --hw npu.yaml --pareto --limit peak=300000\n"
           "  tessera plan net.yaml --hw npu.yaml --minimize off_chip_bytes --max-operators 8\n"
           "  tessera plan net.yaml --hw npu.yaml --order given\n"
           "  tessera plan net.yaml --hw npu.yaml --together conv1..conv3 --apart conv7 --keep "
           "conv3\n"
           "  tessera plan net.yaml --hw npu.yaml --constraints constraints.yaml\n"
           "  tessera plan edited.yaml --hw npu.yaml --previous old.json --output new.json\n"
           "  tessera plan net.yaml --hw npu.yaml --lowering --output plan.json\n"
           "  tessera plan net.yaml --hw npu.yaml --emit-header plan.h --dump-problems asked\n\n"
           "Constraints (docs/constraints.md) hold operators together or apart, tensors on chip or "
           "at home, and state single\n"
           "subgraphs and addresses; the answer is then the best of the plans that keep them. "
           "Contradictions are bad input. Where no\n"
           "plan keeps them, it names a few that suffice for that.\n\n"
           "Where an operator fits nowhere it says which few conditions collide when it runs "
           "alone, and which\n"
           "single changes would help; --output map.svg then draws what collides.\n";
  }

  void Declare(CLI::App& app) override {
    app.add_option("network", network_,
                   fmt::format("The network in {}; - reads standard input",
                               graph::import::NamesOfFormats()))
        ->required();
    app.add_option("--hw", profile_, "The hardware profile")->required();
    CLI::Option* minimize =
        app.add_option("--minimize", minimize_, "The metric to minimise (default: latency)");
    app.add_option(
           "--score", score_,
           "METRIC=WEIGHT,... minimises the weighted mean; 1.0 is each metric's own lower bound")
        ->excludes(minimize);
    app.add_option("--limit", limits_, "METRIC=MOST,... refuses plans beyond these");
    app.add_option(
           "--max-operators", max_operators_,
           "The most operators in one subgraph; without it as many as a limited effort allows, "
           "and a note says how many")
        ->transform(WholeNumber(1, 1000));
    CLI::Option* front =
        app.add_flag("--pareto", pareto_,
                     "Print plans of which none is better than another in latency, energy, "
                     "off-chip bytes and peak, each with the options that find it; --limit holds "
                     "for all of them")
            ->excludes(minimize);
    app.add_option("--points", points_, "The most searches for --pareto")
        ->needs(front)
        ->transform(WholeNumber(1, 1000))
        ->capture_default_str();
    app.add_flag(
        "--sensitivity", sensitivity_,
        "Also halve and double each energy of the profile, and note whether the choice survives");
    app.add_flag("--no-keep", no_keep_,
                 "Store every tensor between subgraphs at home except those of --keep; without it "
                 "they stay in the tile memory where that is better and fits");
    app.add_option(
           "--transfers", transfers_,
           "program lets constants of a subgraph arrive while earlier ones run, wherever that "
           "gains and has room; notes state what it gains. per-subgraph loads them when their "
           "subgraph begins; more of its plans are proven optimal")
        ->check(CLI::IsMember({"program", "per-subgraph"}))
        ->capture_default_str();
    app.add_option("--off-chip", off_chip_,
                   "How tensors outside the tile memory share addresses: whole, from the subgraph "
                   "that makes a tensor to its last reader; tile-aware, wherever no tile needs the "
                   "bytes any more; paper, the same by the published method")
        ->check(CLI::IsMember(
            std::vector<std::string>(plan::kOffChipNames.begin(), plan::kOffChipNames.end())))
        ->capture_default_str();
    app.add_option(
           "--order", order_,
           "given runs the operators in the order of the file; search also tries other orders in "
           "which each operator follows those it depends on, and a note names a better one")
        ->check(CLI::IsMember({"given", "search"}))
        ->capture_default_str();
    constraints_.Declare(app);
    app.add_option("--previous", old_,
                   "An older plan, in JSON: of plans of equal score the one that differs least "
                   "from it is chosen, and a note says what stayed");
    app.add_flag("--lowering", lowering_,
                 "Also put into plan.json what a code generator needs: loops, tile classes, and "
                 "jobs with regions, addresses, strides and what each waits for; about three times "
                 "the size, so only on request");
    threads_.Declare(app, "plan");
    format_.Declare(app);
    outputs_.Declare(app);
    certificate_.Declare(app);
    dump_.Declare(app);
    app.add_option("--report", report_,
                   "Also write a self-contained HTML page: the same as --output x.html");
    app.add_option("--trace", trace_, "Also write who works when, in Chrome's trace format");
    import_.Declare(app);
    search_.Declare(app);
    reasons_.Declare(app);
    for (const char* single : {"--score", "--sensitivity", "--lowering", "--output", "--report",
                               "--trace", "--emit-header", "--dump-problems"})
      front->excludes(app.get_option(single));
  }

  ExitCode Run(Console& console) override {
    const base::Expected<plan::Objective> objective = ParseObjective(minimize_, score_, limits_);
    if (!objective) {
      console.Refuse(objective.error());
      return ExitCode::kUsage;
    }
    if (!outputs_.Check(console) || !CheckReport(console, report_)) return ExitCode::kUsage;
    AddFiles();
    return files_.Around(console, [&] { return Answer(console, *objective); });
  }

 private:
  void AddFiles() {
    files_.Read("network", network_);
    AddProfile(files_, profile_);
    files_.Read("--constraints", constraints_.File());
    files_.Read("--previous", old_);
    import_.AddInputs(files_);
    outputs_.AddTo(files_);
    files_.Write("--report", report_);
    files_.Write("--trace", trace_);
    dump_.AddTo(files_);
    certificate_.AddTo(files_);
  }

  ExitCode Answer(Console& console, const plan::Objective& objective) {
    const auto network = import_.Load(network_, profile_);
    if (!network) {
      console.Refuse(network.error().diagnostic);
      return network.error().code;
    }
    for (const std::string& note : network->notes) console.Note(note);
    const base::Expected<hw_profiles::Profile> profile = LoadProfile(profile_);
    if (!profile) return console.Refuse(profile.error());
    const auto constraints = constraints_.Load(network->graph, *profile, max_operators_);
    if (!constraints) return console.Refuse(constraints.error());
    std::optional<plan::Plan> old;
    if (!old_.empty()) {
      base::Expected<plan::Plan> read = LoadPlan(old_, old_ == "-" ? "standard input" : old_);
      if (!read) return console.Refuse(read.error());
      old = *std::move(read);
    }
    search::partition::answer::PartitionOptions options;
    options.objective = objective;
    options.constraints = *constraints;
    options.previous = old ? &*old : nullptr;
    return Search(console, *network, *profile, std::move(options));
  }

  ExitCode Search(Console& console, const LoadedNetwork& network,
                  const hw_profiles::Profile& profile,
                  search::partition::answer::PartitionOptions options) {
    base::Stop signal;
    search_.LimitLast(signal);
    const InterruptGuard guard(signal);
    base::Stop whole(search_.Deadline(), &signal);
    whole.EndProcess();
    const base::Stop stop(lowering_ ? whole.Before(kPartWithLowering) : std::nullopt, &whole);
    const api::parts::EngineSet engines = search_.Engines();
    ProblemDump::Recording recording = dump_.Record(engines.Pointers());
    options.max_operators = max_operators_;
    options.ordering = order_ == "given" ? search::partition::answer::Ordering::kGiven
                                         : search::partition::answer::Ordering::kSearch;
    options.prefetch = transfers_ == "program";
    options.off_chip = static_cast<plan::OffChip>(
        std::find(plan::kOffChipNames.begin(), plan::kOffChipNames.end(), off_chip_) -
        plan::kOffChipNames.begin());
    options.keeping = no_keep_ ? search::partition::paths::Keeping::kNothing
                               : search::partition::paths::Keeping::kWherePossible;
    options.engines = recording.Engines();
    options.switched_off = search_.switched_off;
    options.seed = search_.seed;
    options.threads = threads_.Get();
    options.budget = search_.Limit(kPlanBudget);
    options.most_work = search_.budget;
    options.stop = &stop;
    options.progress = [&](std::string_view line) {
      search_.verbose ? console.Note(line) : console.Progress(line);
    };
    options.version = TESSERA_VERSION;
    if (pareto_) return PrintFront(console, network, profile, options, signal);
    const auto start = std::chrono::steady_clock::now();
    const base::Expected<search::partition::answer::PartitionResult> result =
        search::partition::SearchPartition(network.graph, profile, options);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    if (!result) return console.Fail(result.error());
    // The plan is written even if another requested output fails.
    ExitCode code = dump_.Write(console, files_, recording);
    if (!result->plan) {
      const ExitCode declined = Decline(console, network, profile, options, *result, signal);
      return code == ExitCode::kAnswer ? declined : code;
    }
    plan::Plan plan = *result->plan;
    for (std::string& note : network.AllNotes()) plan.notes.push_back(std::move(note));
    if (sensitivity_) {
      options.engines = engines.Pointers();
      const auto noted = NoteSensitivity(network.graph, options, plan);
      if (!noted) code = console.Fail(noted.error());
    }
    if (lowering_) {
      if (const ExitCode added = AddLowering(console, plan, whole); added != ExitCode::kAnswer)
        code = added;
    }
    if (const ExitCode saved = Write(console, plan); saved != ExitCode::kAnswer) code = saved;
    console.Print(format_.IsJson() ? plan::files::WritePlanJson(plan, elapsed.count())
                                   : report::DescribePlan(plan, elapsed.count()));
    const bool has_failed = code != ExitCode::kAnswer && code != ExitCode::kLimit;
    return InterruptGuard::Interrupted() && !has_failed ? ExitCode::kInterrupted : code;
  }

  static ExitCode AddLowering(Console& console, plan::Plan& plan, const base::Stop& stop) {
    api::parts::CheckedLowering lowering = api::parts::LowerAndRun(plan, stop);
    plan.lowering = std::move(lowering.program);
    if (lowering.outcome == api::parts::LoweringOutcome::kLowered) return ExitCode::kAnswer;
    if (lowering.outcome == api::parts::LoweringOutcome::kWrong) return console.Fail(lowering.why);
    console.Refuse(lowering.why);
    return lowering.outcome == api::parts::LoweringOutcome::kStopped ? ExitCode::kLimit
                                                                     : ExitCode::kUnsupported;
  }

  ExitCode PrintFront(Console& console, const LoadedNetwork& network,
                      const hw_profiles::Profile& profile,
                      search::partition::answer::PartitionOptions options,
                      const base::Stop& signal) {
    options.objective.weights.clear();
    const auto start = std::chrono::steady_clock::now();
    const base::Expected<search::partition::analysis::Front> front =
        search::partition::analysis::FindFront(network.graph, profile, options, points_);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    if (!front) return console.Fail(front.error());
    if (front->points.empty())
      return Decline(console, network, profile, options, front->refusal, signal);
    console.Print(format_.IsJson() ? report::FrontAsJson(*front, elapsed.count())
                                   : report::DescribeFront(*front, elapsed.count()));
    return InterruptGuard::Interrupted() ? ExitCode::kInterrupted : ExitCode::kAnswer;
  }

  static base::Expected<void> NoteSensitivity(
      const graph::Graph& network, const search::partition::answer::PartitionOptions& options,
      plan::Plan& plan) {
    if (!search::partition::analysis::LooksAtEnergy(options.objective)) {
      plan.notes.emplace_back("sensitivity: the objective does not look at energy");
      return {};
    }
    const auto sensitivities =
        search::partition::analysis::FindSensitivities(network, plan, options);
    if (!sensitivities) return base::Unexpected(sensitivities.error());
    for (const search::partition::analysis::Sensitivity& sensitivity : *sensitivities)
      plan.notes.push_back("sensitivity: " + search::partition::analysis::Describe(sensitivity));
    return {};
  }

  // Reasons are found after a deadline too, but not after a signal.
  ExitCode Decline(Console& console, const LoadedNetwork& loaded,
                   const hw_profiles::Profile& profile,
                   const search::partition::answer::PartitionOptions& options,
                   const search::partition::answer::PartitionResult& result,
                   const base::Stop& signal) {
    const graph::Graph& network = loaded.graph;
    api::answers::PlanRefusal refusal{network, result, std::nullopt, {}, loaded.AllNotes()};
    if (!reasons_.AreOff() && !InterruptGuard::Interrupted()) {
      api::parts::PlanReasons reasons = api::parts::FindPlanReasons(
          network, profile, options, result, search_.Engines(), search_.budget, signal);
      refusal.collision = std::move(reasons.collision);
      refusal.remedies = std::move(reasons.remedies);
    }
    std::vector<base::Output> pictures;
    for (const std::string& path : outputs_.paths) {
      if (!refusal.collision || base::SuffixOf(path) != ".svg") continue;
      const api::answers::Collision& collision = *refusal.collision;
      pictures.push_back({path, problem::draw::WriteCollisionSvg(
                                    collision.problem, collision.explanation, collision.capacity)});
    }
    const ExitCode saved = files_.Save(console, pictures);
    const ExitCode certified =
        certificate_.Write(console, files_, network, profile, options, result);
    console.Print(format_.IsJson() ? refusal.AsJson() : refusal.AsText());
    problem::Result outcome;
    outcome.status = result.status;
    if (InterruptGuard::Interrupted()) return ExitCode::kInterrupted;
    if (saved != ExitCode::kAnswer) return saved;
    return certified == ExitCode::kAnswer ? ExitCodeOf(outcome) : certified;
  }

  ExitCode Write(Console& console, const plan::Plan& plan) {
    std::vector<base::Output> files = outputs_.Render(plan);
    if (!report_.empty())
      files.push_back({report_, report::WriteReport(plan, search::cost::PlannedTimeline)});
    if (!trace_.empty())
      files.push_back({trace_, report::WriteTrace(plan, search::cost::PlannedTimeline)});
    return files_.Save(console, files);
  }

  std::string network_;
  std::string profile_;
  std::string minimize_;
  std::string score_;
  std::string limits_;
  std::optional<int> max_operators_;
  bool pareto_ = false;
  int points_ = 24;
  bool sensitivity_ = false;
  bool no_keep_ = false;
  std::string transfers_ = "program";
  std::string off_chip_ = "whole";
  std::string order_ = "search";
  ConstraintOptions constraints_;
  std::string old_;
  bool lowering_ = false;
  ThreadCount threads_;
  AnswerFormat format_;
  PlanOutputs outputs_;
  ProblemDump dump_;
  RefutationWriter certificate_;
  std::string report_;
  std::string trace_;
  Destinations files_;
  NetworkOptions import_;
  SearchOptions search_;
  Reasons reasons_;
};

}  // namespace

std::unique_ptr<Command> MakePlanCommand() { return std::make_unique<PlanCommand>(); }

}  // namespace tessera::cli
