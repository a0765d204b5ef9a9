// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/smt/z3_engine.h"

#include <z3++.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <string>
#include <thread>

#include "tessera/base/arithmetic.h"
#include "tessera/base/process.h"
#include "tessera/encoder/formulation/encoded_session.h"
#include "tessera/encoder/smt/z3_sink.h"

namespace tessera::encoder::smt {

Z3Sink::Z3Sink(z3::context& context, int64_t greatest, int64_t limit)
    : formulation::ClauseSink(limit),
      context_(context),
      width_(static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(greatest))) + 2),
      model_(context) {
  truths_.push_back(context_.bool_val(false));  // variable 0 is unused
  truths_.push_back(context_.bool_val(true));   // kTrue
}

formulation::Literal Z3Sink::NewName(const z3::expr& truth) {
  truths_.push_back(truth);
  return formulation::Literal(static_cast<int32_t>(truths_.size()) - 1);
}

formulation::Literal Z3Sink::NewVariable() {
  const std::string name = "p" + std::to_string(truths_.size());
  return NewName(context_.bool_const(name.c_str()));
}

z3::expr Z3Sink::ExpressionOf(formulation::Literal literal) const {
  const z3::expr& truth = truths_[static_cast<size_t>(literal.Variable())];
  return literal.Negative() ? !truth : truth;
}

std::vector<z3::expr> Z3Sink::TakeRequired(size_t most) {
  const size_t end = std::min(required_.size(), taken_ + most);
  std::vector<z3::expr> taken(required_.begin() + static_cast<std::ptrdiff_t>(taken_),
                              required_.begin() + static_cast<std::ptrdiff_t>(end));
  taken_ = end;
  if (taken_ == required_.size()) {
    required_.clear();
    taken_ = 0;
  }
  return taken;
}

z3::expr Z3Sink::Constant(int64_t value) const { return context_.bv_val(value, width_); }

void Z3Sink::Require(const z3::expr& statement) {
  if (Count()) required_.push_back(statement);
}

void Z3Sink::Store(std::span<const formulation::Literal> clause) {
  z3::expr_vector literals(context_);
  for (const formulation::Literal literal : clause) literals.push_back(ExpressionOf(literal));
  required_.push_back(z3::mk_or(literals));
}

formulation::Integer Z3Sink::NewInteger(const formulation::Domain& domain) {
  const std::string name = "x" + std::to_string(vectors_.size());
  const z3::expr bits = context_.bv_const(name.c_str(), width_);
  Require(z3::ule(bits, Constant(domain.Last())));
  if (domain.first > 0) Require(z3::uge(bits, Constant(domain.first)));
  if (domain.step > 1) {
    Require(z3::urem(bits - Constant(domain.first), Constant(domain.step)) == Constant(0));
  }
  vectors_.push_back({domain, bits});
  return formulation::Integer{static_cast<int32_t>(vectors_.size()) - 1};
}

formulation::Literal Z3Sink::AtLeast(formulation::Term term, int64_t value) {
  const Vector& vector = VectorOf(term.base);
  if (value > vector.domain.Last() + term.shift) return formulation::kFalse;
  const int64_t rank = base::CeilDiv(value - term.shift - vector.domain.first, vector.domain.step);
  if (rank <= 0) return formulation::kTrue;
  const std::pair key(term.base.index, rank);
  if (const auto known = at_least_.find(key); known != at_least_.end()) return known->second;
  const int64_t least = vector.domain.first + rank * vector.domain.step;
  return at_least_[key] = NewName(z3::uge(vector.bits, Constant(least)));
}

void Z3Sink::AddOrder(formulation::Literal guard, formulation::Term low, formulation::Term high) {
  const int64_t distance = low.shift - high.shift;
  const Vector& below = VectorOf(low.base);
  const Vector& above = VectorOf(high.base);
  if (below.domain.Last() + distance <= above.domain.first) return;
  if (below.domain.first + distance > above.domain.Last()) return Add({~guard});
  const z3::expr order = distance >= 0 ? z3::ule(below.bits + Constant(distance), above.bits)
                                       : z3::ule(below.bits, above.bits + Constant(-distance));
  Require(z3::implies(ExpressionOf(guard), order));
}

formulation::Integer Z3Sink::Remainder(formulation::Integer integer, int64_t modulus) {
  const Vector vector = VectorOf(integer);
  if (modulus > vector.domain.Last()) return integer;
  vectors_.push_back({formulation::RemainderDomain(vector.domain, modulus),
                      z3::urem(vector.bits, Constant(modulus))});
  return formulation::Integer{static_cast<int32_t>(vectors_.size()) - 1};
}

void Z3Sink::AddSum(formulation::Literal guard, formulation::Integer first,
                    formulation::Integer second, formulation::Term sum) {
  Require(z3::implies(ExpressionOf(guard), VectorOf(first).bits + VectorOf(second).bits ==
                                               VectorOf(sum.base).bits + Constant(sum.shift)));
}

void Z3Sink::AddXor(formulation::Literal guard, formulation::Integer first,
                    formulation::Integer second, int64_t mask) {
  const unsigned bits = static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(mask)));
  if (bits > width_) return Add({~guard});
  Require(z3::implies(ExpressionOf(guard),
                      (VectorOf(first).bits ^ VectorOf(second).bits) == Constant(mask)));
}

int64_t Z3Sink::ValueOf(formulation::Integer integer) const {
  return static_cast<int64_t>(model_.eval(VectorOf(integer).bits, true).get_numeral_uint64());
}

