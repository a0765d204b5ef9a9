// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/content.h"

#include <tessera/tessera.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <mutex>

#include "tessera/base/process.h"
#include "tessera/base/text.h"

namespace tessera::api {
namespace {

std::optional<base::Stop::Clock::time_point> DeadlineOf(const CallOptions& options) {
  if (!options.timeout_s) return std::nullopt;
  // A year serves as infinity and cannot overflow the clock. NaN ends at once.
  constexpr double kYear = 365.0 * 24 * 3600;
  const double seconds = *options.timeout_s > 0 ? std::min(*options.timeout_s, kYear) : 0.0;
  return base::Stop::Clock::now() + std::chrono::duration_cast<base::Stop::Clock::duration>(
                                        std::chrono::duration<double>(seconds));
}

}  // namespace

CallStop::CallStop(const CallOptions& options)
    : canceller_(options.canceller),
      own_(DeadlineOf(options), canceller_ ? &StopOf(*canceller_) : nullptr) {
  own_.LimitMemory(options.memory_limit.value_or(base::UsableBytes() / 4 * 3));
}

std::optional<Error> RefuseConstraints(const Problem::Content& problem, const std::string& what) {
  if (problem.constraints.empty()) return std::nullopt;
  return AsUnsupported(what + " cannot take the constraint '" + problem.constraints.front()->name +
                       "'");
}

Problem AsProblem(problem::files::ProblemDocument document,
                  std::vector<std::shared_ptr<const OffsetConstraint>> constraints) {
  auto content = std::make_shared<Problem::Content>();
  if (document.ladder) {
    for (const problem::CandidateSizes& candidate : document.ladder->candidates)
      content->candidates.push_back(candidate.name);
  }
  content->document = std::move(document);
  content->constraints = std::move(constraints);
  return Problem(std::move(content));
}

Allocation AsAllocation(const Problem& problem, problem::files::AllocationDocument document,
                        problem::Bytes proven) {
  return Allocation(std::make_shared<const Allocation::Content>(
      Allocation::Content{problem, std::move(document), proven}));
}

Result<size_t> FindCandidate(const Problem::Content& content, const std::string& name) {
  const std::vector<std::string>& names = content.candidates;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  return BadArgument("there is no candidate '" + name + "'",
                     names.empty() ? "a problem with tile candidates"
                                   : "one of " + base::Join(std::vector<std::string_view>(
                                                     names.begin(), names.end())));
}

parts::EngineSet EnginesOf(const SearchOptions& options) {
  return parts::EngineSet(parts::EngineSet::NamesOfWanted(options.engine), options.switched_off,
                          options.seed);
}

Outcome OutcomeOf(problem::Status status) {
  switch (status) {
    case problem::Status::kOptimal:
      return Outcome::kOptimal;
    case problem::Status::kFeasible:
      return Outcome::kFeasible;
    case problem::Status::kInfeasible:
      return Outcome::kInfeasible;
    case problem::Status::kInvalid:
    case problem::Status::kUnsupported:
      return Outcome::kUnsupported;
    case problem::Status::kUnknown:
      break;
  }
  return Outcome::kUnknown;
}

std::optional<Error> FindBadOption(const SearchOptions& options) {
  if (options.threads < 1) return BadArgument("threads are below 1", "at least one thread");
  if (options.budget && *options.budget < 0)
    return BadArgument("the budget is negative", "0 or more");
  const std::vector<std::string> engines =
      options.engine.empty() ? std::vector<std::string>() : std::vector{options.engine};
  const auto unknown = parts::EngineSet::FindUnknown(engines, options.switched_off);
  if (!unknown) return std::nullopt;
  base::Diagnostic fault;
  fault.message = "this library has no " + unknown->what;
  fault.expected = "one of " + base::Join(std::vector<std::string_view>(unknown->known.begin(),
                                                                        unknown->known.end()));
  return AsError(parts::EngineSet::IsWhole() ? CallStatus::kBadInput : CallStatus::kUnsupported,
                 fault);
}

base::ProgressFunction OneAtATime(const CallOptions& options) {
  if (!options.progress) return {};
  return [&options, mutex = std::make_shared<std::mutex>()](const base::Progress& each) {
    const std::lock_guard lock(*mutex);
    options.progress({each.line, each.phase, each.done, each.total, each.incumbent, each.bound});
  };
}

}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

const char* NameOf(Outcome outcome) noexcept {
  constexpr std::array<const char*, 5> kNames = {"optimal", "feasible", "infeasible", "unknown",
                                                 "unsupported"};
  return kNames[static_cast<size_t>(outcome)];
}

Canceller::Canceller() noexcept : content_(api::MakeUnlessExhausted<Content>()) {}

void Canceller::Cancel() const noexcept {
  if (HasState()) content_->stop.Request();
}

bool Canceller::IsCancelled() const noexcept { return !HasState() || content_->stop.Requested(); }

const char* Version() noexcept { return TESSERA_VERSION; }

}  // namespace v0
}  // namespace tessera
