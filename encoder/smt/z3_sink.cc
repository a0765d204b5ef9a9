#include "tessera/encoder/smt/z3_sink.h"

#include <algorithm>
#include <bit>
#include <string>

#include "tessera/base/checked.h"

namespace tessera::encoder {

Z3Sink::Z3Sink(z3::context& context, z3::solver& solver, int64_t greatest, int64_t limit)
    : ClauseSink(limit),
      context_(context),
      solver_(solver),
      width_(static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(greatest))) + 2),
      model_(context) {
  truths_.push_back(context_.bool_val(false));  // variable 0 does not exist
  truths_.push_back(context_.bool_val(true));   // kTrue
}

Literal Z3Sink::NewName(const z3::expr& truth) {
  truths_.push_back(truth);
  return Literal(static_cast<int32_t>(truths_.size()) - 1);
}

Literal Z3Sink::NewVariable() {
  const std::string name = "p" + std::to_string(truths_.size());
  return NewName(context_.bool_const(name.c_str()));
}

z3::expr Z3Sink::ExpressionOf(Literal literal) const {
  const z3::expr& truth = truths_[static_cast<size_t>(literal.Variable())];
  return literal.Negative() ? !truth : truth;
}

z3::expr Z3Sink::Constant(int64_t value) const { return context_.bv_val(value, width_); }

void Z3Sink::Require(const z3::expr& statement) {
  if (Count()) solver_.add(statement);
}

void Z3Sink::Store(std::span<const Literal> clause) {
  z3::expr_vector literals(context_);
  for (const Literal literal : clause) literals.push_back(ExpressionOf(literal));
  solver_.add(z3::mk_or(literals));
}

Integer Z3Sink::NewInteger(const Domain& domain) {
  const std::string name = "x" + std::to_string(vectors_.size());
  const z3::expr bits = context_.bv_const(name.c_str(), width_);
  Require(z3::ule(bits, Constant(domain.Last())));
  if (domain.first > 0) Require(z3::uge(bits, Constant(domain.first)));
  if (domain.step > 1) {
    Require(z3::urem(bits - Constant(domain.first), Constant(domain.step)) == Constant(0));
  }
  vectors_.push_back({domain, bits});
  return Integer{static_cast<int32_t>(vectors_.size()) - 1};
}

Literal Z3Sink::AtLeast(Term term, int64_t value) {
  const Vector& vector = VectorOf(term.base);
  if (value > vector.domain.Last() + term.shift) return kFalse;
  const int64_t rank = base::CeilDiv(value - term.shift - vector.domain.first, vector.domain.step);
  if (rank <= 0) return kTrue;
  const std::pair key(term.base.index, rank);
  if (const auto known = at_least_.find(key); known != at_least_.end()) return known->second;
  const int64_t least = vector.domain.first + rank * vector.domain.step;
  return at_least_[key] = NewName(z3::uge(vector.bits, Constant(least)));
}

void Z3Sink::AddOrder(Literal guard, Term low, Term high) {
  const int64_t distance = low.shift - high.shift;
  const Vector& below = VectorOf(low.base);
  const Vector& above = VectorOf(high.base);
  if (below.domain.Last() + distance <= above.domain.first) return;
  if (below.domain.first + distance > above.domain.Last()) return Add({~guard});
  const z3::expr order = distance >= 0 ? z3::ule(below.bits + Constant(distance), above.bits)
                                       : z3::ule(below.bits, above.bits + Constant(-distance));
  Require(z3::implies(ExpressionOf(guard), order));
}

Integer Z3Sink::Remainder(Integer integer, int64_t modulus) {
  const Vector vector = VectorOf(integer);
  if (modulus > vector.domain.Last()) return integer;
  vectors_.push_back({RemainderDomain(vector.domain, modulus), z3::urem(vector.bits, Constant(modulus))});
  return Integer{static_cast<int32_t>(vectors_.size()) - 1};
}

void Z3Sink::AddSum(Literal guard, Integer first, Integer second, Term sum) {
  Require(z3::implies(ExpressionOf(guard), VectorOf(first).bits + VectorOf(second).bits ==
                                               VectorOf(sum.base).bits + Constant(sum.shift)));
}

void Z3Sink::AddXor(Literal guard, Integer first, Integer second, int64_t mask) {
  const unsigned bits = static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(mask)));
  if (bits > width_) return Add({~guard});
  Require(z3::implies(ExpressionOf(guard), (VectorOf(first).bits ^ VectorOf(second).bits) == Constant(mask)));
}

int64_t Z3Sink::ValueOf(Integer integer) const {
  return static_cast<int64_t>(model_.eval(VectorOf(integer).bits, true).get_numeral_uint64());
}

bool Z3Sink::IsTrue(Literal literal) const { return model_.eval(ExpressionOf(literal), true).is_true(); }

}  // namespace tessera::encoder
