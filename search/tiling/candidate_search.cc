// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/tiling/candidate_search.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tessera/problem/structure.h"
#include "tessera/problem/tile_candidates.h"
#include "tessera/search/allocate/bank_access.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/engine_session.h"

// A placement for large buffers is valid for smaller ones in the same places. A set of small
// buffers that does not fit does not fit with larger sizes. If every size of candidate a is at most
// its size in candidate b, b *dominates* a, and one solve decides many candidates:
//
//     columns                              each point a tile shape, x infeasible, o feasible
//        ^   . x x x x
//        |   . o x x x        a placement at ( decides all below and to the left of it,
//        |   . o o x x        a proof at x all above and to the right
//        |   . o o ( x
//        '--------------> rows
//
// Dominance is tested size by size, never assumed: halos vanish at full extent, padding rounds up,
// and a user's ladder may be arbitrary. If nothing dominates, every candidate is solved separately.
// Answers are inferred only if shrinking a buffer in place violates no other constraint
// (problem::ShrinkingIsSafe).
//
// Order of queries: Bounds come first and cost no solve; they decide most infeasible candidates.
// The largest remaining candidate is next, because a bound is often met. After that, the next is
// always the candidate whose answer, in the worse case, decides most others: on a chain this is
// bisection, on a plane it walks along the staircase between feasible and infeasible. A candidate
// that a limit leaves undecided is not tried again. Cost: on a chain of n candidates at most
// 1 + ceil(log2 n) solves; never more than n. O(n^2) comparisons of size vectors.
namespace tessera::search::tiling {
namespace {

using problem::Bytes;
using problem::Result;
using problem::Status;

// The order of candidates by dominance.
class Order {
 public:
  Order(const problem::Ladder& ladder, bool may_infer)
      : size_(ladder.candidates.size()), below_(size_ * size_, false) {
    if (!may_infer) return;
    for (size_t upper = 0; upper < size_; ++upper) {
      for (size_t lower = 0; lower < size_; ++lower) {
        below_[upper * size_ + lower] =
            upper != lower && Dominates(ladder.candidates[upper], ladder.candidates[lower]);
      }
    }
  }

  // Returns the least number of other open candidates that an answer for `candidate` settles: those
  // below it if it fits, those above it if not.
  size_t LeastGain(size_t candidate, const std::vector<size_t>& open) const {
    size_t below = 0;
    size_t above = 0;
    for (const size_t other : open) {
      below += below_[candidate * size_ + other] ? 1 : 0;
      above += below_[other * size_ + candidate] ? 1 : 0;
    }
    return std::min(below, above);
  }

