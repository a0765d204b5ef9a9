// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/outputs.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <set>
#include <span>
#include <utility>

#include "tessera/api/parts/allocation.h"
#include "tessera/api/parts/allocation_files.h"
#include "tessera/base/files.h"
#include "tessera/base/text.h"
#include "tessera/cli/console.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/problem/draw/pictures.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/tile_candidates.h"
#include "tessera/report/html_report.h"
#include "tessera/report/plan_text.h"
#include "tessera/report/text_table.h"
#include "tessera/search/cost/timeline.h"

namespace tessera::cli {

ExitCode ExitCodeOf(const problem::Result& result) {
  switch (result.status) {
    case problem::Status::kInvalid:
      return ExitCode::kBadInput;
    case problem::Status::kUnsupported:
      return ExitCode::kUnsupported;
    default:
      break;
  }
  if (InterruptGuard::Interrupted()) return ExitCode::kInterrupted;
  if (result.status == problem::Status::kInfeasible) return ExitCode::kInfeasible;
  return result.status == problem::Status::kUnknown ? ExitCode::kLimit : ExitCode::kAnswer;
}

bool CheckSuffixes(Console& console, const std::vector<std::string>& paths,
                   std::initializer_list<std::string_view> suffixes) {
  const std::span all(suffixes.begin(), suffixes.size());
  for (const std::string& path : paths) {
    if (std::find(all.begin(), all.end(), FormatSuffixOf(path)) != all.end()) continue;
    console.Note(fmt::format("--output {}: expected a name that ends in {} or {}", path,
                             base::Join(all.first(all.size() - 1)), all.back()));
    return false;
  }
  return true;
}

bool CheckReport(Console& console, const std::string& path) {
  const std::string suffix = base::SuffixOf(path);
  if (suffix.empty() || suffix == ".html") return true;
  console.Note(fmt::format("--report {}: expected a name that ends in .html", path));
  return false;
}

std::optional<base::Diagnostic> FindUnwritable(const std::vector<std::string>& paths,
                                               const problem::Problem& problem) {
  for (const std::string& path : paths) {
    if (FormatSuffixOf(path) != ".csv") continue;
    base::Expected<std::string> content = problem::files::WriteCsv(problem);
    if (content) continue;
    content.error().file = path;
    return content.error();
  }
  return std::nullopt;
}

ExitCode WriteAllocations(Console& console, Destinations& files,
                          const std::vector<std::string>& paths, const problem::Problem& problem,
                          const problem::files::AllocationDocument& document,
                          problem::files::Lifetimes lifetimes) {
  ExitCode code = ExitCode::kAnswer;
  std::vector<base::Output> outputs;
  for (const std::string& path : paths) {
    const bool collides = document.result.explanation && FormatSuffixOf(path) == ".svg";
    if (!document.result.allocation && !collides) continue;
    const base::Expected<std::string> content =
        api::parts::RenderAllocation(FormatSuffixOf(path).substr(1), problem, document, lifetimes);
    if (content)
      outputs.push_back({path, *content});
    else
      code = console.Refuse(content.error());
  }
  const ExitCode saved = files.Save(console, outputs);
  return saved == ExitCode::kAnswer ? code : saved;
}

std::string DescribeAllocation(const problem::Problem& problem,
                               const problem::files::AllocationDocument& document) {
  const problem::Result& result = document.result;
  std::string text = fmt::format("status       {}\n", NameOf(result.status));
  text += fmt::format("buffers      {}\n",
                      report::Grouped(static_cast<int64_t>(problem.buffers.size())));
  if (document.capacity)
    text += fmt::format("capacity     {}\n", report::Grouped(*document.capacity));
  if (result.peak) text += fmt::format("peak         {}\n", report::Grouped(*result.peak));
  text += fmt::format("lower bound  {}\n", report::Grouped(result.lower_bound));
  if (result.peak)
    text += fmt::format("gap          {}\n", report::Grouped(*result.peak - result.lower_bound));
  for (const problem::MemoryPeak& each : document.peaks) {
    text += fmt::format("memory       {}: peak {}, lower bound {}\n", base::Printable(each.memory),
                        report::Grouped(each.peak), report::Grouped(each.lower_bound));
  }
  if (!document.peaks.empty())
    text += fmt::format("score        {}, at least {}\n", document.score, document.score_bound);
  if (result.cost) text += fmt::format("cost         {}\n", report::Grouped(*result.cost));
  if (result.cost) text += fmt::format("least cost   {}\n", report::Grouped(result.least_cost));
  if (!result.engine.empty()) text += fmt::format("engine       {}\n", result.engine);
  if (document.time_ms) text += fmt::format("time_ms      {:.3f}\n", *document.time_ms);
  if (!result.explanation) {
    if (!result.reason.empty())
      text += fmt::format("reason       {}\n", base::Printable(result.reason));
    return text;
  }
  const problem::Bytes capacity = document.capacity.value_or(problem.memories[0].capacity);
  std::string label = "reason       ";
  for (const std::string& line : problem::Sentences(problem, *result.explanation, capacity)) {
    text += label + line + '\n';
    label.assign(label.size(), ' ');
  }
  return text;
}

namespace {

std::string RenderAs(const std::string& suffix, const plan::Plan& plan) {
  if (suffix == ".json") return plan::files::WritePlanJson(plan);
  if (suffix == ".html") return report::WriteReport(plan, search::cost::PlannedTimeline);
  if (suffix == ".csv") return report::TilesAsCsv(plan);
  return problem::draw::WriteSvg(plan.problem, plan.allocation, plan.problem.memories[0].capacity);
}

}  // namespace

void PlanOutputs::Declare(CLI::App& app) {
  app.add_option(
      "--output", paths,
      "Also write the plan here: .json, its memory map as .svg, a report as .html, or the "
      "tiles of its operators and their cycles as .csv");
  app.add_option("--emit-header", header,
                 "Also write offsets, sizes, tiles and modes as a header for C99 and C++")
      ->type_name("FILE");
}

bool PlanOutputs::Check(Console& console) const {
  return CheckSuffixes(console, paths, {".json", ".svg", ".html", ".csv"});
}

void PlanOutputs::AddTo(Destinations& files) const {
  for (const std::string& path : paths) files.Write("--output", path);
  files.Write("--emit-header", header);
}

std::vector<base::Output> PlanOutputs::Render(const plan::Plan& plan) const {
  std::vector<base::Output> files;
  for (const std::string& path : paths) {
    files.push_back({path, RenderAs(FormatSuffixOf(path), plan)});
  }
  if (!header.empty()) files.push_back({header, plan::files::WriteHeader(plan)});
  return files;
}

// Queries come from several threads in any order, and there can be thousands. The files keep those
// with the most buffers, and content decides ties, so the selection and the names do not depend on
// the order of the queries.

namespace {

using problem::Bytes;
using problem::Engine;
using problem::Ladder;
using problem::Problem;
using problem::Session;

// "mobilenet v2/s3" -> "mobilenet_v2_s3".
std::string FileNamePart(const std::string& name) {
  std::string part;
  for (const char c : name) part += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return part.substr(0, 40);
}

}  // namespace

class ProblemDump::Recorder final : public Engine {
 public:
  // The most buffers first, then by content.
  struct RecordedProblem {
    size_t buffers = 0;
    std::string text;
    std::string name;
    bool operator<(const RecordedProblem& other) const {
      return buffers != other.buffers ? buffers > other.buffers : text < other.text;
    }
  };

