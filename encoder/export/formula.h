#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/sat/integer_encoding.h"
#include "tessera/problem/files/problem_files.h"

// Formulas for any solver, and the way back.
//
//     Problem --Encode--> formula.cnf  --any SAT solver--> "v 1 -2 ..." --Decode--> Allocation
//                         formula.smt2 --any SMT solver--> "(define-fun ...)"
//                         formula.txt  --people
//
// A model says "variable 17", so Decode writes the formula again, in memory, and lays the model
// beside it: the same Problem with the same options gives the same variables. The first line of a
// formula holds the options and a mark of the Problem, for those who do not want to repeat them.
namespace tessera::encoder::exports {

enum class FormulaFormat : uint8_t { kDimacs, kSmtlib, kText };

struct FormulaOptions {
  FormulaFormat format = FormulaFormat::kText;
  problem::Bytes capacity = 0;  // of memories[0]
  std::optional<size_t>
      candidate;  // of the ladder; without one, each candidate is a variable and one of them holds
  sat::IntegerEncoding integers =
      sat::IntegerEncoding::kByMagnitude;  // for kDimacs, and the sizes that kText reports
};

struct Formula {
  std::string text;
  std::string sizes;  // a table: variables and conditions by topic
};

// The formula of a well-formed Problem. Costs are preferences, which a formula leaves out. The only
// fault is a formula that is too large to write down.
base::Expected<Formula> Encode(const problem::files::ProblemDocument& document,
                               const FormulaOptions& options);

// The options in the first line of a formula that Encode wrote. Refuses other files, and formulas
// of another Problem than `document`. `file` is for messages.
base::Expected<FormulaOptions> ReadOptions(std::string_view formula, std::string_view file,
                                           const problem::files::ProblemDocument& document);

// What a solver says of a formula.
struct Decoded {
  enum class Claim : uint8_t {
    kModel,        // here is an answer
    kNothingFits,  // unsatisfiable: a claim, as no proof comes with it
    kUndecided,    // it gave up
  };
  Claim claim = Claim::kUndecided;
  std::optional<problem::Allocation> allocation;  // of kModel, unless `broken`
  std::optional<size_t> candidate;                // that the model selects, of a ladder
  std::string
      broken;  // the first condition that the model does not satisfy, in words; empty when it does
};

// Reads the output of a solver: DIMACS lines `s` and `v`, or SMT-LIB's `sat` with the answer of
// get-model or get-value. options.format is not looked at: the output shows which it is. Output
// that is truncated, contradicts itself, or speaks of variables that the formula does not have is
// refused with line and column. The allocation satisfies the formula; whether it satisfies the
// Problem is for problem::Validate to say.
base::Expected<Decoded> Decode(const problem::files::ProblemDocument& document,
                               const FormulaOptions& options, std::string_view output,
                               std::string_view file);

// The line that opens a formula, without the sign that makes it a comment:
//
//     tessera-formula {"version":1,"problem":"c0ffee...","capacity":4096,"candidate":"rows=7","integers":"order"}
std::string WriteHeader(const problem::files::ProblemDocument& document,
                        const FormulaOptions& options);

}  // namespace tessera::encoder::exports
