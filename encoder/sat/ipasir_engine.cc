// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/sat/ipasir_engine.h"

#include <algorithm>
#include <limits>

#include "tessera/encoder/formulation/encoded_session.h"
#include "tessera/encoder/sat/integer_encoding.h"

namespace tessera::encoder::sat {

namespace {

constexpr int kSatisfiable = 10;
constexpr int kUnsatisfiable = 20;

// The state that the callbacks of one call watch.
struct Watch {
  const base::Stop& stop;
  int64_t budget;
  int64_t learned = 0;

  static int Terminate(void* state) {
    const auto& watch = *static_cast<const Watch*>(state);
    return watch.learned >= watch.budget || watch.stop.Requested() ? 1 : 0;
  }
  static void Learn(void* state, int* /*clause*/) { ++static_cast<Watch*>(state)->learned; }
};

}  // namespace

void IpasirSolver::Release::operator()(void* solver) const { ipasir_release(solver); }

IpasirSolver::IpasirSolver(int64_t limit) : formulation::ClauseSink(limit), solver_(ipasir_init()) {
  variables_ = greatest_reported_ = formulation::kTrue.Variable();
  ipasir_add(solver_.get(), formulation::kTrue.Dimacs());
  ipasir_add(solver_.get(), 0);
}

void IpasirSolver::Store(std::span<const formulation::Literal> clause) {
  satisfied_ = false;
  for (const formulation::Literal literal : clause) {
    greatest_reported_ = std::max(greatest_reported_, literal.Variable());
    ipasir_add(solver_.get(), literal.Dimacs());
  }
  ipasir_add(solver_.get(), 0);
}

formulation::Answer IpasirSolver::Decide(std::span<const formulation::Literal> assumptions,
                                         const base::Budget& budget, const base::Stop& stop) {
  if (budget.units <= 0)
    return {formulation::Satisfiability::kUnknown, "the budget of conflicts is spent", 0};
  for (const formulation::Literal literal : assumptions) {
    greatest_reported_ = std::max(greatest_reported_, literal.Variable());
    ipasir_assume(solver_.get(), literal.Dimacs());
  }
  Watch watch{stop, budget.units};
  ipasir_set_terminate(solver_.get(), &watch, &Watch::Terminate);
  ipasir_set_learn(solver_.get(), &watch, std::numeric_limits<int>::max(), &Watch::Learn);
  const int code = ipasir_solve(solver_.get());
  ipasir_set_terminate(solver_.get(), nullptr, nullptr);
  ipasir_set_learn(solver_.get(), nullptr, 0, nullptr);

  satisfied_ = code == kSatisfiable;
  if (code == kSatisfiable) return {formulation::Satisfiability::kSatisfiable, "", watch.learned};
  if (code == kUnsatisfiable)
    return {formulation::Satisfiability::kUnsatisfiable, "", watch.learned};
  return {formulation::Satisfiability::kUnknown,
          stop.Requested() ? "stopped" : "the budget of conflicts is spent", watch.learned};
}

bool IpasirSolver::IsTrue(formulation::Literal literal) const {
  if (!satisfied_ || literal.Variable() > greatest_reported_) return false;
  const bool variable_holds = ipasir_val(solver_.get(), literal.Variable()) == literal.Variable();
  return variable_holds != literal.Negative();
}

std::string_view IpasirEngine::Signature() { return ipasir_signature(); }

std::unique_ptr<problem::Session> IpasirEngine::Open(const problem::Problem& problem,
                                                     const problem::Ladder* ladder) const {
  return std::make_unique<formulation::EncodedSession>(
      "ipasir", problem, ladder, [options = options_](const formulation::Magnitude& magnitude) {
        return std::make_unique<SolverBackend<IpasirSolver>>(options.encoding, magnitude,
                                                             ClauseLimitFor(magnitude));
      });
}

}  // namespace tessera::encoder::sat
