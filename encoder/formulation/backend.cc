// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/formulation/backend.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tessera::encoder::formulation {

namespace {

// Whether a clause always holds: it contains a true constant, or a literal and its negation. The
// latter is only detected where it occurs, between two bounds that the domain makes one.
bool HoldsAnyway(std::span<const Literal> clause) {
  if (clause.size() == 2 && clause[0] == ~clause[1]) return true;
  return std::find(clause.begin(), clause.end(), kTrue) != clause.end();
}

}  // namespace

void ClauseSink::Add(std::span<const Literal> clause) {
  if (HoldsAnyway(clause)) return;
  if (!Count()) return;
  if (std::find(clause.begin(), clause.end(), kFalse) == clause.end()) return Store(clause);
  std::vector<Literal> rest;
  rest.reserve(clause.size());
  std::remove_copy(clause.begin(), clause.end(), std::back_inserter(rest), kFalse);
  Store(rest);
}

bool ClauseSink::Count() {
  constexpr int64_t kBetweenLooks = 256;
  if (total_ >= limit_) full_ = true;
  if (total_ % kBetweenLooks == 0 && stop_ != nullptr && stop_->Requested()) full_ = true;
  if (full_) return false;
  ++total_;
  ++counts_[static_cast<size_t>(topic_)];
  return true;
}

Literal And(ClauseSink& sink, Literal a, Literal b) {
  if (a == kFalse || b == kFalse) return kFalse;
  if (a == kTrue) return b;
  if (b == kTrue) return a;
  const Literal both = sink.NewVariable();
  sink.Add({~both, a});
  sink.Add({~both, b});
  sink.Add({both, ~a, ~b});
  return both;
}

void Restrict(Domain& domain, std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (static_cast<int64_t>(values.size()) < domain.count) domain.only.swap(values);
}

Domain RemainderDomain(const Domain& domain, int64_t modulus) {
  if (domain.count == 1) return {domain.first % modulus, 1, 1};
  const int64_t step = std::gcd(domain.step, modulus);
  return {domain.first % step, step, modulus / step};
}

Integer IntegerSink::NewEnd(Integer /*start*/, const std::vector<int64_t>& /*sizes*/,
                            const Domain& domain) {
  return NewInteger(domain);
}

void IntegerSink::ChooseSize(Literal guard, Integer start, int64_t size, Integer end, bool exact) {
  AddOrder(guard, {start, size}, {end});
  if (exact) AddOrder(guard, {end}, {start, size});
}

}  // namespace tessera::encoder::formulation
