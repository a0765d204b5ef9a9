#include "tessera/search/allocate/portfolio.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/checked.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/contraction.h"
#include "tessera/search/allocate/positions.h"

// Deciding is one probe; minimising is a row of probes between what is proven and what is found:
//
//     0 ............ bound ======= probe ======= peak ............ capacity
//       impossible         open                  found
//
// A probe that places lowers the peak, one that proves raises the bound, one that meets its limit does
// neither. A round probes the bound, then comes down from the peak in strides that shrink where a probe stays
// open, down to a single granule: least peaks lie close under the best found far more often than halfway. Probes
// get slices of the budget, which double from round to round, so that no single hard capacity starves the
// others; engines go on where they stopped. The minimisation ends when bound and peak meet, at the user's
// limits, or when every engine gave up without having used its slice, since more would not help.
namespace tessera::search {

using problem::Bytes;
using problem::Engine;
using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Session;
using problem::Status;

namespace {

constexpr int64_t kFirstSlice = 20'000;

// Statistics count in the engines' own units; the larger of the two is what a budget is charged with.
int64_t WorkOf(const problem::Statistics& statistics) {
  return std::max(statistics.nodes, statistics.conflicts);
}

class Portfolio {
 public:
  Portfolio(const Problem& problem, const Ladder* ladder, size_t rung, std::span<const Engine* const> engines,
            const AllocateOptions& options)
      : at_rung_(ladder != nullptr ? std::optional(AtRung(problem, ladder->rungs[rung])) : std::nullopt),
        sized_(at_rung_ ? *at_rung_ : problem),
        rung_(rung),
        engines_(engines),
        options_(options),
        stop_(options.stop != nullptr ? *options.stop : never_),
        // No buffer can lie beyond kNowhere, so a larger memory is no larger.
        capacity_(std::min(options.capacity.value_or(problem.memories[0].capacity), kNowhere - 1)),
        granule_(GranuleOf(sized_)),
        left_(options.budget.units) {
    for (const Engine* engine : engines_) sessions_.push_back(engine->Open(problem, ladder));
  }

  base::Expected<Result> Run() {
    if (auto refuted = RefuteByBounds()) return *std::move(refuted);
    const bool minimize = options_.minimize || !options_.capacity;
    base::Expected<Result> found = Probe(capacity_, left_);
    if (!found) return found;
    if (found->allocation) {
      Keep(*std::move(found));
      if (minimize) {
        if (auto failure = Minimize()) return base::Unexpected(*std::move(failure));
      }
      return Conclude(minimize);
    }
    found->statistics = statistics_;
    found->lower_bound = bound_;
    return found;
  }

 private:
  std::optional<Result> RefuteByBounds() {
    Result result;
    const std::optional<Contraction> contraction = ContractColocated(sized_, nullptr);
    const Problem& problem = contraction ? contraction->problem : sized_;
    if (contraction && !contraction->contradiction.empty()) {
      result.status = Status::kInfeasible;
      result.reason = contraction->contradiction;
      result.engine = "bound";
    }
    for (size_t memory = 0; memory < sized_.memories.size(); ++memory) {
      const Bound bound = FindBound(problem, static_cast<int>(memory));
      const Bytes capacity = memory == 0 ? capacity_ : sized_.memories[memory].capacity;
      if (memory == 0) bound_ = result.lower_bound = base::RoundUp(bound.bytes, granule_);
      if (result.status == Status::kInfeasible || bound.bytes <= capacity) continue;
      result.status = Status::kInfeasible;
      result.reason = Explain(problem, bound, capacity);
      result.engine = "bound";
    }
    if (result.status == Status::kInfeasible) return result;
    if (!stop_.Requested()) return std::nullopt;
    result.reason = "stopped before the search began";
    return result;
  }

  // Asks the engines in turn whether everything fits into `capacity`; each may use `units`.
  base::Expected<Result> Probe(Bytes capacity, int64_t units) {
    Result answer;
    std::string unknown, unsupported;
    gave_up_ = true;
    for (size_t i = 0; i < sessions_.size(); ++i) {
      const base::Budget budget{std::min(units, left_)};
      if (budget.units <= 0 || stop_.Requested()) {
        gave_up_ = false;
        unknown = stop_.Requested() ? "stopped" : "the budget is spent";
        break;
      }
      Result result = sessions_[i]->Solve(rung_, capacity, budget, stop_);
      Charge(result.statistics);
      switch (result.status) {
        case Status::kOptimal:
        case Status::kFeasible:
          if (auto failure = Check(*engines_[i], result, capacity))
            return base::Unexpected(*std::move(failure));
          result.engine = engines_[i]->Name();
          return result;
        case Status::kInfeasible:
        case Status::kInvalid:
          result.engine = engines_[i]->Name();
          return result;
        case Status::kUnknown:
          if (WorkOf(result.statistics) >= budget.units) gave_up_ = false;
          Append(unknown, result.reason);
          break;
        case Status::kUnsupported:
          Append(unsupported, result.reason);
          break;
      }
    }
    const bool none_supports = unknown.empty() && !unsupported.empty();
    answer.status = none_supports ? Status::kUnsupported : Status::kUnknown;
    answer.reason = none_supports ? unsupported : unknown;
    return answer;
  }

  static void Append(std::string& reasons, const std::string& reason) {
    if (!reasons.empty() && !reason.empty()) reasons += "; ";
    reasons += reason;
  }

