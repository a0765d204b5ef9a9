// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "tessera/api/parts/allocation.h"
#include "tessera/api/parts/allocation_files.h"
#include "tessera/api/parts/choice.h"
#include "tessera/base/arithmetic.h"
#include "tessera/base/files.h"
#include "tessera/cli/certificate_folders.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/memory_options.h"
#include "tessera/cli/outputs.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/search/choose/choose.h"

// `tessera alloc`: addresses for the buffers of a file.
namespace tessera::cli {
namespace {

class AllocCommand final : public Command {
 public:
  std::string Name() const override { return "alloc"; }
  std::string Summary() const override {
    return "Find an address for every buffer of a CSV or JSON file";
  }
  std::string Examples() const override {
    return "The capacity is that of --capacity, else that of --hw or of a JSON file. Any placement "
           "within it is\n"
           "an answer; with --minimize, or where no capacity is stated, the least peak is looked "
           "for. Costs that\n"
           "the file states are minimised within the capacity, or within the least peak found.\n\n"
           "Examples:\n"
           "  tessera alloc buffers.csv                              the least peak\n"
           "  tessera alloc buffers.csv --capacity 1048576           any placement that fits\n"
           "  tessera alloc buffers.csv --hw npu.yaml --minimize --output map.svg\n"
           "  tessera alloc problem.json --capacity sram=384Ki --minimize=sram=2,tcm=1   several "
           "memories\n"
           "  tessera alloc buffers.csv --gap 1%                     1 % above the bound is "
           "enough\n"
           "  tessera alloc buffers.csv --certificate proof          the least peak, and why not "
           "less\n"
           "  tessera alloc buffers.csv --capacity 1Mi --maximize value   the most valuable "
           "buffers that fit\n"
           "  tessera alloc problem.json --candidate rows=7 --format json | jq .offsets\n\n"
           "Where nothing fits it says which few conditions collide and which single changes would "
           "help;\n"
           "--output map.svg then draws what collides.\n";
  }

  void Declare(CLI::App& app) override {
    app.add_option("file", file_,
                   "Buffers: MiniMalloc's CSV, or a Problem in JSON; - reads standard input")
        ->required();
    app.add_option("--hw", profile_,
                   "Take the memory of this hardware profile: capacity, alignment, banks, modes; "
                   "and its rules");
    CLI::Option* const minimize = memories_.Declare(app);
    CLI::Option* const maximize =
        app.add_option("--maximize", maximize_,
                       "Place the buffers of greatest 'value' (a column of a CSV, a key in JSON) "
                       "that fit into the capacity, and all that have none; the others are named")
            ->check(CLI::IsMember({"value"}))
            ->excludes(minimize);
    CLI::Option* const gap =
        app.add_option(
               "--gap", gap_ppm_,
               "A peak that exceeds the lower bound by at most this percentage is low enough")
            ->transform(PartsPerMillion());
    maximize->excludes(gap);
    lifetimes_.Declare(app, "--lifetimes",
                       "How a CSV states lives, here and in --output: half-open [a, b), inclusive "
                       "[a, b], or exclusive (a, b); a column 'end' is read only with it (default: "
                       "half-open)");
    app.add_option("--candidate", candidate_, "The tile candidate of the file whose sizes count");
    format_.Declare(app);
    app.add_option("--output", outputs_, "Also write the allocation here: .csv, .json or .svg");
    threads_.Declare(app, "answer");
    certificate_.Declare(app);
    search_.Declare(app);
    reasons_.Declare(app);
  }

  ExitCode Run(Console& console) override {
    if (!CheckSuffixes(console, outputs_, {".csv", ".json", ".svg"})) return ExitCode::kUsage;
    if (!maximize_.empty() && certificate_.IsWanted()) {
      console.Note("--certificate: not with --maximize");
      return ExitCode::kUsage;
    }
    files_.Read("file", file_);
    if (!profile_.empty()) AddProfile(files_, profile_);
    for (const std::string& path : outputs_) files_.Write("--output", path);
    certificate_.AddTo(files_);
    return files_.Around(console, [&] { return Answer(console); });
  }

