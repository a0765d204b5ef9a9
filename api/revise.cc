// SPDX-License-Identifier: Apache-2.0

#include <tessera/allocate.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/base/arithmetic.h"
#include "tessera/problem/revision.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/kept_offsets.h"

// A revision is as good as a fresh answer. If the least peak is requested, no search is needed
// where the old offsets permit a placement whose peak is a lower bound: one of the revised problem,
// or the old proven peak if the revision only demands more. Otherwise the fresh answer is made, and
// its peak is the goal for a placement with the old offsets. Costs of reuse, requests for a
// certificate and peaks of several memories always need the fresh answer.
namespace tessera::api {
namespace {

using problem::Bytes;

Result<problem::RevisedProblem> Apply(const Problem& before, const Revision& given) {
  if (auto error = RefuseConstraints(before.Get(), "Revise")) return *std::move(error);
  problem::Revision revision{{}, given.remove, {}};
  for (const Buffer& buffer : given.add) revision.add.push_back(BufferOf(buffer));
  for (const auto& [id, size] : given.resize) revision.resize.emplace_back(id, size);
  auto revised = problem::Revise(before.Get().document.problem, revision);
  if (!revised) return BadInput(revised.error());
  return *std::move(revised);
}

class Reviser {
 public:
  Reviser(const Allocation& before, const problem::RevisedProblem& revised,
          const AllocateOptions& options)
      : before_(before),
        revised_(revised),
        options_(options),
        problem_(AsProblem({revised.problem, std::nullopt})),
        stop_(options),
        former_(revised.former.size()) {
    for (size_t i = 0; i < former_.size(); ++i) {
      if (revised.same[i]) former_[i] = before.Offsets()[static_cast<size_t>(revised.former[i])];
    }
    const Bytes stated = revised.problem.memories[0].capacity;
    capacity_ = options.capacity           ? options.capacity
                : stated < base::kMaxTotal ? std::optional(stated)
                                           : std::nullopt;
  }

  Result<RevisedAnswer> Run() {
    const auto objective = FindObjective(revised_.problem, options_);
    if (!objective) return BadInput(objective.error());
    has_objective_ = objective->has_value();
    const bool minimizes = options_.minimize || !options_.peaks.empty() || !capacity_;
    const bool may_keep = revised_.problem.costs.empty() && !options_.certify && !has_objective_;
    const Bytes bound = LowerBound();
    const Bytes room = capacity_.value_or(base::kMaxTotal);
    if (may_keep && (!minimizes || bound <= room)) {
      const Result<bool> kept = Keep(minimizes ? bound : room, bound);
      if (!kept) return kept.Error();
      if (*kept) return Finish(minimizes ? Outcome::kOptimal : Outcome::kFeasible);
    }
    AllocateOptions rest = options_;
    if (const auto deadline = stop_.Get().Deadline(); deadline && options_.timeout_s) {
      const std::chrono::duration<double> left = *deadline - base::Stop::Clock::now();
      rest.timeout_s = std::max(0.0, left.count());
    }
    Result<AllocateAnswer> fresh = PlaceBuffers(problem_, rest);
    if (!fresh) return fresh.Error();
    static_cast<AllocateAnswer&>(answer_) = *std::move(fresh);
    if (may_keep && minimizes && answer_.allocation) {
      const Outcome outcome = answer_.outcome;
      const Result<bool> kept = Keep(answer_.allocation->Peak(), answer_.lower_bound);
      if (!kept) return kept.Error();
      if (*kept) return Finish(outcome);
    }
    return Finish(answer_.outcome);
  }

 private:
  Bytes LowerBound() const {
    const Bytes known = revised_.only_demands_more ? before_.Get().proven : 0;
    return std::max(known, base::RoundUp(search::allocate::FindBound(revised_.problem, 0).bytes,
                                         search::allocate::GranularityOf(revised_.problem)));
  }

  // Returns whether most buffers can stay within `capacity` bytes; then that placement is the
  // answer.
  Result<bool> Keep(Bytes capacity, Bytes bound) {
    const parts::EngineSet engines = EnginesOf(options_);
    auto kept = search::allocate::KeepOffsets(revised_.problem, former_, capacity,
                                              engines.Pointers(), stop_.Get());
    if (!kept) return AsError(CallStatus::kInternal, kept.error());
    if (!*kept) return false;
    problem::Result& result = **kept;
    answer_.lower_bound = result.lower_bound = bound;
    result.status = *result.peak <= bound ? problem::Status::kOptimal : problem::Status::kFeasible;
    answer_.engine = result.engine;
    answer_.reason.clear();
    problem::files::AllocationDocument document;
    document.result = std::move(result);
    document.capacity = capacity_;
    document.seed = static_cast<int64_t>(options_.seed);
    answer_.allocation = AsAllocation(problem_, std::move(document), bound);
    return true;
  }

  RevisedAnswer Finish(Outcome outcome) {
    answer_.outcome = outcome;
    if (!has_objective_ && answer_.allocation && answer_.allocation->Peak() <= answer_.lower_bound)
      answer_.outcome = Outcome::kOptimal;
    for (size_t i = 0; answer_.allocation && i < former_.size(); ++i)
      answer_.moved += former_[i] && *former_[i] != answer_.allocation->Offsets()[i] ? 1 : 0;
    return std::move(answer_);
  }

  const Allocation& before_;
  const problem::RevisedProblem& revised_;
  const AllocateOptions& options_;
  Problem problem_;
  CallStop stop_;
  std::vector<std::optional<Bytes>> former_;
  std::optional<Bytes> capacity_;
  bool has_objective_ = false;  // peaks of other memories than the first count
  RevisedAnswer answer_;
};

}  // namespace

Result<RevisedAnswer> ReviseAllocation(const Allocation& before, const Revision& revision,
                                       const AllocateOptions& options) {
  if (auto error = FindBadArgument(before.PlacedProblem(), options)) return *std::move(error);
  const Result<problem::RevisedProblem> revised = Apply(before.PlacedProblem(), revision);
  if (!revised) return revised.Error();
  return Reviser(before, *revised, options).Run();
}

Result<RevisedAnswer> ReviseUnplaced(const Problem& before, const Revision& revision,
                                     const AllocateOptions& options) {
  Result<problem::RevisedProblem> revised = Apply(before, revision);
  if (!revised) return revised.Error();
  Result<AllocateAnswer> fresh =
      PlaceBuffers(AsProblem({std::move(revised->problem), std::nullopt}), options);
  if (!fresh) return fresh.Error();
  RevisedAnswer answer;
  static_cast<AllocateAnswer&>(answer) = *std::move(fresh);
  return answer;
}

}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<RevisedAnswer> Revise(const Allocation& before, const Revision& revision,
                             const AllocateOptions& options) {
  return api::Guarded([&] { return api::ReviseAllocation(before, revision, options); });
}

}  // namespace v0
}  // namespace tessera
