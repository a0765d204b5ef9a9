// SPDX-License-Identifier: Apache-2.0

#include "disagreements.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tessera/encoder/program/choices.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/costs.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/tests/search/cost/simulate.h"

namespace tessera::search {

using hw_profiles::Profile;

plan::Plan AsPlan(const graph::Graph& graph, const Profile& profile,
                  const std::vector<encoder::program::SubgraphChoice>& choices,
                  encoder::program::Program program) {
  plan::Plan plan;
  plan.network = graph;
  plan.profile = profile;
  plan.kept = encoder::program::KeptBy(choices);
  for (const encoder::program::SubgraphChoice& choice : choices) {
    const graph::tiling::TiledSubgraph tiling =
        encoder::program::CutTiles(graph, choice.interval, choice.tile, choice.policy.halo);
    plan::Subgraph& subgraph = plan.subgraphs.emplace_back();
    subgraph.interval = choice.interval;
    subgraph.tile = choice.tile;
    subgraph.tiles = tiling.tiles;
    subgraph.weights = choice.policy.weights;
    subgraph.in_place = choice.policy.in_place;
    subgraph.halo = choice.policy.halo;
    subgraph.k_extent = choice.policy.k_extent;
    subgraph.serialized = choice.policy.serialized;
    subgraph.second_stage = choice.policy.second_stage;
    subgraph.prefetch = choice.prefetch;
  }
  for (size_t i = 0; i < choices.size(); ++i) {
    const encoder::program::SubgraphChoice& choice = choices[i];
    plan.subgraphs[i].metrics = cost::Simulate(
        graph, profile,
        encoder::program::CutTiles(graph, choice.interval, choice.tile, choice.policy.halo),
        choice.policy, cost::PrefetchesOf(graph, profile, plan.subgraphs, i));
  }
  plan.buffers = program.buffers;
  plan.steps = program.steps;
  plan.problem = std::move(program.problem);
  return plan;
}

std::string CostDifference(const plan::Metrics& stated, const plan::Metrics& found) {
  const auto close = [](double a, double b) {
    return std::abs(a - b) <= 1e-12 * std::max({1.0, std::abs(a), std::abs(b)});
  };
  std::string text;
  const auto compare = [&](const std::string& what, double a, double b, bool same) {
    if (!same) text += what + " " + std::to_string(a) + " against " + std::to_string(b) + "\n";
  };
  const auto counted = [&](const std::string& what, int64_t a, int64_t b) {
    compare(what, static_cast<double>(a), static_cast<double>(b), a == b);
  };
  const auto summed = [&](const std::string& what, double a, double b) {
    compare(what, a, b, close(a, b));
  };
  counted("latency", stated.latency_cycles, found.latency_cycles);
  counted("off-chip bytes", stated.off_chip_bytes, found.off_chip_bytes);
  counted("MACs", stated.macs, found.macs);
  counted("recomputed MACs", stated.recomputed_macs, found.recomputed_macs);
  counted("unknown work", stated.unknown_work, found.unknown_work);
  summed("energy", stated.energy_pj, found.energy_pj);
  summed("bandwidth", stated.peak_bytes_per_cycle, found.peak_bytes_per_cycle);
  counted("energy parts", static_cast<int64_t>(stated.energy_by_part.size()),
          static_cast<int64_t>(found.energy_by_part.size()));
  for (const auto& [part, energy] : found.energy_by_part)
    summed("energy of " + part, stated.energy_by_part.at(part), energy);
  for (const auto& [cause, bytes] : found.off_chip_by_cause)
    counted("bytes of " + cause, stated.off_chip_by_cause.at(cause), bytes);
  return text;
}

std::string Disagreements(const plan::Plan& plan) {
  plan::verify::Findings findings(10);
  plan::verify::CheckPartition(plan, findings);
  std::string text;
  if (findings.Empty()) {
    const plan::verify::Derivation derivation = plan::verify::Derive(plan);
    plan::verify::CheckProgram(plan, derivation, findings);
    const std::vector<plan::verify::Users> users = plan::verify::FindUsers(plan.network);
    for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
      const plan::Metrics& stated = plan.subgraphs[i].metrics;
      text += CostDifference(stated, plan::verify::CostOf(plan, users, static_cast<int>(i)));
      const plan::verify::Work& found = derivation.work[i];
      if (stated.macs != found.macs || stated.recomputed_macs != found.recomputed_macs)
        text += "macs\n";
      for (const auto& [cause, bytes] : stated.off_chip_by_cause) {
        const auto counted = found.off_chip.find(cause);
        if (bytes != (counted == found.off_chip.end() ? 0 : counted->second)) text += cause + "\n";
      }
    }
  }
  for (const plan::verify::Violation& violation : findings.Take()) text += violation.message + "\n";
  return text;
}

}  // namespace tessera::search
