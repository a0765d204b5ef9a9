// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/tile_answers.h"

#include <map>
#include <utility>

#include "tessera/api/parts/allocation.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/report/text_table.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/tiling/candidate_search.h"

namespace tessera::api::parts {
namespace {

using problem::Status;

// Returns the first impossible candidate above the largest that fits; if none is above it, the
// first impossible one.
std::optional<size_t> FindRefused(const search::tiling::CandidateOutcome& outcome) {
  std::optional<size_t> first;
  for (size_t i = 0; i < outcome.candidates.size(); ++i) {
    if (outcome.candidates[i].status != Status::kInfeasible) continue;
    if (!outcome.largest || i > *outcome.largest) return i;
    if (!first) first = i;
  }
  return first;
}

// Returns the smallest of the impossible candidates with more elements than the largest that fits.
std::optional<size_t> FindNextLarger(const search::tiling::Staircase& found) {
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

// The row has a cost if the candidate fits and there is a simulator.
api::answers::TileRow RowOf(const search::tiling::IntervalTiles& tiles, size_t candidate,
                            const TileSubject& subject, const search::cost::Simulator* simulator) {
  const encoder::program::SubgraphChoice& choice = tiles.Candidates()[candidate].choice;
  api::answers::TileRow row{
      report::ShapeText(choice.tile),
      report::PolicyText(choice.policy.weights, choice.policy.in_place, choice.policy.halo,
                         choice.policy.k_extent, choice.policy.serialized),
      tiles.TilingOf(candidate).tiles, tiles.Known(candidate)};
  if (simulator != nullptr && Fits(row.answer)) {
    const graph::tiling::TiledSubgraph tiling = encoder::program::CutTiles(
        subject.network, choice.interval, choice.tile, choice.policy.halo);
    row.cost = simulator->Run(tiling, choice.policy);
  }
  return row;
}

}  // namespace

base::Expected<api::answers::TileAnswer> TileAnswers::SearchCandidates(
    const problem::files::ProblemDocument& input, const std::string& name) const {
  if (!input.ladder) {
    base::Diagnostic fault;
    fault.file = name;
    fault.message = "the file has no tile candidates";
    fault.expected = "a \"tile_candidates\" with a size for every buffer on every candidate";
    fault.hint = "`tessera alloc` answers for a Problem with one size each";
    return tl::unexpected(std::move(fault));
  }
  const std::vector<problem::CandidateSizes>& candidates = input.ladder->candidates;
  const search::tiling::CandidateOutcome outcome = search::tiling::SearchCandidates(
      input.problem, *input.ladder, engines_.Pointers(),
      {.budget = base::Budget{budget_.value_or(kTileBudget)}}, stop_);
  api::answers::TileAnswer answer;
  answer.subject = input.problem.name;
  if (outcome.largest) answer.largest = candidates[*outcome.largest].name;
  answer.largest_proven = outcome.largest_proven;
  answer.solves = outcome.solves;
  for (size_t i = 0; i < candidates.size(); ++i)
    answer.rows.push_back({candidates[i].name, "", 0, outcome.candidates[i]});
  if (const std::optional<size_t> refused = FindRefused(outcome)) {
    const problem::Problem sized = AtCandidate(input.problem, candidates[*refused]);
    std::optional<api::answers::Collision> collision = Explain(sized, &*input.ladder, *refused);
    if (collision)
      answer.refused = api::answers::RefusedTile{candidates[*refused].name, *std::move(collision)};
  }
  return answer;
}

api::answers::TileAnswer TileAnswers::Build(const TileSubject& subject,
                                            const search::tiling::Staircase& found,
                                            bool all) const {
  api::answers::TileAnswer answer;
  answer.subject = subject.Text();
  answer.is_network = true;
  answer.notes = subject.notes;
  answer.largest_proven = found.largest_proven;
  answer.solves = found.tiles.Solves();
  answer.thinned = found.grid.thinned;
  if (found.fewest)
    answer.fewest = api::answers::FewestTilesFound{found.fewest->tiles, found.fewest->proven};
  if (found.largest)
    answer.largest = report::ShapeText(found.tiles.Candidates()[*found.largest].choice.tile);

  const search::cost::Simulator simulator(subject.network, subject.profile);
  std::map<size_t, std::string> reasons;
  for (const search::tiling::PolicyStaircase& policy : found.policies) {
    for (const search::tiling::Corner& corner : policy.corners) {
      api::answers::CornerRow& row = answer.corners.emplace_back();
      row.row = RowOf(found.tiles, corner.candidate, subject,
                      stop_.IsInterrupted() ? nullptr : &simulator);
      row.proven = corner.proven;
      for (const size_t larger : corner.beyond) {
        const auto [reason, fresh] = reasons.try_emplace(larger);
        if (fresh) reason->second = ReasonOf(found.tiles, larger);
        row.beyond.push_back({report::ShapeText(found.tiles.Candidates()[larger].choice.tile),
                              found.tiles.Known(larger).status, reason->second});
      }
    }
  }
  for (size_t i = 0; all && i < found.tiles.Candidates().size(); ++i)
    answer.rows.push_back(RowOf(found.tiles, i, subject, nullptr));
  if (const std::optional<size_t> next = FindNextLarger(found)) {
    std::optional<api::answers::Collision> collision = Explain(found.tiles, *next);
    if (collision) {
      answer.refused = api::answers::RefusedTile{
          report::ShapeText(found.tiles.Candidates()[*next].choice.tile), *std::move(collision)};
    }
  }
  return answer;
}

api::answers::ShapeAnswer TileAnswers::Build(const TileSubject& subject,
                                             const graph::tiling::TileShape& shape,
                                             const search::tiling::IntervalTiles& tiles) const {
  const search::cost::Simulator simulator(subject.network, subject.profile);
  api::answers::ShapeAnswer answer{subject.Text(), report::ShapeText(shape), {}, subject.notes};
  for (size_t i = 0; i < tiles.Candidates().size(); ++i) {
    api::answers::ShapeAnswer::UnderPolicy& policy = answer.policies.emplace_back();
    policy.row = RowOf(tiles, i, subject, &simulator);
    if (policy.row.answer.status == Status::kInfeasible) policy.collision = Explain(tiles, i);
  }
  return answer;
}

// After a deadline, cheap reasons are still of use; after an interrupt none is.
bool TileAnswers::IsTooLate() const {
  const auto deadline = stop_.Deadline();
  return stop_.IsInterrupted() || (deadline && base::Stop::Clock::now() > *deadline + kLateReasons);
}

std::string TileAnswers::ReasonOf(const search::tiling::IntervalTiles& tiles,
                                  size_t candidate) const {
  const search::tiling::CandidateAnswer& known = tiles.Known(candidate);
  if (known.status != Status::kInfeasible) return known.reason;
  const std::optional<api::answers::Collision> collision = Explain(tiles, candidate);
  return collision ? collision->Summary() : known.reason;
}

std::optional<api::answers::Collision> TileAnswers::Explain(
    const search::tiling::IntervalTiles& tiles, size_t candidate) const {
  return Explain(tiles.ProblemOf(candidate), nullptr, 0);
}

std::optional<api::answers::Collision> TileAnswers::Explain(const problem::Problem& problem,
                                                            const problem::Ladder* ladder,
                                                            size_t candidate) const {
  if (!explains_ || IsTooLate()) return std::nullopt;
  const problem::Bytes capacity = problem.memories[0].capacity;
  return api::answers::Collision{
      problem, capacity,
      ExplainInfeasible(problem, capacity, engines_, budget_, stop_, ladder, candidate)};
}

}  // namespace tessera::api::parts
