// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>

#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/plan/metrics.h"
#include "tessera/search/partition/analysis/analyses.h"
#include "tessera/search/partition/rewriting.h"

// Each entry of the better profile that cannot make a plan impossible or more expensive is copied
// to the worse profile, field by field. If the result equals the better profile, the comparison
// holds. Fields that are not named here must be equal, so a new field of profiles is compared
// soundly from the start.
//
//     worse   capacity 256Ki  rate 4  mac_pj 0.04        better  capacity 1Mi  rate 8  mac_pj 0.02
//               |               |         |
//               v               v         v  (energy is among the metrics: less is better)
//             capacity 1Mi    rate 8  mac_pj 0.02        equal: known
//
// The effect of each entry follows from docs/program.md, "Costs", and the audits test it
// (tests/audit/more.cc). Three effects need care:
//
// - If an engine overlaps operators (14.2.3), a shorter time may expose the start of a later
//   operator, so times are compared only if no engine does. The same holds for engines that work
//   at the same time: operators of two stages may change places.
// - The capacity of the tile memory determines the slices of streamed constants (12.1.8), and
//   capacities determine homes (11.3). These must be the same.
// - A network that does not fit is planned in another form (rewriting.h), in which a plan may be
//   better than any plan of the network itself. There must be no such form for the worse profile.
namespace tessera::search::partition::analysis {
namespace {

using hw_profiles::Engine;
using hw_profiles::Link;
using hw_profiles::Memory;
using hw_profiles::Profile;
using hw_profiles::Throughput;
using hw_profiles::Unroll;

// The entries on which the metrics depend.
struct Concern {
  bool time = false;
  bool energy = false;
};

template <typename T>
void TakeMore(T& value, const T& better, bool matters) {
  if (!matters || better >= value) value = better;
}

template <typename T>
void TakeLess(T& value, const T& better, bool matters) {
  if (!matters || better <= value) value = better;
}

// Whether the banks neither restrict addresses nor cost anything.
bool HasFreeBanks(const Memory& memory) {
  const bool have_ports =
      std::any_of(memory.banks.begin(), memory.banks.end(), [](const problem::Bank& bank) {
        return bank.ports.total || bank.ports.reads || bank.ports.writes;
      });
  return memory.modes.empty() && !memory.transitions && memory.bank_sets.empty() && !have_ports &&
         memory.span == problem::Span::kAny;
}

void TakePort(hw_profiles::Port& port, const hw_profiles::Port& better, bool time) {
  TakeMore(port.read_bytes_per_cycle, better.read_bytes_per_cycle, time);
  TakeMore(port.write_bytes_per_cycle, better.write_bytes_per_cycle, time);
  TakeLess(port.shared, better.shared, time);
  TakeLess(port.read_latency_cycles, better.read_latency_cycles, time);
  TakeLess(port.write_latency_cycles, better.write_latency_cycles, time);
  if (!time || port.burst_bytes % better.burst_bytes == 0) port.burst_bytes = better.burst_bytes;
}

void TakeUnroll(Unroll& unroll, const Unroll& better, bool time) {
  for (const auto& field : hw_profiles::kUnrollFields) {
    const auto member = std::get<int64_t Unroll::*>(field.member);
    TakeMore(unroll.*member, better.*member, time);
  }
}

void TakeThroughputs(Engine& engine, const Engine& better, bool time) {
  // More lanes allow other output blocks, which may be slower or fetch more.
  const bool may_have_more_lanes = !engine.blocks && !better.blocks;
  const size_t common = std::min(engine.throughputs.size(), better.throughputs.size());
  for (size_t i = 0; i < common; ++i) {
    Throughput& mine = engine.throughputs[i];
    const Throughput& other = better.throughputs[i];
    if (may_have_more_lanes) TakeUnroll(mine.unroll, other.unroll, time);
    TakeLess(mine.weight_steps, other.weight_steps, time);
    TakeLess(mine.cycles_per_step, other.cycles_per_step, time);
    TakeLess(mine.cycles_per_output, other.cycles_per_output, time);
    TakeLess(mine.start_cycles, other.start_cycles, time);
    TakeMore(mine.fold_channels, other.fold_channels, time);
  }
}

// Copies entries of the better profile to the worse one.
class Improvement {
 public:
  Improvement(const Profile& worse, const Profile& better, Concern concern)
      : profile_(worse), better_(better), concern_(concern) {
    const auto overlaps = [](const Engine& engine) { return engine.outstanding != 1; };
    const bool in_turn =
        hw_profiles::EnginesAtOnce(worse) == 1 && hw_profiles::EnginesAtOnce(better) == 1;
    times_are_known_ =
        !concern.time ||
        (in_turn && std::none_of(worse.engines.begin(), worse.engines.end(), overlaps) &&
         std::none_of(better.engines.begin(), better.engines.end(), overlaps));
  }

