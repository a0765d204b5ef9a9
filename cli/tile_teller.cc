#include "tessera/cli/tile_teller.h"

#include <fmt/core.h>

#include <map>
#include <optional>
#include <utility>

#include "tessera/cli/inputs.h"
#include "tessera/cli/tables.h"
#include "tessera/encoder/adapt/halo.h"
#include "tessera/search/simulate/simulate.h"

namespace tessera::cli {
namespace {

using problem::Status;

// The first impossible rung above the largest that fits; where that is the last, the first of all.
std::optional<size_t> FindRefused(const search::LadderOutcome& outcome) {
  std::optional<size_t> first;
  for (size_t i = 0; i < outcome.rungs.size(); ++i) {
    if (outcome.rungs[i].status != Status::kInfeasible) continue;
    if (!outcome.largest || i > *outcome.largest) return i;
    if (!first) first = i;
  }
  return first;
}

// Of the impossible candidates with more elements than the largest that fits the smallest.
std::optional<size_t> FindNextLarger(const search::Staircase& found) {
  const auto candidates = found.tiles.Candidates();
  const auto elements = [&](size_t i) { return graph::ElementsOf(candidates[i].choice.tile); };
  std::optional<size_t> next;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (found.tiles.Known(i).status != Status::kInfeasible) continue;
    if (found.largest && elements(i) <= elements(*found.largest)) continue;
    if (!next || elements(i) < elements(*next)) next = i;
  }
  return next;
}

// With its cost where it fits and a simulator is handed in.
TileRow RowOf(const search::IntervalTiles& tiles, size_t candidate, const TileSubject& subject,
              const search::Simulator* simulator) {
  const encoder::SubgraphChoice& choice = tiles.Candidates()[candidate].choice;
  TileRow row{
      ShapeText(choice.tile),
      PolicyText(choice.policy.weights, choice.policy.in_place, choice.policy.halo, choice.policy.depth),
      tiles.TilingOf(candidate).tiles, tiles.Known(candidate)};
  if (simulator != nullptr && Fits(row.answer)) {
    const graph::TiledSubgraph tiling =
        encoder::CutTiles(subject.network, choice.interval, choice.tile, choice.policy.halo);
    row.cost = simulator->Run(tiling, choice.policy);
  }
  return row;
}

}  // namespace

base::Expected<TileAnswer> TileTeller::ClimbLadder(const std::string& path, base::Budget budget) const {
  const base::Expected<problem::ProblemDocument> input = LoadProblem(path);
  if (!input) return tl::unexpected(input.error());
  if (!input->ladder) {
    base::Diagnostic fault;
    fault.file = path;
    fault.message = "the file has no ladder";
    fault.expected = "a \"ladder\" with a size for every buffer on every rung";
    fault.hint = "`tessera alloc` answers for a Problem with one size each";
    return tl::unexpected(std::move(fault));
  }
  const std::vector<problem::Rung>& rungs = input->ladder->rungs;
  const EngineSet engines(search_);
  const search::LadderOutcome outcome =
      search::SearchLadder(input->problem, *input->ladder, engines.Pointers(), {.budget = budget}, stop_);
  TileAnswer answer;
  answer.subject = input->problem.name;
  if (outcome.largest) answer.largest = rungs[*outcome.largest].name;
  answer.largest_proven = outcome.largest_proven;
  answer.solves = outcome.solves;
  for (size_t i = 0; i < rungs.size(); ++i) answer.rows.push_back({rungs[i].name, "", 0, outcome.rungs[i]});
  if (const std::optional<size_t> refused = FindRefused(outcome)) {
    const problem::Problem sized = AtRung(input->problem, rungs[*refused]);
    std::optional<Collision> collision =
        reasons_.Find(sized, sized.memories[0].capacity, search_, stop_, &*input->ladder, *refused);
    if (collision) answer.refused = RefusedTile{rungs[*refused].name, *std::move(collision)};
  }
  return answer;
}

TileAnswer TileTeller::Tell(const TileSubject& subject, const search::Staircase& found, bool all) const {
  TileAnswer answer;
  answer.subject = subject.Text();
  answer.is_network = true;
  answer.notes = subject.notes;
  answer.largest_proven = found.largest_proven;
  answer.solves = found.tiles.Solves();
  answer.thinned = found.grid.thinned;
  if (found.fewest) answer.fewest = FewestTilesFound{found.fewest->tiles, found.fewest->proven};
  if (found.largest) answer.largest = ShapeText(found.tiles.Candidates()[*found.largest].choice.tile);

  const search::Simulator simulator(subject.network, subject.profile);
  std::map<size_t, std::string> reasons;
  for (const search::PolicyStaircase& policy : found.policies) {
    for (const search::Corner& corner : policy.corners) {
      CornerRow& row = answer.corners.emplace_back();
      row.row = RowOf(found.tiles, corner.candidate, subject, &simulator);
      row.proven = corner.proven;
      for (const size_t larger : corner.beyond) {
        const auto [reason, fresh] = reasons.try_emplace(larger);
        if (fresh) reason->second = ReasonOf(found.tiles, larger);
        row.beyond.push_back({ShapeText(found.tiles.Candidates()[larger].choice.tile),
                              found.tiles.Known(larger).status, reason->second});
      }
    }
  }
  for (size_t i = 0; all && i < found.tiles.Candidates().size(); ++i)
    answer.rows.push_back(RowOf(found.tiles, i, subject, nullptr));
  if (const std::optional<size_t> next = FindNextLarger(found)) {
    std::optional<Collision> collision = Explain(found.tiles, *next);
    if (collision) {
      answer.refused =
          RefusedTile{ShapeText(found.tiles.Candidates()[*next].choice.tile), *std::move(collision)};
    }
  }
  return answer;
}

ShapeAnswer TileTeller::Tell(const TileSubject& subject, const graph::TileShape& shape,
                             const search::IntervalTiles& tiles) const {
  const search::Simulator simulator(subject.network, subject.profile);
  ShapeAnswer answer{subject.Text(), ShapeText(shape), {}, subject.notes};
  for (size_t i = 0; i < tiles.Candidates().size(); ++i) {
    ShapeAnswer::UnderPolicy& policy = answer.policies.emplace_back();
    policy.row = RowOf(tiles, i, subject, &simulator);
    if (policy.row.answer.status == Status::kInfeasible) policy.collision = Explain(tiles, i);
  }
  return answer;
}

std::string TileTeller::ReasonOf(const search::IntervalTiles& tiles, size_t candidate) const {
  const search::RungAnswer& known = tiles.Known(candidate);
  if (known.status != Status::kInfeasible) return known.reason;
  const std::optional<Collision> collision = Explain(tiles, candidate);
  return collision ? collision->Summary() : known.reason;
}

std::optional<Collision> TileTeller::Explain(const search::IntervalTiles& tiles, size_t candidate) const {
  const problem::Problem problem = tiles.ProblemOf(candidate);
  return reasons_.Find(problem, problem.memories[0].capacity, search_, stop_);
}

}  // namespace tessera::cli
