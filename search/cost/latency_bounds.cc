// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/latency_bounds.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/search/cost/tile_cost.h"
#include "tessera/search/cost/traffic.h"

// As one subgraph an interval gets its constants under one of few policies:
//
//    resident   | all constants | op 0 | op 1 | op 2 |
//    streamed   | w0 | op 0     | op 1     | op 2    |     an operator takes at least the time of
//                    | w1       | w2       |               concurrent arrivals
namespace tessera::search::cost {
namespace {

// If the tile memory cannot hold all constants, some cannot be loaded before early operators have
// run. Let v be an operator. Let *before v* be the operators on whose results v depends, and *after
// v* those that depend on v:
//
//     engines   | before v                        | v, after v            |
//     link      | ...  the tile memory is full    | the other constants   |
//               0                                 m
//
// Let m be the end of the step in which all elements that v needs have been made for the first
// time. The engines work in sequence, so m is at least the time of all operators before v. Some
// element x was made in this last step. Every element that depends on x is made after m. A
// convolution of one group, or a product with a constant matrix, needs all its constants for the
// elements that depend on x, because each of its channels depends on each channel of its operand.
// So all these constants are in the tile memory at m, or cross the port of their home after m:
//
//     latency >= engines(before v) + (constants(v and after v) - capacity) / bytes per cycle
//
// This assumes nothing about orders, cuts, tiles and policies: a constant that tiles load several
// times, or read in its home, crosses the port even more often. It does assume that an operator
// that takes its constants in K slices has its whole operand before the first slice
// (docs/program.md: only operators that are a subgraph alone do so).
//
// Whether an element depends on x follows from the operators alone. x is any element that an
// operator before v makes. So an operator counts as before v if its reader reads all of its result
// and is v or before v. An operator counts as after v if it reads all of its operands, and one of
// them is made by v or after v. The largest bound over all v counts.

using graph::Graph;
using hw_profiles::Profile;

// Returns whether the results that depend on one element of an operand together need all constants
// of the operator: they cover all channels, or all columns or rows of a product.
bool NeedsAllConstants(const Graph& graph, const graph::Operator& op) {
  if (op.weights.empty()) return false;
  if (op.kind == base::OperatorKind::kConv) return op.groups <= 1;
  if (op.kind != base::OperatorKind::kMatmul) return false;
  const graph::Shape& constant = ShapeOf(graph, op.weights.front());
  constexpr size_t kMatrix = 2;  // axes
  return constant.size() <= kMatrix || std::all_of(constant.rbegin() + kMatrix, constant.rend(),
                                                   [](int64_t extent) { return extent == 1; });
}

class LateConstants {
 public:
  LateConstants(const Graph& graph, const Profile& profile, std::span<const graph::Usage> usages,
                const Coverage& coverage, std::span<const int64_t> passes)
      : graph_(graph), profile_(profile), usages_(usages), coverage_(coverage), passes_(passes) {
    const graph::Interval interval = coverage.Whole().interval;
    for (int op = interval.first; op <= interval.last; ++op) {
      reads_all_.push_back(static_cast<char>(coverage.ReadsAndMakesAll(op)));
      counts_.push_back(static_cast<char>(NeedsAllConstants(graph, OpAt(op)) &&
                                          !encoder::program::RunsOnHost(graph, profile, OpAt(op))));
      if (counts_.back() == 0) continue;
      for (const int constant : OpAt(op).weights) ListConstant(constant);
    }
  }

  int64_t Find() {
    const graph::Interval interval = coverage_.Whole().interval;
    std::vector<int64_t> all(profile_.memories.size(), 0);
    for (const auto& [tensor, constant] : constants_)
      base::Accumulate(all[static_cast<size_t>(constant.home)], constant.bytes);
    const int64_t most = CyclesToMove(all);
    int64_t latency = 0;
    for (const int64_t pass : passes_) base::Accumulate(latency, pass);
    for (int op = interval.first; op <= interval.last && most > 0; ++op) {
      if (!ReadsAll(op) || counts_[Slot(op)] == 0) continue;
      const int64_t before = CyclesBefore(op);
      if (base::SaturatingAdd(before, most) <= latency) continue;
      latency = std::max(latency, base::SaturatingAdd(before, CyclesOfLate(op)));
    }
    return latency;
  }

 private:
  struct Constant {
    int home = 0;
    int64_t bytes = 0;   // without the tables that are stored with it: K slices come without them
    int taken_for = -1;  // the last operator for which it was counted
  };

  void ListConstant(int tensor) {
    constants_.try_emplace(
        tensor,
        Constant{encoder::program::HomeOf(graph_, profile_, tensor, base::TensorRole::kConstant),
                 encoder::program::ConstantBytes(graph_, profile_, tensor, {})});
  }