 private:
  ExitCode Answer(Console& console) {
    base::Expected<problem::files::ProblemDocument> input = LoadProblem(file_, lifetimes_.Get());
    if (!input) return console.Refuse(input.error());
    if (const auto fault = Prepare(*input)) return console.Refuse(*fault);
    if (certificate_.IsWanted() && (memories_.Objective() || memories_.SetsOthers())) {
      console.Note(
          "--certificate: about the first memory alone; state capacities of others in the file, "
          "and name the first one with --minimize=NAME");
      return ExitCode::kUsage;
    }
    if (const auto fault = FindUnwritable(outputs_, input->problem)) return console.Refuse(*fault);
    return maximize_.empty() ? Solve(console, *input) : Choose(console, *input);
  }

  // Applies --hw and --candidate.
  std::optional<base::Diagnostic> Prepare(problem::files::ProblemDocument& input) {
    if (!profile_.empty()) {
      const base::Expected<hw_profiles::Profile> profile = LoadProfile(profile_);
      if (!profile) return profile.error();
      if (auto fault = api::parts::UseMemoryOf(*profile, input.problem)) {
        fault->file = profile_;
        return fault;
      }
    }
    if (auto fault = ChooseCandidate(input)) return fault;
    if (auto fault = memories_.ApplyTo(input.problem)) {
      fault->file = file_;
      return fault;
    }
    return std::nullopt;
  }

  std::optional<base::Diagnostic> ChooseCandidate(problem::files::ProblemDocument& input) {
    if (!input.ladder && candidate_.empty()) return std::nullopt;
    if (candidate_.empty()) {
      base::Diagnostic fault;
      fault.file = file_;
      fault.message = "the file has tile candidates";
      fault.expected = "--candidate with one of " + NamesOfCandidates(*input.ladder);
      fault.hint = "`tessera tile --candidates` finds the largest candidate that fits";
      return fault;
    }
    const base::Expected<size_t> candidate = FindCandidate(input, candidate_, file_);
    if (!candidate) return candidate.error();
    candidate_index_ = *candidate;
    input.problem = AtCandidate(input.problem, input.ladder->candidates[*candidate]);
    return std::nullopt;
  }

  ExitCode Solve(Console& console, const problem::files::ProblemDocument& input) {
    base::Stop stop(DeadlineOfSearch(input.problem.buffers.size()));
    search_.LimitLast(stop);
    const InterruptGuard guard(stop);
    api::parts::AllocationCall call;
    call.capacity = memories_.Capacity();
    call.minimize = memories_.Minimizes();
    call.objective = memories_.Objective();
    call.gap_ppm = gap_ppm_;
    call.budget = search_.budget;
    call.threads = threads_.Get();
    call.explains = !reasons_.AreOff();
    call.ladder = input.ladder ? &*input.ladder : nullptr;
    call.candidate = candidate_index_;
    const auto start = std::chrono::steady_clock::now();
    call.progress = [&](std::string_view line) {
      const std::chrono::duration<double, std::milli> elapsed =
          std::chrono::steady_clock::now() - start;
      search_.verbose ? console.Note(fmt::format("{:10.3f} ms  {}", elapsed.count(), line))
                      : console.Progress(line);
    };
    const base::Expected<api::parts::AllocationAnswer> answer =
        api::parts::FindAllocation(input.problem, search_.Engines(), call, stop);
    if (!answer) return console.Fail(answer.error());
    problem::files::AllocationDocument document = api::parts::AsDocument(*answer, search_.seed);
    if (!candidate_.empty()) document.candidate = candidate_;
    const ExitCode saved =
        WriteAllocations(console, files_, outputs_, input.problem, document,
                         lifetimes_.Get().value_or(problem::files::Lifetimes::kHalfOpen));
    const ExitCode certified =
        certificate_.Write(console, files_, input, candidate_, answer->capacity, answer->result,
                           search_, stop, call.progress);
    document.time_ms = answer->search_ms;
    console.Print(format_.IsJson() ? problem::files::WriteAllocation(input.problem, document)
                                   : DescribeAllocation(input.problem, document));
    if (saved != ExitCode::kAnswer) return saved;
    return certified == ExitCode::kAnswer ? ExitCodeOf(answer->result) : certified;
  }

