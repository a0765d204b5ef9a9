#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tessera/encoder/export/formula_record.h"
#include "tessera/encoder/formulation/backend.h"
#include "tessera/encoder/formulation/wording.h"

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

}  // namespace tessera::encoder::exports
