// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/driver/prefetch_schedule.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tessera/encoder/program/choices.h"
#include "tessera/search/cost/plan_cost.h"

// A link is idle while engines compute, and engines wait while constants arrive. The schedule moves
// constants into the idle time of earlier subgraphs:
//
//     subgraph   |  3  |  4  |  5  |  6  |  7            constants of 7: eight parts
//     engine     |=====|=====|===  |=====|  ========
//     link       |==   |=====|==   |== 77|77             one part in 5, five in 6, two in 7
//     7 arrives           -     1     5   2              itself, none in 4, whose link is busy
//
// Constants arrive in the order in which they are needed, each as early as the link has idle time
// and the tile memory has room until it is used. This is list scheduling, earliest deadline first:
// the constant that is needed first occupies the memory for the shortest time. A constant that has
// no room yet holds up all later ones, which would occupy its memory. The parts that have not
// arrived when their subgraph begins arrive in its prologue.
//
// Constants that do not fit as a whole come in slices, each of which needs room from its arrival
// on. As many slices arrive ahead as find room; the rest arrives while the operator works. If the
// link has more time than the operator needs, a few slices ahead are enough, and leave the room to
// later constants, for which the link has less time.
//
// Cost: for each subgraph and constant that it carries, log(parts) sums over its transfers.
namespace tessera::search::partition::driver {
namespace {

using cost::Detail;

constexpr size_t kMostParts = 128;
constexpr int64_t kCyclesOfPart = 250;  // at least, without the latency of the transfer

// The number of slices of which some of these parts are.
int64_t SlicesBegun(size_t parts) {
  return base::CeilDiv(static_cast<int64_t>(parts), encoder::program::kPartsOfSlice);
}

}  // namespace

bool PrefetchSchedule::Overlaps(const plan::Subgraph& subgraph) const {
  return encoder::program::DmaOf(context_.profile, cost::PolicyOf(subgraph, kept_)) ==
         hw_profiles::DmaSteps::kDoubleBuffered;
}

void PrefetchSchedule::AddTo(cost::Prefetches& prefetches, const Queued& user,
                             std::span<const int> prefetch, int ahead) const {
  prefetches.Carry(context_.graph, context_.profile, user.entry->FindConstants(), user.tiles,
                   prefetch, ahead);
}

// Returns what the carrier has with constants of one more subgraph.
cost::Prefetches PrefetchSchedule::With(const Carrier& carrier, const Queued& user,
                                        std::span<const int> prefetch, int ahead) const {
  cost::Prefetches with = carrier.prefetches;
  AddTo(with, user, prefetch, ahead);
  with.Continue(context_.profile, *carrier.before);
  return with;
}

// Returns the number of parts of the subgraph's constants; 0 if none is loaded once.
size_t PrefetchSchedule::PartsOf(const Queued& user) const {
  cost::Prefetches all;
  AddTo(all, user, std::array{1}, 1);
  int64_t cycles = 0;
  for (const cost::Prefetches::Part& part : all.carried)
    cycles = std::max(cycles, cost::CarriedCycles(context_.profile, part));
  if (cycles == 0) return 0;
  return std::clamp<size_t>(static_cast<size_t>(cycles / kCyclesOfPart), 1, kMostParts);
}

// Assigns to the carrier as many further parts of a subgraph, but at most `most`, as arrive while
// the carrier runs without prolonging it. Returns the number of parts assigned.
size_t PrefetchSchedule::Assign(const Carrier& carrier, Queued& next, int ahead,
                                size_t most) const {
  const auto latency = [&](const cost::Prefetches& prefetches) {
    return cost::LatencyWith(context_.profile, carrier.times, prefetches.carried);
  };
  const int64_t before = latency(carrier.prefetches);
  std::vector<int>& prefetch = next.prefetch;
  const auto assign = [&](size_t count) {
    for (size_t i = next.done; i < prefetch.size(); ++i)
      prefetch[i] = i < next.done + count ? ahead : 0;
  };
  size_t fits = 0;
  size_t too_many = most + 1;
  for (size_t count = most; fits + 1 < too_many; count = std::midpoint(fits, too_many)) {
    assign(count);
    (latency(With(carrier, next, prefetch, ahead)) <= before ? fits : too_many) = count;
  }
  assign(fits);
  return fits;
}

// Lets the last carrier wait for all remaining parts if they would delay the next subgraph more.
// Returns whether it does.
bool PrefetchSchedule::PaysToWait(const Carrier& carrier, Queued& next) const {
  const auto latency = [&](const std::vector<int>& prefetch) {
    const bool arrives = std::find(prefetch.begin(), prefetch.end(), 1) != prefetch.end();
    const cost::Prefetches with = arrives ? With(carrier, next, prefetch, 1) : carrier.prefetches;
    return carrier.entry->PriceOf(with, Detail::kTotals).latency_cycles +
           next.entry->PriceOf({.own = prefetch, .carried = {}}, Detail::kTotals).latency_cycles;
  };
  if (next.prefetch.back() == 1) return false;
  std::vector<int> all = next.prefetch;
  std::replace(all.begin(), all.end(), 0, 1);
  if (latency(all) >= latency(next.prefetch)) return false;
  next.prefetch = std::move(all);
  return true;
}

problem::Bytes PrefetchSchedule::BytesOf(Entry& entry) {
  problem::Bytes bytes = 0;
  for (const cost::LoadedOnce& constant : entry.FindConstants().once)
    base::Accumulate(bytes, constant.bytes);
  return bytes;
}

// Returns the least number of slices, at most `most`, with which the subgraph takes no longer than
// with `most` slices ahead.
size_t PrefetchSchedule::SlicesNeeded(Entry& entry, size_t most) const {
  const auto latency = [&](size_t slices) {
    const cost::Prefetches ahead{.own =
                                     std::vector<int>(slices * encoder::program::kPartsOfSlice, 1)};
    return entry.PriceOf(ahead, Detail::kTotals).latency_cycles;
  };
  const int64_t least = latency(most);
  size_t too_few = 0;
  size_t enough = most;
  while (too_few + 1 < enough) {
    const size_t slices = std::midpoint(too_few, enough);
    (latency(slices) <= least ? enough : too_few) = slices;
  }
  return enough;
}

// Returns the subgraph with its parts. Slices need room for slots of their own in the subgraph
// itself, beyond the two that it has without prefetching.
PrefetchSchedule::Queued PrefetchSchedule::Enqueue(const plan::Subgraph& subgraph, FreeBytes own,
                                                   Slices slices) {
  Entry& entry = table_.Of(subgraph, kept_);
  Queued queued{.entry = &entry, .tiles = subgraph.tiles, .bytes = BytesOf(entry)};
  size_t parts = 0;
  if (!Overlaps(subgraph)) return queued;
  if (encoder::program::PrefetchesSlices(subgraph.weights, subgraph.tiles, std::array{1})) {
    for (const cost::Stream& stream : entry.FindConstants().slices) {
      base::Accumulate(queued.slice_bytes, stream.full_bytes);
      queued.slices = std::max(queued.slices, stream.slices);
    }
    if (queued.slice_bytes > 0) {
      const int64_t slots = 2 + std::max<int64_t>(0, own.throughout) / queued.slice_bytes;
      auto most = static_cast<size_t>(queued.slices <= slots ? queued.slices : slots - 1);
      if (slices == Slices::kNeeded) most = SlicesNeeded(entry, most);
      parts = most * encoder::program::kPartsOfSlice;
    }
  }
  if (parts == 0) {
    queued.slice_bytes = 0;
    parts = PartsOf(queued);
  }
  queued.prefetch.assign(parts, 0);
  return queued;
}

// Returns the bytes of the slots beyond two.
problem::Bytes PrefetchSchedule::BytesOfSlots(const Queued& next) {
  const int64_t slots = std::min(next.slices, SlicesBegun(next.done) + 1);
  return std::max<int64_t>(0, slots - 2) * next.slice_bytes;
}

// Returns the number of further parts for which the subgraphs from the carrier up to the user have
// room.
size_t PrefetchSchedule::PartsWithRoom(const Queued& next,
                                       std::span<const FreeBytes> from_carrier) {
  problem::Bytes free = from_carrier.front().after_prologue;
  for (const FreeBytes& each : from_carrier.subspan(1)) free = std::min(free, each.throughout);
  if (next.done == 0) free -= next.bytes;
  const size_t left = next.prefetch.size() - next.done;
  if (next.slice_bytes == 0) return next.done > 0 || free >= 0 ? left : 0;
  if (free < 0) return 0;
  const int64_t slices = SlicesBegun(next.done) + free / next.slice_bytes;
  return std::min(left, static_cast<size_t>(slices * encoder::program::kPartsOfSlice) - next.done);
}

// Assigns constants of later subgraphs to the carrier, which is subgraph `number`.
void PrefetchSchedule::Fill(std::vector<plan::Subgraph>& subgraphs, Carrier& carrier, size_t number,
                            std::span<Queued> queue, std::span<FreeBytes> free) const {
  for (size_t user = number + 1; user < queue.size(); ++user) {
    Queued& next = queue[user];
    const auto ahead = static_cast<int>(user - number);
    const size_t left = next.prefetch.size() - next.done;
    if (left == 0) continue;
    const std::span<FreeBytes> from_carrier = free.subspan(number, user - number);
    const size_t most = PartsWithRoom(next, from_carrier);
    if (most == 0) {
      next.lacked_room = next.lacked_room || next.done == 0;
      return;
    }
    size_t taken = Assign(carrier, next, ahead, most);
    if (ahead == 1 && next.slice_bytes == 0 && PaysToWait(carrier, next)) {
      next.delays = true;
      taken = left;
    }
    if (taken == 0) return;
    const problem::Bytes bytes =
        (next.done == 0 ? next.bytes : 0) +
        (SlicesBegun(next.done + taken) - SlicesBegun(next.done)) * next.slice_bytes;
    from_carrier.front().after_prologue -= bytes;
    for (FreeBytes& each : from_carrier.subspan(1)) {
      each.throughout -= bytes;
      each.after_prologue -= bytes;
    }
    const problem::Bytes slots = BytesOfSlots(next);
    next.done += taken;
    free[user].throughout -= BytesOfSlots(next) - slots;
    free[user].after_prologue -= BytesOfSlots(next) - slots;
    subgraphs[user].prefetch = next.prefetch;
    if (next.slice_bytes > 0)
      subgraphs[user].prefetch.resize(next.done - next.done % encoder::program::kPartsOfSlice);
    carrier.prefetches = With(carrier, next, next.prefetch, ahead);
    if (taken < left) return;
  }
}

// Returns what a subgraph carries, without what its queues continue.
cost::Prefetches PrefetchSchedule::PrefetchesAt(const std::vector<plan::Subgraph>& subgraphs,
                                                std::span<const Queued> queue,
                                                size_t number) const {
  cost::Prefetches prefetches{.own = subgraphs[number].prefetch, .carried = {}};
  for (size_t user = number + 1; user < subgraphs.size(); ++user) {
    const std::vector<int>& list = subgraphs[user].prefetch;
    const auto ahead = static_cast<int>(user - number);
    if (!list.empty() && list.front() >= ahead &&
        std::find(list.begin(), list.end(), ahead) != list.end())
      AddTo(prefetches, queue[user], list, ahead);
  }
  return prefetches;
}

std::vector<cost::Prefetches> PrefetchSchedule::AllPrefetches(
    const std::vector<plan::Subgraph>& subgraphs, std::span<const Queued> queue) const {
  std::vector<cost::Prefetches> prefetches;
  for (size_t i = 0; i < subgraphs.size(); ++i) {
    prefetches.push_back(PrefetchesAt(subgraphs, queue, i));
    if (i > 0) prefetches[i].Continue(context_.profile, prefetches[i - 1]);
  }
  return prefetches;
}

PrefetchSchedule::Proposal PrefetchSchedule::Price(std::vector<plan::Subgraph> subgraphs,
                                                   std::span<const Queued> queue) const {
  const std::vector<cost::Prefetches> prefetches = AllPrefetches(subgraphs, queue);
  Proposal proposal;
  for (size_t i = 0; i < subgraphs.size(); ++i) {
    proposal.without_room += queue[i].lacked_room && queue[i].done == 0 ? 1 : 0;
    if (queue[i].delays || queue[i].lacked_room || queue[i].done < queue[i].prefetch.size())
      proposal.late.push_back(i);
    subgraphs[i].metrics = queue[i].entry->PriceOf(prefetches[i], Detail::kParts);
    plan::Accumulate(proposal.totals, subgraphs[i].metrics);
  }
  proposal.subgraphs = std::move(subgraphs);
  return proposal;
}

PrefetchSchedule::Proposal PrefetchSchedule::Propose(std::vector<plan::Subgraph> subgraphs,
                                                     std::vector<FreeBytes> free, Slices slices,
                                                     bool improve) {
  std::vector<Queued> queue(subgraphs.size());
  for (size_t i = 0; i < subgraphs.size(); ++i) {
    subgraphs[i].prefetch.clear();
    if (i > 0) {
      queue[i] = Enqueue(subgraphs[i], free[i], slices);
    } else {
      queue[i].entry = &table_.Of(subgraphs[i], kept_);
    }
  }
  cost::Prefetches before;
  for (size_t number = 0; number < subgraphs.size(); ++number) {
    Entry& entry = *queue[number].entry;
    const std::vector<int>& own = subgraphs[number].prefetch;
    const SubgraphTable::Costing& costing = entry.FindCosting();
    Carrier carrier{
        .entry = &entry,
        .times = context_.simulator.PortsOf(costing.tiling, *costing.costs, costing.policy, own),
        .prefetches = {.own = own, .carried = {}},
        .before = &before};
    if (Overlaps(subgraphs[number])) Fill(subgraphs, carrier, number, queue, free);
    before = std::move(carrier.prefetches);
  }
  if (improve) Improve(subgraphs, queue, free);
  return Price(std::move(subgraphs), queue);
}

bool PrefetchSchedule::TakeBack(const std::vector<plan::Subgraph>& subgraphs,
                                const std::vector<plan::Subgraph>& scheduled,
                                std::vector<plan::Subgraph>& with) {
  bool changed = false;
  for (size_t i = 0; i < with.size(); ++i) {
    if (with[i].weights == subgraphs[i].weights && with[i].tile == subgraphs[i].tile) continue;
    const cost::Prefetches carried =
        cost::PrefetchesOf(context_.graph, context_.profile, scheduled, i);
    const cost::Prefetches with_slices{.own = {}, .carried = carried.carried};
    if (table_.Of(subgraphs[i], kept_).PriceOf(with_slices, Detail::kTotals).latency_cycles >=
        scheduled[i].metrics.latency_cycles)
      continue;
    with[i] = subgraphs[i];
    with[i].prefetch.clear();
    changed = true;
  }
  return changed;
}

void PrefetchSchedule::SetWeights(plan::Subgraph& subgraph, hw_profiles::WeightPolicy weights) {
  if (subgraph.weights == weights) return;
  subgraph.largest_proven = false;
  subgraph.weights = weights;
  subgraph.k_extent = 0;
}

}  // namespace tessera::search::partition::driver