  void Charge(const problem::Statistics& statistics) {
    statistics_.nodes += statistics.nodes;
    statistics_.backtracks += statistics.backtracks;
    statistics_.conflicts += statistics.conflicts;
    left_ -= WorkOf(statistics);
  }

  // What is wrong with an engine's allocation.
  std::optional<base::Diagnostic> Check(const Engine& engine, Result& result, Bytes capacity) const {
    base::Diagnostic diagnostic;
    diagnostic.message = "the engine '" + std::string(engine.Name()) + "' returned a wrong allocation";
    diagnostic.hint = "this is a fault of the program, not of the input; please report it with the input";
    if (!result.allocation) {
      diagnostic.found = "no allocation";
      return diagnostic;
    }
    const auto violations = problem::Validate(sized_, *result.allocation, capacity, 1);
    if (!violations.empty()) {
      diagnostic.found = violations.front().message;
      return diagnostic;
    }
    result.peak = PeakOf(sized_, *result.allocation);
    return std::nullopt;
  }

  void Keep(Result result) {
    best_ = std::move(result);
    if (options_.progress) {
      options_.progress(best_.engine + ": peak " + std::to_string(*best_.peak) + ", bound " +
                        std::to_string(bound_));
    }
  }

  std::optional<base::Diagnostic> Minimize() {
    for (int64_t slice = kFirstSlice; !Ended(); slice *= 2) {
      more_would_help_ = false;
      // The bound itself is often the answer, and else it may rise.
      if (auto failure = Narrow(bound_, slice)) return failure;
      Bytes stride = (*best_.peak - bound_) / 2;
      while (!Ended()) {
        const Bytes probe =
            std::max(bound_, *best_.peak - std::max(granule_, base::RoundUp(stride, granule_)));
        const Bytes before = bound_, peak = *best_.peak;
        if (auto failure = Narrow(probe, slice)) return failure;
        const bool open = before == bound_ && peak == *best_.peak;
        if (open && *best_.peak - probe <= granule_) break;
        stride = std::min(open ? stride / 2 : stride, (*best_.peak - bound_) / 2);
      }
      if (!more_would_help_ || slice > base::kMaxTotal / 2) break;
    }
    return std::nullopt;
  }

  // One probe: lowers the peak, raises the bound, or notes whether a larger slice might do either.
  std::optional<base::Diagnostic> Narrow(Bytes probe, int64_t slice) {
    base::Expected<Result> result = Probe(probe, slice);
    if (!result) return std::move(result.error());
    if (result->allocation) {
      Keep(*std::move(result));
    } else if (result->status == Status::kInfeasible) {
      bound_ = probe + granule_;
      proof_ = result->engine;
    } else {
      more_would_help_ = more_would_help_ || !gave_up_;
    }
    return std::nullopt;
  }

  bool Ended() const { return bound_ >= *best_.peak || left_ <= 0 || stop_.Requested(); }

  Result Conclude(bool minimize) {
    best_.lower_bound = bound_;
    best_.statistics = statistics_;
    best_.status = *best_.peak <= bound_ ? Status::kOptimal : Status::kFeasible;
    best_.reason.clear();
    if (best_.status == Status::kOptimal) {
      best_.reason = proof_.empty() ? "the peak equals a lower bound"
                                    : "every lower peak is proven impossible by " + proof_;
    } else if (minimize) {
      best_.reason = stop_.Requested() ? "stopped before the least peak was proven"
                     : left_ <= 0      ? "the budget was spent before the least peak was proven"
                                       : "no engine could decide a lower peak";
    }
    return std::move(best_);
  }

  const base::Stop never_;
  std::optional<Problem> at_rung_;  // none without a ladder
  const Problem& sized_;
  size_t rung_;
  std::span<const Engine* const> engines_;
  const AllocateOptions& options_;
  const base::Stop& stop_;
  Bytes capacity_;
  Bytes granule_;
  Bytes bound_ = 0;               // no allocation has a lower peak
  int64_t left_;                  // of the budget
  bool gave_up_ = true;           // no engine used up its slice in the last probe
  bool more_would_help_ = false;  // some engine did in this round
  std::string proof_;             // who raised the bound last; empty: nobody did
  std::vector<std::unique_ptr<Session>> sessions_;
  problem::Statistics statistics_;
  Result best_;
};

Result Invalid(const std::string& pointer, const std::string& message) {
  Result result;
  result.status = Status::kInvalid;
  result.reason = (pointer.empty() ? "" : pointer + ": ") + message;
  return result;
}

}  // namespace

base::Expected<Result> Allocate(const Problem& problem, const Ladder* ladder, size_t rung,
                                std::span<const Engine* const> engines, const AllocateOptions& options) {
  if (const auto fault = problem::FindFault(problem)) return Invalid(fault->pointer, fault->message);
  if (ladder != nullptr) {
    if (const auto fault = problem::FindFault(problem, *ladder))
      return Invalid(fault->pointer, fault->message);
    if (rung >= ladder->rungs.size()) return Invalid("", "the ladder has no rung " + std::to_string(rung));
  }
  if (problem.memories.empty()) return Invalid("/memories", "the problem has no memory");
  return Portfolio(problem, ladder, rung, engines, options).Run();
}

}  // namespace tessera::search
