#include "tessera/encoder/sat/cadical_solver.h"

#include <algorithm>
#include <cadical.hpp>
#include <limits>

#include "tessera/encoder/sat/cadical_stop.h"

namespace tessera::encoder {
namespace {

// The library has no accessor for the number of conflicts, but tells a learner of every clause that it
// learns.
class ConflictCounter : public CaDiCaL::Learner {
 public:
  bool learning(int /*size*/) override {
    ++conflicts;
    return false;
  }
  void learn(int /*literal*/) override {}

  int64_t conflicts = 0;
};

}  // namespace

// The library does not expect memory to run out: what is left of a solver then cannot even be
// destroyed. So it is given up as it is.
template <typename Work>
auto CadicalSolver::Guarded(const Work& work) {
  try {
    return work();
  } catch (...) {
    static_cast<void>(solver_.release());
    throw;
  }
}

CadicalSolver::CadicalSolver(uint64_t seed, int64_t limit, FirstTry first_try)
    : ClauseSink(limit), solver_(std::make_unique<CaDiCaL::Solver>()) {
  Guarded([&] { SetUp(seed, first_try); });
}

void CadicalSolver::SetUp(uint64_t seed, FirstTry first_try) {
  const auto set = [this](const char* option, int value) {
    if (CaDiCaL::Solver::is_valid_option(option)) solver_->set(option, value);
  };
  set("quiet", 1);
  set("lucky", 0);  // it tries all-false and the like before any preference
  set("phase", first_try.positive ? 1 : 0);
  set("reverse", first_try.oldest_first ? 1 : 0);
  set("seed", static_cast<int>(seed % kCadicalSeedRange));
  variables_ = kTrue.Variable();
  solver_->add(kTrue.Dimacs());
  solver_->add(0);
}

CadicalSolver::~CadicalSolver() = default;

Literal CadicalSolver::NewVariable() {
  CountVariable();
  return Literal(++variables_);
}

void CadicalSolver::Store(std::span<const Literal> clause) {
  if (!std::all_of(clause.begin(), clause.end(), [this](Literal literal) { return Knows(literal); })) {
    misused_ = true;
    return;
  }
  Guarded([&] {
    for (const Literal literal : clause) solver_->add(literal.Dimacs());
    solver_->add(0);
  });
  state_ = State::kOpen;
}

void CadicalSolver::Prefer(Literal literal) {
  if (!Knows(literal)) return;
  Guarded([&] {
    for (const int dimacs : {literal.Dimacs(), -literal.Dimacs(), 0})
      solver_->add(dimacs);  // else phase() ignores it
    solver_->phase(literal.Dimacs());
  });
  state_ = State::kOpen;
}

Answer CadicalSolver::Decide(std::span<const Literal> assumptions, const base::Budget& budget,
                             const base::Stop& stop) {
  if (!std::all_of(assumptions.begin(), assumptions.end(),
                   [this](Literal literal) { return Knows(literal); })) {
    misused_ = true;
  }
  if (misused_) return {Verdict::kUnknown, "a literal was used that this solver did not make", 0};
  if (budget.units <= 0) return {Verdict::kUnknown, "the budget of conflicts is spent", 0};

  assumed_.assign(assumptions.begin(), assumptions.end());
  const bool limited = budget.units < std::numeric_limits<int>::max();
  StopWatcher watcher(stop);
  ConflictCounter counter;
  const int code = Guarded([&] {
    for (const Literal literal : assumed_) solver_->assume(literal.Dimacs());
    if (limited) solver_->limit("conflicts", static_cast<int>(budget.units));
    solver_->connect_terminator(&watcher);
    solver_->connect_learner(&counter);
    const int result = solver_->solve();
    solver_->disconnect_learner();
    solver_->disconnect_terminator();
    return result;
  });

  state_ = code == 10 ? State::kSatisfied : code == 20 ? State::kRefuted : State::kOpen;
  if (code == 10) return {Verdict::kSatisfiable, "", counter.conflicts};
  if (code == 20) return {Verdict::kUnsatisfiable, "", counter.conflicts};
  if (stop.Requested()) return {Verdict::kUnknown, "stopped", counter.conflicts};
  // Not every conflict is told to the learner, yet all of the budget was used.
  if (limited) counter.conflicts = std::max(counter.conflicts, budget.units);
  return {Verdict::kUnknown, "the budget of conflicts is spent", counter.conflicts};
}

std::optional<bool> CadicalSolver::ValueOf(Literal literal) const {
  if (state_ != State::kSatisfied || !Knows(literal)) return std::nullopt;
  const bool variable_holds = solver_->val(literal.Variable()) > 0;
  return variable_holds != literal.Negative();
}

std::optional<bool> CadicalSolver::Failed(Literal assumption) const {
  if (state_ != State::kRefuted) return std::nullopt;
  if (std::find(assumed_.begin(), assumed_.end(), assumption) == assumed_.end()) return std::nullopt;
  return solver_->failed(assumption.Dimacs());
}

}  // namespace tessera::encoder