bool Z3Sink::IsTrue(formulation::Literal literal) const {
  return model_.eval(ExpressionOf(literal), true).is_true();
}

namespace {

// A constraint with its bit-blasted form costs Z3 a kilobyte or more: about 2 GB in total.
constexpr int64_t kConstraintLimit = 500'000;
constexpr int64_t kBytesPerConstraint = 4'096;

// Z3's own unit of work, in addition to the budget of conflicts, for the work between them. A
// conflict takes 500 to 1 500 units on 20 to 60 random buffers, so only unproductive work reaches
// this limit. 0 means none.
unsigned ResourceLimitFor(int64_t conflicts) {
  constexpr int64_t kPerConflict = 20'000;
  constexpr int64_t kToSetUp = 100'000'000;
  constexpr int64_t kMost = std::numeric_limits<unsigned>::max();
  return conflicts > (kMost - kToSetUp) / kPerConflict
             ? 0
             : static_cast<unsigned>(kToSetUp + conflicts * kPerConflict);
}

constexpr int64_t kLeastMemory = int64_t{32} << 20;         // bytes for a formula
constexpr int64_t kLeastAddressSpace = int64_t{192} << 20;  // bytes

constexpr uint64_t kSeedRange = 1'000'000'000;

// Interrupts Z3 on a Stop, because no limit of Z3 itself stops it everywhere. An interrupt that
// arrives between two phases of a check is lost, so it is repeated until the check returns.
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
  std::jthread thread_;  // last, so that it ends before the members that it uses
};

class Z3Backend : public formulation::Backend {
 public:
  Z3Backend(const Z3Options& options, const formulation::Magnitude& magnitude)
      : solver_(context_, "QF_FD"),
        sink_(context_, magnitude.greatest,
              std::min(kConstraintLimit, magnitude.memory / kBytesPerConstraint)) {
    solver_.set("random_seed", static_cast<unsigned>(options.seed % kSeedRange));
    solver_.set("ctrl_c", false);  // Z3 would take SIGINT from the process during a check
  }

  formulation::ClauseSink& Clauses() override { return sink_; }
  formulation::IntegerSink& Integers() override { return sink_; }
  formulation::Answer Decide(std::span<const formulation::Literal> assumptions,
                             const base::Budget& budget, const base::Stop& stop) override;
  bool IsTrue(formulation::Literal literal) const override { return sink_.IsTrue(literal); }

 private:
  bool Load(const base::Stop& stop);
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

// Z3 translates constraints to clauses at the next check, and polls nothing while it simplifies
// them. So they are translated a batch at a time, by checks without conflicts. Returns false if the
// stop came first; the next call continues.
bool Z3Backend::Load(const base::Stop& stop) {
  constexpr size_t kBatch = 200;
  solver_.set("max_conflicts", 0U);
  solver_.set("rlimit", 0U);
  while (sink_.CountRequired() > 0) {
    if (stop.Requested()) return false;
    const std::vector<z3::expr> batch = sink_.TakeRequired(kBatch);
    for (const z3::expr& statement : batch) solver_.add(statement);
    if (batch.size() == kBatch) solver_.check();
  }
  return true;
}

formulation::Answer Z3Backend::Decide(std::span<const formulation::Literal> assumptions,
                                      const base::Budget& budget, const base::Stop& stop) {
  if (budget.units <= 0)
    return {formulation::Satisfiability::kUnknown, "the budget of conflicts is spent", 0};
  if (!Load(stop)) return {formulation::Satisfiability::kUnknown, "stopped", 0};
  constexpr int64_t kUnlimited = std::numeric_limits<unsigned>::max();
  solver_.set("max_conflicts", static_cast<unsigned>(std::min(budget.units, kUnlimited)));
  solver_.set("rlimit", ResourceLimitFor(budget.units));
  z3::expr_vector assumed(context_);
  for (const formulation::Literal literal : assumptions) {
    if (literal != formulation::kTrue) assumed.push_back(sink_.ExpressionOf(literal));
  }
  const int64_t before = Conflicts();
  const z3::check_result verdict = [&] {
    const Watchdog watchdog(context_, stop);
    return solver_.check(assumed);
  }();
  const int64_t after = Conflicts();
  const int64_t conflicts = after >= before ? after - before : after;
  if (verdict == z3::unsat) return {formulation::Satisfiability::kUnsatisfiable, "", conflicts};
  if (verdict == z3::unknown) {
    return {formulation::Satisfiability::kUnknown,
            stop.Requested() ? "stopped" : "limit reached: " + solver_.reason_unknown(), conflicts};
  }
  sink_.SetModel(solver_.get_model());
  return {formulation::Satisfiability::kSatisfiable, "", conflicts};
}

}  // namespace

formulation::BackendFactory Z3Backends(const Z3Options& options) {
  return [options](const formulation::Magnitude& magnitude) {
    // Z3 does not check whether its first allocations succeed.
    if (magnitude.memory < kLeastMemory || base::FreeAddressSpace() < kLeastAddressSpace) {
      throw formulation::TooLittleMemory(
          "z3 needs 192 MiB at least, of the memory limit and of the address space");
    }
    return std::make_unique<Z3Backend>(options, magnitude);
  };
}

std::unique_ptr<problem::Session> Z3Engine::Open(const problem::Problem& problem,
                                                 const problem::Ladder* ladder) const {
  return std::make_unique<formulation::EncodedSession>("z3", problem, ladder, Z3Backends(options_),
                                                       options_.constraints);
}

std::string Z3Version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  unsigned revision = 0;
  Z3_get_version(&major, &minor, &patch, &revision);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace tessera::encoder::smt