  explicit Recorder(const Engine& engine) : engine_(engine) {}

  std::string_view Name() const override { return engine_.Name(); }
  bool Refutes() const override { return engine_.Refutes(); }
  std::unique_ptr<Session> Open(const Problem& problem, const Ladder* ladder) const override;

  void Hear(const Problem& problem) const {
    RecordedProblem question{problem.buffers.size(), problem::files::WriteProblem(problem),
                             problem.name};
    const std::scoped_lock lock(mutex_);
    ++heard_;
    questions_.insert(std::move(question));
    if (questions_.size() > kMost) questions_.erase(std::prev(questions_.end()));
  }

  const std::set<RecordedProblem>& Questions() const { return questions_; }
  size_t Heard() const { return heard_; }

 private:
  const Engine& engine_;
  mutable std::mutex mutex_;
  mutable std::set<RecordedProblem> questions_;
  mutable size_t heard_ = 0;
};

namespace {

// Each candidate of a session counts once, with the memory's own capacity: a smaller capacity
// narrows the same query.
class ListeningSession final : public Session {
 public:
  ListeningSession(const ProblemDump::Recorder& recorder, std::unique_ptr<Session> session,
                   const Problem& problem, const Ladder* ladder)
      : recorder_(recorder), session_(std::move(session)), problem_(problem), ladder_(ladder) {}