 private:
  size_t size_;
  std::vector<bool> below_;  // [upper][lower]
};

// Whether some memory has ports. These count every member of a contracted buffer.
bool CountsPorts(const problem::Problem& problem) {
  return std::any_of(problem.memories.begin(), problem.memories.end(),
                     [](const problem::Memory& memory) { return problem::HasPorts(memory); });
}

}  // namespace

bool Fits(const CandidateAnswer& answer) {
  return answer.status == Status::kOptimal || answer.status == Status::kFeasible;
}

bool IsProven(const CandidateAnswer& answer) {
  return Fits(answer) || answer.status == Status::kInfeasible;
}

CandidateSearch::CandidateSearch(const problem::Problem& problem, const problem::Ladder& ladder,
                                 Engines engines, CandidateSearchOptions options,
                                 const base::Stop* stop)
    : problem_(&problem),
      ladder_(&ladder),
      engines_(std::move(engines)),
      options_(options),
      may_infer_(options.infer && ShrinkingIsSafe(problem)),
      sessions_(engines_.size()),
      answers_(ladder.candidates.size()) {
  if (!problem.rules.empty())
    folded_ = std::make_unique<const problem::Problem>(FoldRules(problem, &ladder));
  Contract();
  FindBounds(stop);
  if (folded_ && !contraction_) {
    folded_ = std::make_unique<const problem::Problem>(
        FoldWindows(*folded_, problem.memories[0].capacity));
    Contract();
  }
  if (contraction_ && !contraction_->contradiction.empty()) RefuseAll(contraction_->contradiction);
  if (const std::optional<std::string> unserved = allocate::FindUnservedAccess(problem))
    RefuseAll(*unserved);
}

CandidateSearch::CandidateSearch(CandidateSearch&&) noexcept = default;
CandidateSearch& CandidateSearch::operator=(CandidateSearch&&) noexcept = default;
CandidateSearch::~CandidateSearch() = default;

void CandidateSearch::Contract() {
  if (CountsPorts(*problem_)) return;
  if (auto contraction = allocate::ContractColocated(Formulated(), ladder_))
    contraction_ = std::make_unique<const allocate::Contraction>(*std::move(contraction));
}

void CandidateSearch::FindBounds(const base::Stop* stop) {
  const problem::Problem& formulated = Formulated();
  for (size_t memory = 0; memory < formulated.memories.size(); ++memory) {
    if (stop != nullptr && stop->Requested()) return;
    const allocate::BoundFinder finder(formulated, static_cast<int>(memory));
    const Bytes capacity = formulated.memories[memory].capacity;
    for (size_t candidate = 0; candidate < answers_.size(); ++candidate) {
      const allocate::Bound bound = finder.Find(FormulatedLadder().candidates[candidate].sizes);
      CandidateAnswer& answer = answers_[candidate];
      if (memory == 0) answer.lower_bound = bound.bytes;
      if (bound.bytes <= capacity || answer.asked) continue;
      answer.asked = true;
      answer.status = Status::kInfeasible;
      answer.engine = "bound";
      answer.reason = allocate::Explain(formulated, bound, capacity);
    }
  }
}

// Marks all open candidates as infeasible: for a reason that does not depend on the sizes.
void CandidateSearch::RefuseAll(const std::string& reason) {
  for (CandidateAnswer& answer : answers_) {
    if (IsProven(answer)) continue;
    answer.asked = true;
    answer.status = Status::kInfeasible;
    answer.engine = "bound";
    answer.reason = reason;
  }
}

const CandidateAnswer& CandidateSearch::Decide(size_t candidate, const base::Stop& stop) {
  if (!IsProven(answers_[candidate])) Ask(candidate, stop);
  return answers_[candidate];
}

void CandidateSearch::DecideAll(const base::Stop& stop) {
  const Order order(*ladder_, may_infer_);
  std::vector<bool> tried(answers_.size(), false);
  bool first = true;
  while (true) {
    std::vector<size_t> open;
    for (size_t candidate = 0; candidate < answers_.size(); ++candidate) {
      if (!IsProven(answers_[candidate]) && !tried[candidate]) open.push_back(candidate);
    }
    if (open.empty()) return;
    size_t next = open.back();
    size_t most = 0;
    for (size_t i = open.size(); !first && i-- > 0;) {
      const size_t gain = order.LeastGain(open[i], open);
      if (gain <= most) continue;
      most = gain;
      next = open[i];
    }
    first = false;
    tried[next] = true;
    Ask(next, stop);
  }
}

void CandidateSearch::Ask(size_t candidate, const base::Stop& stop) {
  Result last;
  last.reason = "no engine was given";
  std::string limits;
  for (size_t i = 0; i < engines_.size(); ++i) {
    if (stop.Requested()) {
      last.status = Status::kUnknown;
      limits = "stopped";
      break;
    }
    if (sessions_[i] == nullptr)
      sessions_[i] = engines_[i]->Open(Formulated(), &FormulatedLadder());
    ++solves_;
    Result result =
        sessions_[i]->Solve(candidate, problem_->memories[0].capacity, options_.budget, stop);
    if (contraction_ && result.allocation &&
        result.allocation->offsets.size() == contraction_->problem.buffers.size()) {
      result.allocation = allocate::Expand(*contraction_, *result.allocation);
    }
    const bool places = result.status == Status::kOptimal || result.status == Status::kFeasible;
    if (places && !Check(candidate, result, engines_[i]->Name())) {
      result = {};
      result.reason = fault_->message;
    } else if (places || result.status == Status::kInfeasible ||
               result.status == Status::kInvalid) {
      Settle(candidate, std::move(result), engines_[i]->Name());
      return;
    }
    if (result.status == Status::kUnknown && limits.empty())
      limits = result.reason.empty() ? "limit" : result.reason;
    last = std::move(result);
  }
  // If an engine met its limit, the question is open, even if others do not support the Problem.
  if (!limits.empty()) {
    last = {};
    last.reason = limits;
  }
  Settle(candidate, std::move(last), "");
}

void CandidateSearch::Settle(size_t candidate, Result result, std::string_view engine) {
  CandidateAnswer& answer = answers_[candidate];
  answer.asked = true;
  answer.status = result.status;
  answer.engine = engine;
  answer.reason = std::move(result.reason);
  answer.allocation = std::move(result.allocation);
  answer.implied_by.reset();
  if (answer.status == Status::kInfeasible) {
    answer.lower_bound = std::max(answer.lower_bound, problem_->memories[0].capacity + 1);
  }
  if (answer.allocation) {
    answer.peak = PeakAt(candidate, *answer.allocation);
    answer.status = *answer.peak <= answer.lower_bound ? Status::kOptimal : Status::kFeasible;
  }
  if (may_infer_ && IsProven(answer)) Spread(candidate);
}

bool CandidateSearch::Check(size_t candidate, const Result& result, std::string_view engine) {
  const problem::Problem sized = AtCandidate(*problem_, ladder_->candidates[candidate]);
  std::optional<base::Diagnostic> fault =
      allocate::CheckAnswer(engine, sized, sized.memories[0].capacity, result);
  if (!fault) return true;
  fault->message += " for candidate '" + ladder_->candidates[candidate].name + "'";
  if (!fault_) fault_ = std::move(fault);
  return false;
}

void CandidateSearch::Spread(size_t candidate) {
  const bool fits = Fits(answers_[candidate]);
  for (size_t other = 0; other < answers_.size(); ++other) {
    CandidateAnswer& answer = answers_[other];
    if (other == candidate || IsProven(answer)) continue;
    const problem::CandidateSizes& here = ladder_->candidates[candidate];
    const problem::CandidateSizes& there = ladder_->candidates[other];
    if (fits ? !Dominates(here, there) : !Dominates(there, here)) continue;
    const Bytes lower_bound = answer.lower_bound;
    answer = answers_[candidate];
    answer.lower_bound =
        fits ? lower_bound : std::max(lower_bound, answers_[candidate].lower_bound);
    answer.implied_by = candidate;
    if (!fits) continue;
    answer.peak = PeakAt(other, *answer.allocation);
    answer.status = *answer.peak <= lower_bound ? Status::kOptimal : Status::kFeasible;
  }
}

Bytes CandidateSearch::PeakAt(size_t candidate, const problem::Allocation& allocation) const {
  if (!problem_->rules.empty())
    return PeakOf(AtCandidate(*problem_, ladder_->candidates[candidate]), allocation);
  const std::vector<Bytes>& sizes = ladder_->candidates[candidate].sizes;
  Bytes peak = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (problem_->buffers[i].memory == 0) peak = std::max(peak, allocation.offsets[i] + sizes[i]);
  }
  return peak;
}

CandidateOutcome SearchCandidates(const problem::Problem& problem, const problem::Ladder& ladder,
                                  const Engines& engines, const CandidateSearchOptions& options,
                                  const base::Stop& stop) {
  CandidateSearch search(problem, ladder, engines, options);
  search.DecideAll(stop);
  CandidateOutcome outcome;
  outcome.solves = search.Solves();
  outcome.fault = search.Fault();
  outcome.candidates = std::move(search).TakeAnswers();
  outcome.largest_proven = true;
  for (size_t candidate = outcome.candidates.size(); candidate-- > 0;) {
    if (Fits(outcome.candidates[candidate])) {
      outcome.largest = candidate;
      break;
    }
    outcome.largest_proven =
        outcome.largest_proven && outcome.candidates[candidate].status == Status::kInfeasible;
  }
  return outcome;
}

}  // namespace tessera::search::tiling
