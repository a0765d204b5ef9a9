#include "tessera/search/partition/pricing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "tessera/encoder/adapt/halo.h"
#include "tessera/search/partition/peak_floor.h"
#include "tessera/search/simulate/stated_choice.h"

namespace tessera::search {
namespace {

using plan::Metrics;
using plan::Violation;

// A stated number may have gone through text.
constexpr double kPriceTolerance = 1e-9;

bool IsSame(double a, double b) {
  return std::abs(a - b) <= kPriceTolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

class PriceCheck {
 public:
  std::vector<Violation> Run(const plan::Plan& plan) {
    const Simulator simulator(plan.network, plan.profile);
    for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
      const plan::Subgraph& subgraph = plan.subgraphs[i];
      where_ = fmt::format("subgraph {}", i);
      const Metrics price = PriceOf(plan.network, plan.profile, simulator, plan.subgraphs, i, plan.kept);
      Compare(subgraph.metrics, price);
      Expect("is bound by", subgraph.metrics.bound_by, price.bound_by);
    }
    where_ = "the lower bound";
    const Metrics bounds = FindLowerBounds(plan.network, plan.profile);
    Compare(plan.lower_bounds, bounds);
    Expect("states off-chip bytes of", plan.lower_bounds.off_chip_bytes, bounds.off_chip_bytes);
    Expect("states a peak of", plan.lower_bounds.peak_bytes, bounds.peak_bytes);
    return std::move(violations_);
  }

 private:
  void Compare(const Metrics& stated, const Metrics& simulated) {
    Expect("states cycles of", stated.latency_cycles, simulated.latency_cycles);
    if (!IsSame(stated.energy_pj, simulated.energy_pj))
      Note("states an energy of", stated.energy_pj, simulated.energy_pj);
    for (const auto& [part, energy] : simulated.energy_by_part) {
      const auto found = stated.energy_by_part.find(part);
      const double said = found == stated.energy_by_part.end() ? 0 : found->second;
      if (!IsSame(said, energy)) Note(fmt::format("states an energy in '{}' of", part), said, energy);
    }
    if (!IsSame(stated.peak_bytes_per_cycle, simulated.peak_bytes_per_cycle))
      Note("states a peak bandwidth of", stated.peak_bytes_per_cycle, simulated.peak_bytes_per_cycle);
  }

  template <typename Value>
  void Expect(std::string_view what, const Value& stated, const Value& simulated) {
    if (!(stated == simulated)) Note(what, stated, simulated);
  }

  template <typename Value>
  void Note(std::string_view what, const Value& stated, const Value& simulated) {
    violations_.push_back({plan::ViolationKind::kMetric, fmt::format("{} {} {} where a simulation gives {}",
                                                                     where_, what, stated, simulated)});
  }

  std::string where_;
  std::vector<Violation> violations_;
};

}  // namespace

Metrics FindLowerBounds(const graph::Graph& graph, const hw_profiles::Profile& profile) {
  Metrics bounds = LowerBound(graph, profile, {0, static_cast<int>(graph.operators.size()) - 1});
  bounds.peak_bytes = FindPeakFloor(graph, profile).bytes;
  return bounds;
}

Metrics PriceOf(const graph::Graph& graph, const hw_profiles::Profile& profile, const Simulator& simulator,
                std::span<const plan::Subgraph> subgraphs, size_t number, const std::vector<int>& kept) {
  const plan::Subgraph& subgraph = subgraphs[number];
  return simulator.Run(encoder::CutTiles(graph, subgraph.interval, subgraph.tile, subgraph.halo),
                       PolicyOf(subgraph, kept), Detail::kParts, AheadOf(graph, profile, subgraphs, number));
}

std::vector<Violation> FindMispriced(const plan::Plan& plan) { return PriceCheck().Run(plan); }

}  // namespace tessera::search
