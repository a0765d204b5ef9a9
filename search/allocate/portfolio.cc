// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/portfolio.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/process.h"
#include "tessera/problem/tile_candidates.h"
#include "tessera/problem/well_formed.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/engine_session.h"
#include "tessera/search/allocate/lanes.h"
#include "tessera/search/allocate/needed_addresses.h"
#include "tessera/search/allocate/occupancy.h"
#include "tessera/search/allocate/peak_search.h"
#include "tessera/search/allocate/run_log.h"

// Lanes work in parallel and synchronise after every round:
//
//     opening    lane 0 |greedy, canonical|
//     round 1    lane 1 |lazy|               lane 0 |canonical|
//     round 2    lane 1 |-- lazy --|         lane 0 |-- canonical --|       slices grow by half
//
// To decide, every lane gets the same query, and the first conclusive lane provides the answer. To
// minimise, lane 0 goes down from the peak in long strides, the first of them to the bound itself.
// Lane 1 raises the bound, and then lets lane 0's best engine go down in short strides:
//
//     0 ............ bound ============= probe === peak ............ capacity
//       impossible     ^ both            ^ both     found
//
// Lanes exchange results only at the end of a round, at a counted amount of work. So the answer
// depends on no thread and no clock: with one thread the lanes of a round run one after the other,
// with two in parallel. A conclusive lane ends the later lanes of its round; their work is
// discarded, finished or not. Slices are counted in nodes; a conflict counts as the number of nodes
// that take the same time, so that no lane waits long for another. Slices grow, so that no engine
// costs more than a small multiple of what the best one alone would have needed. They grow slowly,
// so that the last round is a small part of the whole: one of its lanes may run in vain or not at
// all, so a second thread does not speed it up.
//
// Engines that refute nothing (improvers) lower the peak in both lanes, after the others have gone
// down as far as they could. They get a fraction of the time at first, and most of it once an
// improver was the last engine to lower the peak. The better kind of engine depends on the Problem
// and seldom changes during the search.
//
// The search ends when bound and peak meet, at the user's limits, or when every engine gave up
// without using its slice, because more work would not help.
namespace tessera::search::allocate {

using problem::Bytes;
using problem::Engine;
using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

constexpr int64_t kFirstSlice = 4'000;        // nodes...
constexpr int64_t kFirstSlicePerBuffer = 24;  // ... and for each buffer, to try all orders
constexpr int64_t kLastSlice = base::kMaxTotal / 4;

// Above this number of buffers the engine that lowers peaks works alone, because the others have
// limits there, or need too much time and memory.
constexpr size_t kMost = 8'192;
constexpr int64_t kPeakUnits = 8;  // at most: of a peak engine for a node of the lanes

int64_t Longer(int64_t slice) { return slice + slice / 2; }

class Portfolio {
 public:
  Portfolio(const Problem& problem, const Ladder* ladder, size_t candidate,
            std::span<const Engine* const> engines, const AllocateOptions& options, int64_t units,
            bool may_guess)
      : at_candidate_(ladder != nullptr
                          ? std::optional(AtCandidate(problem, ladder->candidates[candidate]))
                          : std::nullopt),
        sized_(at_candidate_ ? *at_candidate_ : problem),
        room_(RoomFor(sized_, options.capacity.value_or(sized_.memories[0].capacity),
                      options.capacity && !options.minimize, may_guess)),
        folded_(problem.rules.empty()
                    ? std::nullopt
                    : std::optional(FoldWindows(FoldRules(problem, ladder), room_.capacity))),
        folded_at_candidate_(problem.rules.empty() ? std::nullopt
                                                   : std::optional(FoldRules(sized_, nullptr))),
        options_(options),
        stop_(options.stop != nullptr ? *options.stop : never_),
        granularity_(GranularityOf(Bounded())),
        first_slice_(kFirstSlice +
                     kFirstSlicePerBuffer * static_cast<int64_t>(problem.buffers.size())),
        left_(units),
        question_{folded_ ? *folded_ : problem, ladder, candidate, sized_, granularity_},
        log_(options.progress),
        engines_given_(engines.size()) {
    for (const auto& slots : SlotEngines(engines)) lanes_.emplace_back(question_, slots);
    if (const Engine* engine = FindPeakEngine(engines, problem.buffers.size()))
      peaks_.emplace(question_, *engine);
  }

