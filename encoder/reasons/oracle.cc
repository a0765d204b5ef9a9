#include "tessera/encoder/reasons/oracle.h"

#include <algorithm>

#include "tessera/problem/validator.h"

namespace tessera::encoder::reasons {

using problem::Result;
using problem::Status;

Result Oracle::Solve(const Query& query) {
  if (left_ <= 0 || stop_.Requested()) return {};
  Result result = decide_(query.problem, query.capacity, base::Budget{std::min(each_, left_)});
  left_ -= result.statistics.nodes + result.statistics.conflicts +
           static_cast<int64_t>(query.problem.buffers.size()) + 1;
  if (result.allocation) {
    const bool sound = problem::Validate(query.problem, *result.allocation, query.capacity, 1).empty();
    result.status = sound ? Status::kFeasible : Status::kUnknown;
  } else if (result.status != Status::kInfeasible) {
    result.status = Status::kUnknown;
  }
  return result;
}

}  // namespace tessera::encoder::reasons