  const graph::Operator& OpAt(int op) const { return graph_.operators[static_cast<size_t>(op)]; }
  size_t Slot(int op) const { return static_cast<size_t>(op - coverage_.Whole().interval.first); }
  bool ReadsAll(int op) const { return reads_all_[Slot(op)] != 0; }

  // Starts a walk over operators.
  void Begin(int op) {
    reached_.assign(reads_all_.size(), 0);
    reached_[Slot(op)] = 1;
    open_.assign(1, op);
  }

  // Returns whether it is reached for the first time.
  bool Reach(int op) {
    if (!coverage_.Inside(op) || reached_[Slot(op)] != 0) return false;
    reached_[Slot(op)] = 1;
    if (ReadsAll(op)) open_.push_back(op);
    return true;
  }

  int Take() {
    const int op = open_.back();
    open_.pop_back();
    return op;
  }

  int64_t CyclesBefore(int op) {
    int64_t cycles = 0;
    for (Begin(op); !open_.empty();) {
      for (const int operand : OpAt(Take()).inputs) {
        const int maker = usages_[static_cast<size_t>(operand)].producer;
        if (maker >= 0 && OpAt(maker).outputs.front() == operand && Reach(maker))
          base::Accumulate(cycles, passes_[Slot(maker)]);
      }
    }
    return cycles;
  }

  int64_t CyclesOfLate(int op) {
    std::vector<int64_t> bytes(profile_.memories.size(), 0);
    for (Begin(op); !open_.empty();) {
      const int reached = Take();
      const graph::Operator& facts = OpAt(reached);
      for (const int tensor : facts.weights) {
        if (counts_[Slot(reached)] == 0) break;
        Constant& constant = constants_.at(tensor);
        if (std::exchange(constant.taken_for, op) != op)
          base::Accumulate(bytes[static_cast<size_t>(constant.home)], constant.bytes);
      }
      for (const int reader : usages_[static_cast<size_t>(facts.outputs.front())].consumers)
        if (coverage_.Inside(reader) && ReadsAll(reader)) Reach(reader);
    }
    return CyclesToMove(bytes);
  }

  // Returns the cycles in which the port of some home moves the bytes that the tile memory cannot
  // hold. `bytes` is by home.
  int64_t CyclesToMove(std::span<const int64_t> bytes) const {
    const auto here = static_cast<size_t>(profile_.tile_memory);
    int64_t cycles = 0;
    for (size_t home = 0; home < bytes.size(); ++home) {
      const int64_t late = bytes[home] - profile_.memories[here].capacity_bytes;
      if (home == here || late <= 0) continue;
      const double rate = profile_.memories[home].port.read_bytes_per_cycle;
      cycles = std::max(cycles, static_cast<int64_t>(static_cast<double>(late) / rate));
    }
    return cycles;
  }

