// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/encoder/export/formula.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/problem.h"

namespace tessera::api::parts {

// The answer of a solver about a formula, as an answer to the Problem.
struct ModelAnswer {
  problem::Problem problem;  // with the sizes of the candidate
  problem::files::AllocationDocument document;
  // How the allocation breaks the Problem although it satisfies the formula, which is an error of
  // this program; empty: it does not.
  std::string wrong;
};

// Judges the answer of a solver whose model satisfies the formula. The allocation is checked
// against the Problem. A claim that nothing fits has no proof, so the answer is then unknown.
ModelAnswer JudgeModel(const problem::files::ProblemDocument& input,
                       const encoder::exports::FormulaOptions& options,
                       const encoder::exports::Decoded& decoded);

}  // namespace tessera::api::parts
