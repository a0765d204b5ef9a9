// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <tessera/lists.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/api/parts/allocation_files.h"
#include "tessera/base/text.h"
#include "tessera/problem/files/other_formats.h"
#include "tessera/problem/validator.h"

// Problems and allocations in files, and in the memory of a profile.
namespace tessera::api {
namespace {

using problem::files::AllocationDocument;
using problem::files::Lifetimes;
using problem::files::ListSummary;
using problem::files::ProblemDocument;
using FileFormat = problem::files::ListFormat;

// Returns the value whose word this is, as `what` of a list; nullopt if there is no word.
template <typename Value>
Result<std::optional<Value>> ValueOf(const std::string& word,
                                     std::span<const std::string_view> words,
                                     const std::string& what) {
  if (word.empty()) return std::optional<Value>();
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end())
    return BadArgument("lists have no " + what + " '" + word + "'", "one of " + base::Join(words));
  return std::optional(static_cast<Value>(found - words.begin()));
}

struct KnownFormat {
  std::optional<FileFormat> format;
  std::optional<Lifetimes> lifetimes;
};

Result<KnownFormat> FindFormat(const ListFormat& given) {
  const auto format = ValueOf<FileFormat>(given.format, problem::files::kListFormatWords, "format");
  if (!format) return format.Error();
  const auto lifetimes =
      ValueOf<Lifetimes>(given.lifetimes, problem::files::kLifetimesWords, "lifetimes");
  if (!lifetimes) return lifetimes.Error();
  if (*lifetimes && *format && **format != FileFormat::kCsv)
    return BadArgument("lifetimes are stated for the format '" + given.format + "'",
                       "lifetimes of CSV only");
  return KnownFormat{*format, *lifetimes};
}

Result<Problem> Read(std::string_view text, const ListFormat& given, const std::string& name) {
  const Result<KnownFormat> known = FindFormat(given);
  if (!known) return known.Error();
  base::Expected<ProblemDocument> document =
      known->format ? problem::files::ReadList(*known->format, text, name, known->lifetimes)
                    : problem::files::ReadCsvOrJson(text, name, known->lifetimes);
  if (!document) return BadInput(document.error());
  return AsProblem(*std::move(document));
}

// Lists of conflicts have no lives, so their load is not compared. Offline plans cannot be read.
std::optional<base::Diagnostic> FindChange(FileFormat format, Lifetimes lifetimes,
                                           const std::string& text, const ListSummary& expected) {
  if (format == FileFormat::kTfliteMicro) return std::nullopt;
  const auto again = problem::files::ReadList(format, text, "the text that was written", lifetimes);
  if (!again) return again.error();
  ListSummary found = problem::files::Summarize(again->problem);
  if (format == FileFormat::kTvm) found.load = expected.load;
  if (found == expected) return std::nullopt;
  const auto describe = [](const ListSummary& list) {
    return fmt::format("{} buffers, load {}, {} pairs", list.buffers, list.load, list.pairs);
  };
  base::Diagnostic fault;
  fault.message = "the conversion changes the list of buffers";
  fault.expected = describe(expected);
  fault.found = describe(found);
  return fault;
}

Result<WrittenList> Write(const Problem::Content& content, const ListFormat& given) {
  if (auto error = RefuseConstraints(content, "a file")) return *std::move(error);
  const Result<KnownFormat> known = FindFormat(given);
  if (!known) return known.Error();
  if (!known->format) return BadArgument("no format of the list is stated", "one of ListFormats()");
  const Lifetimes lifetimes = known->lifetimes.value_or(Lifetimes::kHalfOpen);
  base::Expected<std::string> text =
      problem::files::WriteList(*known->format, content.document, lifetimes);
  if (!text) return AsError(CallStatus::kUnsupported, text.error());
  const ListSummary summary = problem::files::Summarize(content.document.problem);
  if (const auto fault = FindChange(*known->format, lifetimes, *text, summary))
    return AsError(CallStatus::kInternal, *fault);
  return WrittenList{*std::move(text), summary.buffers, summary.load, summary.pairs};
}

Result<Problem> MoveTo(const Profile& profile, const Problem& problem) {
  ProblemDocument document = problem.Get().document;
  if (auto fault = parts::UseMemoryOf(profile.Get().profile, document.problem))
    return BadInput(*std::move(fault));
  return AsProblem(std::move(document), problem.Get().constraints);
}

Result<std::string> RenderProblem(std::string_view format, const Problem::Content& content) {
  if (auto error = RefuseConstraints(content, "a file")) return *std::move(error);
  const Result<KnownFormat> known = FindFormat({std::string(format), ""});
  if (!known) return known.Error();
  base::Expected<std::string> text =
      problem::files::WriteList(known->format.value_or(FileFormat::kJson), content.document);
  if (!text) return AsError(CallStatus::kUnsupported, text.error());
  return *std::move(text);
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

Result<Problem> Problem::Load(const std::string& path, const ListFormat& format) {
  return api::LoadFrom(path, [&](const std::string& text) {
    return api::Read(text, format, path == "-" ? "standard input" : path);
  });
}

Result<Problem> Problem::Parse(std::string_view text, const std::string& name,
                               const ListFormat& format) {
  return api::Guarded([&] { return api::Read(text, format, name); });
}

Result<std::vector<std::string>> ListFormats() {
  return api::Guarded([]() -> Result<std::vector<std::string>> {
    const auto& words = problem::files::kListFormatWords;
    return std::vector<std::string>(words.begin(), words.end());
  });
}

Result<WrittenList> WriteList(const Problem& problem, const ListFormat& format) {
  return api::Guarded([&] { return api::Write(problem.Get(), format); });
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
