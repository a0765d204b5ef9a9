// SPDX-License-Identifier: Apache-2.0

#include <tessera/tile.h>

#include <string>
#include <utility>
#include <vector>

#include "tessera/api/answers/answer_text.h"
#include "tessera/api/content.h"
#include "tessera/api/parts/tile_answers.h"
#include "tessera/plan/plan.h"
#include "tessera/search/tiling/feasible_frontier.h"

namespace tessera::api {
namespace {

using search::tiling::IntervalTiles;

Result<parts::TileSubject> SubjectOf(const Network& network, const Profile& profile,
                                     const std::string& operators) {
  const Network::Content& source = network.Get();
  const base::Expected<graph::Interval> interval =
      parts::ParseInterval(operators, source.graph, "operators");
  if (!interval) return BadInput(interval.error());
  std::vector<std::string> notes = source.notes;
  if (auto note = plan::NoteOnUnknownWork(source.graph, {})) notes.push_back(*std::move(note));
  if (!source.nodes.empty()) notes.push_back(source.nodes);
  return parts::MakeTileSubject(source.graph, profile.Get().profile, *interval, std::move(notes));
}

Result<Problem> Formulate(const Network& network, const Profile& profile,
                          const TileChoice& choice) {
  const Result<parts::TileSubject> subject = SubjectOf(network, profile, choice.operators);
  if (!subject) return subject.Error();
  auto problem = parts::FormulateTile(*subject, choice.tile, choice.policy);
  if (!problem) {
    return AsError(
        problem.error().is_unsupported ? CallStatus::kUnsupported : CallStatus::kBadInput,
        problem.error().diagnostic);
  }
  return AsProblem({*std::move(problem), std::nullopt});
}

Tile TileOf(const api::answers::TileRow& row) {
  Tile tile;
  tile.shape = row.tile;
  tile.policy = row.policy;
  tile.outcome = OutcomeOf(row.answer.status);
  tile.tiles = row.tiles;
  tile.lower_bound = row.answer.lower_bound;
  tile.peak = row.answer.peak;
  tile.reason = row.answer.reason;
  if (row.cost) {
    tile.latency_cycles = row.cost->latency_cycles;
    tile.energy_pj = row.cost->energy_pj;
    tile.off_chip_bytes = row.cost->off_chip_bytes;
  }
  return tile;
}

std::vector<std::string> SentencesOf(const api::answers::Collision& collision) {
  return problem::Sentences(collision.problem, collision.explanation, collision.capacity);
}

// With `all`, the rows include the corners, which are recognised by shape and policy.
TileAnswer AnswerOf(const api::answers::TileAnswer& found, bool all, bool stopped) {
  TileAnswer answer;
  for (const api::answers::CornerRow& corner : found.corners) {
    Tile tile = TileOf(corner.row);
    tile.is_corner = true;
    tile.is_proven_corner = corner.proven;
    answer.tiles.push_back(std::move(tile));
  }
  const size_t corners = answer.tiles.size();
  for (const api::answers::TileRow& row : found.rows) {
    const auto is_same = [&row](const Tile& tile) {
      return tile.shape == row.tile && tile.policy == row.policy;
    };
    const auto end = answer.tiles.begin() + static_cast<std::ptrdiff_t>(corners);
    if ((all || !found.is_network) && std::none_of(answer.tiles.begin(), end, is_same))
      answer.tiles.push_back(TileOf(row));
  }
  answer.outcome = found.largest          ? Outcome::kFeasible
                   : found.largest_proven ? Outcome::kInfeasible
                                          : Outcome::kUnknown;
  answer.largest = found.largest.value_or("");
  answer.largest_is_proven = found.largest_proven;
  if (found.refused) answer.explanation = SentencesOf(found.refused->collision);
  answer.text = api::answers::TileText(found);
  answer.json = api::answers::TileJson(found);
  answer.stopped = stopped;
  return answer;
}

TileAnswer AnswerOf(const api::answers::ShapeAnswer& found, bool stopped) {
  TileAnswer answer;
  for (const api::answers::ShapeAnswer::UnderPolicy& policy : found.policies) {
    answer.tiles.push_back(TileOf(policy.row));
    if (policy.collision && answer.explanation.empty())
      answer.explanation = SentencesOf(*policy.collision);
  }
  answer.outcome = OutcomeOf(found.Status());
  if (answer.outcome == Outcome::kFeasible) answer.largest = found.tile;
  answer.text = api::answers::ShapeAnswerText(found);
  answer.json = api::answers::ShapeAnswerJson(found);
  answer.stopped = stopped;
  return answer;
}

Result<TileAnswer> AskShape(const parts::TileSubject& subject, const std::string& words,
                            search::tiling::TileOptions options, const parts::TileAnswers& answers,
                            const base::Stop& stop) {
  const auto shape =
      parts::ParseTileShape(words, subject.network, subject.profile, subject.interval);
  if (!shape) return BadInput(shape.error());
  options.shapes = {*shape};
  base::Expected<IntervalTiles> tiles =
      IntervalTiles::Build(subject.network, subject.profile, subject.interval, options);
  if (!tiles) return AsError(CallStatus::kUnsupported, tiles.error());
  tiles->DecideAll(stop);
  if (const base::Diagnostic* fault = tiles->Fault()) return AsError(CallStatus::kInternal, *fault);
  return AnswerOf(answers.Build(subject, *shape, *tiles), stop.HasCutOff());
}

Result<TileAnswer> SearchCandidates(const Problem& problem, const TileOptions& given) {
  if (auto error = FindBadOption(given)) return *std::move(error);
  if (!given.operators.empty() || !given.tile.empty())
    return BadArgument("a problem has neither operators nor tiles", "neither of both");
  const CallStop stop(given);
  const parts::EngineSet engines = EnginesOf(given);
  const parts::TileAnswers answers(engines, given.budget, given.explain, stop.Get());
  const base::Expected<api::answers::TileAnswer> found =
      answers.SearchCandidates(problem.Get().document, "problem");
  if (!found) return BadInput(found.error());
  return AnswerOf(*found, true, stop.Get().HasCutOff());
}

}  // namespace

Result<TileAnswer> SearchTiles(const Network& network, const Profile& profile,
                               const TileOptions& given, const KeptEngines* kept) {
  if (auto error = FindBadOption(given)) return *std::move(error);
  const Result<parts::TileSubject> subject = SubjectOf(network, profile, given.operators);
  if (!subject) return subject.Error();
  const CallStop stop(given);
  std::optional<KeptEngines> own;
  if (kept == nullptr) {
    own.emplace(EnginesOf(given), search::tiling::ResultCache::kUsualBytes);
    kept = &*own;
  }
  search::tiling::TileOptions options;
  options.engines = kept->cached.Pointers();
  options.budget = base::Budget{given.budget.value_or(parts::kTileBudget)};
  const parts::TileAnswers answers(kept->engines, given.budget, given.explain, stop.Get());
  if (!given.tile.empty()) return AskShape(*subject, given.tile, options, answers, stop.Get());
  const base::Expected<search::tiling::Staircase> found = search::tiling::FindStaircase(
      subject->network, subject->profile, subject->interval, options, stop.Get());
  if (!found) return AsError(CallStatus::kUnsupported, found.error());
  if (const base::Diagnostic* fault = found->tiles.Fault())
    return AsError(CallStatus::kInternal, *fault);
  return AnswerOf(answers.Build(*subject, *found, given.all), given.all, stop.Get().HasCutOff());
}

}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<Problem> MakeProblem(const Network& network, const Profile& profile,
                            const TileChoice& choice) {
  return api::Guarded([&] { return api::Formulate(network, profile, choice); });
}

Result<TileAnswer> FindTiles(const Network& network, const Profile& profile,
                             const TileOptions& options) {
  return api::Guarded([&] { return api::SearchTiles(network, profile, options, nullptr); });
}

Result<TileAnswer> FindTiles(const Problem& problem, const TileOptions& options) {
  return api::Guarded([&] { return api::SearchCandidates(problem, options); });
}

}  // namespace v0
}  // namespace tessera
