#include "tessera/cli/answers.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "tessera/base/checked.h"
#include "tessera/base/json_reader.h"
#include "tessera/cli/files.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/numbers.h"
#include "tessera/plan/json_read.h"
#include "tessera/problem/csv.h"
#include "tessera/problem/json.h"

namespace tessera::cli {
namespace {

base::Diagnostic AnswerFault(const std::string& file, std::string message, std::string hint) {
  base::Diagnostic fault;
  fault.file = file;
  fault.message = std::move(message);
  fault.hint = std::move(hint);
  return fault;
}

base::Expected<Answer> FromCsv(const AnswerFiles& files, const std::string& text) {
  base::Expected<problem::Problem> problem = problem::ReadCsv(text, files.file);
  if (!problem) return tl::unexpected(problem.error());
  if (!files.capacity)
    return tl::unexpected(
        AnswerFault(files.file, "a CSV does not say how large the memory is", "add --capacity BYTES"));
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
  if (files.capacity || !files.problem.empty()) {
    return tl::unexpected(AnswerFault(files.file, "a plan carries its own problem and capacity",
                                      "leave --capacity and --problem out"));
  }
  base::Expected<plan::Plan> plan = plan::ReadPlanJson(text, files.file);
  if (!plan) return tl::unexpected(plan.error());
  Answer answer;
  answer.problem = plan->problem;
  answer.allocation = plan->allocation;
  answer.capacity = plan->problem.memories[0].capacity;
  answer.plan = *std::move(plan);
  return answer;
}

base::Expected<Answer> FromAllocation(const AnswerFiles& files, const std::string& text, bool collisions) {
  if (files.problem.empty()) {
    return tl::unexpected(
        AnswerFault(files.file, "an allocation does not say what it answers", "add --problem FILE"));
  }
  base::Expected<problem::ProblemDocument> input = LoadProblem(files.problem);
  if (!input) return tl::unexpected(input.error());
  const base::Expected<problem::AllocationDocument> document =
      problem::ReadAllocation(text, files.file, input->problem);
  if (!document) return tl::unexpected(document.error());
  const bool collides = collisions && document->result.explanation;
  if (!document->result.allocation && !collides) {
    return tl::unexpected(AnswerFault(
        files.file, fmt::format("this is an answer without addresses: {}", NameOf(document->result.status)),
        ""));
  }
  Answer answer;
  answer.problem = std::move(input->problem);
  if (document->rung) {
    const auto rungs = input->ladder ? input->ladder->rungs : std::vector<problem::Rung>();
    const auto rung = std::find_if(rungs.begin(), rungs.end(),
                                   [&](const problem::Rung& known) { return known.name == *document->rung; });
    if (rung == rungs.end()) {
      return tl::unexpected(AnswerFault(files.file,
                                        fmt::format("{} has no rung '{}'", files.problem, *document->rung),
                                        "give the Problem that this allocation answers"));
    }
    answer.problem = AtRung(answer.problem, *rung);
  }
  if (document->result.allocation)
    answer.allocation = *document->result.allocation;
  else
    answer.explanation = document->result.explanation;
  answer.capacity = files.capacity.value_or(document->capacity.value_or(answer.problem.memories[0].capacity));
  return answer;
}

}  // namespace

void AnswerFiles::Declare(CLI::App& app) {
  app.add_option("file", file, "A plan, an allocation in JSON, or a CSV with offsets; - reads standard input")
      ->required();
  app.add_option("--problem", problem, "The Problem that an allocation answers");
  app.add_option("--capacity", capacity, "Bytes of the (first) memory; a CSV needs it")
      ->transform(ByteCount());
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

base::Expected<Answer> LoadAnswer(const AnswerFiles& files, bool collisions) {
  const base::Expected<std::string> text = ReadInput(files.file);
  if (!text) return tl::unexpected(text.error());
  const size_t first = text->find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (*text)[first] != '{') return FromCsv(files, *text);
  const base::Expected<std::string> format = FormatOf(*text, files.file);
  if (!format) return tl::unexpected(format.error());
  if (*format == "tessera-plan") return FromPlan(files, *text);
  if (*format == "tessera-allocation") return FromAllocation(files, *text, collisions);
  base::Diagnostic fault = AnswerFault(files.file, "this is neither a plan nor an allocation", "");
  fault.expected = "\"format\": \"tessera-plan\" or \"tessera-allocation\", or a CSV with an offset column";
  fault.found = format->empty() ? "no format" : '"' + *format + '"';
  return tl::unexpected(std::move(fault));
}

}  // namespace tessera::cli
