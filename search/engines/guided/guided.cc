// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/guided/guided.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/formulation/formulation.h"
#include "tessera/problem/structure.h"
#include "tessera/search/allocate/engine_session.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/guided/part_search.h"
#include "tessera/search/engines/guided/search_tree.h"
#include "tessera/search/engines/lazy/packing.h"

namespace tessera::search::engines::guided {

namespace formulation = encoder::formulation;

using problem::Bytes;
using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

// A session for an independent part of a Problem.
class PartSession final : public problem::Session {
 public:
  PartSession(const Problem& problem, const Ladder* ladder, const GuidedOptions& options)
      : problem_(problem), ladder_(ladder), options_(options) {}

  Result Solve(size_t candidate, Bytes capacity, const base::Budget& budget,
               const base::Stop& stop) override {
    Result result;
    result.engine = GuidedEngine::NameOf(options_);
    if (!Open(candidate, capacity, budget, stop, result)) return result;
    const problem::Statistics before = search_->statistics();
    const SearchTree::PartOutcome verdict = search_->Solve(capacity, budget, stop);
    const problem::Statistics after = search_->statistics();
    result.statistics = {after.nodes - before.nodes, after.backtracks - before.backtracks,
                         after.conflicts - before.conflicts};
    Conclude(verdict, capacity, stop, result);
    return result;
  }

 private:
  // Prepares the search for the query. Returns false, with status and reason in the result, if the
  // answer is known without a search.
  bool Open(size_t candidate, Bytes capacity, const base::Budget& budget, const base::Stop& stop,
            Result& result);
  bool Refuse(Result& result, Status status, std::string reason) const {
    result.status = status;
    result.reason = std::move(reason);
    return false;
  }
  void Choose(Bytes capacity, const base::Stop& stop);
  std::optional<std::string> FindUnsupported(Bytes capacity, const base::Stop& stop) const;
  void Conclude(SearchTree::PartOutcome verdict, Bytes capacity, const base::Stop& stop,
                Result& result);

  const Problem& problem_;
  const Ladder* ladder_;
  const GuidedOptions& options_;
  size_t candidate_ = 0;
  std::unique_ptr<Prepared> prepared_;
  std::unique_ptr<Turns> search_;  // in use
  std::unique_ptr<Turns> other_;   // used before, with another capacity
};

// A search for the least peak queries two capacities in turn, one from below and one from above.
void PartSession::Choose(Bytes capacity, const base::Stop& stop) {
  if (search_ && search_->Capacity() == capacity) return;
  std::swap(search_, other_);
  if (search_ && search_->MayAsk(capacity)) return;
  search_ = std::make_unique<Turns>(*prepared_, options_, capacity, stop);
}

std::optional<std::string> PartSession::FindUnsupported(Bytes capacity,
                                                        const base::Stop& stop) const {
  if (auto reason = lazy::FindTooLarge(problem_, ladder_)) return reason;
  if (lazy::CountPairs(problem_) > stop.MemoryLimit() / 6 / lazy::kBytesPerPair) {
    stop.NoteDeclined();
    return "so many pairs of buffers within the memory limit";
  }
  if (capacity > lazy::kFarthest) return "a capacity beyond 2^60 bytes";
  return std::nullopt;
}

bool PartSession::Open(size_t candidate, Bytes capacity, const base::Budget& budget,
                       const base::Stop& stop, Result& result) {
  if (ladder_ != nullptr && candidate >= ladder_->candidates.size())
    return Refuse(result, Status::kInvalid, "no such candidate");
  if (const auto reason = FindUnsupported(capacity, stop))
    return Refuse(result, Status::kUnsupported, "the guided engine does not support " + *reason);
  if (budget.units <= 0) return Refuse(result, Status::kUnknown, "no budget");
  if (stop.Requested()) return Refuse(result, Status::kUnknown, "stopped");
  if (!prepared_ || candidate != candidate_) {
    search_.reset();
    other_.reset();
    candidate_ = candidate;
    prepared_ = Prepare(
        ladder_ != nullptr ? AtCandidate(problem_, ladder_->candidates[candidate]) : problem_,
        stop);
    if (!prepared_) return Refuse(result, Status::kUnknown, "stopped");
  }
  if (prepared_->addresses) {
    if (const auto reason = formulation::TooLarge(prepared_->problem, *prepared_->addresses))
      return Refuse(result, Status::kUnsupported, *reason);
  }
  const std::vector<Bytes> loads = formulation::LoadOf(prepared_->problem);
  result.lower_bound = loads.empty() ? 0 : loads.front();
  for (size_t m = 0; m < loads.size(); ++m) {
    const Bytes room = m == 0 ? capacity : problem_.memories[m].capacity;
    if (loads[m] <= room) continue;
    return Refuse(
        result, Status::kInfeasible,
        fmt::format("buffers that live together need {} bytes of memory '{}', which has {}",
                    loads[m], problem_.memories[m].name, room));
  }
  Choose(capacity, stop);
  if (!search_->IsCutOff()) return true;
  search_.reset();
  return stop.Requested() ? Refuse(result, Status::kUnknown, "stopped")
                          : Refuse(result, Status::kUnsupported,
                                   "the guided engine does not support so many constraints");
}

void PartSession::Conclude(SearchTree::PartOutcome verdict, Bytes capacity, const base::Stop& stop,
                           Result& result) {
  if (verdict == SearchTree::PartOutcome::kPlaced) {
    result.status = Status::kFeasible;
    result.allocation = search_->Placement();
    result.peak = problem::PeakOf(prepared_->problem, *result.allocation);
  } else if (verdict == SearchTree::PartOutcome::kRefuted) {
    result.status = Status::kInfeasible;
    result.reason =
        fmt::format("no placement exists: {} dead ends prove it", search_->statistics().conflicts);
    const Bytes unit = prepared_->packing.granularity;
    const Bytes refuted = base::RoundDown(std::max<Bytes>(capacity, 0), unit) + unit;
    result.lower_bound = std::max(result.lower_bound, refuted);
  } else {
    result.reason = search_->tree().GaveUp()      ? "bounds rise in too many steps"
                    : search_->tree().Exhausted() ? "every candidate of the heuristics failed"
                    : stop.Requested()            ? "stopped"
                                                  : "the budget of dead ends is spent";
  }
}

// A session for a whole Problem. If placing buffers one after another succeeds, no search is
// needed: the first descents use no solver, which would cost the square of the buffers that live
// together.
class GuidedSession final : public problem::Session {
 public:
  GuidedSession(const Problem& problem, const Ladder* ladder, GuidedOptions options)
      : problem_(problem), ladder_(ladder), options_(std::move(options)) {}

