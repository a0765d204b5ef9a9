// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/sat/cadical_engine.h"

#include <algorithm>
#include <cadical.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>

#include "tessera/encoder/formulation/encoded_session.h"
#include "tessera/encoder/formulation/refinements.h"
#include "tessera/encoder/sat/integer_encoding.h"

namespace tessera::encoder::sat {

namespace {

// The upper end of the library's seed option; seeds are taken modulo it.
constexpr uint64_t kCadicalSeedRange = 2'000'000'000;

// Sets those of the options that this version of the library has, and the options that all solvers
// here share. Variables are not eliminated: a round polls no terminator while it connects all
// clauses, which takes a quarter of a second for a million, and gains nothing on these formulas.
void Configure(CaDiCaL::Solver& solver,
               std::initializer_list<std::pair<const char*, int>> options) {
  const auto set = [&solver](const char* option, int value) {
    if (CaDiCaL::Solver::is_valid_option(option)) solver.set(option, value);
  };
  set("quiet", 1);
  set("elim", 0);
  for (const auto& [option, value] : options) set(option, value);
}

// Lets a Stop end the work of the library.
class StopWatcher : public CaDiCaL::Terminator {
 public:
  explicit StopWatcher(const base::Stop& stop) : stop_(stop) {}
  bool terminate() override { return stop_.Requested(); }

 private:
  const base::Stop& stop_;
};

// The library has no accessor for the number of conflicts, but reports every learned clause to a
// learner.
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

// The library does not handle memory exhaustion: the remains of a solver cannot even be destroyed.
// So the object is leaked.
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
    : formulation::ClauseSink(limit), solver_(std::make_unique<CaDiCaL::Solver>()) {
  Guarded([&] { SetUp(seed, first_try); });
}

void CadicalSolver::SetUp(uint64_t seed, FirstTry first_try) {
  Configure(*solver_, {{"lucky", 0},  // else it tries all-false and similar first
                       {"phase", first_try.positive ? 1 : 0},
                       {"reverse", first_try.oldest_first ? 1 : 0},
                       {"seed", static_cast<int>(seed % kCadicalSeedRange)}});
  variables_ = formulation::kTrue.Variable();
  solver_->add(formulation::kTrue.Dimacs());
  solver_->add(0);
}

CadicalSolver::~CadicalSolver() = default;

formulation::Literal CadicalSolver::NewVariable() {
  CountVariable();
  return formulation::Literal(++variables_);
}

void CadicalSolver::Store(std::span<const formulation::Literal> clause) {
  if (!std::all_of(clause.begin(), clause.end(),
                   [this](formulation::Literal literal) { return Knows(literal); })) {
    misused_ = true;
    return;
  }
  Guarded([&] {
    for (const formulation::Literal literal : clause) solver_->add(literal.Dimacs());
    solver_->add(0);
  });
  state_ = State::kOpen;
}

void CadicalSolver::Prefer(formulation::Literal literal) {
  if (!Knows(literal)) return;
  Guarded([&] {
    for (const int dimacs : {literal.Dimacs(), -literal.Dimacs(), 0})
      solver_->add(dimacs);  // else phase() ignores it
    solver_->phase(literal.Dimacs());
  });
  state_ = State::kOpen;
}

formulation::Answer CadicalSolver::Decide(std::span<const formulation::Literal> assumptions,
                                          const base::Budget& budget, const base::Stop& stop) {
  if (!std::all_of(assumptions.begin(), assumptions.end(),
                   [this](formulation::Literal literal) { return Knows(literal); })) {
    misused_ = true;
  }
  if (misused_)
    return {formulation::Satisfiability::kUnknown,
            "a literal was used that this solver did not make", 0};
  if (budget.units <= 0)
    return {formulation::Satisfiability::kUnknown, "the budget of conflicts is spent", 0};

  assumed_.assign(assumptions.begin(), assumptions.end());
  const bool limited = budget.units < std::numeric_limits<int>::max();
  StopWatcher watcher(stop);
  ConflictCounter counter;
  const int code = Guarded([&] {
    for (const formulation::Literal literal : assumed_) solver_->assume(literal.Dimacs());
    if (limited) solver_->limit("conflicts", static_cast<int>(budget.units));
    solver_->connect_terminator(&watcher);
    solver_->connect_learner(&counter);
    const int result = solver_->solve();
    solver_->disconnect_learner();
    solver_->disconnect_terminator();
    return result;
  });

  state_ = code == 10 ? State::kSatisfied : code == 20 ? State::kRefuted : State::kOpen;
  if (code == 10) return {formulation::Satisfiability::kSatisfiable, "", counter.conflicts};
  if (code == 20) return {formulation::Satisfiability::kUnsatisfiable, "", counter.conflicts};
  if (stop.Requested())
    return {formulation::Satisfiability::kUnknown, "stopped", counter.conflicts};
  // The learner does not see every conflict, but the whole budget was used.
  if (limited) counter.conflicts = std::max(counter.conflicts, budget.units);
  return {formulation::Satisfiability::kUnknown, "the budget of conflicts is spent",
          counter.conflicts};
}

std::optional<bool> CadicalSolver::ValueOf(formulation::Literal literal) const {
  if (state_ != State::kSatisfied || !Knows(literal)) return std::nullopt;
  const bool variable_holds = solver_->val(literal.Variable()) > 0;
  return variable_holds != literal.Negative();
}

std::optional<bool> CadicalSolver::Failed(formulation::Literal assumption) const {
  if (state_ != State::kRefuted) return std::nullopt;
  if (std::find(assumed_.begin(), assumed_.end(), assumption) == assumed_.end())
    return std::nullopt;
  return solver_->failed(assumption.Dimacs());
}

// A separate solver for each trace: the library writes a complete trace only if tracing begins
// before the first clause; and under assumptions the trace would end in their negation instead of
// the empty clause.

namespace {

// A file in memory; the library writes traces only to files.
class MemoryFile {
 public:
  MemoryFile() : file_(open_memstream(&text_, &size_)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    // NOLINTBEGIN(cppcoreguidelines-no-malloc, cppcoreguidelines-owning-memory): memstream
    if (file_ != nullptr) std::fclose(file_);
    std::free(text_);
    // NOLINTEND(cppcoreguidelines-no-malloc, cppcoreguidelines-owning-memory)
  }

