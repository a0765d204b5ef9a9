// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/encoder/export/formula.h"
#include "tessera/encoder/export/formula_record.h"
#include "tessera/encoder/formulation/backend.h"
#include "tessera/encoder/formulation/formulation.h"
#include "tessera/encoder/formulation/wording.h"
#include "tessera/encoder/sat/integer_encoding.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::encoder::exports {

// A formula for SAT solvers: integers are encoded as clauses.
class ClauseTarget final : public formulation::Target {
 public:
  ClauseTarget(sat::IntegerEncoding encoding, const formulation::Magnitude& magnitude)
      : record_(sat::kClauseLimit),
        integers_(sat::MakeIntegers(encoding, magnitude, record_, record_)) {}

  ClauseRecord& Clauses() override { return record_; }
  formulation::IntegerSink& Integers() override { return *integers_; }
  bool IsTrue(formulation::Literal literal) const override { return record_.IsTrue(literal); }

 private:
  ClauseRecord record_;
  std::unique_ptr<formulation::IntegerSink> integers_;
};

// A formula for SMT solvers and human readers: integers stay integers.
class TermTarget final : public formulation::Target {
 public:
  TermTarget() : record_(sat::kClauseLimit) {}

  TermRecord& Clauses() override { return record_; }
  formulation::IntegerSink& Integers() override { return record_; }
  bool IsTrue(formulation::Literal literal) const override { return record_.IsTrue(literal); }

 private:
  TermRecord record_;
};

// Writes a Problem to a target that decides nothing. The capacity is fixed. With tile candidates
// there is one variable for each candidate, and at least one of them holds. Writing the Problem
// again makes the same variables in the same order; this is why a model from an external solver can
// be read.
class Transcript {
 public:
  // `document` must outlive this object. Only the capacity and the candidate of the options are
  // used.
  Transcript(const problem::files::ProblemDocument& document, const FormulaOptions& options);

  Transcript(const Transcript&) = delete;
  Transcript& operator=(const Transcript&) = delete;

  // Returns why the formula cannot be written, or nullopt.
  std::optional<std::string> TooLarge() const {
    return formulation::TooLarge(question_.problem, address_constraints_);
  }

  const formulation::Wording& Words() const { return wording_; }
  formulation::Magnitude Measure() const { return formulation::Addresses::Measure(question_); }

  // `target` must outlive this object. Later reads refer to the last target.
  void WriteTo(formulation::Target& target);

  // The model of the target in terms of the Problem, and the first candidate that it selects.
  problem::Allocation Decode() const { return formulation_->Decode(); }
  std::optional<size_t> SelectedCandidate() const;

 private:
  problem::Problem problem_;       // with the sizes of the requested candidate
  const problem::Ladder* ladder_;  // null if the sizes are fixed
  formulation::Wording wording_;
  formulation::AddressConstraints address_constraints_;
  formulation::FormulationInput question_;
  formulation::Target* target_ = nullptr;
  std::optional<formulation::Formulation> formulation_;
  std::vector<formulation::Literal> candidates_;  // empty without tile candidates
};

}  // namespace tessera::encoder::exports
