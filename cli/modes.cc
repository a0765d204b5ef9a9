#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tessera/base/files.h"
#include "tessera/base/json_document.h"
#include "tessera/base/text.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/search_options.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/report/text_table.h"
#include "tessera/search/allocate/engine_queries.h"
#include "tessera/search/reasons/fewest_modes.h"

// `tessera modes`: the modes of its banks that a chip does not need.
namespace tessera::cli {
namespace {

using base::Printable;
using problem::Status;
using search::reasons::FewestModes;
using search::reasons::ModeId;

constexpr int64_t kModesBudget = 200'000;

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
    const std::string suffix = output_.empty() ? "" : base::SuffixOf(output_);
    if (!output_.empty() && suffix != ".yaml" && suffix != ".json") {
      console.Note(
          fmt::format("--output {}: expected a name that ends in .yaml or .json", output_));
      return ExitCode::kUsage;
    }
    for (const std::string& file : files_) destinations_.Read("file", file);
    destinations_.Write("--output", output_);
    return destinations_.Around(console, [&] { return Answer(console); });
  }

 private:
  ExitCode Answer(Console& console) {
    const base::Expected<ModeInputs> inputs = LoadModeInputs(files_);
    if (!inputs) return console.Refuse(inputs.error());
    if (!output_.empty() && !inputs->profile && files_.size() > 1) {
      console.Note("--output: expected plans, or one Problem");
      return ExitCode::kUsage;
    }
    if (!output_.empty() && !inputs->profile && base::SuffixOf(output_) != ".json") {
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
        inputs->queries, decide, {.budget = search_.Limit(kModesBudget), .stop = &stop});
    const ExitCode saved = Write(console, *inputs, found);
    console.Print(format_.IsJson() ? AsJson(*inputs, found) : AsText(*inputs, found));
    if (saved != ExitCode::kAnswer) return saved;
    if (InterruptGuard::Interrupted()) return ExitCode::kInterrupted;
    if (found.status == Status::kInfeasible) return ExitCode::kInfeasible;
    return found.status == Status::kUnknown ? ExitCode::kLimit : ExitCode::kAnswer;
  }

  static bool IsEnough(const FewestModes& found) {
    return found.status == Status::kOptimal || found.status == Status::kFeasible;
  }

  ExitCode Write(Console& console, const ModeInputs& inputs, const FewestModes& found) {
    if (output_.empty() || !IsEnough(found)) return ExitCode::kAnswer;
    const std::string content =
        inputs.profile ? hw_profiles::WriteProfileJson(Reduced(*inputs.profile, inputs, found))
                       : problem::files::WriteProblem(
                             search::reasons::WithModes(inputs.queries.back().problem, found.kept));
    return destinations_.Save(console, std::vector<base::Output>{{output_, content}});
  }

  // The Problem's memories are some of the profile's, by name.
  static hw_profiles::Profile Reduced(hw_profiles::Profile profile, const ModeInputs& inputs,
                                      const FewestModes& found) {
    const problem::Problem reduced =
        search::reasons::WithModes(inputs.queries.back().problem, found.kept);
    for (const problem::Memory& memory : reduced.memories) {
      for (hw_profiles::Memory& home : profile.memories) {
        if (home.name != memory.name) continue;
        home.modes = memory.modes;
        home.transitions = memory.transitions;
      }
    }
    return profile;
  }

  // What stays or goes in one memory.
  struct MemoryModes {
    std::string memory;
    std::vector<std::string> keep;
    std::vector<std::string> remove;
    std::vector<search::reasons::FreedAccess> frees;
  };

  static std::vector<MemoryModes> MemoryModesOf(const problem::Problem& problem,
                                                const FewestModes& found) {
    std::vector<MemoryModes> verdicts;
    const std::vector<search::reasons::FreedAccess> freed =
        search::reasons::FindFreedAccesses(problem, found.kept);
    for (size_t m = 0; m < problem.memories.size(); ++m) {
      if (problem.memories[m].modes.empty()) continue;
      MemoryModes& verdict = verdicts.emplace_back();
      verdict.memory = problem.memories[m].name;
      for (size_t k = 0; k < problem.memories[m].modes.size(); ++k) {
        const ModeId mode{static_cast<int>(m), static_cast<int>(k)};
        const bool kept = std::binary_search(found.kept.begin(), found.kept.end(), mode);
        (kept ? verdict.keep : verdict.remove).push_back(ModeName(problem, mode));
      }
      for (const search::reasons::FreedAccess& each : freed) {
        if (static_cast<size_t>(each.memory) == m) verdict.frees.push_back(each);
      }
    }
    return verdicts;
  }