  base::Expected<Result> Run() {
    base::Expected<Result> result = Search();
    if (result) Qualify(room_, sized_, *result);
    return result;
  }

  bool Guesses() const { return room_.is_guess; }
  int64_t UnitsLeft() const { return left_; }

 private:
  base::Expected<Result> Search() {
    Result refuted =
        RefuteByBounds(Bounded(), room_.capacity, granularity_, &stop_,
                       room_.is_stated ? kMemoryHolds : "offsets and windows leave them");
    bound_ = refuted.lower_bound;
    if (refuted.status == Status::kInfeasible) return refuted;
    if (stop_.Requested()) {
      refuted.reason = stop_.IsOutOfMemory()
                           ? "the memory limit was reached before the search began"
                           : "stopped before the search began";
      return refuted;
    }
    const bool minimize = options_.minimize || !options_.capacity;
    const bool peaks_alone = peaks_ && (sized_.buffers.size() > kMost || engines_given_ == 1);
    Result result = peaks_alone ? SearchPeaks(minimize) : Decide();
    if (!fault_ && result.allocation) {
      best_ = std::move(result);
      try {
        if (minimize && !(peaks_alone && peaks_->Works())) Minimize();
      } catch (const std::bad_alloc&) {
        out_of_memory_ = true;  // the best allocation stays
        stop_.NoteFailedAllocation();
      }
      result = Conclude(minimize);
    }
    if (!fault_ && result.allocation && result.engine == unchecked_)
      fault_ = CheckAnswer(result.engine, sized_, room_.capacity, result);
    if (fault_) return base::Unexpected(*std::move(fault_));
    log_.TellTotals();
    result.statistics = log_.Total();
    result.lower_bound = bound_;
    return result;
  }

  using Reports = std::vector<LaneReport>;
  using Task = LaneReport (Portfolio::*)(size_t lane, const Allowance&, const base::Stop&);

  // Returns the Problem for the computation of bounds.
  const Problem& Bounded() const { return folded_at_candidate_ ? *folded_at_candidate_ : sized_; }

  // Runs rounds of the peak engine alone, until it meets its target or a limit. If it has no answer
  // because it lacks support or memory, the lanes decide.
  Result SearchPeaks(bool minimize) {
    Result open;
    for (int64_t slice = 1;; slice = std::max(first_slice_, Longer(slice))) {
      open = LowerPeak(slice, minimize ? LowEnough() : room_.capacity);
      if (!peaks_->Works() && !open.allocation) return Decide();
      if (peaks_target_met_ || !peaks_->Works() || left_ <= 0 || stop_.Requested()) break;
    }
    if (!open.allocation && left_ <= 0) open.reason = "the budget is spent";
    if (!open.allocation && stop_.IsOutOfMemory()) open.reason = "the memory limit was reached";
    return open;
  }

  // A unit of the peak engine takes less time than a node of an engine that considers a whole
  // memory of many buffers.
  int64_t PeakSlice(int64_t slice) const {
    const auto ratio = static_cast<int64_t>(sized_.buffers.size() / kManyBuffers);
    return slice * std::clamp<int64_t>(ratio, 1, kPeakUnits);
  }

  // Runs a round of the peak engine. The answer is not validated yet.
  Result LowerPeak(int64_t slice, Bytes target) {
    PeakSearch::Question question{target, room_.capacity};
    if (best_.allocation) question.known = &*best_.allocation, question.known_peak = best_.peak;
    LaneReport report = peaks_->Run(question, {slice, left_}, options_.threads, stop_);
    Take(report);
    unchecked_ = report.verdict.allocation ? report.verdict.engine : unchecked_;
    peaks_target_met_ = report.conclusive;
    return std::move(report.verdict);
  }

