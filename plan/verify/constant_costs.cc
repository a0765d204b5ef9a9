// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>

#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/costs.h"
#include "tessera/plan/verify/residency.h"

// Constants that arrive before the operators run: all at the begin of their subgraph, or in parts
// while earlier subgraphs run. An earlier subgraph moves them whenever the port has nothing else to
// do, so it is over when the port has moved everything, or later:
//
//     port    | loads, slices, stores  | constants of later subgraphs |
//     engines | wait | slot 0 | .. | slot N-1 | wait |
//
// docs/program.md, 8 and 14.6.7. Cost: tiles times operators.
namespace tessera::plan::verify {

// The constants that are loaded once and the slices that arrive before the operators run: all, or
// those that arrive that many subgraphs ahead. The constants come in the order of their first use,
// then the slices.
std::vector<CostCount::Moved> CostCount::ConstantsOf(const Subgraph& subgraph,
                                                     std::optional<int> ahead) const {
  std::vector<Moved> moved(plan_.profile.memories.size());
  const std::vector<graph::Operator>& operators = plan_.network.operators;
  std::set<int> seen;
  for (int i = subgraph.interval.first; i <= subgraph.interval.last; ++i) {
    for (const int constant : operators[static_cast<size_t>(i)].weights) {
      const Held held = ResidencyOf(plan_, users_, subgraph, constant);
      if (held.residency != Residency::kResident || !seen.insert(constant).second) continue;
      const int64_t all = ConstantBytes(plan_, users_, constant, subgraph.interval);
      const auto arriving = [&](int subgraphs) {
        return ShareOfBytes(plan_.network, subgraph, constant, subgraphs, all);
      };
      AddTransfer(held.home, ahead ? arriving(*ahead) : all, false,
                  ahead && arriving(*ahead + 1) > 0, moved[static_cast<size_t>(held.home)]);
    }
  }
  for (int i = subgraph.interval.first; i <= subgraph.interval.last && TakesSlicesAhead(subgraph);
       ++i) {
    const graph::Operator& op = operators[static_cast<size_t>(i)];
    for (auto at = op.weights.begin(); at != op.weights.end(); ++at) {
      const Held held = ResidencyOf(plan_, users_, subgraph, *at);
      if (held.residency == Residency::kStreamed && std::count(op.weights.begin(), at, *at) == 0)
        AddSlicesAhead(subgraph, op, *at, ahead, moved[static_cast<size_t>(held.home)]);
    }
  }
  return moved;
}

// `follows`: another slice of the same operand, which a pipelined link does not let wait.
void CostCount::AddTransfer(int home, int64_t bytes, bool follows, bool begun, Moved& moved) const {
  if (bytes <= 0) return;
  const int64_t latency =
      plan_.profile.memories[static_cast<size_t>(home)].port.read_latency_cycles;
  const int64_t alone = TransferCycles(plan_.profile, home, Direction::kFromHome, {bytes, {}});
  const int64_t hidden = follows ? HiddenLatency(plan_.profile, home) : 0;
  moved.bytes = Plus(moved.bytes, bytes);
  moved.transfers.push_back({latency - hidden, alone - latency, begun});
}

// The slices of one constant for one operator. The shares that arrive together are one stream.
void CostCount::AddSlicesAhead(const Subgraph& subgraph, const graph::Operator& op, int constant,
                               std::optional<int> ahead, Moved& moved) const {
  const int home = MemoryOf(plan_, constant, base::TensorRole::kConstant);
  const std::set<int> groups(subgraph.prefetch.begin(), subgraph.prefetch.end());
  const int64_t slices = std::min(SlicesAhead(subgraph), SlicingOf(plan_, op, constant).slices);
  for (const int group : groups) {
    if (ahead && *ahead != group) continue;
    bool follows = false;
    for (int64_t slice = 0; slice < slices; ++slice) {
      const Range held = FirstAxisOfSlice(plan_, op, constant, slice);
      const int64_t extent = held.end - held.begin;
      const int64_t all = BytesOfSlice(plan_, op, constant, slice);
      const auto arriving = [&](int subgraphs) {
        const Range share = ShareOfSlice(subgraph, slice, extent, subgraphs);
        return Portion(all, share.end, extent) - Portion(all, share.begin, extent);
      };
      AddTransfer(home, arriving(group), follows, arriving(group + 1) > 0, moved);
      follows = follows || arriving(group) > 0;
    }
  }
}

// What a subgraph carries for later ones, by memory, the nearest first.
std::vector<CostCount::Moved> CostCount::CarriedIn(int subgraph) const {
  std::vector<Moved> carried(plan_.profile.memories.size());
  for (const int later : CarriedBy(plan_, subgraph)) {
    const std::vector<Moved> moved =
        ConstantsOf(plan_.subgraphs[static_cast<size_t>(later)], later - subgraph);
    for (size_t i = 0; i < moved.size(); ++i) {
      const std::vector<Waiting>& more = moved[i].transfers;
      carried[i].bytes = Plus(carried[i].bytes, moved[i].bytes);
      carried[i].transfers.insert(carried[i].transfers.end(), more.begin(), more.end());
    }
  }
  return carried;
}

// Takes from the first latencies what passes while the subgraph before runs. A transfer into a
// buffer that receives bytes there may be requested once the other channels of the link are enough
// for the transfers that are left.
void CostCount::Request(std::vector<Moved>& carried) const {
  const auto is_begun = [](const Moved& moved) {
    return !moved.transfers.empty() && moved.transfers.front().begun;
  };
  if (std::none_of(carried.begin(), carried.end(), is_begun)) return;
  const std::vector<Moved> before = CarriedIn(subgraph_ - 1);
  for (size_t i = 0; i < carried.size(); ++i) {
    if (!is_begun(carried[i])) continue;
    const hw_profiles::Link* link =
        hw_profiles::LinkBetween(plan_.profile, static_cast<int>(i), plan_.profile.tile_memory);
    int64_t others = link == nullptr ? 0 : link->outstanding - 1;
    int64_t& latency = carried[i].transfers.front().latency;
    for (size_t left = before[i].transfers.size(); left > 0 && others > 0; --left, --others)
      latency = std::max<int64_t>(0, latency - before[i].transfers[left - 1].cycles);
  }
}

// The cycles of the tile memory's port for all that passes it after the first loads, with what the
// subgraph carries for later ones.
int64_t CostCount::TilePortCyclesOfAll() const {
  int64_t read = 0;
  int64_t written = 0;
  const auto here = static_cast<size_t>(plan_.profile.tile_memory);
  for (const int slot : order_) {
    read = Plus(read, Plus(CostAt(slot).memories[here].bytes_read,
                           CostAt(slot).memories[here].unused_bytes));
    written = Plus(written, CostAt(slot).memories[here].bytes_written);
  }
  const TileCost& first = CostAt(order_.front());
  for (size_t i = 0; i < carried_.size(); ++i) {
    written -= Plus(first.memories[i].load_bytes, first.steps.front().slices[i].first_bytes);
    written = Plus(written, carried_[i].bytes);
  }
  const int64_t copied = CopiedBytes();
  return PortCycles(plan_.profile.memories[here].port, Plus(read, copied), Plus(written, copied));
}

// The cycles from the begin of the subgraph to the arrival of the last constants that it carries
// for later ones, which give way to all other transfers of their port.
int64_t CostCount::CyclesToCarry() const {
  const auto arrives = [](const Moved& moved) { return moved.bytes > 0; };
  if (std::none_of(carried_.begin(), carried_.end(), arrives)) return 0;
  int64_t longest = 0;
  const int64_t port = TilePortCyclesOfAll();
  for (size_t i = 0; i < carried_.size(); ++i) {
    if (carried_[i].bytes == 0) continue;
    int64_t in = carried_[i].cycles;
    int64_t out = 0;
    int64_t before = 0;  // of the memory for which the first tile waits longest
    for (size_t at = 0; at < order_.size(); ++at) {
      const Neighbours tiles = NeighboursOf(at);
      const TileCost& here = CostAt(tiles[1]);
      in = Plus(in, here.memories[i].read);
      for (size_t step = 0; step < here.steps.size(); ++step)
        in = Plus(in, SlicesDuring(tiles, step, i));
      if (tiles[2] >= 0) in = Plus(in, CostAt(tiles[2]).memories[i].load);
      out = Plus(out, Plus(here.memories[i].written, here.memories[i].store));
      for (size_t from = 0; from < here.memories.size() && tiles[0] < 0; ++from) {
        const int64_t slices = here.steps.front().slices[from].first;
        before = std::max(before, Plus(Plus(here.memories[from].load, slices), rest_[from].cycles));
      }
    }
    longest = std::max({longest, Plus(before, PortCyclesOf(i, in, out)), Plus(before, port)});
  }
  return longest;
}

}  // namespace tessera::plan::verify
