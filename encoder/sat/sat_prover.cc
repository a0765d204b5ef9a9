// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/sat/sat_prover.h"

#include <array>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/encoder/sat/plain_formula.h"
#include "tessera/encoder/sat/unit_propagation.h"
#include "tessera/problem/proof/proof_text.h"

namespace tessera::encoder::sat {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::proof::Attempt;
using problem::proof::Log;
using problem::proof::ProofLiteral;

constexpr size_t kMostClauses = 2'000'000;
// Values of an offset, for successive formulas. Contradictions of modes, ports or a few boundaries
// are proven with few values, in a fraction of the time.
constexpr std::array<size_t, 3> kMostValues = {256, 1024, 1'000'000};
constexpr const char* kOpen = "what a proof can speak of leaves a placement";
constexpr int64_t kLinesPerLook = 256;  // between two polls of the stop

// Follows a trace line by line and records the antecedents of each clause.
class Elaboration {
 public:
  explicit Elaboration(const PlainFormula& formula) : formula_(formula) {}

  // Returns why there is no proof; empty on success.
  std::string Run(std::string_view trace, const base::Stop& stop) {
    if (!AddFormula(stop)) return "stopped";
    TraceLine line;
    for (int64_t count = 1; !propagation_.Contradiction(); ++count) {
      if (count % kLinesPerLook == 0 && stop.Requested()) return "stopped";
      if (log_.Full()) return "the proof grows too large";
      if (!TakeTraceLine(trace, line)) return "the solver's trace breaks off";
      if (line.deletes) {
        propagation_.Delete(line.literals);
      } else if (!Derive(line.literals)) {
        return "a clause of the solver's trace does not follow by unit propagation";
      }
    }
    AddClause({}, {*propagation_.Contradiction()});
    return "";
  }

  std::optional<std::string> Write() const { return log_.Write(); }

 private:
  // Returns false from the stop on.
  bool AddFormula(const base::Stop& stop) {
    base::PolledWork work(&stop);
    for (size_t i = 0; i < formula_.Size() && work.Continues(); ++i) {
      hints_.push_back({});
      propagation_.Add(static_cast<int32_t>(i), formula_.At(i).literals);
    }
    NoteUnits(0);
    return !work.IsCutOff();
  }

  bool Derive(const std::vector<int>& literals) {
    if (!propagation_.Refutes(literals)) return false;
    if (propagation_.Chain().empty()) return true;  // it always holds
    // Literals that are permanently false are omitted.
    std::vector<int> open;
    for (const int literal : literals) {
      if (!propagation_.Fails(literal)) open.push_back(literal);
    }
    hints_.push_back(AddClause(open, propagation_.Chain()));
    propagation_.Add(static_cast<int32_t>(hints_.size()) - 1, literals);
    NoteUnits(open.size() == 1 ? open[0] : 0);
    return true;
  }

  // Adds literals that became permanently true as clauses of one literal, unless such a clause
  // exists already.
  void NoteUnits(int noted) {
    for (const UnitPropagation::Unit& unit : propagation_.TakeUnits()) {
      if (unit.literal != noted) AddClause(std::vector<int>{unit.literal}, {unit.clause});
    }
  }

  Log::Hint AddClause(std::span<const int> literals, const std::vector<int32_t>& chain) {
    std::vector<Log::Hint> hints;
    for (const int32_t number : chain) {
      const auto at = static_cast<size_t>(number);
      const bool given = at < formula_.Size();
      if (given && formula_.At(at).free) continue;
      if (given && hints_[at].index < 0) hints_[at] = AddAxiom(formula_.At(at));
      hints.push_back(hints_[at]);
    }
    return log_.AddClause(Translate(literals), hints);
  }

  Log::Hint AddAxiom(const PlainFormula::Clause& clause) {
    return log_.AddAxiom(clause.ground, clause.subjects, Translate(clause.literals));
  }

  std::vector<ProofLiteral> Translate(std::span<const int> literals) const {
    std::vector<ProofLiteral> meanings;
    for (const int literal : literals) meanings.push_back(formula_.MeaningOf(literal));
    return meanings;
  }

  const PlainFormula& formula_;
  UnitPropagation propagation_;
  Log log_;
  std::vector<Log::Hint> hints_;  // by number of the clause: first the formula's, then the solver's
};

Attempt Refuse(std::string reason) {
  Attempt attempt;
  attempt.reason = std::move(reason);
  return attempt;
}

Attempt Elaborate(const PlainFormula& formula, uint64_t seed, const base::Budget& budget,
                  const base::Stop& stop) {
  const auto visit_all = [&formula](const ClauseVisitor& visit) {
    for (size_t i = 0; i < formula.Size(); ++i) visit(formula.At(i).literals);
  };
  const TracedAnswer traced = SolveTraced(visit_all, seed, budget, stop);
  if (traced.answer.verdict == formulation::Satisfiability::kSatisfiable) return Refuse(kOpen);
  if (traced.answer.verdict == formulation::Satisfiability::kUnknown)
    return Refuse(traced.answer.reason);
  auto elaboration = std::make_unique<Elaboration>(formula);
  Attempt attempt = Refuse(elaboration->Run(traced.trace, stop));
  if (attempt.reason.empty()) attempt.proof = elaboration->Write();
  base::FreeUnlessAtEnd(std::move(elaboration), stop);
  return attempt;
}

}  // namespace

Attempt SatProver::Prove(const Problem& problem, Bytes capacity, const base::Budget& budget,
                         const base::Stop& stop) const {
  try {
    Attempt attempt = Refuse("the offsets have too many values to write them all down");
    for (const size_t most_values : kMostValues) {
      const PlainFormula formula(problem, capacity, most_values, kMostClauses, stop);
      if (formula.Contradicts()) {
        Log log;
        log.AddClause({}, {});
        attempt.proof = log.Write();
        return attempt;
      }
      if (stop.Requested()) return Refuse("stopped");
      if (formula.Full()) continue;
      attempt = Elaborate(formula, seed_, budget, stop);
      if (attempt.proof || !formula.Weakened()) break;
    }
    return attempt;
  } catch (const std::exception& fault) {
    return Refuse(std::string("cadical gave up: ") + fault.what());
  }
}

}  // namespace tessera::encoder::sat