  problem::Result Solve(size_t candidate, Bytes capacity, const base::Budget& budget,
                        const base::Stop& stop) override {
    Listen(candidate);
    return session_->Solve(candidate, capacity, budget, stop);
  }
  problem::Result Minimise(size_t candidate, Bytes capacity, const base::Budget& budget,
                           const base::Stop& stop) override {
    Listen(candidate);
    return session_->Minimise(candidate, capacity, budget, stop);
  }
  std::string Describe() const override { return session_->Describe(); }

 private:
  void Listen(size_t candidate) {
    if (!asked_.insert(ladder_ == nullptr ? 0 : candidate).second) return;
    recorder_.Hear(ladder_ == nullptr
                       ? problem_
                       : problem::AtCandidate(problem_, ladder_->candidates[candidate]));
  }

  const ProblemDump::Recorder& recorder_;
  std::unique_ptr<Session> session_;
  const Problem& problem_;
  const Ladder* ladder_;
  std::set<size_t> asked_;
};

}  // namespace

std::unique_ptr<Session> ProblemDump::Recorder::Open(const Problem& problem,
                                                     const Ladder* ladder) const {
  return std::make_unique<ListeningSession>(*this, engine_.Open(problem, ladder), problem, ladder);
}

ProblemDump::Recording::Recording(std::vector<const Engine*> engines, bool listens)
    : engines_(std::move(engines)) {
  if (!listens || engines_.empty()) return;
  recorder_ = std::make_unique<Recorder>(*engines_.front());
  engines_.front() = recorder_.get();
}

ProblemDump::Recording::Recording(Recording&&) noexcept = default;
ProblemDump::Recording::~Recording() = default;

void ProblemDump::Declare(CLI::App& app) {
  app.add_option(
         "--dump-problems", folder_,
         fmt::format("Write the allocation problems that engines were asked into this folder, at "
                     "most the {} largest; `tessera alloc` answers them again",
                     kMost))
      ->type_name("DIR");
}

ProblemDump::Recording ProblemDump::Record(const std::vector<const Engine*>& engines) const {
  return {engines, !folder_.empty()};
}

void ProblemDump::AddTo(Destinations& files) const {
  files.WriteInto("--dump-problems", folder_, {});
}

ExitCode ProblemDump::Write(Console& console, Destinations& files,
                            const Recording& recording) const {
  if (recording.Heard() == nullptr) return ExitCode::kAnswer;
  std::vector<base::Output> outputs;
  for (const Recorder::RecordedProblem& question : recording.Heard()->Questions()) {
    outputs.push_back({fmt::format("{:03}-{}-{}.json", outputs.size(), FileNamePart(question.name),
                                   question.buffers),
                       question.text});
  }
  const HeldInterrupts held;
  if (const auto written = base::WriteInto(folder_, outputs); !written) {
    console.Refuse(written.error());
    return ExitCode::kCannotWrite;
  }
  files.NoteSaved(folder_);
  console.Note(fmt::format("{} of {} allocation problems in {}", outputs.size(),
                           recording.Heard()->Heard(), folder_));
  return ExitCode::kAnswer;
}

}  // namespace tessera::cli
