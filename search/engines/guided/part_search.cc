// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/guided/part_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/formulation/refinements.h"
#include "tessera/problem/structure.h"

namespace tessera::search::engines::guided {

namespace formulation = encoder::formulation;

using problem::Bytes;
using problem::Problem;

namespace {

constexpr int64_t kTurn = 100;  // dead ends

}  // namespace

std::unique_ptr<Prepared> Prepare(Problem problem, const base::Stop& stop) {
  auto prepared = std::make_unique<Prepared>();
  prepared->problem = std::move(problem);
  const Problem& sized = prepared->problem;
  Bytes unit = 0;
  if (lazy::FindUnpacked(sized)) {
    prepared->addresses =
        formulation::FindAddressConstraints(sized, nullptr, formulation::kPairLimit, &stop);
    for (const Bytes granularity : prepared->addresses->granularities)
      unit = std::gcd(unit, granularity);
  }
  auto packing = lazy::MakePacking(sized, nullptr, stop, unit);
  if (!packing) return nullptr;
  prepared->packing = *std::move(packing);
  if (prepared->addresses) {
    for (Bytes& granularity : prepared->addresses->granularities)
      granularity = prepared->packing.granularity;
    prepared->packing.reach.reset();
  }
  return prepared;
}

Search::Search(const Prepared& prepared, const GuidedOptions& options, const Backtracking& policy,
               Bytes capacity, const base::Stop& stop)
    : prepared_(prepared),
      capacity_(capacity),
      query_(QueryFor(capacity)),
      propagation_(prepared.packing, kLazyRules, query_, true, &stop),
      blame_(prepared.packing.buffers),
      targets_(prepared.problem, capacity, prepared.packing.granularity, policy) {
  consistent_ = propagation_.Start(query_, !prepared.addresses);
  propagation_.WakeSections();
  if (consistent_ && prepared.addresses) consistent_ = Write(stop);
  tree_.emplace(propagation_, RecipesFor(options), blame_, targets_, options);
}

SearchTree::PartOutcome Search::Solve(Bytes capacity, const base::Budget& budget,
                                      const base::Stop& stop) {
  if (capacity != capacity_) {
    capacity_ = capacity;
    targets_.SetCapacity(capacity);
    query_ = QueryFor(capacity);
    tree_->ReturnToRoot();
    consistent_ = propagation_.Start(query_, true) && tree_->Resume();
    propagation_.WakeSections();
  }
  if (!consistent_) return SearchTree::PartOutcome::kRefuted;
  return tree_->Run(budget, stop);
}

problem::Allocation Search::Placement() {
  if (target_) {
    target_->KeepModel();
    return formulation_->Decode();
  }
  problem::Allocation allocation;
  for (int i = 0; i < prepared_.packing.buffers; ++i)
    allocation.offsets.push_back(propagation_.trail()[2 * i] * prepared_.packing.granularity);
  allocation.modes = problem::ConstantModes(prepared_.problem);
  return allocation;
}

std::vector<Candidates> Search::RecipesFor(const GuidedOptions& options) {
  std::vector<Candidates> recipes;
  for (const Recipe& recipe : prepared_.addresses ? options.recipes_in_banks : options.recipes)
    recipes.emplace_back(prepared_.problem, propagation_.axis(), blame_, recipe);
  return recipes;
}

lazy::PackingQuery Search::QueryFor(Bytes capacity) const {
  const lazy::Packing& packing = prepared_.packing;
  lazy::PackingQuery query{lazy::SizesOf(packing, prepared_.problem, nullptr, 0), {}};
  for (size_t m = 0; m < prepared_.problem.memories.size(); ++m) {
    const Bytes bytes = m == 0 ? capacity : prepared_.problem.memories[m].capacity;
    query.ceilings.push_back(
        std::min(std::max<Bytes>(bytes, 0) / packing.granularity, packing.HighestCeiling()));
  }
  return query;
}

// Writes the constraints that the packing does not contain. Returns false on a contradiction at the
// root.
bool Search::Write(const base::Stop& stop) {
  question_.emplace(
      formulation::FormulationInput{prepared_.problem,
                                    nullptr,
                                    *prepared_.addresses,
                                    capacity_,
                                    {.positions = false, .symmetry = false, .loose_ends = false}});
  target_.emplace(propagation_);
  target_->ObeyStop(&stop);
  formulation_.emplace(*question_, *target_);
  formulation_->Write();
  target_->ObeyStop(nullptr);
  for (const std::vector<int>& group : formulation::FindInterchangeable(prepared_.problem, nullptr))
    OrderGroup(group);
  return target_->Finish();
}

// Imposes an order on the buffers of a group, because exchanging two of them yields another
// solution.
void Search::OrderGroup(const std::vector<int>& group) {
  for (size_t above = 1; above < group.size(); ++above) {
    for (size_t below = 0; below < above; ++below) {
      const View order = prepared_.packing.BelowView(group[below], group[above]);
      if (order >= 0) target_->Require(lazy::OrderLiteral(order));
    }
  }
}

Turns::Turns(const Prepared& prepared, const GuidedOptions& options, problem::Bytes capacity,
             const base::Stop& stop)
    : prepared_(prepared),
      options_(options),
      first_(prepared, options, options.insured ? Backtracking() : options.backtracking, capacity,
             stop),
      last_(&first_) {}

SearchTree::PartOutcome Turns::Solve(problem::Bytes capacity, const base::Budget& budget,
                                     const base::Stop& stop) {
  if (!options_.insured || !options_.backtracking) return first_.Solve(capacity, budget, stop);
  const int64_t end = statistics().conflicts + std::min(budget.units, base::kMaxTotal);
  while (true) {
    const int64_t turn = TurnOfNext(capacity, stop);
    const int64_t left = end - statistics().conflicts;
    if (turn <= 0 || left <= 0 || statistics().nodes >= options_.most_steps)
      return SearchTree::PartOutcome::kUnknown;
    const SearchTree::PartOutcome verdict = last_->Solve(capacity, {std::min(turn, left)}, stop);
    if (verdict != SearchTree::PartOutcome::kUnknown || last_->tree().GaveUp() ||
        last_->tree().Exhausted() || stop.Requested())
      return verdict;
  }
}

problem::Statistics Turns::statistics() const {
  problem::Statistics sum = first_.tree().statistics();
  if (!second_) return sum;
  const problem::Statistics& more = second_->tree().statistics();
  sum.nodes += more.nodes;
  sum.backtracks += more.backtracks;
  sum.conflicts += more.conflicts;
  return sum;
}

// Sets `last_` to the search whose turn it is, and returns the number of dead ends of the turn; 0
// if a stop prevented the second search from writing its constraints.
int64_t Turns::TurnOfNext(problem::Bytes capacity, const base::Stop& stop) {
  const int64_t without = first_.tree().statistics().conflicts;
  const int64_t start = options_.head_start;
  const int64_t ended = without < start ? 0 : (without - start) / kTurn + 1;
  if (ended > 0 && !second_) {
    second_.emplace(prepared_, options_, options_.backtracking, capacity, stop);
    if (second_->IsCutOff()) {
      second_.reset();
      return 0;
    }
  }
  const int64_t with = second_ ? second_->tree().statistics().conflicts : 0;
  if (with < ended * kTurn) {
    last_ = &*second_;
    return ended * kTurn - with;
  }
  last_ = &first_;
  return start + ended * kTurn - without;
}

}  // namespace tessera::search::engines::guided
