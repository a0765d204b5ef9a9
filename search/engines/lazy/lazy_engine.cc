// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/lazy_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/proof/proof_text.h"
#include "tessera/problem/structure.h"
#include "tessera/search/allocate/engine_session.h"
#include "tessera/search/engines/lazy/packing.h"
#include "tessera/search/engines/lazy/proof_log.h"
#include "tessera/search/engines/lazy/solver.h"

namespace tessera::search::engines::lazy {

namespace {

using problem::Bytes;
using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Status;

class LazySession final : public problem::Session {
 public:
  LazySession(const Problem& problem, const Ladder* ladder, const LazyOptions& options)
      : problem_(problem),
        ladder_(ladder),
        options_(options),
        unsupported_(lazy::FindUnsupported(problem, ladder)) {}

  Result Solve(size_t candidate, Bytes capacity, const base::Budget& budget,
               const base::Stop& stop) override;

 private:
  Result Answer(Status status, std::string reason) const;
  bool Load(const base::Stop& stop);
  PackingQuery QuestionOf(size_t candidate, Bytes capacity) const;
  Solver::SolveOutcome Decide(PackingQuery question, const base::Budget& budget,
                              const base::Stop& stop);
  Bound HeaviestSection(const std::vector<Bound>& sizes) const;
  Bytes RefutedBelow(Bytes capacity);
  void AddPlacement(Result& result, const std::vector<Bound>& sizes) const;

