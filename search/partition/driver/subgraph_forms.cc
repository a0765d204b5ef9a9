// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/driver/subgraph_forms.h"

#include <algorithm>
#include <utility>

#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/graph/tiling/tiling.h"
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
// A schedule is refined by changing one subgraph after the other, as long as the score falls. Its
// constants take the other form. It is joined to the next one, which saves the latency of a
// transfer, or cut, which leaves more of the memory to others during one of the parts. More tiles
// of fewer rows leave more of the memory too, and let the operands of a tile arrive while the one
// before it is computed. Cost: a schedule for each round and each change; a limit on their
// operators ends the refinement.
namespace tessera::search::partition::driver {
namespace {

using hw_profiles::WeightPolicy;
using Slices = PrefetchSchedule::Slices;

constexpr int kMostTakenBack = 6;        // rounds in which one schedule returns to slices
constexpr int kMostSliced = 2;           // rounds in which constants come in slices instead
constexpr int kMostSlicedSingly = 15;    // of one subgraph in each
constexpr int64_t kLargeConstants = 32;  // constants of a subgraph, as a part of the memory
constexpr int64_t kLargeSubgraph = 4;    // its buffers, as a part of the memory
constexpr int64_t kLongWait = 256;       // of engines, as a part of all time

bool HasSlices(const plan::Subgraph& subgraph) {
  return subgraph.weights == WeightPolicy::kStreamed || subgraph.weights == WeightPolicy::kSplitK;
}

}  // namespace

// Whether the subgraph may hold its constants: not if a constraint requires a policy or
// addresses, which may be those of slices.
bool SubgraphForms::MayReside(const plan::Subgraph& subgraph) const {
  const std::vector<WeightPolicy>& policies = context_.profile.tiling.weights;
  const plan::TileConfigConstraint* config = constraints_.ConfigOf(subgraph.interval);
  return std::find(policies.begin(), policies.end(), WeightPolicy::kResident) != policies.end() &&
         (config == nullptr || (!config->weights && config->addresses.empty()));
}

bool SubgraphForms::Fits(const plan::Subgraph& subgraph, const std::vector<int>& kept,
                         problem::Bytes room) const {
  const std::optional<Load>& load = table_.Of(subgraph, kept).FindLoad();
  return load && load->peak <= room;
}

// Whether the subgraph can hold its constants instead of slices.
bool SubgraphForms::FitsResident(const plan::Subgraph& subgraph, const std::vector<int>& kept,
                                 problem::Bytes room) const {
  plan::Subgraph held = subgraph;
  PrefetchSchedule::SetWeights(held, WeightPolicy::kResident);
  return Fits(held, kept, room);
}

// Returns for each subgraph the bytes of `room` that it leaves free, which may be negative; nullopt
// if the memory cannot hold everything except constants that arrive ahead.
std::optional<std::vector<FreeBytes>> SubgraphForms::FreeIn(
    const std::vector<plan::Subgraph>& subgraphs, const std::vector<int>& kept,
    problem::Bytes room) const {
  std::vector<FreeBytes> free;
  free.reserve(subgraphs.size());
  for (const plan::Subgraph& subgraph : subgraphs) {
    const std::optional<Load>& load = table_.Of(subgraph, kept).FindLoad();
    if (!load || load->peak > context_.Room()) return std::nullopt;
    free.push_back({room - load->peak, room - load->after_prologue});
  }
  return free;
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
  plan::Subgraph sliced = subgraph;
  PrefetchSchedule::SetWeights(sliced, WeightPolicy::kStreamed);
  sliced.tile = encoder::program::OutputShape(context_.graph, subgraph.interval);
  sliced.tiles = 1;
  sliced.largest_proven = true;
  sliced.halo = hw_profiles::HaloStorage::kRecompute;
  sliced.serialized = false;
  const std::vector<cost::Stream>& streams = table_.Of(sliced, kept).FindConstants().slices;
  const bool has_several = std::any_of(
      streams.begin(), streams.end(), [](const cost::Stream& stream) { return stream.slices > 1; });
  return has_several && Fits(sliced, kept, room) ? std::optional(sliced) : std::nullopt;
}

// Lets the constants of the first `most` of these subgraphs that can come in slices do so, except
// of those for which that was tried. Returns whether there are any.
bool SubgraphForms::Slice(const std::vector<size_t>& numbers, size_t most, const Regrouped& groups,
                          problem::Bytes room, Attempt& attempt) const {
  size_t changed = 0;
  for (const size_t i : numbers) {
    if (changed == most) break;
    if (!attempt.sliced.insert(i).second) continue;
    if (std::optional<plan::Subgraph> other = InSlices(attempt.with[i], groups.kept, room)) {
      attempt.with[i] = *std::move(other);
      ++changed;
    }
  }
  return changed > 0;
}

// Schedules the constants, and lets subgraphs return to their slices in `groups` if these delay
// them less, until nothing changes. Replaces `best` if a schedule is better.
void SubgraphForms::Improve(const Regrouped& groups, problem::Bytes room,
                            PrefetchSchedule& schedule, Attempt& attempt,
                            std::optional<Scheduled>& best) {
  attempt.late.clear();
  bool changed = true;
  for (int i = 0; i < kMostTakenBack && changed && !context_.stop.Requested(); ++i) {
    std::optional<std::vector<FreeBytes>> free = FreeIn(attempt.with, groups.kept, room);
    if (!free) return;
    PrefetchSchedule::Proposal found =
        schedule.Propose(attempt.with, *std::move(free), attempt.slices);
    changed = schedule.TakeBack(groups.subgraphs, found.subgraphs, attempt.with);
    attempt.late = std::move(found.late);
    if (!first_without_room_) first_without_room_ = found.without_room;
    const double score = ScoreWithoutPeaks(context_, found.totals);
    if (!best || score < best->score)
      best = Scheduled{std::move(found.subgraphs), groups.kept, score,
                       found.without_room,         room,        attempt.slices};
  }
}

// Returns the subgraphs with all constants as a whole that fit, and the numbers of the others.
std::vector<plan::Subgraph> SubgraphForms::WithWhole(const Regrouped& groups, problem::Bytes room,
                                                     std::vector<size_t>& too_large) const {
  std::vector<plan::Subgraph> with = groups.subgraphs;
  for (size_t number = 1; number < with.size(); ++number) {
    if (!HasSlices(with[number]) || !MayReside(with[number])) continue;
    if (FitsResident(with[number], groups.kept, room)) {
      PrefetchSchedule::SetWeights(with[number], WeightPolicy::kResident);
    } else {
      too_large.push_back(number);
    }
  }
  return with;
}

std::optional<Scheduled> SubgraphForms::FindWhole(const Regrouped& groups, problem::Bytes room) {
  PrefetchSchedule schedule(table_, groups.kept);
  std::vector<size_t> too_large;
  Attempt whole{.with = WithWhole(groups, room, too_large), .sliced = {}, .late = {}};
  std::optional<Scheduled> best;
  Improve(groups, room, schedule, whole, best);
  return best;
}

std::optional<Scheduled> SubgraphForms::FindInSlices(const Regrouped& groups, problem::Bytes room) {
  PrefetchSchedule schedule(table_, groups.kept);
  std::vector<size_t> too_large;
  const std::vector<plan::Subgraph> with = WithWhole(groups, room, too_large);
  std::optional<Scheduled> best;
  Attempt first{.with = with, .sliced = {}, .late = {}};
  Slice(too_large, with.size(), groups, room, first);
  Improve(groups, room, schedule, first, best);
  const auto slice_late = [&](Attempt attempt, int rounds, size_t more) {
    for (int i = 0; i < rounds && Slice(attempt.late, more, groups, room, attempt); ++i)
      Improve(groups, room, schedule, attempt, best);
  };
  slice_late(first, kMostSliced, with.size());
  slice_late(std::move(first), kMostSlicedSingly, 1);

  std::vector<size_t> large = too_large;
  for (size_t number = 1; number < with.size(); ++number) {
    SubgraphTable::Entry& entry = table_.Of(with[number], groups.kept);
    if (PrefetchSchedule::BytesOf(entry) > context_.Room() / kLargeConstants)
      large.push_back(number);
  }
  Attempt needed{.with = with, .sliced = {}, .late = {}, .slices = Slices::kNeeded};
  Slice(large, with.size(), groups, room, needed);
  Improve(groups, room, schedule, needed, best);
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
  if (!table_.Of(cut, kept).FindLoad()) return std::nullopt;
  cut.tiles = encoder::program::CutTiles(context_.graph, cut.interval, cut.tile, cut.halo).tiles;
  return cut;
}

// Returns other forms of a subgraph. It is cut into more tiles only if its engines wait long or it
// leaves little of the memory.
std::vector<plan::Subgraph> SubgraphForms::OtherForms(const Scheduled& scheduled,
                                                      size_t number) const {
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
  const bool is_large = !Fits(subgraph, scheduled.kept, scheduled.room / kLargeSubgraph);
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

// Returns the partition with a subgraph joined to the next one, and cut behind its operators.
std::vector<Regrouped> SubgraphForms::OtherPartitions(const Scheduled& scheduled,
                                                      size_t number) const {
  std::vector<Regrouped> partitions;
  if (!constraints_.IsEmpty()) return partitions;
  const plan::Subgraph& subgraph = scheduled.subgraphs[number];
  const auto at = static_cast<std::ptrdiff_t>(number);
  if (number + 1 < scheduled.subgraphs.size()) {
    if (auto joined = sequences_.Join(subgraph, scheduled.subgraphs[number + 1], scheduled.kept)) {
      Regrouped& other =
          partitions.emplace_back(Regrouped{scheduled.subgraphs, std::move(joined->kept)});
      other.subgraphs[number] = std::move(joined->subgraph);
      other.subgraphs.erase(other.subgraphs.begin() + at + 1);
    }
  }
  for (int last = subgraph.interval.first; last < subgraph.interval.last; ++last) {
    if (auto parts = sequences_.Cut(subgraph, last, scheduled.kept)) {
      Regrouped& other =
          partitions.emplace_back(Regrouped{scheduled.subgraphs, std::move(parts->kept)});
      other.subgraphs[number] = std::move(parts->before);
      other.subgraphs.insert(other.subgraphs.begin() + at + 1, std::move(parts->after));
    }
  }
  return partitions;
}

std::optional<Scheduled> SubgraphForms::Schedule(Regrouped groups, problem::Bytes room,
                                                 Slices slices, bool improve) const {
  std::optional<std::vector<FreeBytes>> free = FreeIn(groups.subgraphs, groups.kept, room);
  if (!free) return std::nullopt;
  PrefetchSchedule::Proposal found =
      PrefetchSchedule(table_, groups.kept)
          .Propose(std::move(groups.subgraphs), *std::move(free), slices, improve);
  const double score = ScoreWithoutPeaks(context_, found.totals);
  return Scheduled{
      std::move(found.subgraphs), std::move(groups.kept), score, found.without_room, room, slices};
}

std::optional<Scheduled> SubgraphForms::InRoom(const Scheduled& scheduled,
                                               problem::Bytes room) const {
  return Schedule({scheduled.subgraphs, scheduled.kept}, room, scheduled.slices, /*improve=*/true);
}

// Schedules the partition, and replaces `best` if that is better. Returns false once the work ends.
bool SubgraphForms::Try(Regrouped other, Scheduled& best, size_t& work) const {
  const size_t operators = context_.graph.operators.size();
  if (context_.stop.Requested() || operators > work) return false;
  work -= operators;
  std::optional<Scheduled> found =
      Schedule(std::move(other), best.room, best.slices, /*improve=*/false);
  if (found && found->score < best.score) best = *std::move(found);
  return true;
}

void SubgraphForms::ChangeSubgraphs(Scheduled& best, size_t& work) {
  for (size_t number = 0; number < best.subgraphs.size(); ++number) {
    if (context_.stop.Requested()) return;
    for (Regrouped& other : OtherPartitions(best, number)) {
      if (!Try(std::move(other), best, work)) return;
    }
    for (plan::Subgraph& form : OtherForms(best, number)) {
      Regrouped other{best.subgraphs, best.kept};
      other.subgraphs[number] = std::move(form);
      if (!Try(std::move(other), best, work)) return;
    }
  }
}

void SubgraphForms::Refine(Scheduled& best, size_t& work) {
  ChangeSubgraphs(best, work);
  if (context_.stop.Requested()) return;
  std::optional<Scheduled> improved = InRoom(best, best.room);
  if (improved && improved->score < best.score) best = *std::move(improved);
}

}  // namespace tessera::search::partition::driver
