#include "disagreements.h"

#include <utility>

#include "tessera/encoder/adapt/halo.h"
#include "tessera/plan/check_partition.h"
#include "tessera/plan/check_program.h"
#include "tessera/plan/derivation.h"
#include "tessera/search/simulate/simulate.h"

namespace tessera::search {

using hw_profiles::Profile;

plan::Plan AsPlan(const graph::Graph& graph, const Profile& profile,
                  const std::vector<encoder::SubgraphChoice>& choices, encoder::Program program) {
  plan::Plan plan;
  plan.network = graph;
  plan.profile = profile;
  plan.kept = encoder::KeptBy(choices);
  for (const encoder::SubgraphChoice& choice : choices) {
    const graph::TiledSubgraph tiling =
        encoder::CutTiles(graph, choice.interval, choice.tile, choice.policy.halo);
    plan::Subgraph& subgraph = plan.subgraphs.emplace_back();
    subgraph.interval = choice.interval;
    subgraph.tile = choice.tile;
    subgraph.tiles = tiling.tiles;
    subgraph.weights = choice.policy.weights;
    subgraph.in_place = choice.policy.in_place;
    subgraph.halo = choice.policy.halo;
    subgraph.depth = choice.policy.depth;
    subgraph.prefetch = choice.prefetch;
  }
  for (size_t i = 0; i < choices.size(); ++i) {
    const encoder::SubgraphChoice& choice = choices[i];
    plan.subgraphs[i].metrics =
        Simulate(graph, profile, encoder::CutTiles(graph, choice.interval, choice.tile, choice.policy.halo),
                 choice.policy, AheadOf(graph, profile, plan.subgraphs, i));
  }
  for (const encoder::ProgramBuffer& buffer : program.buffers) {
    plan.buffers.push_back({static_cast<plan::BufferKind>(buffer.kind), buffer.subgraph, buffer.tensor,
                            buffer.op, buffer.parity, buffer.slot});
  }
  for (const encoder::ProgramStep& step : program.steps) {
    plan.steps.push_back(
        {static_cast<plan::StepKind>(step.kind), step.subgraph, step.parity, step.op, step.transfers});
  }
  plan.problem = std::move(program.problem);
  return plan;
}

std::string Disagreements(const plan::Plan& plan) {
  plan::Findings findings(10);
  plan::CheckPartition(plan, findings);
  std::string text;
  if (findings.Empty()) {
    const plan::Derivation derivation = plan::Derive(plan);
    plan::CheckProgram(plan, derivation, findings);
    for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
      const plan::Metrics& told = plan.subgraphs[i].metrics;
      const plan::Work& found = derivation.work[i];
      if (told.macs != found.macs || told.recomputed_macs != found.recomputed_macs) text += "macs\n";
      for (const auto& [cause, bytes] : told.off_chip_by_cause) {
        const auto counted = found.off_chip.find(cause);
        if (bytes != (counted == found.off_chip.end() ? 0 : counted->second)) text += cause + "\n";
      }
    }
  }
  for (const plan::Violation& violation : findings.Take()) text += violation.message + "\n";
  return text;
}

}  // namespace tessera::search
