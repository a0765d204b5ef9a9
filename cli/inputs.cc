// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/inputs.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/files.h"
#include "tessera/base/json_reader.h"
#include "tessera/base/text.h"
#include "tessera/cli/common_options.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/validator.h"

namespace tessera::cli {

namespace {

std::vector<std::string_view> ViewNames(const problem::Ladder& ladder) {
  std::vector<std::string_view> names;
  for (const problem::CandidateSizes& candidate : ladder.candidates)
    names.push_back(candidate.name);
  return names;
}

}  // namespace

base::Expected<problem::files::ProblemDocument> LoadProblem(
    const std::string& path, std::optional<problem::files::Lifetimes> lifetimes) {
  const base::Expected<std::string> text = base::ReadInput(path);
  if (!text) return tl::unexpected(text.error());
  return problem::files::ReadCsvOrJson(*text, path == "-" ? "standard input" : path, lifetimes);
}

base::Expected<size_t> FindCandidate(const problem::files::ProblemDocument& document,
                                     const std::string& name, const std::string& path) {
  const std::vector<std::string_view> names =
      document.ladder ? ViewNames(*document.ladder) : std::vector<std::string_view>();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  base::Diagnostic fault;
  fault.file = path;
  fault.message = fmt::format("there is no candidate '{}'", name);
  fault.expected = names.empty() ? "no --candidate, as the file has no tile candidates"
                                 : "--candidate with one of " + base::Join(names);
  fault.hint = base::DidYouMean(name, names);
  return tl::unexpected(std::move(fault));
}

std::string NamesOfCandidates(const problem::Ladder& ladder) {
  return base::Join(ViewNames(ladder));
}

base::Expected<hw_profiles::Profile> LoadProfile(const std::string& path) {
  base::Expected<std::string> text = base::ReadInput(path);
  if (!text) return tl::unexpected(text.error());
  return hw_profiles::ReadProfile(*std::move(text), path, [](std::string_view name) {
    return base::ReadInput(std::string(name));
  });
}

void AddProfile(Destinations& files, const std::string& path, std::string_view option) {
  files.Read(option, path);
  // A pipe can be read only once. Loading the profile reports its faults.
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;
  const auto texts = ReadProfileTexts(path);
  if (!texts) return;
  for (const auto& [name, text] : *texts) files.Read(option, name);
}

base::Expected<std::vector<std::pair<std::string, std::string>>> ReadProfileTexts(
    const std::string& path) {
  base::Expected<std::string> text = base::ReadInput(path);
  if (!text) return tl::unexpected(text.error());
  std::vector<std::pair<std::string, std::string>> texts = {{path, *text}};
  const base::Expected<hw_profiles::Profile> profile =
      hw_profiles::ReadProfile(*std::move(text), path, [&texts](std::string_view name) {
        base::Expected<std::string> extended = base::ReadInput(std::string(name));
        if (extended) texts.emplace_back(name, *extended);
        return extended;
      });
  if (!profile) return tl::unexpected(profile.error());
  return texts;
}

namespace {

base::Diagnostic AnswerFault(const std::string& file, std::string message, std::string hint) {
  base::Diagnostic fault;
  fault.file = file;
  fault.message = std::move(message);
  fault.hint = std::move(hint);
  return fault;
}

base::Expected<Answer> FromCsv(const AnswerFiles& files, const std::string& text) {
  base::Expected<problem::Problem> problem =
      problem::files::ReadCsv(text, files.file, files.lifetimes.Get());
  if (!problem) return tl::unexpected(problem.error());
  if (!files.capacity)
    return tl::unexpected(AnswerFault(files.file, "a CSV does not say how large the memory is",
                                      "add --capacity BYTES"));
  Answer answer;
  answer.capacity = *files.capacity;
  for (problem::Buffer& buffer : problem->buffers) {
    if (!buffer.offset) {
      return tl::unexpected(AnswerFault(
          files.file, fmt::format("buffer '{}' has no offset", buffer.id),
          "an answer in CSV has an offset column; `tessera alloc --output answer.csv` writes one"));
    }
    answer.allocation.offsets.push_back(*buffer.offset);
    buffer.offset.reset();
  }
  answer.problem = *std::move(problem);
  answer.problem.memories[0].capacity = *files.capacity;
  return answer;
}

base::Expected<Answer> FromPlan(const AnswerFiles& files, const std::string& text) {
  if (files.capacity || !files.problem.empty() || files.lifetimes.Get()) {
    return tl::unexpected(AnswerFault(files.file, "a plan carries its own problem and capacity",
                                      "leave --capacity, --problem and --lifetimes out"));
  }
  base::Expected<plan::Plan> plan = plan::files::ReadPlanJson(text, files.file);
  if (!plan) return tl::unexpected(plan.error());
  Answer answer;
  answer.problem = plan->problem;
  answer.allocation = plan->allocation;
  answer.capacity = plan->problem.memories[0].capacity;
  answer.plan = *std::move(plan);
  return answer;
}

base::Expected<Answer> FromAllocation(const AnswerFiles& files, const std::string& text,
                                      bool collisions) {
  if (files.problem.empty()) {
    return tl::unexpected(AnswerFault(files.file, "an allocation does not say what it answers",
                                      "add --problem FILE"));
  }
  base::Expected<problem::files::ProblemDocument> input =
      LoadProblem(files.problem, files.lifetimes.Get());
  if (!input) return tl::unexpected(input.error());
  const base::Expected<problem::files::AllocationDocument> document =
      problem::files::ReadAllocation(text, files.file, input->problem);
  if (!document) return tl::unexpected(document.error());
  const bool collides = collisions && document->result.explanation;
  if (!document->result.allocation && !collides) {
    return tl::unexpected(AnswerFault(
        files.file,
        fmt::format("this is an answer without addresses: {}", NameOf(document->result.status)),
        ""));
  }
  Answer answer;
  answer.problem = std::move(input->problem);
  if (document->candidate) {
    const auto candidates =
        input->ladder ? input->ladder->candidates : std::vector<problem::CandidateSizes>();
    const auto candidate = std::find_if(
        candidates.begin(), candidates.end(),
        [&](const problem::CandidateSizes& known) { return known.name == *document->candidate; });
    if (candidate == candidates.end()) {
      return tl::unexpected(AnswerFault(
          files.file, fmt::format("{} has no candidate '{}'", files.problem, *document->candidate),
          "give the Problem that this allocation answers"));
    }
    answer.problem = AtCandidate(answer.problem, *candidate);
  }
  if (document->result.allocation)
    answer.allocation = *document->result.allocation;
  else
    answer.explanation = document->result.explanation;
  answer.capacity =
      files.capacity.value_or(document->capacity.value_or(answer.problem.memories[0].capacity));
  return answer;
}

}  // namespace

void AnswerFiles::Declare(CLI::App& app) {
  app.add_option("file", file,
                 "A plan, an allocation in JSON, or a CSV with offsets; - reads standard input")
      ->required();
  app.add_option("--problem", problem, "The Problem that an allocation answers");
  app.add_option("--capacity", capacity, "Bytes of the (first) memory; a CSV needs it")
      ->transform(ByteCount());
  lifetimes.Declare(app);
}

base::Expected<std::string> FormatOf(const std::string& text, const std::string& file) {
  base::JsonReader reader(text, file);
  std::string format;
  {
    base::JsonObject root = reader.Root().Object();
    for (const auto& [key, value] : root.Members()) {
      if (key == "format" && value.IsString()) format = value.String();
    }
  }
  return reader.Finish(std::move(format));
}

base::Expected<plan::Plan> LoadPlan(const std::string& path, const std::string& name) {
  const base::Expected<std::string> text = base::ReadInput(path);
  if (!text) return tl::unexpected(text.error());
  return plan::files::ReadPlanJson(*text, name);
}

base::Expected<Answer> LoadAnswer(const AnswerFiles& files, bool collisions) {
  const base::Expected<std::string> text = base::ReadInput(files.file);
  if (!text) return tl::unexpected(text.error());
  const size_t first = text->find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (*text)[first] != '{') return FromCsv(files, *text);
  const base::Expected<std::string> format = FormatOf(*text, files.file);
  if (!format) return tl::unexpected(format.error());
  if (*format == "tessera-plan") return FromPlan(files, *text);
  if (*format == "tessera-allocation") return FromAllocation(files, *text, collisions);
  base::Diagnostic fault = AnswerFault(files.file, "this is neither a plan nor an allocation", "");
  fault.expected =
      "\"format\": \"tessera-plan\" or \"tessera-allocation\", or a CSV with an offset column";
  fault.found = format->empty() ? "no format" : '"' + *format + '"';
  return tl::unexpected(std::move(fault));
}

}  // namespace tessera::cli
