#pragma once

#include <memory>

#include "tessera/encoder/backend.h"
#include "tessera/encoder/export/clause_record.h"
#include "tessera/encoder/export/term_record.h"
#include "tessera/encoder/sat/integer_encoding.h"

namespace tessera::encoder {

// A formula for SAT solvers: integers are clauses too.
class ClauseTarget final : public Target {
 public:
  ClauseTarget(IntegerEncoding encoding, const Magnitude& magnitude)
      : record_(kClauseLimit), integers_(MakeIntegers(encoding, magnitude, record_, record_)) {}

  ClauseRecord& Clauses() override { return record_; }
  IntegerSink& Integers() override { return *integers_; }
  bool IsTrue(Literal literal) const override { return record_.IsTrue(literal); }

 private:
  ClauseRecord record_;
  std::unique_ptr<IntegerSink> integers_;
};

// A formula for SMT solvers and people: integers stay integers.
class TermTarget final : public Target {
 public:
  TermTarget() : record_(kClauseLimit) {}

  TermRecord& Clauses() override { return record_; }
  IntegerSink& Integers() override { return record_; }
  bool IsTrue(Literal literal) const override { return record_.IsTrue(literal); }

 private:
  TermRecord record_;
};

}  // namespace tessera::encoder
