// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/driver/prefetch_schedule.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "tessera/encoder/program/choices.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/cost/traffic.h"

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
// Cost: for each subgraph and constant that it carries, log(parts) sums over its slots; tiles are
// cut and priced once.
namespace tessera::search::partition::driver {
namespace {

using cost::Detail;

constexpr size_t kMostParts = 128;
constexpr int64_t kCyclesOfPart = 250;  // at least, without the latency of the transfer

// The number of slices of which some of these parts are.
int64_t SlicesBegun(size_t parts) {
  return base::CeilDiv(static_cast<int64_t>(parts), encoder::program::kPartsOfSlice);
}

// Calls `visit` with each span of steps in which both buffers live.
template <typename Visit>
void ForEachCommon(const problem::Buffer& one, const problem::Buffer& other, Visit visit) {
  for (const problem::Lifespan& a : one.lifespans) {
    for (const problem::Lifespan& b : other.lifespans) {
      const problem::Lifespan common = {std::max(a.lower, b.lower), std::min(a.upper, b.upper)};
      if (common.lower < common.upper) visit(common);
    }
  }
}

}  // namespace

// A result in the place of its operand takes no bytes of its own while both live.
std::vector<FreeBytes> FindFree(const encoder::program::Program& program, size_t subgraphs,
                                problem::Bytes room) {
  std::vector<problem::Bytes> change(program.steps.size() + 1);
  for (const problem::Buffer& buffer : program.problem.buffers) {
    for (const problem::Lifespan& life : buffer.lifespans) {
      change[static_cast<size_t>(life.lower)] += buffer.size;
      change[static_cast<size_t>(life.upper)] -= buffer.size;
    }
  }
  for (const problem::Relation& relation : program.problem.relations) {
    if (relation.kind != problem::RelationKind::kColocate) continue;
    const problem::Buffer& one = program.problem.buffers[static_cast<size_t>(relation.first)];
    const problem::Buffer& other = program.problem.buffers[static_cast<size_t>(relation.second)];
    const problem::Bytes shared = std::min(one.size, other.size);
    ForEachCommon(one, other, [&](const problem::Lifespan& common) {
      change[static_cast<size_t>(common.lower)] -= shared;
      change[static_cast<size_t>(common.upper)] += shared;
    });
  }
  std::vector<FreeBytes> free(subgraphs, {room, room});
  problem::Bytes load = 0;
  for (size_t step = 0; step < program.steps.size(); ++step) {
    load += change[step];
    FreeBytes& here = free[static_cast<size_t>(program.steps[step].subgraph)];
    here.throughout = std::min(here.throughout, room - load);
    if (program.steps[step].kind != plan::StepKind::kPrologue)
      here.after_prologue = std::min(here.after_prologue, room - load);
  }
  return free;
}

PrefetchSchedule::PrefetchSchedule(const choices::SearchContext& context, std::vector<int> kept)
    : context_(context), kept_(std::move(kept)) {}

const PrefetchSchedule::Costing& PrefetchSchedule::CostingOf(const plan::Subgraph& subgraph) {
  std::unique_ptr<Costing>& costing =
      costings_[{subgraph.interval.first, subgraph.interval.last, subgraph.tile, subgraph.weights,
                 subgraph.k_extent}];
  if (costing == nullptr) {
    costing = std::make_unique<Costing>(
        Costing{.policy = cost::PolicyOf(subgraph, kept_),
                .tiling = encoder::program::CutTiles(context_.graph, subgraph.interval,
                                                     subgraph.tile, subgraph.halo),
                .costs = std::nullopt});
    costing->costs = context_.simulator.CostsOf(costing->tiling, costing->policy);
  }
  return *costing;
}

plan::Metrics PrefetchSchedule::PriceOf(const plan::Subgraph& subgraph,
                                        const cost::Prefetches& prefetches, cost::Detail detail) {
  const Costing& costing = CostingOf(subgraph);
  return context_.simulator.Run(costing.tiling, *costing.costs, costing.policy, detail, prefetches);
}

bool PrefetchSchedule::Overlaps(const plan::Subgraph& subgraph) const {
  return encoder::program::DmaOf(context_.profile, cost::PolicyOf(subgraph, kept_)) ==
         hw_profiles::DmaSteps::kDoubleBuffered;
}

// Returns the number of parts of the subgraph's constants; 0 if none is loaded once.
size_t PrefetchSchedule::PartsOf(const plan::Subgraph& subgraph) const {
  plan::Subgraph whole = subgraph;
  whole.prefetch = {1};
  cost::Prefetches all;
  all.Carry(context_.graph, context_.profile, whole, 1);
  int64_t cycles = 0;
  for (const cost::Prefetches::Part& part : all.carried)
    cycles = std::max(cycles, cost::CarriedCycles(context_.profile, part));
  if (cycles == 0) return 0;
  return std::clamp<size_t>(static_cast<size_t>(cycles / kCyclesOfPart), 1, kMostParts);
}

// Assigns to the carrier as many further parts of subgraph number `number`, but at most `most`, as
// arrive while the carrier runs without prolonging it. Returns the number of parts assigned.
size_t PrefetchSchedule::Carry(const std::vector<plan::Subgraph>& subgraphs, size_t carrier,
                               Queued& next, size_t number, size_t most) {
  const auto ahead = static_cast<int>(number - carrier);
  const cost::Prefetches without =
      cost::PrefetchesOf(context_.graph, context_.profile, subgraphs, carrier);
  const Costing& costing = CostingOf(subgraphs[carrier]);
  const cost::PortTimes times = context_.simulator.PortsOf(
      costing.tiling, *costing.costs, costing.policy, subgraphs[carrier].prefetch);
  const auto latency = [&](const cost::Prefetches& prefetches) {
    return cost::LatencyWith(context_.profile, times, prefetches.carried);
  };
  const int64_t before = latency(without);
  std::vector<int>& prefetch = next.user.prefetch;
  const auto assign = [&](size_t count) {
    for (size_t i = next.done; i < prefetch.size(); ++i)
      prefetch[i] = i < next.done + count ? ahead : 0;
  };
  size_t fits = 0;
  size_t too_many = most + 1;
  while (fits + 1 < too_many) {
    const size_t count = std::midpoint(fits, too_many);
    assign(count);
    cost::Prefetches with = without;
    with.Carry(context_.graph, context_.profile, next.user, ahead);
    (latency(with) <= before ? fits : too_many) = count;
  }
  assign(fits);
  return fits;
}

// Lets the last carrier wait for all remaining parts if they would delay the next subgraph more.
// Returns whether it does.
bool PrefetchSchedule::PaysToWait(const std::vector<plan::Subgraph>& subgraphs, size_t carrier,
                                  Queued& next) {
  const auto latency = [&](const std::vector<int>& prefetch) {
    cost::Prefetches carried =
        cost::PrefetchesOf(context_.graph, context_.profile, subgraphs, carrier);
    plan::Subgraph user = next.user;
    user.prefetch = prefetch;
    carried.Carry(context_.graph, context_.profile, user, 1);
    const cost::Prefetches own{.own = prefetch};
    return PriceOf(subgraphs[carrier], carried, Detail::kTotals).latency_cycles +
           PriceOf(user, own, Detail::kTotals).latency_cycles;
  };
  if (next.user.prefetch.back() == 1) return false;
  std::vector<int> all = next.user.prefetch;
  std::replace(all.begin(), all.end(), 0, 1);
  if (latency(all) >= latency(next.user.prefetch)) return false;
  next.user.prefetch = std::move(all);
  return true;
}

problem::Bytes PrefetchSchedule::BytesOf(const plan::Subgraph& subgraph) const {
  problem::Bytes bytes = 0;
  for (const cost::LoadedOnce& constant : cost::ConstantsLoadedOnce(
           context_.graph, context_.profile, subgraph.interval, subgraph.weights))
    base::Accumulate(bytes, constant.bytes);
  return bytes;
}

// Returns the least number of slices, at most `most`, with which the subgraph takes no longer than
// with `most` slices ahead.
size_t PrefetchSchedule::SlicesNeeded(const plan::Subgraph& subgraph, size_t most) {
  const auto latency = [&](size_t slices) {
    const cost::Prefetches ahead{.own =
                                     std::vector<int>(slices * encoder::program::kPartsOfSlice, 1)};
    return PriceOf(subgraph, ahead, Detail::kTotals).latency_cycles;
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
  Queued queued{.user = subgraph, .bytes = BytesOf(subgraph)};
  size_t parts = 0;
  if (!Overlaps(subgraph)) return queued;
  if (encoder::program::PrefetchesSlices(subgraph.weights, subgraph.tiles, std::array{1})) {
    for (const cost::Stream& stream :
         cost::StreamsOf(context_.graph, context_.profile, subgraph.interval)) {
      base::Accumulate(queued.slice_bytes, stream.full_bytes);
      queued.slices = std::max(queued.slices, stream.slices);
    }
    if (queued.slice_bytes > 0) {
      const int64_t slots = 2 + std::max<int64_t>(0, own.throughout) / queued.slice_bytes;
      auto most = static_cast<size_t>(queued.slices <= slots ? queued.slices : slots - 1);
      if (slices == Slices::kNeeded) most = SlicesNeeded(subgraph, most);
      parts = most * encoder::program::kPartsOfSlice;
    }
  }
  if (parts == 0) {
    queued.slice_bytes = 0;
    parts = PartsOf(subgraph);
  }
  queued.user.prefetch.assign(parts, 0);
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
  const size_t left = next.user.prefetch.size() - next.done;
  if (next.slice_bytes == 0) return next.done > 0 || free >= 0 ? left : 0;
  if (free < 0) return 0;
  const int64_t slices = SlicesBegun(next.done) + free / next.slice_bytes;
  return std::min(left, static_cast<size_t>(slices * encoder::program::kPartsOfSlice) - next.done);
}

void PrefetchSchedule::Fill(std::vector<plan::Subgraph>& subgraphs, size_t carrier,
                            std::span<Queued> queue, std::span<FreeBytes> free) {
  for (size_t number = carrier + 1; number < queue.size(); ++number) {
    Queued& next = queue[number];
    const size_t left = next.user.prefetch.size() - next.done;
    if (left == 0) continue;
    const std::span<FreeBytes> from_carrier = free.subspan(carrier, number - carrier);
    const size_t most = PartsWithRoom(next, from_carrier);
    if (most == 0) {
      next.lacked_room = next.lacked_room || next.done == 0;
      return;
    }
    size_t taken = Carry(subgraphs, carrier, next, number, most);
    if (number == carrier + 1 && next.slice_bytes == 0 && PaysToWait(subgraphs, carrier, next)) {
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
    free[number].throughout -= BytesOfSlots(next) - slots;
    free[number].after_prologue -= BytesOfSlots(next) - slots;
    subgraphs[number].prefetch = next.user.prefetch;
    if (next.slice_bytes > 0)
      subgraphs[number].prefetch.resize(next.done - next.done % encoder::program::kPartsOfSlice);
    if (taken < left) return;
  }
}

PrefetchSchedule::Proposal PrefetchSchedule::Propose(std::vector<plan::Subgraph> subgraphs,
                                                     std::vector<FreeBytes> free, Slices slices) {
  std::vector<Queued> queue(subgraphs.size());
  for (size_t i = 0; i < subgraphs.size(); ++i) {
    subgraphs[i].prefetch.clear();
    if (i > 0) queue[i] = Enqueue(subgraphs[i], free[i], slices);
  }
  for (size_t carrier = 0; carrier < subgraphs.size(); ++carrier) {
    if (Overlaps(subgraphs[carrier])) Fill(subgraphs, carrier, queue, free);
  }
  Proposal proposal;
  for (size_t i = 0; i < subgraphs.size(); ++i) {
    proposal.without_room += queue[i].lacked_room && queue[i].done == 0 ? 1 : 0;
    if (queue[i].delays || queue[i].lacked_room || queue[i].done < queue[i].user.prefetch.size())
      proposal.late.push_back(i);
    subgraphs[i].metrics =
        PriceOf(subgraphs[i], cost::PrefetchesOf(context_.graph, context_.profile, subgraphs, i),
                Detail::kParts);
    plan::Accumulate(proposal.totals, subgraphs[i].metrics);
  }
  proposal.subgraphs = std::move(subgraphs);
  return proposal;
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
    if (PriceOf(subgraphs[i], with_slices, Detail::kTotals).latency_cycles >=
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
