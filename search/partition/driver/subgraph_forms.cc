// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/driver/subgraph_forms.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/driver/plan_change.h"

// A constant that is held as a whole needs its bytes from its first part on until its operator has
// run. In slices, it needs only those of the slots, but each slice is a transfer of its own, and
// slices that do not arrive ahead take the time of the link while the operator works:
//
//     whole       |############  op |        in slices   | ####  op: 4 5 6 7 |
//                 room: 8 slices                           room: 5 slots
//
// Which form is better depends on the room and on the time of the link around the subgraph, so
// several combinations are scheduled (prefetch_schedule.cc), and the best one counts:
//
// 1. All constants that fit come as a whole. A subgraph whose constants do not arrive in time
//    returns to the slices that it had before if these delay it less.
// 2. Those that do not fit come in slices, and so do, in some rounds, all that are late or lacked
//    room; then in more rounds one subgraph in each.
// 3. All large constants come in slices, and no more of them arrive ahead than their operator would
//    wait for. That leaves room to later ones, for which the link has less time.
//
// The best schedule is then refined: the form of one subgraph after the other is changed. More
// tiles of fewer rows leave more of the memory to constants, and let the operands of a tile arrive
// while the one before it is computed. Cost: a program
// and a schedule for each round and each form; a limit on their operators ends the refinement.
namespace tessera::search::partition::driver {
namespace {

using hw_profiles::WeightPolicy;

constexpr int kMostTakenBack = 6;         // rounds in which one schedule returns to slices
constexpr int kMostSliced = 3;            // rounds in which constants come in slices instead
constexpr int kMostSlicedSingly = 16;     // of one subgraph in each
constexpr int64_t kLargeConstants = 32;   // constants of a subgraph, as a part of the memory
constexpr int64_t kLargeSubgraph = 4;     // its buffers, as a part of the memory
constexpr int64_t kLongWait = 256;        // of engines, as a part of all time
constexpr size_t kMostRefined = 1 << 17;  // operators, of all programs of refined schedules

bool HasSlices(const plan::Subgraph& subgraph) {
  return subgraph.weights == WeightPolicy::kStreamed || subgraph.weights == WeightPolicy::kSplitK;
}

}  // namespace

// Whether the memory holds everything except constants that arrive ahead.
bool SubgraphForms::Fits(const std::vector<FreeBytes>& free, problem::Bytes room) const {
  return std::all_of(free.begin(), free.end(), [&](const FreeBytes& each) {
    return each.throughout + context_.Room() >= room;
  });
}

// Whether the subgraph may hold its constants: not if a constraint requires a policy or
// addresses, which may be those of slices.
bool SubgraphForms::MayReside(const plan::Subgraph& subgraph) const {
  const std::vector<WeightPolicy>& policies = context_.profile.tiling.weights;
  const plan::TileConfigConstraint* config = constraints_.ConfigOf(subgraph.interval);
  return std::find(policies.begin(), policies.end(), WeightPolicy::kResident) != policies.end() &&
         (config == nullptr || (!config->weights && config->addresses.empty()));
}

// Whether the subgraph alone can hold its constants instead of slices.
bool SubgraphForms::FitsResident(const plan::Subgraph& subgraph, const std::vector<int>& kept,
                                 problem::Bytes room) const {
  plan::Subgraph held = subgraph;
  PrefetchSchedule::SetWeights(held, WeightPolicy::kResident);
  const std::optional<problem::Bytes> load = LoadOf(context_, held, kept);
  return load && *load <= room;
}

base::Expected<std::vector<FreeBytes>> SubgraphForms::FreeIn(
    const std::vector<plan::Subgraph>& subgraphs, const std::vector<int>& kept,
    problem::Bytes room) const {
  const base::Expected<encoder::program::Program> program = encoder::program::BuildProgram(
      context_.graph, context_.profile, cost::ChoicesOf(subgraphs, kept));
  if (!program) return base::Unexpected(program.error());
  return FindFree(*program, subgraphs.size(), room);
}

// Returns the subgraph in one tile with constants in slices, of which some may arrive ahead;
// nullopt if that is not possible in `room` bytes, or if no constant has several slices.
std::optional<plan::Subgraph> SubgraphForms::InSlices(const plan::Subgraph& subgraph,
                                                      const std::vector<int>& kept,
                                                      problem::Bytes room) const {
  const std::vector<WeightPolicy>& policies = context_.profile.tiling.weights;
  if (std::find(policies.begin(), policies.end(), WeightPolicy::kStreamed) == policies.end() ||
      subgraph.weights == WeightPolicy::kDirect || constraints_.ConfigOf(subgraph.interval))
    return std::nullopt;
  const std::vector<cost::Stream> streams =
      cost::StreamsOf(context_.graph, context_.profile, subgraph.interval);
  if (std::none_of(streams.begin(), streams.end(),
                   [](const cost::Stream& stream) { return stream.slices > 1; }))
    return std::nullopt;
  plan::Subgraph sliced = subgraph;
  PrefetchSchedule::SetWeights(sliced, WeightPolicy::kStreamed);
  sliced.tile = encoder::program::OutputShape(context_.graph, subgraph.interval);
  sliced.tiles = 1;
  sliced.largest_proven = true;
  sliced.halo = hw_profiles::HaloStorage::kRecompute;
  sliced.serialized = false;
  const std::optional<problem::Bytes> load = LoadOf(context_, sliced, kept);
  return load && *load <= room ? std::optional(sliced) : std::nullopt;
}

// Lets the constants of the first `most` of these subgraphs that can come in slices do so, except
// of those that `sliced` lists, and adds them to it. Returns whether there are any.
bool SubgraphForms::Slice(const std::vector<size_t>& late, size_t most, const Regrouped& groups,
                          problem::Bytes room, std::set<size_t>& sliced,
                          std::vector<plan::Subgraph>& with) const {
  size_t changed = 0;
  for (const size_t i : late) {
    if (changed == most) break;
    if (!sliced.insert(i).second) continue;
    if (std::optional<plan::Subgraph> other = InSlices(with[i], groups.kept, room)) {
      with[i] = *std::move(other);
      ++changed;
    }
  }
  return changed > 0;
}

// Schedules the constants of `with`, and lets subgraphs return to their slices in `groups` if these
// delay them less, until nothing changes. Sets `late` to the subgraphs whose constants are late in
// the last schedule, or lacked room at some time. Replaces `best` if a schedule is better.
std::optional<base::Diagnostic> SubgraphForms::Improve(const Regrouped& groups, problem::Bytes room,
                                                       PrefetchSchedule::Slices slices,
                                                       PrefetchSchedule& schedule,
                                                       std::vector<plan::Subgraph>& with,
                                                       std::vector<size_t>& late,
                                                       std::optional<Scheduled>& best) {
  bool changed = true;
  for (int i = 0; i < kMostTakenBack && changed && !context_.stop.Requested(); ++i) {
    const base::Expected<std::vector<FreeBytes>> free = FreeIn(with, groups.kept, room);
    if (!free) return free.error();
    PrefetchSchedule::Proposal found = schedule.Propose(with, *free, slices);
    changed = schedule.TakeBack(groups.subgraphs, found.subgraphs, with);
    late = std::move(found.late);
    if (!first_without_room_) first_without_room_ = found.without_room;
    const double score = ScoreWithoutPeaks(context_, found.totals);
    if (Fits(*free, room) && score < (best ? best->score : score_))
      best = Scheduled{std::move(found.subgraphs), groups.kept, score,
                       found.without_room,         room,        slices};
  }
  return std::nullopt;
}

std::optional<base::Diagnostic> SubgraphForms::TryInSlices(
    const Regrouped& groups, problem::Bytes room, const Attempt& attempt,
    PrefetchSchedule& schedule, std::vector<plan::Subgraph> with, std::optional<Scheduled>& best) {
  std::set<size_t> sliced;
  bool changed = Slice(attempt.sliced, with.size(), groups, room, sliced, with);
  for (int i = 0; i < attempt.rounds && (changed || i == 0); ++i) {
    std::vector<size_t> late;
    if (auto fault = Improve(groups, room, attempt.slices, schedule, with, late, best))
      return fault;
    changed = Slice(late, attempt.more, groups, room, sliced, with);
  }
  return std::nullopt;
}

base::Expected<std::optional<Scheduled>> SubgraphForms::Find(const Regrouped& groups,
                                                             problem::Bytes room, bool may_slice) {
  std::vector<plan::Subgraph> with = groups.subgraphs;
  std::vector<size_t> too_large;
  for (size_t number = 1; number < with.size(); ++number) {
    if (!HasSlices(with[number]) || !MayReside(with[number])) continue;
    if (FitsResident(with[number], groups.kept, room)) {
      PrefetchSchedule::SetWeights(with[number], WeightPolicy::kResident);
    } else {
      too_large.push_back(number);
    }
  }
  std::optional<Scheduled> best;
  PrefetchSchedule schedule(context_, groups.kept);
  using Slices = PrefetchSchedule::Slices;
  std::vector<plan::Subgraph> whole = with;
  std::vector<size_t> late;
  if (auto fault = Improve(groups, room, Slices::kAll, schedule, whole, late, best))
    return base::Unexpected(*std::move(fault));
  if (!may_slice) return best;
  std::vector<size_t> large = too_large;
  for (size_t number = 1; number < with.size(); ++number) {
    if (schedule.BytesOf(with[number]) > context_.Room() / kLargeConstants) large.push_back(number);
  }
  const std::array<Attempt, 3> attempts = {{{too_large, kMostSliced, with.size(), Slices::kAll},
                                            {too_large, kMostSlicedSingly, 1, Slices::kAll},
                                            {large, 1, 1, Slices::kNeeded}}};
  for (const Attempt& attempt : attempts) {
    if (auto fault = TryInSlices(groups, room, attempt, schedule, with, best))
      return base::Unexpected(*std::move(fault));
  }
  return best;
}

// Returns the subgraph with whole constants instead of slices, or slices instead of whole
// constants; nullopt if that is not possible in `room` bytes.
std::optional<plan::Subgraph> SubgraphForms::WithOtherConstants(const plan::Subgraph& subgraph,
                                                                const std::vector<int>& kept,
                                                                problem::Bytes room) const {
  if (!HasSlices(subgraph)) return InSlices(subgraph, kept, room);
  if (!MayReside(subgraph) || !FitsResident(subgraph, kept, room)) return std::nullopt;
  plan::Subgraph whole = subgraph;
  PrefetchSchedule::SetWeights(whole, WeightPolicy::kResident);
  return whole;
}

// Returns the subgraph with each tile cut into about so many along the rows; nullopt if that is not
// possible.
std::optional<plan::Subgraph> SubgraphForms::InMoreTiles(const plan::Subgraph& subgraph,
                                                         const std::vector<int>& kept,
                                                         int64_t parts,
                                                         hw_profiles::HaloStorage halo) const {
  const std::optional<size_t> rows = graph::tiling::AxisOf(
      encoder::program::OutputShape(context_.graph, subgraph.interval), base::Axis::kRows);
  const std::vector<hw_profiles::AxisGranularity>& axes = context_.profile.tiling.axes;
  const auto axis = std::find_if(axes.begin(), axes.end(),
                                 [](const auto& each) { return each.axis == base::Axis::kRows; });
  if (!rows || axis == axes.end() ||
      encoder::program::RunsOnHost(context_.graph, context_.profile, subgraph.interval))
    return std::nullopt;
  plan::Subgraph cut = subgraph;
  cut.tile[*rows] = base::RoundUp(base::CeilDiv(cut.tile[*rows], parts), axis->granularity);
  if (cut.tile[*rows] >= subgraph.tile[*rows]) return std::nullopt;
  cut.halo = halo;
  cut.largest_proven = false;
  if (!LoadOf(context_, cut, kept)) return std::nullopt;
  cut.tiles = encoder::program::CutTiles(context_.graph, cut.interval, cut.tile, cut.halo).tiles;
  return cut;
}

// Returns other forms of a subgraph. It is cut into more tiles only if its engines wait long or it
// leaves little of the memory. `free`: the bytes that it leaves to constants of others.
std::vector<plan::Subgraph> SubgraphForms::OtherForms(const Scheduled& scheduled, size_t number,
                                                      problem::Bytes free) const {
  const plan::Subgraph& subgraph = scheduled.subgraphs[number];
  std::vector<plan::Subgraph> forms;
  if (number > 0) {
    if (auto other = WithOtherConstants(subgraph, scheduled.kept, scheduled.room))
      forms.push_back(*std::move(other));
  }
  int64_t cycles = 0;
  for (const plan::Subgraph& each : scheduled.subgraphs)
    base::Accumulate(cycles, each.metrics.latency_cycles);
  const bool waits = subgraph.metrics.exposed_cycles > cycles / kLongWait;
  const bool is_large = scheduled.room - free > scheduled.room / kLargeSubgraph;
  if (!constraints_.IsEmpty() || subgraph.second_stage > 0 || HasSlices(subgraph) ||
      (!waits && !is_large))
    return forms;
  std::vector<hw_profiles::HaloStorage> halos = {subgraph.halo};
  if (subgraph.tiles == 1 && subgraph.interval.first < subgraph.interval.last)
    halos = context_.profile.tiling.halo;
  for (const hw_profiles::HaloStorage halo : halos) {
    for (const int64_t parts : {2, 4, 8}) {
      if (auto cut = InMoreTiles(subgraph, scheduled.kept, parts, halo))
        forms.push_back(*std::move(cut));
    }
  }
  return forms;
}

std::optional<base::Diagnostic> SubgraphForms::Refine(Scheduled& best) {
  if (context_.stop.Requested()) return std::nullopt;
  PrefetchSchedule schedule(context_, best.kept);
  const auto without_prefetches = [&best] {
    std::vector<plan::Subgraph> subgraphs = best.subgraphs;
    for (plan::Subgraph& subgraph : subgraphs) subgraph.prefetch.clear();
    return subgraphs;
  };
  const base::Expected<std::vector<FreeBytes>> before =
      FreeIn(without_prefetches(), best.kept, best.room);
  if (!before) return before.error();
  for (size_t number = 0; number < best.subgraphs.size(); ++number) {
    if (context_.stop.Requested()) return std::nullopt;
    for (plan::Subgraph& other : OtherForms(best, number, (*before)[number].throughout)) {
      refined_ += context_.graph.operators.size();
      if (context_.stop.Requested() || refined_ > kMostRefined) return std::nullopt;
      std::vector<plan::Subgraph> with = without_prefetches();
      with[number] = std::move(other);
      with[number].prefetch.clear();
      const base::Expected<std::vector<FreeBytes>> free = FreeIn(with, best.kept, best.room);
      if (!free) continue;  // a form that is possible alone, but not here
      PrefetchSchedule::Proposal found = schedule.Propose(std::move(with), *free, best.slices);
      const double score = ScoreWithoutPeaks(context_, found.totals);
      if (!Fits(*free, best.room) || score >= best.score) continue;
      best.subgraphs = std::move(found.subgraphs);
      best.score = score;
      best.without_room = found.without_room;
    }
  }
  return std::nullopt;
}

}  // namespace tessera::search::partition::driver
