// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_FORMULA_H_
#define TESSERA_FORMULA_H_

#include <tessera/allocate.h>
#include <tessera/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Problems as formulas for any SAT or SMT solver, and the answers of solvers (docs/encode.md).
namespace tessera {
inline namespace v0 {

struct FormulaOptions {
  std::string format = "dimacs";              // "dimacs", "smtlib" or "text"
  std::optional<std::int64_t> capacity = {};  // bytes of the first memory; not set: the problem's
  std::string candidate = {};                 // a tile candidate; empty: the formula chooses one
  std::string integers = "auto";              // addresses in DIMACS: "order", "bits" or "auto"
};

struct Formula {
  std::string text;
  std::string sizes;  // a table of variables and conditions
};

// Returns a formula that is satisfiable exactly if everything fits. It leaves out costs, because
// they are preferences.
TESSERA_API Result<Formula> Encode(const Problem& problem, const FormulaOptions& options = {});

// Reads the answer to `problem` from the output of a solver; `formula` is the text of Encode for
// the same problem. The solver is not trusted: its model must satisfy the formula, and the
// allocation is checked. A model that breaks the formula is bad input. A claim that nothing fits
// comes without a proof, so the outcome is then kUnknown. `name` is for messages.
TESSERA_API Result<AllocateAnswer> Decode(const Problem& problem, std::string_view formula,
                                          std::string_view output,
                                          const std::string& name = "output");

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_FORMULA_H_
