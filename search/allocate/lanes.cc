// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/lanes.h"

#include <algorithm>
#include <new>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/search/allocate/engine_session.h"

namespace tessera::search::allocate {

using problem::Bytes;
using problem::Engine;
using problem::Result;
using problem::Status;

namespace {

constexpr size_t kLanes = 2;
constexpr size_t kQuick = 2;  // engines used in the opening

constexpr size_t kSmall = 48;  // buffers; up to here a reserve may be the best engine
// In nodes. Problems that are decided with less work need no reserve and no improver.
constexpr int64_t kReserveSlice = 50'000;
constexpr int64_t kLatePart = 4;  // of a slice: the share of an improver if nothing is found yet

// Quarters of a slice that improvers get on the way down: fewest after another engine succeeded,
// most after an improver succeeded. Each unsuccessful round moves the number towards the usual
// share. The other engines have a whole slice, or the rest of two slices if improvers have more.
constexpr int64_t kSmallShare = 1, kUsualShare = 2, kWholeShare = 4, kLargeShare = 7;

constexpr Bytes kLongStrides = 8;  // those longer than this part of the gap
constexpr Bytes kLongChase = 4,
                kShortChase = 8;  // parts of the gap: two lanes chase at different depths

// Returns the work in the units of the engine. An engine that counts conflicts may report nodes as
// well.
int64_t WorkOf(const problem::Statistics& statistics, int64_t cost_of_unit) {
  return cost_of_unit > 1 ? statistics.conflicts : std::max(statistics.nodes, statistics.conflicts);
}

}  // namespace

Lane::Lane(const LaneProblem& input, std::span<const EngineSlot> slots)
    : input_(input),
      slots_(slots.begin(), slots.end()),
      is_pinned_(
          std::any_of(input.sized.buffers.begin(), input.sized.buffers.end(),
                      [](const problem::Buffer& buffer) { return buffer.offset.has_value(); })) {
  Reopen();
}

void Lane::Reopen() {
  states_.clear();
  refusals_.clear();
  improver_share_ = kSmallShare;
  for (const EngineSlot& slot : slots_) {
    State state;
    state.cost_of_unit = slot.cost_of_unit;
    states_.push_back(std::move(state));
  }
}

bool Lane::Works() const {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].auxiliary && !slots_[i].improver && !states_[i].refused) return true;
  }
  return false;
}

LaneReport Lane::Decide(Bytes capacity, const Allowance& allowance, const base::Stop& stop) {
  Round round{allowance, stop, {}};
  Result result = Probe(capacity, allowance.slice, false, round);
  round.report.conclusive =
      result.status != Status::kUnknown && result.status != Status::kUnsupported;
  round.report.verdict = std::move(result);
  return std::move(round.report);
}

LaneReport Lane::Narrow(Gap gap, GapSide side, const Allowance& allowance, const base::Stop& stop) {
  Round round{allowance, stop, {}};
  round.report.bound = gap.bound;
  const Bytes width = gap.peak - gap.bound;
  const Bytes boundary = width / kLongStrides;
  if (side == GapSide::kShort) {
    // If only the bound is left below the peak, going up and going down are the same.
    RaiseBound(gap, width <= input_.granularity ? allowance.slice : allowance.slice / 2, round);
    Descend(gap, boundary, 0, kShortChase, round);
  } else {
    const bool leaps = std::exchange(leapt_to_, gap.bound) != gap.bound;
    Descend(gap, leaps ? width : width / 2, side == GapSide::kLong ? boundary + 1 : 0, kLongChase,
            round);
  }
  round.report.conclusive = gap.bound >= gap.peak;
  return std::move(round.report);
}

// Goes down from the peak with the rest of the slice, and with improvers for their additional
// share.
void Lane::Descend(Gap& gap, Bytes stride, Bytes least, Bytes parts, Round& round) {
  const Bytes peak = gap.peak;
  const int64_t left = std::max<int64_t>(round.left.slice, 0);
  const int64_t chase = HasImprover() ? left / kWholeShare * improver_share_ : 0;
  round.left.slice = std::min(left, 2 * left - chase);
  LowerPeak(gap, stride, least, round);
  round.left.slice = chase;
  Chase(gap, parts, round);
  if (gap.peak == peak && improver_share_ != kUsualShare)
    improver_share_ += improver_share_ < kUsualShare ? 1 : -1;
}