  // Answers --maximize.
  ExitCode Choose(Console& console, const problem::files::ProblemDocument& input) {
    const problem::Problem& problem = input.problem;
    api::parts::ChoiceDocument document;
    document.fallbacks = input.fallbacks;
    document.capacity = memories_.Capacity().value_or(problem.memories[0].capacity);
    if (document.capacity >= base::kMaxTotal) {
      console.Note("--maximize: expected a capacity, from --capacity, --hw or the file");
      return ExitCode::kUsage;
    }
    base::Stop stop(DeadlineOfSearch(problem.buffers.size()));
    search_.LimitLast(stop);
    const InterruptGuard guard(stop);
    search::choose::ChooseOptions options;
    options.capacity = document.capacity;
    options.fallbacks = &input.fallbacks;
    options.budget = search_.Limit(api::parts::kChoiceBudget);
    options.threads = threads_.Get();
    options.seed = search_.seed;
    options.stop = &stop;
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      const std::chrono::duration<double, std::milli> passed =
          std::chrono::steady_clock::now() - start;
      return passed.count();
    };
    options.progress = [&](std::string_view line) {
      search_.verbose ? console.Note(fmt::format("{:10.3f} ms  {}", elapsed(), line))
                      : console.Progress(line);
    };
    const api::parts::EngineSet engines = search_.Engines();
    base::Expected<search::choose::Choice> choice =
        search::choose::Choose(problem, engines.Pointers(), options);
    if (!choice) return console.Fail(choice.error());
    document.choice = *std::move(choice);
    document.seed = static_cast<int64_t>(search_.seed);
    const ExitCode saved = WriteChoice(console, problem, document);
    document.time_ms = elapsed();
    console.Print(format_.IsJson() ? api::parts::ChoiceAsJson(problem, document)
                                   : api::parts::DescribeChoice(problem, document));
    if (saved != ExitCode::kAnswer) return saved;
    problem::Result outcome;
    outcome.status = document.choice.status;
    return ExitCodeOf(outcome);
  }

  // JSON states the whole answer; a CSV and a picture show the chosen buffers.
  ExitCode WriteChoice(Console& console, const problem::Problem& problem,
                       const api::parts::ChoiceDocument& document) {
    if (document.choice.chosen.empty()) return ExitCode::kAnswer;
    std::vector<std::string> pictures;
    std::vector<base::Output> answers;
    for (const std::string& path : outputs_) {
      if (FormatSuffixOf(path) == ".json")
        answers.push_back({path, api::parts::ChoiceAsJson(problem, document)});
      else
        pictures.push_back(path);
    }
    const ExitCode saved = files_.Save(console, answers);
    problem::files::AllocationDocument placed;
    placed.result = api::parts::ChosenPlacement(problem, document);
    placed.capacity = document.capacity;
    const ExitCode drawn =
        WriteAllocations(console, files_, pictures, api::parts::ChosenProblem(problem, document),
                         placed, lifetimes_.Get().value_or(problem::files::Lifetimes::kHalfOpen));
    return saved == ExitCode::kAnswer ? drawn : saved;
  }

  // Returns a deadline that leaves time to check the answer and to write it.
  std::optional<base::Stop::Clock::time_point> DeadlineOfSearch(size_t buffers) const {
    constexpr std::chrono::nanoseconds kCheck{1'000};
    constexpr std::chrono::nanoseconds kWrite{2'500};  // to each file; pictures take longest
    const auto deadline = search_.Deadline();
    if (!deadline) return deadline;
    const auto writes = static_cast<int64_t>(outputs_.size());
    return *deadline - static_cast<int64_t>(buffers) * (kCheck + writes * kWrite);
  }

  std::string file_;
  MemoryOptions memories_;
  std::string profile_;
  std::string maximize_;
  int64_t gap_ppm_ = 0;
  LifetimesOption lifetimes_;
  std::string candidate_;
  size_t candidate_index_ = 0;
  AnswerFormat format_;
  std::vector<std::string> outputs_;
  Destinations files_;
  ThreadCount threads_;
  CertificateWriter certificate_;
  SearchOptions search_;
  Reasons reasons_;
};

}  // namespace

std::unique_ptr<Command> MakeAllocCommand() { return std::make_unique<AllocCommand>(); }

}  // namespace tessera::cli
