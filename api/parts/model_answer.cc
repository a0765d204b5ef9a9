// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/model_answer.h"

#include <optional>

#include "tessera/encoder/formulation/address_constraints.h"
#include "tessera/problem/validator.h"

namespace tessera::api::parts {
namespace {

using encoder::exports::Decoded;
using problem::Problem;
using problem::Status;

problem::Result ResultOf(const Problem& problem, const Decoded& decoded) {
  problem::Result result;
  result.engine = "foreign solver";
  const std::vector<problem::Bytes> loads = encoder::formulation::LoadOf(problem);
  result.lower_bound = loads.empty() ? 0 : loads.front();
  if (decoded.claim == Decoded::Claim::kModel) {
    result.allocation = decoded.allocation;
    result.peak = PeakOf(problem, *decoded.allocation);
    result.status = *result.peak == result.lower_bound ? Status::kOptimal : Status::kFeasible;
  } else if (decoded.claim == Decoded::Claim::kNothingFits) {
    result.reason =
        "the solver claims that nothing fits; a claim without a proof decides nothing, and "
        "`tessera alloc` can be asked to prove it";
  } else {
    result.reason = "the solver gave up";
  }
  return result;
}

}  // namespace

ModelAnswer JudgeModel(const problem::files::ProblemDocument& input,
                       const encoder::exports::FormulaOptions& options, const Decoded& decoded) {
  ModelAnswer answer;
  const std::optional<size_t> candidate = options.candidate ? options.candidate : decoded.candidate;
  answer.problem =
      candidate ? AtCandidate(input.problem, input.ladder->candidates[*candidate]) : input.problem;
  answer.document.capacity = options.capacity;
  if (candidate) answer.document.candidate = input.ladder->candidates[*candidate].name;
  answer.document.result = ResultOf(answer.problem, decoded);
  if (!decoded.allocation) return answer;
  const auto violations = Validate(answer.problem, *decoded.allocation, options.capacity);
  if (!violations.empty()) answer.wrong = violations.front().message;
  return answer;
}

}  // namespace tessera::api::parts
