#pragma once

#include <span>
#include <string>

#include "tessera/encoder/export/clause_record.h"
#include "tessera/encoder/export/term_record.h"
#include "tessera/encoder/wording.h"

namespace tessera::encoder {

// The conditions of a record in the user's words, one line each.
class Sentences {
 public:
  // Both outlive this.
  Sentences(const ClauseRecord& record, const Wording& wording) : record_(record), wording_(wording) {}

  std::string Of(Literal literal) const;  // helpers carry their number: "helper 12"

  // "if a touches b0, then mode of sram at step 3 is not r".
  std::string Of(std::span<const Literal> clause) const;

  // "offset of a is a multiple of 16 from 0 to 48".
  std::string Of(const TermRecord::Number& number) const;

  // "if a below b: offset of a + 16 <= offset of b"; `condition` is one of `terms`.
  std::string Of(const TermRecord& terms, const TermRecord::Condition& condition) const;

  // The name of a number, which need not have been explained.
  std::string NameOf(const TermRecord::Number& number) const;

 private:
  struct Statement;

  const ClauseRecord& record_;
  const Wording& wording_;
};

}  // namespace tessera::encoder