  // Runs rounds of lanes. The opening is lane 0 alone.
  Result Decide() {
    Result open;
    int64_t slice = first_slice_;
    for (bool opening = true;; opening = false, slice = Longer(slice)) {
      // Lane 0 ran last in the opening, so it is the last of a round.
      std::vector<size_t> lanes = opening ? std::vector<size_t>{0} : WorkingLanes();
      std::reverse(lanes.begin(), lanes.end());
      Reports reports = RunRound(lanes, slice, &Portfolio::AskForCapacity);
      bool more_would_help = opening && lanes_.size() > 1;
      open = {};
      for (LaneReport& report : reports) {
        Take(report);
        if (fault_) return {};
        if (report.conclusive) {
          // With one thread later lanes have not run, with two they have: in both cases they start
          // again.
          for (size_t i = reports.size(); i < lanes.size(); ++i) lanes_[lanes[i]].Reopen();
          return std::move(report.verdict);
        }
        more_would_help = more_would_help || report.more_would_help;
        if (report.verdict.status == Status::kUnknown)
          AppendReason(open.reason, report.verdict.reason);
      }
      if (!opening && peaks_ && peaks_->Works()) {
        Result lowered = LowerPeak(PeakSlice(slice), room_.capacity);
        if (peaks_target_met_) return lowered;
        more_would_help = true;
      }
      if (!more_would_help || left_ <= 0 || stop_.Requested() || slice > kLastSlice) break;
    }
    if (!WorkingLanes().empty()) {
      if (left_ <= 0) open.reason = "the budget is spent";
      if (stop_.IsOutOfMemory()) open.reason = "the memory limit was reached";
      return open;
    }
    open = {};
    const bool lacks_memory = LacksMemory();
    open.status = lacks_memory ? Status::kUnknown : Status::kUnsupported;
    for (const Lane& lane : lanes_) AppendReason(open.reason, lane.Refusals());
    if (lacks_memory) AppendReason(open.reason, "memory is exhausted");
    return open;
  }

  void Minimize() {
    for (int64_t slice = first_slice_; !Ended() && slice <= kLastSlice; slice = Longer(slice)) {
      bool more_would_help = false;
      const Bytes gap = *best_.peak - bound_;
      if (peaks_ && peaks_->Works()) {
        Result lowered = LowerPeak(PeakSlice(slice), LowEnough());
        if (lowered.allocation && *lowered.peak < *best_.peak) best_ = std::move(lowered);
        more_would_help = peaks_->Works();
        if (Ended()) break;
      }
      const std::vector<size_t> lanes = WorkingLanes();
      alone_ = lanes.size() == 1;
      Reports reports = RunRound(lanes, slice, &Portfolio::NarrowGap);
      for (LaneReport& report : reports) {
        Take(report);
        if (fault_) return;
        if (report.bound > bound_) bound_ = report.bound, proof_ = report.proof;
        if (report.verdict.allocation && *report.verdict.peak < *best_.peak)
          best_ = std::move(report.verdict);
        more_would_help = more_would_help || report.more_would_help;
      }
      if (!more_would_help && *best_.peak - bound_ == gap) break;
    }
  }

  LaneReport AskForCapacity(size_t lane, const Allowance& allowance, const base::Stop& stop) {
    return lanes_[lane].Decide(room_.capacity, allowance, stop);
  }

  LaneReport NarrowGap(size_t lane, const Allowance& allowance, const base::Stop& stop) {
    const GapSide side = alone_ ? GapSide::kWhole : lane == 0 ? GapSide::kLong : GapSide::kShort;
    return lanes_[lane].Narrow({bound_, *best_.peak}, side, allowance, stop);
  }

  // Returns the reports of the lanes up to the first conclusive one.
  Reports RunRound(const std::vector<size_t>& lanes, int64_t slice, Task task) {
    const auto allowance = [&](size_t i) {
      const auto count = static_cast<int64_t>(lanes.size());
      return Allowance{slice, left_ / count + (static_cast<int64_t>(i) < left_ % count ? 1 : 0)};
    };
    Reports reports(lanes.size());
    base::Stop overtaken(std::nullopt, &stop_);
    std::atomic<size_t> next = 0;
    std::atomic<bool> ended = false;  // by lane 0
    base::RunOnThreads(options_.threads.AtMost(lanes.size()), [&] {
      for (size_t i = next++; i < lanes.size() && !ended; i = next++) {
        reports[i] = (this->*task)(lanes[i], allowance(i), i == 0 ? stop_ : overtaken);
        if (i > 0 || !(reports[0].conclusive || reports[0].fault)) continue;
        ended = true;
        overtaken.Request();
      }
    });
    if (ended) reports.resize(1);
    return reports;
  }

  std::vector<size_t> WorkingLanes() const {
    std::vector<size_t> working;
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (lanes_[lane].Works()) working.push_back(lane);
    }
    return working;
  }