  Profile Take() {
    profile_.name = better_.name;
    profile_.description = better_.description;
    profile_.known_error = better_.known_error;
    TakeMore(profile_.clock_hz, better_.clock_hz, concern_.energy);
    for (size_t i = 0; i < std::min(profile_.memories.size(), better_.memories.size()); ++i)
      TakeMemory(profile_.memories[i], better_.memories[i],
                 static_cast<int>(i) == profile_.tile_memory);
    for (size_t i = 0; i < std::min(profile_.engines.size(), better_.engines.size()); ++i)
      TakeEngine(profile_.engines[i], better_.engines[i]);
    for (size_t i = 0; i < std::min(profile_.links.size(), better_.links.size()); ++i)
      TakeLink(profile_.links[i], better_.links[i]);
    return profile_;
  }

 private:
  void TakeMemory(Memory& memory, const Memory& better, bool holds_tiles) {
    const bool are_free = profile_.rules.empty() && HasFreeBanks(memory) && HasFreeBanks(better);
    if (are_free) memory.banks = better.banks;
    if (!holds_tiles || are_free) TakeMore(memory.capacity_bytes, better.capacity_bytes, true);
    if (times_are_known_) TakePort(memory.port, better.port, concern_.time);
    TakeLess(memory.read_pj_per_byte, better.read_pj_per_byte, concern_.energy);
    TakeLess(memory.write_pj_per_byte, better.write_pj_per_byte, concern_.energy);
    TakeLess(memory.leakage_mw, better.leakage_mw, concern_.energy);
    memory.area_mm2 = better.area_mm2;
  }

  void TakeEngine(Engine& engine, const Engine& better) const {
    if (times_are_known_) {
      TakeThroughputs(engine, better, concern_.time);
      TakeLess(engine.idle_cycles_between_tiles, better.idle_cycles_between_tiles, concern_.time);
      if (engine.host && better.host) {
        TakeLess(engine.host->start_cycles, better.host->start_cycles, concern_.time);
        TakeLess(engine.host->cycles_per_output, better.host->cycles_per_output, concern_.time);
        TakeLess(engine.host->cycles_per_mac, better.host->cycles_per_mac, concern_.time);
      }
    }
    TakeLess(engine.mac_pj, better.mac_pj, concern_.energy);
    TakeLess(engine.operand_pj, better.operand_pj, concern_.energy);
    engine.area_mm2 = better.area_mm2;
  }

  void TakeLink(Link& link, const Link& better) const {
    if (times_are_known_) {
      TakeLess(link.setup_cycles, better.setup_cycles, concern_.time);
      TakeMore(link.dims, better.dims, concern_.time);
      TakeMore(link.outstanding, better.outstanding, concern_.time);
    }
    link.area_mm2 = better.area_mm2;
  }

  Profile profile_;
  const Profile& better_;
  Concern concern_;
  bool times_are_known_ = false;
};

bool HaveEqualCapacities(const Profile& a, const Profile& b) {
  return std::equal(a.memories.begin(), a.memories.end(), b.memories.begin(), b.memories.end(),
                    [](const Memory& one, const Memory& other) {
                      return one.capacity_bytes == other.capacity_bytes;
                    });
}

bool HaveEqualHomes(const graph::Graph& a, const graph::Graph& b) {
  return std::equal(
      a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
      [](const graph::Tensor& one, const graph::Tensor& other) { return one.home == other.home; });
}

bool HaveEqualSlices(const graph::Graph& network, const Profile& a, const Profile& b) {
  const auto slices_alike = [&](const graph::Operator& op) {
    return std::all_of(op.weights.begin(), op.weights.end(), [&](int weight) {
      const auto of_a = encoder::program::SlicesOf(network, a, weight, op);
      const auto of_b = encoder::program::SlicesOf(network, b, weight, op);
      return of_a.count == of_b.count && of_a.bytes == of_b.bytes;
    });
  };
  return std::all_of(network.operators.begin(), network.operators.end(), slices_alike);
}

}  // namespace

bool IsAtLeastAsGood(const graph::Graph& network, const Profile& better, const Profile& worse,
                     std::span<const std::string_view> metrics) {
  Concern concern;
  for (const std::string_view name : metrics) {
    const plan::Metric* metric = plan::FindMetric(name);
    if (metric == nullptr || metric->joining == plan::Joining::kRatio ||
        metric->not_below_average_of != nullptr)
      return false;
    concern.time = concern.time || metric->depends_on_time;
    concern.energy = concern.energy || (metric->depends_on_time && name != "latency");
  }
  const Profile improved = Improvement(worse, better, concern).Take();
  if (hw_profiles::WriteProfileJson(improved) != hw_profiles::WriteProfileJson(better))
    return false;
  if (RewriteWhatDoesNotFit(network, worse)) return false;
  if (HaveEqualCapacities(better, worse)) return true;
  const graph::Graph at_home = encoder::program::WithHomes(network, worse);
  return HaveEqualHomes(at_home, encoder::program::WithHomes(network, better)) &&
         HaveEqualSlices(at_home, better, worse);
}

}  // namespace tessera::search::partition::analysis