  const Graph& graph_;
  const Profile& profile_;
  std::span<const graph::Usage> usages_;
  const Coverage& coverage_;
  std::span<const int64_t> passes_;
  std::vector<char> reads_all_;  // parallel to the interval's operators, as the next ones
  std::vector<char> counts_;     // whether its constants count
  std::unordered_map<int, Constant> constants_;  // by tensor: those of operators that count
  std::vector<char> reached_;
  std::vector<int> open_;
};

}  // namespace

using hw_profiles::Profile;

// Engines that may read a network input in its home always do so, since no operator makes it. The
// tiles together read at least the hull. Each request of less than a burst takes a whole one.
int64_t LeastCyclesAtHomes(const Graph& graph, const Profile& profile, const Coverage& coverage,
                           const graph::Operator& op) {
  const hw_profiles::RoleLayout& layout =
      hw_profiles::LayoutOf(profile, base::TensorRole::kNetworkInput);
  std::vector<double> cycles(profile.memories.size(), 0);
  for (const int tensor : op.inputs) {
    const graph::Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
    if (!facts.network_input || facts.state) continue;
    const int home =
        encoder::program::HomeOf(graph, profile, tensor, base::TensorRole::kNetworkInput);
    if (home == profile.tile_memory ||
        !hw_profiles::MayReadAt(profile, base::TensorRole::kNetworkInput, home))
      continue;
    const hw_profiles::Port& port = profile.memories[static_cast<size_t>(home)].port;
    double bytes = static_cast<double>(PayloadBytes(facts, coverage.NeededOf(tensor), layout));
    if (layout.request_bytes > 0 && layout.request_bytes < port.burst_bytes)
      bytes *= static_cast<double>(port.burst_bytes) / static_cast<double>(layout.request_bytes);
    cycles[static_cast<size_t>(home)] += bytes / port.read_bytes_per_cycle;
  }
  return base::LeastWholeCycles(*std::max_element(cycles.begin(), cycles.end()));
}

std::vector<int64_t> EnginePasses(const Profile& profile, std::span<const CertainWork> operators) {
  const hw_profiles::Port& port = profile.memories[static_cast<size_t>(profile.tile_memory)].port;
  std::vector<int64_t> passes;
  for (const CertainWork& engine : operators) {
    Touched touched = engine.touched;
    base::Accumulate(touched.read, engine.constant_bytes);
    passes.push_back(std::max(engine.cycles, LeastPortCycles(port, touched)));
  }
  return passes;
}

SubgraphBounds::Weights FindWeights(const graph::Graph& graph, const Profile& profile,
                                    const std::vector<graph::Usage>& usages,
                                    const Coverage& coverage, hw_profiles::WeightPolicy policy) {
  const graph::Interval interval = coverage.Whole().interval;
  SubgraphBounds::Weights weights{
      policy, TileCosts(graph, profile, usages, coverage.Whole(), {.weights = policy}), {}};
  const std::vector<int>& homes = weights.costs.ConstantHomes();
  weights.arriving.assign(homes.size(), 0);
  if (weights.costs.ConstantTransfer() != TransferKind::kMoved) return weights;
  const std::vector<LoadedOnce> loaded = ConstantsLoadedOnce(graph, profile, interval, policy);
  for (size_t home = 0; home < homes.size(); ++home) {
    int64_t& arriving = weights.arriving[home];
    if (policy == hw_profiles::WeightPolicy::kStreamed)
      arriving = weights.costs.ConstantsIn(home).front().first_slice_cycles;
    for (const LoadedOnce& constant : loaded) {
      if (constant.home != homes[home]) continue;
      base::Accumulate(arriving, TransferCycles(profile, constant.home, Direction::kRead,
                                                OneRun(constant.bytes)));
    }
  }
  return weights;
}

int64_t EnginePass(const Profile& profile, std::span<const CertainWork> operators,
                   const SubgraphBounds::Weights& weights) {
  const hw_profiles::Port& port = profile.memories[static_cast<size_t>(profile.tile_memory)].port;
  const TileCosts& costs = weights.costs;
  const TransferKind transfer = costs.ConstantTransfer();
  const bool streamed =
      transfer == TransferKind::kMoved && weights.policy == hw_profiles::WeightPolicy::kStreamed;
  const std::vector<int>& homes = costs.ConstantHomes();
  int64_t pass = 0;  // the time of the slowest home before the pass
  for (const int64_t arriving : weights.arriving) pass = std::max(pass, arriving);
  for (size_t i = 0; i < operators.size(); ++i) {
    Touched touched = operators[i].touched;
    int64_t longest = operators[i].cycles;
    int64_t constant_bytes = 0;
    for (size_t home = 0; home < homes.size(); ++home) {
      const std::span<const ConstantCost> constants = costs.ConstantsIn(home);
      if (operators[i].all && transfer != TransferKind::kDirect)
        base::Accumulate(constant_bytes, constants[i].bytes);
      int64_t arriving = streamed ? constants[i].later_slices_cycles : 0;
      if (streamed && i + 1 < operators.size())
        base::Accumulate(arriving, constants[i + 1].first_slice_cycles);
      longest = std::max(longest, arriving);
    }
    base::Accumulate(touched.read, std::max(constant_bytes, operators[i].constant_bytes));
    base::Accumulate(pass, std::max(longest, LeastPortCycles(port, touched)));
  }
  return pass;
}

int64_t LatencyWithLateConstants(const Graph& graph, const Profile& profile,
                                 std::span<const graph::Usage> usages, const Coverage& coverage,
                                 std::span<const int64_t> passes) {
  return LateConstants(graph, profile, usages, coverage, passes).Find();
}

std::vector<std::vector<int64_t>> PassesInTurn(const Graph& graph, const Profile& profile,
                                               graph::Interval interval,
                                               std::span<const int64_t> passes) {
  const int64_t engines = hw_profiles::EnginesAtOnce(profile);
  std::vector<std::vector<int64_t>> lists = {{passes.begin(), passes.end()}};
  if (engines == 1) return lists;
  for (int64_t& pass : lists.front()) pass /= engines;
  for (const hw_profiles::Engine& engine : profile.engines) {
    std::vector<int64_t>& own = lists.emplace_back(passes.size(), 0);
    for (size_t i = 0; i < passes.size(); ++i) {
      const graph::Operator& op = graph.operators[static_cast<size_t>(interval.first) + i];
      const std::vector<const hw_profiles::Engine*> able =
          encoder::program::EnginesFor(graph, profile, op);
      if (able.size() == 1 && able.front() == &engine) own[i] = passes[i];
    }
  }
  return lists;
}

}  // namespace tessera::search::cost