  // Charges and reports the work of a lane.
  void Take(LaneReport& report) {
    left_ -= report.units;
    for (const EngineRun& run : report.runs) log_.Add(run, bound_);
    if (report.fault) fault_ = std::move(report.fault);
  }

  bool LacksMemory() const {
    return out_of_memory_ || (peaks_ && peaks_->LacksMemory()) ||
           std::any_of(lanes_.begin(), lanes_.end(),
                       [](const Lane& lane) { return lane.LacksMemory(); });
  }

  // Returns the greatest peak that ends the search. It does not overflow, because addresses end at
  // 2^61.
  Bytes LowEnough() const {
    constexpr Bytes kMillion = 1'000'000;
    return bound_ + bound_ / kMillion * options_.gap_ppm +
           bound_ % kMillion * options_.gap_ppm / kMillion;
  }

  bool Ended() const { return LowEnough() >= *best_.peak || left_ <= 0 || stop_.Requested(); }

  Result Conclude(bool minimize) {
    best_.status = *best_.peak <= bound_ ? Status::kOptimal : Status::kFeasible;
    best_.reason.clear();
    if (best_.status == Status::kOptimal) {
      best_.reason = proof_.empty() ? "the peak equals a lower bound"
                                    : "every lower peak is proven impossible by " + proof_;
    } else if (minimize && *best_.peak <= LowEnough()) {
      best_.reason = "the peak exceeds a lower bound by no more than the gap that is allowed";
    } else if (minimize) {
      best_.reason = WhyUnproven(stop_, left_ <= 0, LacksMemory());
    }
    return std::move(best_);
  }

  const base::Stop never_;
  std::optional<Problem> at_candidate_;  // none without a ladder
  const Problem& sized_;
  Room room_;
  // The Problem with fewer rules, if there are rules: for engines, and with the sizes of the
  // candidate for bounds.
  std::optional<Problem> folded_;
  std::optional<Problem> folded_at_candidate_;
  const AllocateOptions& options_;
  const base::Stop& stop_;
  Bytes granularity_;
  int64_t first_slice_;
  Bytes bound_ = 0;     // no allocation has a lower peak
  int64_t left_;        // of the budget
  bool alone_ = false;  // one lane narrows the gap
  bool out_of_memory_ = false;
  std::string proof_;  // the engine that raised the bound last; empty: none did
  LaneProblem question_;
  RunLog log_;
  std::vector<Lane> lanes_;
  std::optional<PeakSearch> peaks_;
  size_t engines_given_;
  bool peaks_target_met_ = false;
  std::string unchecked_;                  // the engine whose allocations are validated at the end
  std::optional<base::Diagnostic> fault_;  // some engine returned an invalid allocation
  Result best_;
};

Result Invalid(const std::string& pointer, const std::string& message) {
  Result result;
  result.status = Status::kInvalid;
  result.reason = (pointer.empty() ? "" : pointer + ": ") + message;
  return result;
}

}  // namespace

base::Expected<Result> Allocate(const Problem& problem, const Ladder* ladder, size_t candidate,
                                std::span<const Engine* const> engines,
                                const AllocateOptions& options) {
  try {
    if (const auto fault = problem::CheckWellFormed(problem))
      return Invalid(fault->pointer, fault->message);
    if (ladder != nullptr) {
      if (const auto fault = problem::CheckWellFormed(problem, *ladder))
        return Invalid(fault->pointer, fault->message);
      if (candidate >= ladder->candidates.size())
        return Invalid("", "there is no candidate " + std::to_string(candidate));
    }
    if (problem.memories.empty()) return Invalid("/memories", "the problem has no memory");
    int64_t units = options.budget.units;
    for (bool may_guess = true;; may_guess = false) {
      Portfolio portfolio(problem, ladder, candidate, engines, options, units, may_guess);
      base::Expected<Result> result = portfolio.Run();
      const bool is_refuted = result && result->status == Status::kInfeasible;
      if (!is_refuted || !portfolio.Guesses()) return result;
      units = portfolio.UnitsLeft();
    }
  } catch (const std::bad_alloc&) {
    if (options.stop != nullptr) options.stop->NoteFailedAllocation();
    Result result;
    result.reason = "memory is exhausted";
    return result;
  }
}

}  // namespace tessera::search::allocate
