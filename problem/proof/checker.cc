// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/proof/checker.h"

#include <algorithm>
#include <span>

#include "tessera/problem/proof/axiom_checker.h"
#include "tessera/problem/proof/proof_text.h"

namespace tessera::problem::proof {
namespace {

class Checker {
 public:
  explicit Checker(const Facts& facts) : axiom_checker_(facts), known_(facts) {
    ends_.push_back(0);
  }

  // Processes the next line. Returns its flaw, or an empty text.
  std::string Take(Line& line) {
    if (line.kind == Line::Kind::kHeader) {
      if (state_ != State::kStart) return "a second header";
      state_ = State::kBetween;
      return "";
    }
    if (state_ == State::kStart) return "a proof begins with 'tessera-proof 1'";
    if (state_ == State::kEnd) return "nothing may follow the end";
    switch (line.kind) {
      case Line::Kind::kGiven:
        return TakeGiven(line);
      case Line::Kind::kClause:
        return TakeClause(line);
      case Line::Kind::kAxiom:
        return TakeAxiom(line);
      case Line::Kind::kUse:
        return TakeUse(line);
      default:
        return TakeEnd();
    }
  }

  bool Ended() const { return state_ == State::kEnd; }
  size_t Clauses() const { return ends_.size() - 1; }

 private:
  enum class State : uint8_t { kStart, kBetween, kProving, kProven, kEnd };

  std::string TakeGiven(Line& line) {
    if (state_ == State::kProving) return "the clause above is not proven";
    if (std::string flaw = Understand(line.axiom.literals); !flaw.empty()) return flaw;
    if (std::string flaw = axiom_checker_.FindFlaw(line.axiom); !flaw.empty()) return flaw;
    Conclude();
    if (std::string flaw = Store(line); !flaw.empty()) return flaw;
    state_ = State::kProven;
    return "";
  }

  std::string TakeClause(Line& line) {
    if (state_ == State::kProving) return "the clause above is not proven";
    if (std::string flaw = Understand(line.axiom.literals); !flaw.empty()) return flaw;
    Conclude();
    if (std::string flaw = Store(line); !flaw.empty()) return flaw;
    state_ = known_.Contradicts() || refuted_ ? State::kProven : State::kProving;
    for (const ProofLiteral& literal : line.axiom.literals) {
      if (known_.IsTrue(literal)) state_ = State::kProven;
      if (state_ == State::kProving && !known_.IsFalse(literal) && !known_.Assert(~literal)) {
        state_ = State::kProven;
      }
    }
    return "";
  }

  std::string TakeAxiom(Line& line) {
    if (state_ == State::kBetween) return "no clause is being proven";
    if (std::string flaw = Understand(line.axiom.literals); !flaw.empty()) return flaw;
    if (std::string flaw = axiom_checker_.FindFlaw(line.axiom); !flaw.empty()) return flaw;
    return Apply(line.axiom.literals);
  }

  std::string TakeUse(const Line& line) {
    if (state_ == State::kBetween) return "no clause is being proven";
    for (const int64_t number : line.used) {
      // The clause that is being proven is the last one stored.
      if (number < 1 || number >= static_cast<int64_t>(Clauses())) {
        return "there is no clause " + std::to_string(number) + " above";
      }
      if (std::string flaw = Apply(ClauseAt(number)); !flaw.empty()) return flaw;
    }
    return "";
  }

  std::string TakeEnd() {
    if (state_ == State::kProving) return "the clause above is not proven";
    Conclude();
    if (!refuted_) return "the proof ends without the empty clause";
    state_ = State::kEnd;
    return "";
  }

  std::string Understand(std::vector<ProofLiteral>& literals) const {
    for (ProofLiteral& literal : literals) {
      if (std::string flaw = known_.Understand(literal); !flaw.empty())
        return ToString(literal) + ": " + flaw;
    }
    return "";
  }

  std::string Store(const Line& line) {
    if (line.number != static_cast<int64_t>(Clauses()) + 1) {
      return "the next clause has the number " + std::to_string(Clauses() + 1);
    }
    literals_.insert(literals_.end(), line.axiom.literals.begin(), line.axiom.literals.end());
    ends_.push_back(literals_.size());
    return "";
  }

  std::span<const ProofLiteral> ClauseAt(int64_t number) const {
    const auto at = static_cast<size_t>(number);
    return {literals_.data() + ends_[at - 1], ends_[at] - ends_[at - 1]};
  }

  // The clause proven last holds from here on. A clause of one literal, or none, holds permanently.
  void Conclude() {
    if (state_ != State::kProven) return;
    state_ = State::kBetween;
    known_.Undo();
    const std::span<const ProofLiteral> clause = ClauseAt(static_cast<int64_t>(Clauses()));
    if (clause.empty()) refuted_ = true;
    if (clause.size() != 1 || known_.IsTrue(clause[0])) return;
    if (known_.IsFalse(clause[0]) || !known_.Assert(clause[0])) refuted_ = true;
    known_.Keep();
  }

  // Asserts the last open literal of a clause whose other literals are false. A clause that is true
  // has no consequence.
  std::string Apply(std::span<const ProofLiteral> clause) {
    if (state_ == State::kProven) return "";
    const ProofLiteral* open = nullptr;
    for (const ProofLiteral& literal : clause) {
      if (known_.IsFalse(literal)) continue;
      if (known_.IsTrue(literal)) return "";
      if (open != nullptr) {
        return "nothing follows yet: both " + ToString(*open) + " and " + ToString(literal) +
               " are open";
      }
      open = &literal;
    }
    if (open == nullptr || !known_.Assert(*open)) state_ = State::kProven;
    return "";
  }

  AxiomChecker axiom_checker_;
  Assignment known_;
  State state_ = State::kStart;
  bool refuted_ = false;                // the empty clause is proven
  std::vector<ProofLiteral> literals_;  // of all clauses
  std::vector<size_t> ends_;            // of each clause
};

}  // namespace

ProofCheck CheckProof(const Problem& problem, Bytes capacity, std::string_view text) {
  ProofCheck verdict;
  if (auto fault = Facts::CheckWellFormed(problem, capacity)) {
    verdict.flaw = *std::move(fault);
    return verdict;
  }
  const Facts facts(problem, capacity);
  Checker checker(facts);
  Line line;
  while (!text.empty()) {
    ++verdict.line;
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      verdict.flaw = "the last line has no end";
      return verdict;
    }
    verdict.flaw = ReadLine(text.substr(0, end), line) ? checker.Take(line) : line.flaw;
    if (!verdict.flaw.empty()) return verdict;
    text.remove_prefix(end + 1);
  }
  verdict.clauses = checker.Clauses();
  verdict.accepted = checker.Ended();
  if (!verdict.accepted) verdict.flaw = "the proof breaks off";
  return verdict;
}

}  // namespace tessera::problem::proof