// Tries the bound, which is often the answer. While it is refuted, goes up in strides that double,
// because with holes between banks the answer may be far above. A peak on the way halves the
// strides.
void Lane::RaiseBound(Gap& gap, int64_t slice, Round& round) {
  const int64_t rest = round.left.slice - slice;
  Bytes stride = 0;
  while (gap.bound < gap.peak && !round.Over() && round.left.slice > rest) {
    const Bytes peak = gap.peak;
    const Bytes probe =
        std::min(gap.bound + stride, std::max(gap.bound, gap.peak - input_.granularity));
    if (!Absorb(Probe(probe, round.left.slice - rest, false, round), probe, gap, round)) break;
    stride = gap.peak < peak ? base::RoundDown(stride / 2, input_.granularity)
                             : std::max(2 * stride, input_.granularity);
  }
}

// Goes down from the peak, in strides that are halved if there is no quick answer, until they are
// below `least`. The difficulty of one capacity predicts little about the next, so the slice is
// divided evenly. A stride that succeeded is repeated; after a refutation, the next stride goes
// half the way to the refuted capacity.
void Lane::LowerPeak(Gap& gap, Bytes stride, Bytes least, Round& round) {
  int64_t probes = 1;
  for (Bytes shorter = stride / 2; shorter >= std::max(least, input_.granularity); shorter /= 2)
    ++probes;
  const int64_t slice = std::max<int64_t>(round.left.slice / probes, 1);
  while (gap.bound < gap.peak && !round.Over()) {
    const Bytes step = std::max(input_.granularity, base::RoundUp(stride, input_.granularity));
    const Bytes probe = std::max(gap.bound, gap.peak - step);
    const Bytes peak = gap.peak;
    const bool answered = Absorb(Probe(probe, slice, true, round), probe, gap, round);
    if (answered) improver_share_ = kSmallShare;
    const bool refuted = answered && gap.peak == peak;
    stride = refuted ? (gap.peak - gap.bound) / 2
                     : std::min(answered ? stride : stride / 2, gap.peak - gap.bound);
    if (!answered && (step <= input_.granularity || stride < least)) break;
  }
}

// Goes down with the improvers, by one of `parts` parts of the gap at a time. Such an engine
// continues its work at the next capacity, so it works on one capacity until it succeeds.
void Lane::Chase(Gap& gap, Bytes parts, Round& round) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].improver) continue;
    while (!states_[i].refused && gap.bound < gap.peak && !round.Over()) {
      const Bytes step = std::max(
          input_.granularity, base::RoundUp((gap.peak - gap.bound) / parts, input_.granularity));
      const Bytes probe = std::max(gap.bound, gap.peak - step);
      const int64_t units = std::min(round.left.slice, round.left.units);
      if (!Absorb(Ask(i, probe, units, round), probe, gap, round)) break;
      improver_share_ = kLargeShare;
    }
  }
}

// Narrows the gap by an answer. Returns false if the answer is inconclusive.
bool Lane::Absorb(Result result, Bytes capacity, Gap& gap, Round& round) const {
  LaneReport& report = round.report;
  if (result.allocation) {
    gap.peak = *result.peak;
    report.verdict = std::move(result);
    return true;
  }
  if (result.status != Status::kInfeasible) return false;
  gap.bound = base::RoundUp(std::max(capacity + 1, result.lower_bound), input_.granularity);
  report.bound = gap.bound;
  report.proof = result.engine;
  return true;
}

// Asks the engines in turn whether everything fits into `capacity`. Each may use its part of the
// slice.
Result Lane::Probe(Bytes capacity, int64_t slice, bool descending, Round& round) {
  Result answer;
  std::string unknown;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!IsAsked(i, slice, descending)) continue;
    const int64_t part = slots_[i].improver && !is_pinned_ ? slice / kLatePart : slice;
    const int64_t units =
        std::min(std::max<int64_t>(part / states_[i].cost_of_unit, 1), round.left.units);
    if (units <= 0 || round.stop.Requested()) {
      round.report.more_would_help = true;
      unknown = units <= 0 ? "the budget is spent" : "stopped";
      break;
    }
    Result result = Ask(i, capacity, units, round);
    if (round.report.fault) return answer;
    if (result.status == Status::kUnsupported) {
      AppendReason(refusals_, result.reason);
    } else if (result.status == Status::kUnknown) {
      AppendReason(unknown, result.reason);
    } else {
      return result;
    }
  }
  const bool none_supports = !Works();
  answer.status = none_supports ? Status::kUnsupported : Status::kUnknown;
  answer.reason = none_supports ? refusals_ : unknown;
  return answer;
}

