#include "tessera/cli/outputs.h"

#include "tessera/cli/files.h"
#include "tessera/cli/interrupt.h"
#include "tessera/problem/csv.h"
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
  const problem::Allocation& allocation = *document.result.allocation;
  const std::string suffix = SuffixOf(path);
  if (suffix == ".csv") return problem::WriteCsv(problem, &allocation);
  if (suffix == ".json") return problem::WriteAllocation(problem, document);
  return problem::WriteSvg(problem, allocation, document.capacity.value_or(problem.memories[0].capacity));
}

}  // namespace tessera::cli