  Result Solve(size_t candidate, Bytes capacity, const base::Budget& budget,
               const base::Stop& stop) override {
    const bool is_known = ladder_ == nullptr || candidate < ladder_->candidates.size();
    if (options_.descents && is_known && budget.units > 0) {
      const Problem& sized = Sized(candidate);
      if (auto placed = Descend(sized, capacity, stop)) return *std::move(placed);
    }
    if (!parts_) {
      parts_ = formulation::OpenInParts(
          problem_, ladder_, [this](const Problem& part, const Ladder* sizes) {
            return std::make_unique<PartSession>(part, sizes, options_);
          });
    }
    return parts_->Solve(candidate, capacity, budget, stop);
  }

 private:
  const Problem& Sized(size_t candidate) {
    if (ladder_ == nullptr) return problem_;
    if (!sized_ || candidate != candidate_)
      sized_ = AtCandidate(problem_, ladder_->candidates[candidate_ = candidate]);
    return *sized_;
  }
  std::optional<Result> Descend(const Problem& problem, Bytes capacity,
                                const base::Stop& stop) const;

  const Problem& problem_;
  const Ladder* ladder_;
  const GuidedOptions options_;
  size_t candidate_ = 0;
  std::optional<Problem> sized_;
  std::unique_ptr<problem::Session> parts_;
};

std::optional<Result> GuidedSession::Descend(const Problem& problem, Bytes capacity,
                                             const base::Stop& stop) const {
  using greedy::GreedyOrder;
  if (allocate::FindUnsupported(problem, allocate::BankSupport::kWindows)) return std::nullopt;
  Result result;
  result.engine = GuidedEngine::NameOf(options_);
  result.allocation.emplace().offsets.resize(problem.buffers.size());
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    const greedy::GreedyPlacement placement(problem, static_cast<int>(m));
    const Bytes room = m == 0 ? capacity : problem.memories[m].capacity;
    std::optional<std::vector<Bytes>> offsets;
    for (const GreedyOrder order :
         {GreedyOrder::kLifetime, GreedyOrder::kSize, GreedyOrder::kArea}) {
      if (!offsets) offsets = placement.Place(order, allocate::Fit::kFirst, false, room, stop);
      result.statistics.nodes += static_cast<int64_t>(placement.Buffers().size());
      if (offsets) break;
    }
    if (!offsets) return std::nullopt;
    for (size_t k = 0; k < offsets->size(); ++k)
      result.allocation->offsets[static_cast<size_t>(placement.Buffers()[k])] = (*offsets)[k];
  }
  result.allocation->modes = problem::ConstantModes(problem);
  result.status = Status::kFeasible;
  result.peak = problem::PeakOf(problem, *result.allocation);
  return result;
}

}  // namespace

std::unique_ptr<problem::Session> GuidedEngine::Open(const Problem& problem,
                                                     const Ladder* ladder) const {
  return std::make_unique<GuidedSession>(problem, ladder, options_);
}

}  // namespace tessera::search::engines::guided
