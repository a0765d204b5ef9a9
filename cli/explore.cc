// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/api/content.h"
#include "tessera/base/arithmetic.h"
#include "tessera/base/files.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/explore_parts.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/outputs.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/objectives.h"
#include "tessera/explore/output.h"
#include "tessera/explore/recheck.h"
#include "tessera/explore/request.h"

// `tessera explore`: which profiles of a space are best for a set of networks.
namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

using explore::Json;
using explore::Spec;
using explore::Store;

// Returns whether both names are of one file, which need not exist.
bool IsSameFile(const std::string& a, const std::string& b) {
  return fs::weakly_canonical(fs::absolute(a)) == fs::weakly_canonical(fs::absolute(b));
}

class ShowPart final : public ExplorePart {
 public:
  explicit ShowPart(CLI::App& app) {
    app.add_option("store", store_, "The file of --store")->required();
    app.add_option("id", id_, "The id of an answer, or its first digits")->required();
    app.add_option("--output", output_, "Write the plan here (.json, .html, .svg, .h or .txt)");
    threads_.Declare(app, "plan");
  }

  ExitCode Run(Console& console) override {
    destinations_.Read("store", store_);
    destinations_.Write("--output", output_);
    return destinations_.Around(console, [&] { return Answer(console); });
  }

 private:
  ExitCode Answer(Console& console) {
    const auto store = Store::Open(store_, Store::Missing::kRefuse);
    if (!store) return console.Refuse(store.error());
    const base::Expected<explore::StoredAnswer> answer = explore::FindByPrefix(*store, id_);
    if (!answer) return console.Refuse(answer.error());
    if (const auto network = store->FindNetwork(answer->network)) {
      const ExitCode code = destinations_.ReadDuring(console, "network", network->file);
      if (code != ExitCode::kAnswer) return code;
    }
    CallOptions call;
    call.threads = threads_.Get();
    const base::Expected<tessera::Plan> plan = explore::MakePlanAgain(*store, *answer, call);
    if (!plan) return console.Refuse(plan.error());
    const std::string suffix = FormatSuffixOf(output_);
    const Result<std::string> text = plan->Render(output_.empty()  ? "txt"
                                                  : suffix.empty() ? suffix
                                                                   : suffix.substr(1));
    if (!text) return console.Refuse(api::AsDiagnostic(text.Error()));
    if (output_.empty()) {
      console.Print(*text);
      return ExitCode::kAnswer;
    }
    return destinations_.Save(console, std::vector<base::Output>{{output_, *text}});
  }

  std::string store_;
  std::string id_;
  std::string output_;
  ThreadCount threads_;
  Destinations destinations_;
};

class ExportPart final : public ExplorePart {
 public:
  explicit ExportPart(CLI::App& app) {
    app.add_option("store", store_, "The file of --store")->required();
    CLI::Option* canonical = app.add_flag("--canonical", canonical_,
                                          "All pairs, metrics and fronts, as JSON; the default");
    CLI::Option* csv = app.add_flag("--csv", csv_, "A row for each answer")->excludes(canonical);
    app.add_flag("--json", json_, "The same as --canonical, on one line")
        ->excludes(canonical)
        ->excludes(csv);
  }

  ExitCode Run(Console& console) override {
    const auto store = Store::Open(store_, Store::Missing::kRefuse);
    if (!store) return console.Refuse(store.error());
    const base::Expected<Json> document = LatestDocument(*store, store_);
    if (!document) return console.Refuse(document.error());
    console.Print(csv_    ? explore::DocumentCsv(*document)
                  : json_ ? document->dump() + "\n"
                          : explore::DocumentText(*document));
    return ExitCode::kAnswer;
  }

 private:
  std::string store_;
  bool canonical_ = false;
  bool csv_ = false;
  bool json_ = false;
};