// An engine that runs out of memory is not used again; others may need less.
Result Lane::Solve(size_t slot, Bytes capacity, int64_t units, const base::Stop& stop) {
  const problem::Engine& engine = *slots_[slot].engine;
  State& state = states_[slot];
  try {
    if (!state.session) state.session = engine.Open(input_.problem, input_.ladder);
    return state.session->Solve(input_.candidate, capacity, base::Budget{units}, stop);
  } catch (const std::bad_alloc&) {
    state.session.reset();
    state.lacks_memory = true;
    stop.NoteFailedAllocation();
  }
  Result result;
  result.reason = std::string(engine.Name()) + " found no memory";
  return result;
}

// Runs the turn of one engine: checks, reports and charges its answer.
Result Lane::Ask(size_t slot, Bytes capacity, int64_t units, Round& round) {
  const problem::Engine& engine = *slots_[slot].engine;
  State& state = states_[slot];
  Result result = Solve(slot, capacity, units, round.stop);
  state.refused = result.status == Status::kUnsupported || state.lacks_memory;
  const int64_t work = WorkOf(result.statistics, state.cost_of_unit);
  if (work >= units && result.status == Status::kUnknown) {
    round.report.more_would_help = true;
    state.cost_of_unit = result.statistics.conflicts >= units ? kNodesPerConflict : 1;
  }
  state.gave_up = result.status == Status::kUnknown && work < units;
  round.left.units -= work;
  round.left.slice -= work * state.cost_of_unit;
  round.report.units += work;
  if (result.status == Status::kOptimal || result.status == Status::kFeasible) {
    round.report.fault = CheckAnswer(engine.Name(), input_.sized, capacity, result);
    if (!round.report.fault) result.peak = PeakOf(input_.sized, *result.allocation);
  }
  result.engine = engine.Name();
  std::string description = state.session ? state.session->Describe() : "";
  if (description == state.description) description.clear();
  if (!description.empty()) state.description = description;
  round.report.runs.push_back({engine.Name(), capacity, result.status, result.peak,
                               result.statistics, std::move(description)});
  return result;
}

bool Lane::LacksMemory() const {
  return std::any_of(states_.begin(), states_.end(),
                     [](const State& state) { return state.lacks_memory; });
}

bool Lane::IsAsked(size_t slot, int64_t slice, bool descending) const {
  const EngineSlot& asked = slots_[slot];
  if (states_[slot].refused || (asked.reserve && !CallsReserve(slice))) return false;
  if (asked.improver && (descending || (slice < kReserveSlice && !is_pinned_))) return false;
  // Slots after an auxiliary engine that refuses replace it immediately.
  return asked.auxiliary == (descending && HasAuxiliary());
}

bool Lane::HasAuxiliary() const {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].auxiliary && !slots_[i].improver && !states_[i].refused) return true;
  }
  return false;
}

bool Lane::HasImprover() const {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].improver && !states_[i].refused) return true;
  }
  return false;
}

// A reserve is expensive to prepare. It is used when no other engine can continue, or when a small
// Problem turns out to be hard.
bool Lane::CallsReserve(int64_t slice) const {
  if (input_.problem.buffers.size() <= kSmall && slice >= kReserveSlice) return true;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const bool regular = !slots_[i].reserve && !slots_[i].auxiliary && !slots_[i].improver;
    if (regular && !states_[i].refused && !states_[i].gave_up) return false;
  }
  return true;
}

std::vector<std::vector<Lane::EngineSlot>> SlotEngines(std::span<const Engine* const> all) {
  std::vector<const Engine*> engines, improvers;
  for (const Engine* engine : all) {
    if (engine->Strands() == 0 || all.size() == 1)
      (engine->Refutes() ? engines : improvers).push_back(engine);
  }
  if (engines.empty()) engines.swap(improvers);
  std::vector<std::vector<Lane::EngineSlot>> lanes(engines.size() > kQuick ? kLanes : 1);
  if (lanes.size() == kLanes) lanes[1].push_back({engines[kQuick - 1], 1, false, true});
  for (size_t i = 0; i < engines.size(); ++i) {
    const size_t lane = i < kQuick ? 0 : (i - 1) % kLanes;
    lanes[lane].push_back({engines[i], i < kQuick ? 1 : Lane::kNodesPerConflict, i > kQuick});
  }
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    for (const Engine* improver : improvers)
      lanes[lane].push_back({improver, 1, false, /*auxiliary=*/lane > 0, /*improver=*/true});
  }
  return lanes;
}

}  // namespace tessera::search::allocate
