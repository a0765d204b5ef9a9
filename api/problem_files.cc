// SPDX-License-Identifier: Apache-2.0

#include <tessera/allocate.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/api/parts/allocation_files.h"
#include "tessera/base/text.h"
#include "tessera/problem/validator.h"

// Problems and allocations in files, and in the memory of a profile.
namespace tessera::api {
namespace {

using problem::files::AllocationDocument;
using problem::files::ProblemDocument;

Result<Problem> ReadProblem(std::string_view text, const std::string& name) {
  base::Expected<ProblemDocument> document = problem::files::ReadCsvOrJson(text, name);
  if (!document) return BadInput(document.error());
  return AsProblem(*std::move(document));
}

Result<Problem> MoveTo(const Profile& profile, const Problem& problem) {
  ProblemDocument document = problem.Get().document;
  if (auto fault = parts::UseMemoryOf(profile.Get().profile, document.problem))
    return BadInput(*std::move(fault));
  return AsProblem(std::move(document), problem.Get().constraints);
}

Result<std::string> RenderProblem(std::string_view format, const Problem::Content& content) {
  if (auto error = RefuseConstraints(content, "a file")) return *std::move(error);
  const ProblemDocument& document = content.document;
  if (format == "json") return problem::files::WriteProblem(document);
  if (format != "csv")
    return BadArgument("problems have no format '" + std::string(format) + "'", "csv or json");
  const base::Expected<std::string> text = problem::files::WriteCsv(
      document.problem, nullptr, problem::files::Lifetimes::kHalfOpen, &document.fallbacks);
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

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<Problem> Problem::Load(const std::string& path) {
  return api::LoadFrom(path, [&](const std::string& text) { return api::ReadProblem(text, path); });
}

Result<Problem> Problem::Parse(std::string_view text, const std::string& name) {
  return api::Guarded([&] { return api::ReadProblem(text, name); });
}

Result<Problem> Problem::InMemoryOf(const Profile& profile) const {
  return api::Guarded([&] { return api::MoveTo(profile, *this); });
}

Result<std::string> Problem::Render(std::string_view format) const {
  return api::Guarded([&] { return api::RenderProblem(format, *content_); });
}

Result<Allocation> Allocation::Parse(const Problem& problem, std::string_view json,
                                     const std::string& name) {
  return api::Guarded([&] { return api::ReadAllocation(problem, json, name); });
}

Result<std::string> Allocation::Render(std::string_view format) const {
  return api::Guarded([&] { return api::RenderAs(format, *content_); });
}

Result<Done> Allocation::Save(const std::string& path) const {
  return api::SaveTo(path,
                     [&](std::string_view format) { return api::RenderAs(format, *content_); });
}

}  // namespace v0
}  // namespace tessera