  static std::string ModeName(const problem::Problem& problem, const ModeId& id) {
    const std::string& name =
        problem.memories[static_cast<size_t>(id.memory)].modes[static_cast<size_t>(id.mode)].name;
    return name.empty() ? fmt::format("mode {}", id.mode) : name;
  }

  static std::string BankName(const problem::Problem& problem,
                              const search::reasons::FreedAccess& freed) {
    const std::string& name = problem.memories[static_cast<size_t>(freed.memory)]
                                  .banks[static_cast<size_t>(freed.bank)]
                                  .name;
    return name.empty() ? fmt::format("bank {}", freed.bank) : name;
  }

  static std::string AccessName(const problem::Permission& access) {
    const std::string kind = access.kind == problem::AccessKind::kRead ? "read" : "write";
    return access.engine.empty() ? kind : access.engine + "." + kind;
  }

  static std::vector<std::string> NamesOf(const problem::Problem& problem,
                                          const std::vector<ModeId>& modes) {
    std::vector<std::string> names;
    names.reserve(modes.size());
    for (const ModeId& mode : modes) names.push_back(ModeName(problem, mode));
    return names;
  }

  static std::string AsJson(const ModeInputs& inputs, const FewestModes& found) {
    const problem::Problem& problem = inputs.queries.back().problem;
    nlohmann::ordered_json document;
    document["status"] = NameOf(found.status);
    if (IsEnough(found)) {
      document["memories"] = nlohmann::ordered_json::array();
      for (const MemoryModes& verdict : MemoryModesOf(problem, found)) {
        nlohmann::ordered_json frees = nlohmann::ordered_json::array();
        for (const search::reasons::FreedAccess& each : verdict.frees)
          frees.push_back({{"bank", BankName(problem, each)}, {"access", AccessName(each.access)}});
        document["memories"].push_back({{"memory", verdict.memory},
                                        {"keep", verdict.keep},
                                        {"remove", verdict.remove},
                                        {"frees", std::move(frees)}});
      }
      document["needs"] = nlohmann::ordered_json::array();
      for (const search::reasons::ModeNeed& need : found.needs) {
        document["needs"].push_back({{"what", inputs.names[need.query]},
                                     {"one_of", NamesOf(problem, need.any_of)},
                                     {"proven", need.proven}});
      }
    }
    document["solves"] = found.solves;
    return base::WriteJson(document);
  }

  static std::string Joined(const std::vector<std::string>& names) {
    return Printable(fmt::format("{}", fmt::join(names, ", ")));
  }

  static std::string AsText(const ModeInputs& inputs, const FewestModes& found) {
    if (found.status == Status::kInfeasible) return "infeasible: not even all modes are enough\n";
    if (found.status == Status::kUnknown)
      return "unknown: not even all modes were decided within the budget\n";
    const problem::Problem& problem = inputs.queries.back().problem;
    std::string text;
    for (const MemoryModes& verdict : MemoryModesOf(problem, found)) {
      text += fmt::format(
          "{}: {} of {} modes are enough{}\n", Printable(verdict.memory), verdict.keep.size(),
          verdict.keep.size() + verdict.remove.size(),
          found.status == Status::kOptimal ? ", fewer are proven not to be" : "; fewer may be");
      text += fmt::format("  keep    {}\n", Joined(verdict.keep));
      if (!verdict.remove.empty()) text += fmt::format("  remove  {}\n", Joined(verdict.remove));
      for (const search::reasons::FreedAccess& each : verdict.frees)
        text += fmt::format("  frees   {} of {}\n", Printable(AccessName(each.access)),
                            Printable(BankName(problem, each)));
    }
    for (const search::reasons::ModeNeed& need : found.needs) {
      text += fmt::format("{} {} {}{}\n", Printable(inputs.names[need.query]),
                          need.any_of.size() == 1 ? "needs" : "needs one of",
                          Joined(NamesOf(problem, need.any_of)),
                          need.proven ? "" : ", as far as is known");
    }
    return text;
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
