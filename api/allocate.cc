#include <tessera/allocate.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/api/parts/allocation.h"
#include "tessera/api/parts/engine_set.h"
#include "tessera/base/arithmetic.h"
#include "tessera/base/text.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/tile_candidates.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"

namespace tessera::api {
namespace {

using problem::files::AllocationDocument;
using problem::files::ProblemDocument;

Problem AsProblem(ProblemDocument document) {
  auto content = std::make_shared<Problem::Content>();
  if (document.ladder) {
    for (const problem::CandidateSizes& candidate : document.ladder->candidates)
      content->candidates.push_back(candidate.name);
  }
  content->document = std::move(document);
  return Problem(std::move(content));
}

Allocation AsAllocation(const Problem& problem, AllocationDocument document) {
  return Allocation(std::make_shared<const Allocation::Content>(
      Allocation::Content{problem, std::move(document)}));
}

Result<Problem> ReadProblem(std::string_view text, const std::string& name) {
  base::Expected<ProblemDocument> document = problem::files::ReadCsvOrJson(text, name);
  if (!document) return BadInput(document.error());
  return AsProblem(*std::move(document));
}

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

Result<Problem> MakeProblem(const std::vector<Buffer>& buffers,
                            std::optional<std::int64_t> capacity) {
  ProblemDocument document;
  document.problem.memories.emplace_back();
  document.problem.memories[0].capacity = capacity.value_or(base::kMaxTotal);
  for (const Buffer& buffer : buffers) document.problem.buffers.push_back(BufferOf(buffer));
  if (auto fault = problem::CheckWellFormed(document.problem)) return BadInput(*std::move(fault));
  return AsProblem(std::move(document));
}

Result<Problem> MoveTo(const Profile& profile, const Problem& problem) {
  ProblemDocument document = problem.Get().document;
  if (auto fault = parts::UseMemoryOf(profile.Get().profile, document.problem))
    return BadInput(*std::move(fault));
  return AsProblem(std::move(document));
}

// Candidates are sizes: whatever else the problem states stays.
Result<Problem> Choose(const Problem& problem, const std::string& name) {
  const Problem::Content& content = problem.Get();
  const auto found = std::find(content.candidates.begin(), content.candidates.end(), name);
  if (found == content.candidates.end()) {
    return BadArgument(
        "there is no candidate '" + name + "'",
        content.candidates.empty()
            ? "a problem with tile candidates"
            : "one of " + base::Join(std::vector<std::string_view>(content.candidates.begin(),
                                                                   content.candidates.end())));
  }
  const auto index = static_cast<size_t>(found - content.candidates.begin());
  const problem::CandidateSizes& sizes = content.document.ladder->candidates[index];
  return AsProblem({AtCandidate(content.document.problem, sizes), std::nullopt});
}

Result<std::string> RenderProblem(std::string_view format, const Problem::Content& content) {
  const ProblemDocument& document = content.document;
  if (format == "json")
    return problem::files::WriteProblem(document.problem,
                                        document.ladder ? &*document.ladder : nullptr);
  if (format != "csv")
    return BadArgument("problems have no format '" + std::string(format) + "'", "csv or json");
  const base::Expected<std::string> text = problem::files::WriteCsv(document.problem);
  if (!text) return AsError(CallStatus::kUnsupported, text.error());
  return *text;
}

Result<std::string> RenderAs(std::string_view format, const Allocation::Content& content) {
  constexpr std::array<std::string_view, 3> kFormats = {"csv", "json", "svg"};
  if (std::find(kFormats.begin(), kFormats.end(), format) == kFormats.end()) {
    return BadArgument("allocations have no format '" + std::string(format) + "'",
                       "one of " + base::Join(kFormats));
  }
  const base::Expected<std::string> text =
      parts::RenderAllocation(format, content.problem.Get().document.problem, content.document);
  if (!text) return AsError(CallStatus::kUnsupported, text.error());
  return *text;
}

std::optional<Error> FindBadArgument(const Problem& problem, const AllocateOptions& options) {
  if (!problem.Candidates().empty())
    return BadArgument("the problem has tile candidates", "the problem AtCandidate one of them");
  if (options.capacity && *options.capacity < 0)
    return BadArgument("the capacity is negative", "0 or more bytes");
  return FindBadOption(options);
}

Result<AllocateAnswer> Place(const Problem& problem, const AllocateOptions& given) {
  if (auto error = FindBadArgument(problem, given)) return *std::move(error);
  const problem::Problem& asked = problem.Get().document.problem;
  const CallStop stop(given);
  const parts::EngineSet engines(parts::EngineSet::NamesOfWanted(given.engine), given.switched_off,
                                 given.seed);
  parts::AllocationCall call;
  call.capacity = given.capacity;
  call.minimize = given.minimize;
  call.budget = given.budget;
  call.threads = given.threads;
  call.explains = given.explain;
  call.progress = OneLineAtATime(given);
  base::Expected<parts::AllocationAnswer> found =
      parts::FindAllocation(asked, engines, call, stop.Get());
  if (!found) return AsError(CallStatus::kInternal, found.error());
  problem::Result& result = found->result;
  AllocateAnswer answer;
  answer.outcome = OutcomeOf(result.status);
  answer.lower_bound = result.lower_bound;
  answer.cost = result.cost;
  answer.engine = result.engine;
  answer.reason = result.reason;
  answer.stopped = stop.Get().HasCutOff();
  if (result.explanation) {
    answer.explanation = problem::Sentences(asked, *result.explanation,
                                            found->capacity.value_or(asked.memories[0].capacity));
  }
  if (result.allocation) {
    AllocationDocument document;
    document.result = std::move(result);
    document.capacity = found->capacity;
    document.seed = static_cast<int64_t>(given.seed);
    answer.allocation = AsAllocation(problem, std::move(document));
  }
  return answer;
}

Result<Allocation> ReadAllocation(const Problem& problem, std::string_view json,
                                  const std::string& name) {
  base::Expected<AllocationDocument> document =
      problem::files::ReadAllocation(json, name, problem.Get().document.problem);
  if (!document) return BadInput(document.error());
  if (!document->result.allocation)
    return BadArgument(name + " has no offsets", "the allocation of an answer");
  if (!document->result.peak) {
    document->result.peak =
        problem::PeakOf(problem.Get().document.problem, *document->result.allocation);
  }
  return AsAllocation(problem, *std::move(document));
}

CheckReport Judge(const Allocation::Content& content, std::optional<std::int64_t> capacity) {
  const problem::Problem& problem = content.problem.Get().document.problem;
  const std::int64_t stated = content.document.capacity.value_or(problem.memories[0].capacity);
  CheckReport report;
  for (const problem::Violation& violation :
       problem::Validate(problem, *content.document.result.allocation, capacity.value_or(stated)))
    report.findings.push_back(violation.message);
  report.accepted = report.findings.empty();
  return report;
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Problem::Problem(std::shared_ptr<const Content> content) noexcept : content_(std::move(content)) {}

Result<Problem> Problem::Load(const std::string& path) {
  return api::LoadFrom(path, [&](const std::string& text) { return api::ReadProblem(text, path); });
}

Result<Problem> Problem::Parse(std::string_view text, const std::string& name) {
  return api::Guarded([&] { return api::ReadProblem(text, name); });
}

Result<Problem> Problem::Make(const std::vector<Buffer>& buffers,
                              std::optional<std::int64_t> capacity) {
  return api::Guarded([&] { return api::MakeProblem(buffers, capacity); });
}

Result<Problem> Problem::InMemoryOf(const Profile& profile) const {
  return api::Guarded([&] { return api::MoveTo(profile, *this); });
}

const std::vector<std::string>& Problem::Candidates() const noexcept {
  return content_->candidates;
}

Result<Problem> Problem::AtCandidate(const std::string& candidate) const {
  return api::Guarded([&] { return api::Choose(*this, candidate); });
}

std::size_t Problem::BufferCount() const noexcept {
  return content_->document.problem.buffers.size();
}

Result<std::string> Problem::Render(std::string_view format) const {
  return api::Guarded([&] { return api::RenderProblem(format, *content_); });
}

Allocation::Allocation(std::shared_ptr<const Content> content) noexcept
    : content_(std::move(content)) {}

Result<Allocation> Allocation::Parse(const Problem& problem, std::string_view json,
                                     const std::string& name) {
  return api::Guarded([&] { return api::ReadAllocation(problem, json, name); });
}

const std::vector<std::int64_t>& Allocation::Offsets() const noexcept {
  return content_->document.result.allocation->offsets;
}

std::int64_t Allocation::Peak() const noexcept { return *content_->document.result.peak; }

Result<std::string> Allocation::Render(std::string_view format) const {
  return api::Guarded([&] { return api::RenderAs(format, *content_); });
}

Result<Done> Allocation::Save(const std::string& path) const {
  return api::SaveTo(path,
                     [&](std::string_view format) { return api::RenderAs(format, *content_); });
}

Result<AllocateAnswer> Allocate(const Problem& problem, const AllocateOptions& options) {
  return api::Guarded([&] { return api::Place(problem, options); });
}

Result<CheckReport> Check(const Allocation& allocation, std::optional<std::int64_t> capacity) {
  return api::Guarded(
      [&]() -> Result<CheckReport> { return api::Judge(allocation.Get(), capacity); });
}

}  // namespace v0
}  // namespace tessera