  FILE* Get() const { return file_; }
  std::string Text() {
    std::fflush(file_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  FILE* file_;
};

// The answer of the library: 10 or 20, or 0 at a limit.
int Solve(CaDiCaL::Solver& solver, MemoryFile& file,
          const std::function<void(const ClauseVisitor&)>& visit_all, uint64_t seed,
          const base::Budget& budget, const base::Stop& stop) {
  Configure(solver, {{"binary", 0}, {"seed", static_cast<int>(seed % kCadicalSeedRange)}});
  solver.trace_proof(file.Get(), "trace");
  base::PolledWork work(&stop);
  visit_all([&](std::span<const int> clause) {
    if (!work.Continues()) return;
    for (const int literal : clause) solver.add(literal);
    solver.add(0);
  });
  if (work.IsCutOff()) return 0;
  StopWatcher watcher(stop);
  solver.connect_terminator(&watcher);
  if (budget.units < std::numeric_limits<int>::max())
    solver.limit("conflicts", static_cast<int>(budget.units));
  const int code = solver.solve();
  solver.disconnect_terminator();
  solver.flush_proof_trace();
  return code;
}

}  // namespace

TracedAnswer SolveTraced(const std::function<void(const ClauseVisitor&)>& visit_all, uint64_t seed,
                         const base::Budget& budget, const base::Stop& stop) {
  TracedAnswer traced;
  if (budget.units <= 0) {
    traced.answer.reason = "the budget of conflicts is spent";
    return traced;
  }
  MemoryFile file;  // outlives the solver
  if (file.Get() == nullptr) {
    traced.answer.reason = "no memory for the trace";
    return traced;
  }
  // If memory runs out, the remains of a solver cannot be destroyed (see Guarded).
  auto solver = std::make_unique<CaDiCaL::Solver>();
  int code = 0;
  try {
    code = Solve(*solver, file, visit_all, seed, budget, stop);
  } catch (...) {
    static_cast<void>(solver.release());
    throw;
  }
  if (code == 20) {
    traced.answer.verdict = formulation::Satisfiability::kUnsatisfiable;
    traced.trace = file.Text();
  } else if (code == 10) {
    traced.answer.verdict = formulation::Satisfiability::kSatisfiable;
  } else {
    traced.answer.reason = stop.Requested() ? "stopped" : "the budget of conflicts is spent";
  }
  base::FreeUnlessAtEnd(std::move(solver), stop);
  return traced;
}

bool TakeTraceLine(std::string_view& trace, TraceLine& line) {
  line.literals.clear();
  line.deletes = trace.starts_with("d ");
  if (line.deletes) trace.remove_prefix(2);
  while (true) {
    while (!trace.empty() && (trace.front() == ' ' || trace.front() == '\n'))
      trace.remove_prefix(1);
    int literal = 0;
    const auto [end, error] = std::from_chars(trace.data(), trace.data() + trace.size(), literal);
    if (error != std::errc()) return false;
    trace.remove_prefix(static_cast<size_t>(end - trace.data()));
    if (literal == 0) break;
    line.literals.push_back(literal);
  }
  while (!trace.empty() && trace.front() == '\n') trace.remove_prefix(1);
  return true;
}

namespace {

// Measured (docs/encoding.md). The variables made last are banks and modes; the oldest are offsets.
// Easy candidates benefit from offsets first, high ones first, in the order of the buffers. Without
// a ladder, banks and modes decide the Problems that reach this engine.
CadicalSolver::FirstTry FirstTryOf(const formulation::Magnitude& magnitude) {
  return {.oldest_first = magnitude.ladder, .positive = magnitude.ladder};
}

}  // namespace

formulation::BackendFactory CadicalBackends(const SatOptions& options) {
  return [options](const formulation::Magnitude& magnitude) {
    return std::make_unique<SolverBackend<CadicalSolver>>(options.encoding, magnitude, options.seed,
                                                          ClauseLimitFor(magnitude),
                                                          FirstTryOf(magnitude));
  };
}

std::unique_ptr<problem::Session> SatEngine::Open(const problem::Problem& problem,
                                                  const problem::Ladder* ladder) const {
  const auto open = [options = options_](
                        const problem::Problem& part,
                        const problem::Ladder* candidates) -> std::unique_ptr<problem::Session> {
    return std::make_unique<formulation::EncodedSession>("cadical", part, candidates,
                                                         CadicalBackends(options),
                                                         options.constraints, options.refinements);
  };
  const bool cut = options_.refinements.decomposition && options_.constraints.empty();
  if (cut) return formulation::OpenInParts(problem, ladder, open);
  return open(problem, ladder);
}

std::string CadicalVersion() { return CaDiCaL::Solver::version(); }

}  // namespace tessera::encoder::sat
