// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/sat/integer_encoding.h"
#include "tessera/problem/files/problem_files.h"

// Writes formulas for external solvers and reads their answers.
//
//     Problem --Encode--> formula.cnf  --any SAT solver--> "v 1 -2 ..." --Decode--> Allocation
//                         formula.smt2 --any SMT solver--> "(define-fun ...)"
//                         formula.txt  --human readers
//
// A model only numbers the variables. Decode therefore writes the formula again, in memory, and
// applies the model to it: the same Problem with the same options leads to the same variables. The
// first line of a formula holds the options and a fingerprint of the Problem, so that the user need
// not repeat the options.
namespace tessera::encoder::exports {

enum class FormulaFormat : uint8_t { kDimacs, kSmtlib, kText };

struct FormulaOptions {
  FormulaFormat format = FormulaFormat::kText;
  problem::Bytes capacity = 0;  // of memories[0]
  // The tile candidate whose sizes count; if not set, each candidate is a variable and one of them
  // holds.
  std::optional<size_t> candidate;
  // for kDimacs, and for the sizes that kText reports
  sat::IntegerEncoding integers = sat::IntegerEncoding::kByMagnitude;
};

struct Formula {
  std::string text;
  std::string sizes;  // a table: variables and conditions by topic
};

// Returns the formula of a well-formed Problem. Costs are preferences; a formula omits them. The
// only possible error is a formula that is too large to write.
base::Expected<Formula> Encode(const problem::files::ProblemDocument& document,
                               const FormulaOptions& options);

// Returns the options in the first line of a formula that Encode wrote. Refuses other files, and
// formulas of a Problem other than `document`. `file` is for messages.
base::Expected<FormulaOptions> ReadOptions(std::string_view formula, std::string_view file,
                                           const problem::files::ProblemDocument& document);

// The answer of a solver to a formula.
struct Decoded {
  enum class Claim : uint8_t {
    kModel,        // the solver returned a model
    kNothingFits,  // unsatisfiable: an unproved claim, because no proof comes with it
    kUndecided,    // the solver gave up
  };
  Claim claim = Claim::kUndecided;
  std::optional<problem::Allocation> allocation;  // of kModel, unless `broken`
  // the tile candidate that the model selects, if there are candidates
  std::optional<size_t> candidate;
  // the first condition that the model violates, in words; empty if it violates none
  std::string broken;
};

// Reads the output of a solver: DIMACS lines `s` and `v`, or SMT-LIB's `sat` with the answer of
// get-model or get-value. Ignores options.format: the output shows its format. Output that is
// truncated, contradicts itself, or names variables that the formula does not have is refused with
// line and column. The allocation satisfies the formula. problem::Validate decides whether it
// satisfies the Problem.
base::Expected<Decoded> Decode(const problem::files::ProblemDocument& document,
                               const FormulaOptions& options, std::string_view output,
                               std::string_view file);

// Returns the first line of a formula, without the comment sign of the format. It is not broken as
// it is here:
//
//     tessera-formula {"version":1,"problem":"c0ffee...","capacity":4096,
//                      "candidate":"rows=7","integers":"order"}
std::string WriteHeader(const problem::files::ProblemDocument& document,
                        const FormulaOptions& options);

}  // namespace tessera::encoder::exports
