// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "tessera/encoder/formulation/formulation.h"

// A cost is a literal that its cause implies. The total is a chain of integers: each is at least
// the previous one and, if its literal holds, exceeds it by at least the weight:
//
//     s_0 = 0      s_k >= s_(k-1)      cause_k -> s_k >= s_(k-1) + w_k      bound: s_n <= limit
//
// One direction suffices: a search for low totals has no reason to count events that did not
// happen. With order literals this is the sequential counter, with bits a chain of adders. Weights
// are first divided by their greatest common divisor. The limit is an assumption, so that it can
// decrease from one answer to the next while learned clauses stay.
//
// Cost: for n costs and a greatest total T, n * T clauses with order literals, 3 n log T with bits.
namespace tessera::encoder::formulation {

using problem::Cost;
using problem::CostKind;

namespace {

int64_t TimesOf(const problem::Problem& problem, const Cost& cost) {
  return cost.kind == CostKind::kReuse ? 1
                                       : static_cast<int64_t>(problem::Successions(problem).size());
}

}  // namespace

CostScale ScaleOf(const problem::Problem& problem) {
  CostScale scale{0, 0};
  for (const Cost& cost : problem.costs) {
    scale.unit = std::gcd(scale.unit, cost.weight);
    scale.most += cost.weight * TimesOf(problem, cost);
  }
  scale.unit = std::max<int64_t>(scale.unit, 1);
  scale.most /= scale.unit;
  return scale;
}

Costs::Costs(const FormulationInput& question, Addresses& addresses, const Schedules& schedules,
             ClauseSink& clauses, IntegerSink& integers)
    : question_(question),
      addresses_(addresses),
      schedules_(schedules),
      clauses_(clauses),
      integers_(integers),
      scale_(ScaleOf(question.problem)) {}

Literal Costs::SelectAtMost(int64_t most) {
  if (!total_) Write();
  return ~integers_.AtLeast(*total_, most / scale_.unit + 1);
}

void Costs::Write() {
  clauses_.Enter(Topic::kCosts);
  total_ = Term{integers_.NewInteger({0, 1, 1})};
  for (const Cost& cost : question_.problem.costs) {
    if (cost.weight == 0 || clauses_.Full()) continue;
    cost.kind == CostKind::kReuse ? AddReuse(cost) : AddSwitches(cost);
  }
}

// Two buffers that do not live together share an address unless one lies below the other.
void Costs::AddReuse(const Cost& cost) {
  const auto first = static_cast<size_t>(cost.first);
  const auto second = static_cast<size_t>(cost.second);
  if (LiveTogether(question_.BufferAt(first), question_.BufferAt(second))) return;
  const Literal below = clauses_.NewVariable();
  const Literal above = clauses_.NewVariable();
  const Literal shared = clauses_.NewVariable();
  integers_.AddOrder(below, addresses_.EndOf(first), {addresses_.OffsetOf(second)});
  integers_.AddOrder(above, addresses_.EndOf(second), {addresses_.OffsetOf(first)});
  clauses_.Add({below, above, shared});
  Count(shared, cost.weight);
}

void Costs::AddSwitches(const Cost& cost) {
  const auto memory = static_cast<size_t>(cost.memory);
  const problem::Step start = problem::Horizon(question_.problem).lower;
  const size_t modes = question_.problem.memories[memory].modes.size();
  if (modes < 2) return;
  for (const auto& [from, to] : problem::Successions(question_.problem)) {
    if (from == to) continue;
    const Literal switched = clauses_.NewVariable();
    for (size_t mode = 0; mode < modes; ++mode) {
      clauses_.Add({~schedules_.ModeAt(memory, static_cast<size_t>(from - start), mode),
                    schedules_.ModeAt(memory, static_cast<size_t>(to - start), mode), switched});
    }
    Count(switched, cost.weight);
    if (clauses_.Full()) return;
  }
}

void Costs::Count(Literal cause, int64_t weight) {
  const int64_t units = weight / scale_.unit;
  greatest_ += units;
  const Term next{integers_.NewInteger({0, 1, greatest_ + 1})};
  integers_.AddOrder(kTrue, *total_, next);
  integers_.AddOrder(cause, {total_->base, units}, next);
  total_ = next;
}

}  // namespace tessera::encoder::formulation
