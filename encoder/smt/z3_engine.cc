#include "tessera/encoder/smt/z3_engine.h"

#include <z3++.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>

#include "tessera/encoder/encoded_session.h"
#include "tessera/encoder/smt/z3_sink.h"

namespace tessera::encoder {
namespace {

// A constraint with its bit-blasted form takes Z3 about a kilobyte or more: about 2 GB.
constexpr int64_t kConstraintLimit = 500'000;
constexpr int64_t kBytesPerConstraint = 4'096;

// Z3's own unit of work behind the budget of conflicts, for what it does between them. A conflict takes 500
// to 1 500 units on 20 to 60 random buffers, so that only work which leads nowhere meets this limit. 0 means
// none.
unsigned ResourceLimitFor(int64_t conflicts) {
  constexpr int64_t kPerConflict = 20'000;
  constexpr int64_t kToSetUp = 100'000'000;
  constexpr int64_t kMost = std::numeric_limits<unsigned>::max();
  return conflicts > (kMost - kToSetUp) / kPerConflict
             ? 0
             : static_cast<unsigned>(kToSetUp + conflicts * kPerConflict);
}

constexpr uint64_t kSeedRange = 1'000'000'000;

// Interrupts Z3 when a Stop asks for it, because no limit of Z3's own stops it everywhere. An interrupt that
// arrives between two phases of a check is lost, so it is repeated until the check has returned.
class Watchdog {
 public:
  Watchdog(z3::context& context, const base::Stop& stop)
      : thread_([this, &context, &stop](const std::stop_token& done) {
          std::unique_lock lock(mutex_);
          while (!done.stop_requested()) {
            if (stop.Requested()) context.interrupt();
            wake_.wait_for(lock, done, kPeriod, [] { return false; });
          }
        }) {}

 private:
  static constexpr std::chrono::milliseconds kPeriod{10};

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last, so that it ends before what it waits on
};

class Z3Backend : public Backend {
 public:
  Z3Backend(const Z3Options& options, const Magnitude& magnitude)
      : solver_(context_, "QF_FD"),
        sink_(context_, solver_, magnitude.greatest,
              std::min(kConstraintLimit, magnitude.memory / kBytesPerConstraint)) {
    solver_.set("random_seed", static_cast<unsigned>(options.seed % kSeedRange));
  }

  ClauseSink& Clauses() override { return sink_; }
  IntegerSink& Integers() override { return sink_; }
  Answer Decide(std::span<const Literal> assumptions, const base::Budget& budget,
                const base::Stop& stop) override;
  bool IsTrue(Literal literal) const override { return sink_.IsTrue(literal); }

 private:
  int64_t Conflicts() const;

  z3::context context_;
  z3::solver solver_;
  Z3Sink sink_;
};

int64_t Z3Backend::Conflicts() const {
  const z3::stats statistics = solver_.statistics();
  int64_t conflicts = 0;
  for (unsigned i = 0; i < statistics.size(); ++i) {
    const std::string key = statistics.key(i);
    if ((key == "conflicts" || key == "sat conflicts") && statistics.is_uint(i))
      conflicts += statistics.uint_value(i);
  }
  return conflicts;
}

Answer Z3Backend::Decide(std::span<const Literal> assumptions, const base::Budget& budget,
                         const base::Stop& stop) {
  if (budget.units <= 0) return {Verdict::kUnknown, "the budget of conflicts is spent", 0};
  constexpr int64_t kUnlimited = std::numeric_limits<unsigned>::max();
  solver_.set("max_conflicts", static_cast<unsigned>(std::min(budget.units, kUnlimited)));
  solver_.set("rlimit", ResourceLimitFor(budget.units));
  z3::expr_vector assumed(context_);
  for (const Literal literal : assumptions) {
    if (literal != kTrue) assumed.push_back(sink_.ExpressionOf(literal));
  }
  const int64_t before = Conflicts();
  const z3::check_result verdict = [&] {
    const Watchdog watchdog(context_, stop);
    return solver_.check(assumed);
  }();
  const int64_t after = Conflicts();
  const int64_t conflicts = after >= before ? after - before : after;
  if (verdict == z3::unsat) return {Verdict::kUnsatisfiable, "", conflicts};
  if (verdict == z3::unknown) {
    return {Verdict::kUnknown, stop.Requested() ? "stopped" : "limit reached: " + solver_.reason_unknown(),
            conflicts};
  }
  sink_.SetModel(solver_.get_model());
  return {Verdict::kSatisfiable, "", conflicts};
}

}  // namespace

BackendFactory Z3Backends(const Z3Options& options) {
  return [options](const Magnitude& magnitude) { return std::make_unique<Z3Backend>(options, magnitude); };
}

std::unique_ptr<problem::Session> Z3Engine::Open(const problem::Problem& problem,
                                                 const problem::Ladder* ladder) const {
  return std::make_unique<EncodedSession>("z3", problem, ladder, Z3Backends(options_), options_.constraints);
}

}  // namespace tessera::encoder
