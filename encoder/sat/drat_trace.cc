#include "tessera/encoder/sat/drat_trace.h"

#include <cadical.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>

#include "tessera/encoder/sat/cadical_stop.h"

// A solver of its own for each trace: the library writes a complete one only when tracing begins before the first
// clause, and under assumptions the trace would end in their negation instead of the empty clause.
namespace tessera::encoder {
namespace {

// A file in memory; the library writes to nothing else.
class MemoryFile {
 public:
  MemoryFile() : file_(open_memstream(&text_, &size_)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    // NOLINTBEGIN(cppcoreguidelines-no-malloc, cppcoreguidelines-owning-memory): open_memstream's memory
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

// The library's answer: 10 or 20, or 0 at a limit.
int Solve(CaDiCaL::Solver& solver, MemoryFile& file,
          const std::function<void(const ClauseVisitor&)>& visit_all, uint64_t seed,
          const base::Budget& budget, const base::Stop& stop) {
  const auto set = [&solver](const char* option, int value) {
    if (CaDiCaL::Solver::is_valid_option(option)) solver.set(option, value);
  };
  set("quiet", 1);
  set("binary", 0);
  set("seed", static_cast<int>(seed % kCadicalSeedRange));
  solver.trace_proof(file.Get(), "trace");
  visit_all([&solver](std::span<const int> clause) {
    for (const int literal : clause) solver.add(literal);
    solver.add(0);
  });
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
  // Where memory runs out, what is left of a solver cannot be destroyed (cadical_solver.cc).
  auto solver = std::make_unique<CaDiCaL::Solver>();
  int code = 0;
  try {
    code = Solve(*solver, file, visit_all, seed, budget, stop);
  } catch (...) {
    static_cast<void>(solver.release());
    throw;
  }
  if (code == 20) {
    traced.answer.verdict = Verdict::kUnsatisfiable;
    traced.trace = file.Text();
  } else if (code == 10) {
    traced.answer.verdict = Verdict::kSatisfiable;
  } else {
    traced.answer.reason = stop.Requested() ? "stopped" : "the budget of conflicts is spent";
  }
  return traced;
}

bool TakeTraceLine(std::string_view& trace, TraceLine& line) {
  line.literals.clear();
  line.deletes = trace.starts_with("d ");
  if (line.deletes) trace.remove_prefix(2);
  while (true) {
    while (!trace.empty() && (trace.front() == ' ' || trace.front() == '\n')) trace.remove_prefix(1);
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

}  // namespace tessera::encoder
