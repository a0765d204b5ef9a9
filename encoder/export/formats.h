// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/export/formula.h"
#include "tessera/encoder/export/formula_record.h"
#include "tessera/encoder/formulation/backend.h"
#include "tessera/encoder/formulation/meaning.h"

namespace tessera::encoder::exports {

// The conditions of a record in the user's terms, one line each.
class Sentences {
 public:
  // Both arguments must outlive this object.
  Sentences(const ClauseRecord& record, const formulation::Wording& wording)
      : record_(record), wording_(wording) {}

  // auxiliary variables are shown by number: "auxiliary 12"
  std::string Of(formulation::Literal literal) const;

  // "if a touches b0, then mode of sram at step 3 is not r".
  std::string Of(std::span<const formulation::Literal> clause) const;

  // "offset of a is a multiple of 16 from 0 to 48".
  std::string Of(const TermRecord::Number& number) const;

  // "if a below b: offset of a + 16 <= offset of b"; `condition` is one of `terms`.
  std::string Of(const TermRecord& terms, const TermRecord::Condition& condition) const;

  // The name of a number. The number need not have been explained.
  std::string NameOf(const TermRecord::Number& number) const;

 private:
  struct Statement;

  const ClauseRecord& record_;
  const formulation::Wording& wording_;
};

// A table of the size of a formula: one line for each topic that occurs, and the total.
//
//     topic       variables     clauses
//     offsets            12          14
//     total              12          14
//
// `conditions` names the unit of the second column: "clauses".
std::string TabulateSizes(const formulation::TopicCounts& variables,
                          const formulation::TopicCounts& counts, std::string_view conditions);

// Writes all conditions for human readers: the content of the SMT formula as sentences and
// inequalities over bytes, grouped by topic. The numbers are those of the SMT-LIB assertions.
std::string WriteText(const TermRecord& record, const Sentences& sentences);

// Writes the formula as DIMACS CNF. `header` is the first line. The comments after it map every
// variable to its meaning.
std::string WriteDimacs(const ClauseRecord& record, const Sentences& sentences,
                        std::string_view header, std::string_view sizes);

// Reads the output of a SAT solver in the format of the SAT competitions: comments (c), one status
// line (s), and the values (v) up to a 0. Stores the values in `record`. A variable may be missing
// if every clause holds without it.
base::Expected<Decoded::Claim> ReadDimacsModel(std::string_view output, std::string_view file,
                                               ClauseRecord& record, const Sentences& sentences);

// A node of the output of an SMT solver: an atom, or a list in parentheses.
struct SExpression {
  enum class Kind : uint8_t { kSymbol, kString, kList };
  Kind kind = Kind::kSymbol;
  std::string_view text;  // of an atom, without bars or quotes; points into the input
  std::vector<SExpression> items;
  int line = 1;
  int column = 1;

  bool Is(std::string_view symbol) const { return kind == Kind::kSymbol && text == symbol; }
  bool IsList() const { return kind == Kind::kList; }
};

// Reads all expressions of a text in sequence, with ; comments between them. Refuses lists, bars
// and quotes that do not end, and lists nested deeper than kDeepestList.
base::Expected<std::vector<SExpression>> ReadSExpressions(std::string_view text,
                                                          std::string_view file);

inline constexpr size_t kDeepestList = 100;

// SMT-LIB names of the free variables of a record. The names are quoted symbols that state the
// meaning: |a below b|, |offset of w / 16|. An integer stands for its rank, (value - first) / step;
// the name states the divisor. Names are unique. Bounds and constants have no name.
class Symbols {
 public:
  Symbols(const TermRecord& record, const Sentences& sentences);

  // The name with its bars; empty if the unknown has no name.
  const std::string& Of(formulation::Integer integer) const {
    return integers_[static_cast<size_t>(integer.index)];
  }
  const std::string& OfVariable(int32_t variable) const {
    return variables_[static_cast<size_t>(variable)];
  }

  // A variable or an integer.
  using Unknown = std::variant<formulation::Literal, formulation::Integer>;

  // Finds an unknown by the name between the bars; null if there is none.
  const Unknown* Find(std::string_view name) const;
  std::vector<std::string_view> Names() const;

 private:
  std::string Register(std::string name, Unknown unknown);

  std::vector<std::string> integers_;
  std::vector<std::string> variables_;
  std::map<std::string, Unknown, std::less<>> unknowns_;
};

// Writes the formula as SMT-LIB 2 in QF_LIA. Most of its orders are differences. Each assertion is
// named after its topic ("liveness.3"), so that a solver's unsat core is readable. The script ends
// with (check-sat) and (get-model).
std::string WriteSmtlib(const TermRecord& record, const Symbols& symbols, std::string_view header,
                        std::string_view sizes);

// Reads the output of an SMT solver: sat, unsat or unknown. After sat comes the answer of
// get-model, ((define-fun |a below b| () Bool true) ...), or of get-value, ((|a below b| true)
// ...). Every free variable must have a value. Stores the values in `record`.
base::Expected<Decoded::Claim> ReadSmtlibModel(std::string_view output, std::string_view file,
                                               TermRecord& record, const Symbols& symbols);

}  // namespace tessera::encoder::exports
