#include "tessera/cli/outputs.h"

#include <fmt/core.h>

#include "tessera/base/utf8.h"
#include "tessera/cli/files.h"
#include "tessera/cli/interrupt.h"
#include "tessera/cli/tables.h"
#include "tessera/problem/csv.h"
#include "tessera/problem/explanation_text.h"
#include "tessera/problem/svg.h"

namespace tessera::cli {

ExitCode ExitCodeOf(const problem::Result& result) {
  switch (result.status) {
    case problem::Status::kOptimal:
      return ExitCode::kAnswer;
    case problem::Status::kFeasible:
      return InterruptGuard::Interrupted() ? ExitCode::kInterrupted : ExitCode::kAnswer;
    case problem::Status::kInfeasible:
      return ExitCode::kInfeasible;
    case problem::Status::kUnknown:
      return InterruptGuard::Interrupted() ? ExitCode::kInterrupted : ExitCode::kLimit;
    case problem::Status::kInvalid:
      return ExitCode::kBadInput;
    case problem::Status::kUnsupported:
      return ExitCode::kUnsupported;
  }
  return ExitCode::kInternal;
}

base::Expected<std::string> RenderAllocation(const std::string& path, const problem::Problem& problem,
                                             const problem::AllocationDocument& document) {
  const std::string suffix = SuffixOf(path);
  const problem::Bytes capacity = document.capacity.value_or(problem.memories[0].capacity);
  if (suffix == ".csv") return problem::WriteCsv(problem, &*document.result.allocation);
  if (suffix == ".json") return problem::WriteAllocation(problem, document);
  if (document.result.explanation)
    return problem::WriteCollisionSvg(problem, *document.result.explanation, capacity);
  return problem::WriteSvg(problem, *document.result.allocation, capacity);
}

bool CheckSuffixes(Console& console, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const std::string suffix = SuffixOf(path);
    if (suffix == ".csv" || suffix == ".json" || suffix == ".svg") continue;
    console.Note(fmt::format("--output {}: expected a name that ends in .csv, .json or .svg", path));
    return false;
  }
  return true;
}

std::optional<base::Diagnostic> FindUnwritable(const std::vector<std::string>& paths,
                                               const problem::Problem& problem) {
  for (const std::string& path : paths) {
    if (SuffixOf(path) != ".csv") continue;
    base::Expected<std::string> content = problem::WriteCsv(problem);
    if (content) continue;
    content.error().file = path;
    return content.error();
  }
  return std::nullopt;
}

ExitCode WriteAllocations(Console& console, Destinations& files, const std::vector<std::string>& paths,
                          const problem::Problem& problem, const problem::AllocationDocument& document) {
  ExitCode code = ExitCode::kAnswer;
  std::vector<Output> outputs;
  for (const std::string& path : paths) {
    const bool collides = document.result.explanation && SuffixOf(path) == ".svg";
    if (!document.result.allocation && !collides) continue;
    const base::Expected<std::string> content = RenderAllocation(path, problem, document);
    if (content)
      outputs.push_back({path, *content});
    else
      code = console.Refuse(content.error());
  }
  const ExitCode saved = files.Save(console, outputs);
  return saved == ExitCode::kAnswer ? code : saved;
}

std::string DescribeAllocation(const problem::Problem& problem, const problem::AllocationDocument& document) {
  const problem::Result& result = document.result;
  std::string text = fmt::format("status       {}\n", NameOf(result.status));
  text += fmt::format("buffers      {}\n", Grouped(static_cast<int64_t>(problem.buffers.size())));
  if (document.capacity) text += fmt::format("capacity     {}\n", Grouped(*document.capacity));
  if (result.peak) text += fmt::format("peak         {}\n", Grouped(*result.peak));
  text += fmt::format("lower bound  {}\n", Grouped(result.lower_bound));
  if (result.peak) text += fmt::format("gap          {}\n", Grouped(*result.peak - result.lower_bound));
  if (result.cost) text += fmt::format("cost         {}\n", Grouped(*result.cost));
  if (result.cost) text += fmt::format("least cost   {}\n", Grouped(result.least_cost));
  if (!result.engine.empty()) text += fmt::format("engine       {}\n", result.engine);
  if (document.time_ms) text += fmt::format("time_ms      {:.3f}\n", *document.time_ms);
  if (!result.explanation) {
    if (!result.reason.empty()) text += fmt::format("reason       {}\n", base::Printable(result.reason));
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

}  // namespace tessera::cli
