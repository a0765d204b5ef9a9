// SPDX-License-Identifier: Apache-2.0

#include <tessera/allocate.h>

#include <cmath>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/api/parts/allocation.h"
#include "tessera/api/parts/memories.h"
#include "tessera/base/arithmetic.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"

namespace tessera::api {
using problem::files::ProblemDocument;

problem::Buffer BufferOf(const Buffer& given) {
  problem::Buffer buffer;
  buffer.id = given.id;
  buffer.size = given.size;
  for (const auto& [lower, upper] : given.steps) buffer.lifespans.push_back({lower, upper});
  buffer.alignment = given.alignment;
  buffer.offset = given.offset;
  buffer.hint = given.hint;
  return buffer;
}

namespace {

std::optional<std::int64_t> UnlessAbsent(const Column& column, size_t row) {
  return column.data == nullptr || column[row] == -1 ? std::nullopt : std::optional(column[row]);
}

problem::Buffer BufferInRow(const BufferColumns& columns, size_t row) {
  problem::Buffer buffer;
  buffer.id = 'b' + std::to_string(row);
  buffer.size = columns.size[row];
  buffer.lifespans.push_back({columns.lower[row], columns.upper[row]});
  if (columns.alignment.data != nullptr) buffer.alignment = columns.alignment[row];
  buffer.offset = UnlessAbsent(columns.offset, row);
  buffer.hint = UnlessAbsent(columns.hint, row);
  return buffer;
}

Result<Problem> MakeProblem(std::vector<problem::Buffer> buffers,
                            std::optional<std::int64_t> capacity) {
  ProblemDocument document;
  document.problem.memories.emplace_back();
  document.problem.memories[0].capacity = capacity.value_or(base::kMaxTotal);
  document.problem.buffers = std::move(buffers);
  if (auto fault = problem::CheckWellFormed(document.problem)) return BadInput(*std::move(fault));
  return AsProblem(std::move(document));
}

Result<Problem> MakeProblem(const std::vector<Buffer>& given,
                            std::optional<std::int64_t> capacity) {
  std::vector<problem::Buffer> buffers;
  buffers.reserve(given.size());
  for (const Buffer& buffer : given) buffers.push_back(BufferOf(buffer));
  return MakeProblem(std::move(buffers), capacity);
}

Result<Problem> MakeProblem(const BufferColumns& columns, std::optional<std::int64_t> capacity) {
  if (columns.count > 0 && (columns.lower.data == nullptr || columns.upper.data == nullptr ||
                            columns.size.data == nullptr))
    return BadArgument("a column of the buffers is missing", "columns lower, upper and size");
  std::vector<problem::Buffer> buffers;
  buffers.reserve(columns.count);
  for (size_t row = 0; row < columns.count; ++row) buffers.push_back(BufferInRow(columns, row));
  return MakeProblem(std::move(buffers), capacity);
}

// A candidate replaces the sizes; everything else in the problem stays.
Result<Problem> Choose(const Problem::Content& content, const std::string& name) {
  const Result<size_t> index = FindCandidate(content, name);
  if (!index) return index.Error();
  const problem::CandidateSizes& sizes = content.document.ladder->candidates[*index];
  return AsProblem({AtCandidate(content.document.problem, sizes), std::nullopt},
                   content.constraints);
}

Result<Problem> SetCapacities(const Problem::Content& content,
                              const std::vector<parts::NamedCapacity>& capacities) {
  ProblemDocument changed = content.document;
  if (auto fault = parts::SetCapacities(changed.problem, capacities, "capacities"))
    return BadInput(*std::move(fault));
  return AsProblem(std::move(changed), content.constraints);
}

}  // namespace

std::optional<Error> FindBadArgument(const Problem& problem, const AllocateOptions& options) {
  if (!problem.Candidates().empty())
    return BadArgument("the problem has tile candidates",
                       "the problem with the sizes of one of them");
  if (options.capacity && *options.capacity < 0)
    return BadArgument("the capacity is negative", "0 or more bytes");
  if (!(options.gap_percent >= 0 && options.gap_percent <= 1000))
    return BadArgument("gap_percent is out of range", "a percentage from 0 to 1000");
  const auto objective = FindObjective(problem.Get().document.problem, options);
  if (!objective) return BadInput(objective.error());
  if (*objective && options.certify)
    return BadArgument("a certificate is about the peak of the first memory alone",
                       "no certificate, or `peaks` with the first memory alone");
  return FindBadOption(options);
}

base::Expected<std::optional<search::allocate::PeakObjective>> FindObjective(
    const problem::Problem& problem, const AllocateOptions& options) {
  using Objective = std::optional<search::allocate::PeakObjective>;
  if (!options.peaks.empty()) return parts::FindObjective(problem, options.peaks, "peaks");
  if (!options.minimize) return Objective();
  return parts::FindObjective(problem, {{std::string(parts::kSumOfPeaks), 1}}, "minimize");
}

namespace {

base::Expected<parts::AllocationAnswer> Find(const problem::Problem& asked,
                                             const AllocateOptions& given, const base::Stop& stop) {
  auto objective = FindObjective(asked, given);
  if (!objective) return base::Unexpected(objective.error());
  parts::AllocationCall call;
  call.capacity = given.capacity;
  call.minimize = given.minimize || !given.peaks.empty();
  call.objective = *std::move(objective);
  call.gap_ppm = std::llround(given.gap_percent * 1e4);
  call.budget = given.budget;
  call.threads = ThreadsOf(given);
  call.explains = given.explain;
  call.progress = OneAtATime(given);
  return parts::FindAllocation(asked, EnginesOf(given), call, stop);
}

problem::Bytes CapacityOf(const parts::AllocationAnswer& found, const problem::Problem& asked) {
  return found.capacity.value_or(asked.memories[0].capacity);
}

Result<Explanation> FindExplanation(const Problem& problem, AllocateOptions given) {
  if (auto error = RefuseConstraints(problem.Get(), "Explain")) return *std::move(error);
  if (auto error = FindBadArgument(problem, given)) return *std::move(error);
  const problem::Problem& asked = problem.Get().document.problem;
  const CallStop stop(given);
  given.explain = true;
  const auto found = Find(asked, given, stop.Get());
  if (!found) return AsError(CallStatus::kInternal, found.error());
  Explanation answer;
  answer.outcome = OutcomeOf(found->result.status);
  if (answer.outcome == Outcome::kOptimal) answer.outcome = Outcome::kFeasible;
  if (!found->result.explanation) return answer;
  const problem::Explanation& why = *found->result.explanation;
  const problem::Bytes capacity = CapacityOf(*found, asked);
  answer.summary = problem::Summarize(asked, why, capacity);
  for (const problem::Condition& condition : why.conditions)
    answer.conditions.push_back(problem::Describe(asked, condition, capacity));
  for (const problem::Change& change : why.changes)
    answer.changes.push_back(problem::Describe(asked, change, capacity));
  answer.minimal = why.minimal;
  answer.all_tried = why.all_tried;
  return answer;
}

CheckReport Judge(const Allocation::Content& content, std::optional<std::int64_t> capacity) {
  const problem::Problem& problem = content.problem.Get().document.problem;
  const std::int64_t stated = content.document.capacity.value_or(problem.memories[0].capacity);
  CheckReport report;
  for (const problem::Violation& violation :
       problem::Validate(problem, *content.document.result.allocation, capacity.value_or(stated)))
    report.findings.push_back(violation.message);
  if (report.findings.empty()) {
    std::string broken = FindBroken(content.problem.Get(), *content.document.result.allocation);
    if (!broken.empty()) report.findings.push_back(std::move(broken));
  }
  report.accepted = report.findings.empty();
  return report;
}

}  // namespace

Result<AllocateAnswer> PlaceBuffers(const Problem& problem, const AllocateOptions& given) {
  if (auto error = FindBadArgument(problem, given)) return *std::move(error);
  if (!problem.Get().constraints.empty()) return PlaceConstrained(problem, given);
  const problem::Problem& asked = problem.Get().document.problem;
  const CallStop stop(given);
  const auto found = Find(asked, given, stop.Get());
  if (!found) return AsError(CallStatus::kInternal, found.error());
  const problem::Result& result = found->result;
  AllocateAnswer answer;
  answer.outcome = OutcomeOf(result.status);
  answer.lower_bound = result.lower_bound;
  answer.cost = result.cost;
  answer.engine = result.engine;
  answer.reason = result.reason;
  if (result.explanation)
    answer.explanation = problem::Sentences(asked, *result.explanation, CapacityOf(*found, asked));
  if (given.certify) {
    if (auto error = Certify(problem, given, *found, stop.Get(), answer)) return *std::move(error);
  }
  answer.stopped = stop.Get().HasCutOff();
  answer.out_of_memory = RanOutOfMemory(stop.Get());
  for (const problem::MemoryPeak& each : found->peaks)
    answer.peaks.push_back({each.memory, each.peak, each.lower_bound});
  answer.score = found->score;
  answer.score_bound = found->score_bound;
  if (result.allocation)
    answer.allocation =
        AsAllocation(problem, parts::AsDocument(*found, given.seed), answer.lower_bound);
  return answer;
}

}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Problem::Problem(std::shared_ptr<const Content> content) noexcept : content_(std::move(content)) {}