  const Problem& problem_;
  const Ladder* ladder_;
  const LazyOptions options_;
  const std::optional<std::string> unsupported_;
  std::optional<Packing> packing_;
  std::optional<Solver> solver_;
};

Result LazySession::Answer(Status status, std::string reason) const {
  Result result;
  result.status = status;
  result.engine = "lazy";
  result.reason = std::move(reason);
  return result;
}

// Prepares the solver on the first query that has a budget, so that opening a session is cheap.
// Returns false after a stop.
bool LazySession::Load(const base::Stop& stop) {
  if (!packing_) packing_ = lazy::MakePacking(problem_, ladder_, stop);
  return packing_.has_value();
}

PackingQuery LazySession::QuestionOf(size_t candidate, Bytes capacity) const {
  PackingQuery question{lazy::SizesOf(*packing_, problem_, ladder_, candidate), {}};
  for (int m = 0; m < packing_->memories; ++m) {
    const Bytes bytes = m == 0 ? capacity : problem_.memories[static_cast<size_t>(m)].capacity;
    const Bound units = std::max<Bytes>(bytes, 0) / packing_->granularity;
    question.ceilings.push_back(std::min(units, packing_->HighestCeiling()));
  }
  return question;
}

Solver::SolveOutcome LazySession::Decide(PackingQuery question, const base::Budget& budget,
                                         const base::Stop& stop) {
  std::vector<BoundLiteral> assumptions;
  // Without a known reach, a ceiling that is not assumed would let tied offsets rise without end at
  // the root.
  if (options_.assume_capacity && packing_->reach) {
    const Bound ceiling = std::exchange(question.ceilings[0], packing_->HighestCeiling());
    assumptions.push_back({2 * packing_->CeilingOf(0) + 1, -ceiling});
  }
  if (solver_) {
    solver_->Ask(std::move(question));
  } else {
    solver_.emplace(*packing_, options_, std::move(question), nullptr, &stop);
  }
  return solver_->Solve(assumptions, budget, stop);
}

Bound LazySession::HeaviestSection(const std::vector<Bound>& sizes) const {
  Bound heaviest = 0;
  for (int i = 0; i < packing_->buffers; ++i) {
    const auto at = static_cast<size_t>(i);
    if (packing_->memory[at] == 0)
      heaviest = std::max(heaviest, packing_->fixed[at].value_or(0) + sizes[at]);
  }
  for (int section = 0; section < packing_->sections.Count(); ++section) {
    if (packing_->section_memory[static_cast<size_t>(section)] != 0) continue;
    Bound load = 0;
    for (const int i : packing_->sections[section]) load += sizes[static_cast<size_t>(i)];
    heaviest = std::max(heaviest, load);
  }
  return heaviest;
}

void LazySession::AddPlacement(Result& result, const std::vector<Bound>& sizes) const {
  problem::Allocation allocation;
  Bytes peak = 0;
  for (int i = 0; i < packing_->buffers; ++i) {
    const Bytes offset = solver_->OffsetOf(i) * packing_->granularity;
    allocation.offsets.push_back(offset);
    const auto at = static_cast<size_t>(i);
    if (packing_->memory[at] == 0)
      peak = std::max(peak, offset + sizes[at] * packing_->granularity);
  }
  allocation.modes = problem::ConstantModes(problem_);
  result.allocation = std::move(allocation);
  result.peak = peak;
}

// Returns the least capacity that this refutation of `capacity` leaves open.
Bytes LazySession::RefutedBelow(Bytes capacity) {
  if (capacity > kFarthest) return 0;
  const Bound units = std::max<Bytes>(capacity, 0) / packing_->granularity + 1;
  // If the capacity was assumed, its negation was derived, often for larger capacities as well.
  const Bound derived =
      options_.assume_capacity ? solver_->LeastAtRoot(2 * packing_->CeilingOf(0)) : 0;
  return std::max(units, derived) * packing_->granularity;
}

Result LazySession::Solve(size_t candidate, Bytes capacity, const base::Budget& budget,
                          const base::Stop& stop) {
  if (unsupported_)
    return Answer(Status::kUnsupported, "the lazy engine does not support " + *unsupported_);
  if (ladder_ != nullptr && candidate >= ladder_->candidates.size())
    return Answer(Status::kInvalid, "no such candidate");
  if (budget.units <= 0) return Answer(Status::kUnknown, "no budget");
  if (stop.Requested()) return Answer(Status::kUnknown, "stopped");
  if (lazy::CountPairs(problem_) > stop.MemoryLimit() / 6 / kBytesPerPair) {
    stop.NoteDeclined();
    return Answer(Status::kUnsupported,
                  "the lazy engine has no memory for so many pairs of buffers");
  }
  if (!Load(stop)) return Answer(Status::kUnknown, "stopped");
  if (!packing_->reach && capacity > kFarthest) {
    return Answer(Status::kUnsupported,
                  "the lazy engine does not support tied offsets beyond 2^60 bytes");
  }
  PackingQuery question = QuestionOf(candidate, capacity);
  const std::vector<Bound> sizes = question.sizes;
  const problem::Statistics before = solver_ ? solver_->statistics() : problem::Statistics{};
  const Solver::SolveOutcome verdict = Decide(std::move(question), budget, stop);
  const problem::Statistics& after = solver_->statistics();

  Result result = Answer(Status::kUnknown, "");
  result.statistics = {after.nodes - before.nodes, after.backtracks - before.backtracks,
                       after.conflicts - before.conflicts};
  result.lower_bound = HeaviestSection(sizes) * packing_->granularity;
  if (verdict == Solver::SolveOutcome::kFeasible) {
    result.status = Status::kFeasible;
    AddPlacement(result, sizes);
  } else if (verdict == Solver::SolveOutcome::kInfeasible) {
    result.status = Status::kInfeasible;
    result.reason =
        fmt::format("no placement exists: {} conflicts prove it", result.statistics.conflicts);
    result.lower_bound = std::max(result.lower_bound, RefutedBelow(capacity));
  } else {
    result.reason = solver_->GaveUp()  ? "bounds rise in too many steps"
                    : stop.Requested() ? "stopped"
                                       : "the budget of conflicts is spent";
  }
  return result;
}

}  // namespace

std::unique_ptr<problem::Session> LazyEngine::Open(const Problem& problem,
                                                   const Ladder* ladder) const {
  return std::make_unique<LazySession>(problem, ladder, options_);
}

using problem::Bytes;
using problem::Problem;
using problem::proof::Attempt;

LazyProver::LazyProver(const LazyOptions& options) : options_(options) {
  options_.order_interchangeable = false;
  options_.break_mirror = false;
  options_.bottom_left = false;
  options_.assume_capacity = false;
}

Attempt LazyProver::Prove(const Problem& problem, Bytes capacity, const base::Budget& budget,
                          const base::Stop& stop) const {
  Attempt attempt;
  if (const auto unsupported = lazy::FindUnsupported(problem, nullptr)) {
    attempt.reason = "the lazy engine does not support " + *unsupported;
    return attempt;
  }
  const std::optional<Packing> loaded = lazy::MakePacking(problem, nullptr, stop);
  if (!loaded) {
    attempt.reason = "stopped";
    return attempt;
  }
  const Packing& packing = *loaded;
  PackingQuery question{lazy::SizesOf(packing, problem, nullptr, 0), {}};
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    const Bytes bytes = m == 0 ? capacity : problem.memories[m].capacity;
    question.ceilings.push_back(
        std::min(std::max<Bytes>(bytes, 0) / packing.granularity, packing.HighestCeiling()));
  }
  problem::proof::Log log;
  base::Stop failure(std::nullopt, &stop);
  ProofLog proof(problem, packing, log, failure);
  Solver solver(packing, options_, std::move(question), &proof, &failure);
  const Solver::SolveOutcome verdict = solver.Solve({}, budget, failure);
  attempt.statistics = solver.statistics();
  if (verdict == Solver::SolveOutcome::kFeasible) {
    attempt.reason = "what a proof can speak of leaves a placement";
  } else if (proof.Failed()) {
    attempt.reason = log.Full() ? "the proof grows too large"
                                : "a step of the lazy engine has no ground to name";
  } else if (verdict == Solver::SolveOutcome::kInfeasible) {
    attempt.proof = log.Write();
  } else {
    attempt.reason = solver.GaveUp()    ? "bounds rise in too many steps"
                     : stop.Requested() ? "stopped"
                                        : "the budget of conflicts is spent";
  }
  return attempt;
}

}  // namespace tessera::search::engines::lazy
