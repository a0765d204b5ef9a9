#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/export/formula.h"
#include "tessera/encoder/export/formula_record.h"
#include "tessera/encoder/export/text.h"

namespace tessera::encoder::exports {

// The formula as DIMACS CNF. `header` opens it; the comments behind it map every variable to its
// meaning.
std::string WriteDimacs(const ClauseRecord& record, const Sentences& sentences,
                        std::string_view header, std::string_view sizes);

// The output of a SAT solver, as the SAT competitions define it: comments (c), one line of status
// (s), and the values (v) up to a 0. Values go into `record`. Variables may be missing where every
// clause holds without them.
base::Expected<Decoded::Claim> ReadDimacsModel(std::string_view output, std::string_view file,
                                               ClauseRecord& record, const Sentences& sentences);

// A node of what an SMT solver prints: an atom, or a list in parentheses.
struct SExpression {
  enum class Kind : uint8_t { kSymbol, kString, kList };
  Kind kind = Kind::kSymbol;
  std::string_view text;  // of an atom, without its bars or quotes; points into the input
  std::vector<SExpression> items;
  int line = 1;
  int column = 1;

  bool Is(std::string_view symbol) const { return kind == Kind::kSymbol && text == symbol; }
  bool IsList() const { return kind == Kind::kList; }
};

// All expressions of a text in a row, with ; comments between them. Refuses lists, bars and quotes
// that do not end, and lists nested deeper than kDeepestList.
base::Expected<std::vector<SExpression>> ReadSExpressions(std::string_view text,
                                                          std::string_view file);

inline constexpr size_t kDeepestList = 100;

// Names for the free variables of a record in SMT-LIB: quoted symbols that say what they mean, |a
// below b|, |offset of w / 16|. An integer stands for its rank, which the name tells: (value -
// first) / step. Names are unique; bounds and constants have none.
class Symbols {
 public:
  Symbols(const TermRecord& record, const Sentences& sentences);

  // With the bars; empty for what has no name.
  const std::string& Of(formulation::Integer integer) const {
    return integers_[static_cast<size_t>(integer.index)];
  }
  const std::string& OfVariable(int32_t variable) const {
    return variables_[static_cast<size_t>(variable)];
  }

  // A variable or an integer.
  using Unknown = std::variant<formulation::Literal, formulation::Integer>;

  // By the name between the bars; null when there is none.
  const Unknown* Find(std::string_view name) const;
  std::vector<std::string_view> Names() const;

 private:
  std::string Register(std::string name, Unknown unknown);

  std::vector<std::string> integers_;
  std::vector<std::string> variables_;
  std::map<std::string, Unknown, std::less<>> unknowns_;
};

// The formula as SMT-LIB 2 in QF_LIA; most of its orders are differences. Each assertion is named
// by its topic ("liveness.3"), so that a solver's unsat core can be read; the script ends with
// (check-sat) and (get-model).
std::string WriteSmtlib(const TermRecord& record, const Symbols& symbols, std::string_view header,
                        std::string_view sizes);

// The output of an SMT solver: sat, unsat or unknown, and after sat the answer of get-model,
// ((define-fun |a below b| () Bool true) ...), or of get-value, ((|a below b| true) ...). Every free variable
// must have a value. Values go into `record`.
base::Expected<Decoded::Claim> ReadSmtlibModel(std::string_view output, std::string_view file,
                                               TermRecord& record, const Symbols& symbols);

}  // namespace tessera::encoder::exports