Result<Problem> Problem::Make(const std::vector<Buffer>& buffers,
                              std::optional<std::int64_t> capacity) {
  return api::Guarded([&] { return api::MakeProblem(buffers, capacity); });
}

Result<Problem> Problem::FromColumns(const BufferColumns& buffers,
                                     std::optional<std::int64_t> capacity) {
  return api::Guarded([&] { return api::MakeProblem(buffers, capacity); });
}

Result<Problem> Problem::WithCapacities(
    const std::vector<std::pair<std::string, std::int64_t>>& capacities) const {
  return api::Guarded([&] { return api::SetCapacities(*content_, capacities); });
}

const std::vector<std::string>& Problem::Notes() const noexcept { return content_->document.notes; }

const std::vector<std::string>& Problem::Candidates() const noexcept {
  return content_->candidates;
}

Result<Problem> Problem::AtCandidate(const std::string& candidate) const {
  return api::Guarded([&] { return api::Choose(*content_, candidate); });
}

std::size_t Problem::BufferCount() const noexcept {
  return content_->document.problem.buffers.size();
}

Allocation::Allocation(std::shared_ptr<const Content> content) noexcept
    : content_(std::move(content)) {}

const Problem& Allocation::PlacedProblem() const noexcept { return content_->problem; }

const std::vector<std::int64_t>& Allocation::Offsets() const noexcept {
  return content_->document.result.allocation->offsets;
}

std::int64_t Allocation::Peak() const noexcept { return *content_->document.result.peak; }

Result<AllocateAnswer> Allocate(const Problem& problem, const AllocateOptions& options) {
  return api::Guarded([&] { return api::PlaceBuffers(problem, options); });
}

Result<Explanation> Explain(const Problem& problem, const AllocateOptions& options) {
  return api::Guarded([&] { return api::FindExplanation(problem, options); });
}

Result<CheckReport> Check(const Allocation& allocation, std::optional<std::int64_t> capacity) {
  return api::Guarded(
      [&]() -> Result<CheckReport> { return api::Judge(allocation.Get(), capacity); });
}

}  // namespace v0
}  // namespace tessera