class CheckPart final : public ExplorePart {
 public:
  explicit CheckPart(CLI::App& app) {
    app.add_option("store", store_, "The file of --store")->required();
    app.add_option("--sample", sample_, "Pairs that are planned again")
        ->transform(WholeNumber(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--seed", seed_, "Seed of the sample")
        ->transform(WholeNumber(0, base::kMaxTotal))
        ->capture_default_str();
    threads_.Declare(app, "report");
  }

  ExitCode Run(Console& console) override {
    const auto store = Store::Open(store_, Store::Missing::kRefuse);
    if (!store) return console.Refuse(store.error());
    const base::Expected<Json> document = LatestDocument(*store, store_);
    if (!document) return console.Refuse(document.error());
    explore::RecheckOptions options;
    options.sample = sample_;
    options.seed = seed_;
    options.call.threads = threads_.Get();
    options.progress = [&](std::string_view line) { console.Progress(line); };
    const base::Expected<explore::RecheckReport> report =
        explore::Recheck(*store, *document, options);
    if (!report) return console.Refuse(report.error());
    std::string text;
    for (const std::string& finding : report->findings) text += "refused: " + finding + "\n";
    console.Print(text + fmt::format("{}: {} pairs planned again, {} skipped pairs planned\n",
                                     report->findings.empty() ? "accepted" : "refused",
                                     report->planned, report->skipped));
    return report->findings.empty() ? ExitCode::kAnswer : ExitCode::kCheckRefused;
  }

 private:
  std::string store_;
  int64_t sample_ = 50;
  uint64_t seed_ = 0;
  ThreadCount threads_;
};

class ExploreCommand final : public Command {
 public:
  std::string Name() const override { return "explore"; }
  std::string Summary() const override {
    return "Find the hardware of a space that is best for some networks, and prove what it skips";
  }
  std::string Examples() const override {
    return "docs/explore.md describes specifications. A pair of a network and a profile is only "
           "skipped if its proven lower\n"
           "bounds are dominated by points that were found. A store keeps all answers: an "
           "exploration that was interrupted\n"
           "goes on, and a repeated one costs nothing. --relax and --least ask other questions "
           "about "
           "the base profiles.\n\n"
           "Examples:\n"
           "  tessera explore examples/explore/edge_npu.yaml --dry-run\n"
           "  tessera explore examples/explore/edge_npu.yaml --store edge.db\n"
           "  tessera explore examples/explore/edge_npu.yaml --adaptive 50% --marginal\n"
           "  tessera explore examples/explore/redundant_modes.yaml --relax\n"
           "  tessera explore export edge.db --csv\n"
           "  tessera explore show edge.db 1a2b3c --output plan.html\n"
           "  tessera explore check edge.db --sample 50\n"
           "  tessera explore examples/explore/edge_npu.yaml --shard 1/4 --store piece1.db\n"
           "  tessera explore merge piece1.db piece2.db piece3.db piece4.db --output edge.db\n";
  }

  void Declare(CLI::App& app) override {
    app_ = &app;
    app.add_option("spec", spec_, "The specification in YAML; - reads standard input");
    CLI::Option* store = app.add_option(
        "--store", store_, "Keep all answers in this SQLite file, and take known ones");
    shard_.Declare(app, store);
    CLI::Option* dry_run =
        app.add_flag("--dry-run", dry_run_, "Only say what varies and how many points there are");
    questions_.Declare(app);
    threads_.Declare(app, "document");
    format_.Declare(app);
    app.add_option("--output", outputs_,
                   "Write the answer here (.html, .json or .csv); may be repeated")
        ->excludes(dry_run);
    app.require_subcommand(0, 1);
    AddPart<ShowPart>("show", "Make the plan of an answer again");
    AddPart<ExportPart>("export", "Print the exploration that a store finished last");
    parts_.emplace_back("merge", MakeMergePart(*app.add_subcommand(
                                     "merge", "Unite the stores of pieces of one exploration")));
    AddPart<CheckPart>("check", "Plan a sample of the pairs of the last exploration again");
  }

  ExitCode Run(Console& console) override {
    for (const auto& [name, part] : parts_) {
      if (!app_->got_subcommand(name)) continue;
      for (const CLI::Option* option : app_->get_options()) {
        if (option->count() == 0) continue;
        console.Note(fmt::format("explore {}: {} belongs to `tessera explore SPEC`", name,
                                 option->get_name()));
        return ExitCode::kUsage;
      }
      return WithStore(console, [&console, &part = *part] { return part.Run(console); });
    }
    if (spec_.empty()) {
      console.Note("explore: expected a specification; see `tessera explore --help`");
      return ExitCode::kUsage;
    }
    if (const std::string fault = questions_.CheckRequest(); !fault.empty()) {
      console.Note("explore: " + fault);
      return ExitCode::kUsage;
    }
    if ((dry_run_ || shard_.IsGiven()) && !questions_.AreOfPairs()) {
      console.Note(fmt::format(
          "explore: {} answers no --relax, --least, --marginal, --uncertainty or --adaptive{}",
          dry_run_ ? "--dry-run" : "a piece of --shard",
          dry_run_ ? "" : "; ask these of the merged store"));
      return ExitCode::kUsage;
    }
    if (shard_.IsGiven() && (!outputs_.empty() || format_.IsJson())) {
      console.Note(
          "explore: a piece of --shard has no document for --output or --format json; unite the "
          "stores with `tessera explore merge`, then run `tessera explore SPEC --store` with the "
          "merged store and these options");
      return ExitCode::kUsage;
    }
    for (const std::string& output : outputs_) {
      const std::string suffix = FormatSuffixOf(output);
      const bool is_table = suffix == ".csv" || suffix == ".html";
      if (is_table && !questions_.WantsFront()) {
        console.Note(
            fmt::format("--output {}: expected a name that ends in .json for an answer "
                        "without fronts",
                        output));
        return ExitCode::kUsage;
      }
      if (!CheckSuffixes(console, {output}, {".html", ".json", ".csv"})) return ExitCode::kUsage;
      if (!store_.empty() && IsSameFile(output, store_)) {
        console.Note(fmt::format("--output {}: this is the same file as --store", output));
        return ExitCode::kUsage;
      }
      destinations_.Write("--output", output);
    }
    destinations_.Read("spec", spec_);
    if (dry_run_) {
      destinations_.Read("--store", store_);
    } else {
      destinations_.Update("--store", store_);
    }
    const auto answer = [&] { return Answer(console); };
    return destinations_.Around(
        console, [&] { return store_.empty() ? answer() : WithStore(console, answer); });
  }

 private:
  template <typename Part>
  void AddPart(const std::string& name, const std::string& summary) {
    parts_.emplace_back(name, std::make_unique<Part>(*app_->add_subcommand(name, summary)));
  }

  ExitCode Answer(Console& console) {
    const base::Expected<std::string> text = base::ReadInput(spec_);
    if (!text) return console.Refuse(text.error());
    const base::Expected<Spec> spec =
        explore::ReadSpec(*text, spec_ == "-" ? "standard input" : spec_);
    if (!spec) return console.Refuse(spec.error());
    if (const ExitCode code = NoteInputs(console, *spec); code != ExitCode::kAnswer) return code;
    // A description needs no answers, so it neither reads nor makes a store.
    const bool stores = !store_.empty() && !dry_run_;
    const auto store = Store::Open(stores ? store_ : ":memory:");
    if (!store) return RefuseStore(console, store.error());
    if (dry_run_) return Describe(console, *spec, *store);
    if (shard_.IsGiven())
      return shard_.Run(console, *spec, *text, *store, threads_.Get(), questions_.Get().plan_all);
    const base::Expected<std::optional<Json>> document = Find(console, *spec, *store);
    if (!document) return RefuseStore(console, store->FaultOr(document.error()));
    if (!*document) {
      if (!store_.empty()) console.Note("interrupted; the same command goes on from here");
      return ExitCode::kInterrupted;
    }
    console.Print(format_.IsJson() ? explore::DocumentText(**document)
                                   : explore::Describe(**document));
    std::vector<base::Output> outputs;
    for (const std::string& output : outputs_)
      outputs.push_back({output, RenderFor(FormatSuffixOf(output), **document)});
    const ExitCode saved = destinations_.Save(console, outputs);
    return saved == ExitCode::kAnswer ? CodeOf(**document) : saved;
  }

  // Registers the files that the specification names, and those that its profiles extend.
  ExitCode NoteInputs(Console& console, const Spec& spec) {
    std::vector<std::string> files = spec.files;
    for (const explore::BaseProfile& base : spec.space.Bases()) {
      const auto texts = ReadProfileTexts(base.file);
      if (!texts) return console.Refuse(texts.error());
      for (const auto& [name, text] : *texts) files.push_back(name);
    }
    for (const std::string& file : files) {
      const ExitCode code = destinations_.ReadDuring(console, "file", file);
      if (code != ExitCode::kAnswer) return code;
    }
    return ExitCode::kAnswer;
  }

  static std::string RenderFor(const std::string& suffix, const Json& document) {
    if (suffix == ".csv") return explore::DocumentCsv(document);
    return suffix == ".html" ? explore::WritePage(document) : explore::DocumentText(document);
  }

  // Returns the document of the store, or a new one.
  base::Expected<std::optional<Json>> Find(Console& console, const Spec& spec,
                                           const Store& store) const {
    explore::RunOptions options;
    options.threads = threads_.Get();
    options.progress = [&](std::string_view line) { console.Progress(line); };
    const InterruptGuard guard(api::StopOf(options.canceller));
    return explore::Ask(spec, store, questions_.Get(), options);
  }

  ExitCode Describe(Console& console, const Spec& spec, const Store& store) const {
    const base::Expected<std::vector<explore::Point>> points = spec.space.Enumerate();
    if (!points) return console.Refuse(points.error());
    if (const auto areas = explore::FindAreas(spec, *points); !areas)
      return console.Refuse(areas.error());
    explore::Planner planner(spec, *points, store, {.threads = threads_.Get()});
    if (const auto fault = planner.Load()) return console.Refuse(*fault);
    std::vector<std::string> faults;
    for (size_t i = 0; i < points->size(); ++i) {
      const std::string* fault = planner.FaultOf(i);
      faults.push_back(fault == nullptr ? "" : *fault);
    }
    const Json description = explore::SpecAsDocument(spec, *points, faults);
    console.Print(format_.IsJson() ? explore::DocumentText(description)
                                   : explore::DescribeSpec(description));
    return ExitCode::kAnswer;
  }

  // Returns 0 if some value suffices for all networks, and 20 if it is proven that no value of the
  // range does.
  static ExitCode CodeOfLeast(const Json& document) {
    bool is_open = false;
    for (const Json& profile : document.at("profiles")) {
      const Json& set = profile.at("set");
      if (set.contains("found")) return ExitCode::kAnswer;
      is_open = is_open || !set.value("none_suffices", false);
    }
    return is_open ? ExitCode::kLimit : ExitCode::kInfeasible;
  }

  static ExitCode CodeOf(const Json& document) {
    if (document.at("format") == "tessera-least") return CodeOfLeast(document);
    return document.contains("pairs") ? CodeOfExploration(document) : ExitCode::kAnswer;
  }

  CLI::App* app_ = nullptr;
  std::string spec_;
  std::string store_;
  bool dry_run_ = false;
  ExploreQuestions questions_;
  ShardChoice shard_;
  ThreadCount threads_;
  AnswerFormat format_;
  std::vector<std::string> outputs_;
  std::vector<std::pair<std::string, std::unique_ptr<ExplorePart>>> parts_;
  Destinations destinations_;
};

}  // namespace

std::unique_ptr<Command> MakeExploreCommand() { return std::make_unique<ExploreCommand>(); }

}  // namespace tessera::cli
