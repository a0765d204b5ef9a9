#include "tessera/cli/tile_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tessera/base/json_document.h"
#include "tessera/base/text.h"
#include "tessera/cli/inputs.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/problem/files/json_sections.h"
#include "tessera/report/text_table.h"
#include "tessera/search/cost/simulator.h"

namespace tessera::cli {

namespace {

using Json = nlohmann::ordered_json;
using problem::Status;

Json ToJson(const plan::Metrics& cost) {
  return {{"latency_cycles", cost.latency_cycles},
          {"energy_pj", cost.energy_pj},
          {"off_chip_bytes", cost.off_chip_bytes},
          {"macs", cost.macs},
          {"recomputed_macs", cost.recomputed_macs},
          {"unknown_work", cost.unknown_work},
          {"bound_by", cost.bound_by}};
}

Json ToJson(const TileRow& row) {
  Json json;
  json["tile"] = row.tile;
  if (row.tiles > 0) json["tiles"] = row.tiles;
  if (!row.policy.empty()) json["policy"] = row.policy;
  json["status"] = NameOf(row.answer.status);
  json["lower_bound"] = row.answer.lower_bound;
  if (row.answer.peak) json["peak"] = *row.answer.peak;
  json["engine"] = row.answer.engine;
  if (!row.answer.reason.empty()) json["reason"] = row.answer.reason;
  if (row.cost) json["cost"] = ToJson(*row.cost);
  return json;
}

Json ToJson(const report::Collision& collision) {
  return problem::files::ExplanationToJson(collision.problem, collision.explanation,
                                           collision.capacity);
}

std::vector<std::string> CostCells(const TileRow& row) {
  if (!row.cost) return {"", "", "", ""};
  return {report::Grouped(row.cost->latency_cycles), report::Rounded(row.cost->energy_pj / 1000),
          report::Grouped(row.cost->off_chip_bytes), report::Grouped(row.cost->recomputed_macs)};
}

std::vector<std::string> Joined(std::vector<std::string> cells,
                                const std::vector<std::string>& more) {
  cells.insert(cells.end(), more.begin(), more.end());
  return cells;
}

std::string PeakCell(const TileRow& row) {
  return row.answer.peak ? report::Grouped(*row.answer.peak) : "";
}

std::string RowsTable(const std::vector<TileRow>& rows) {
  report::Table table({"tile", "tiles", "policy", "status", "lower bound", "peak", "by"});
  for (const TileRow& row : rows) {
    table.Add({row.tile, row.tiles > 0 ? report::Grouped(row.tiles) : "", row.policy,
               std::string(NameOf(row.answer.status)), report::Grouped(row.answer.lower_bound),
               PeakCell(row), row.answer.implied_by ? "dominance" : row.answer.engine});
  }
  return table.Text();
}

std::string CornersTable(const std::vector<CornerRow>& corners) {
  report::Table table({"tile", "tiles", "policy", "peak B", "cycles", "energy nJ", "off-chip B",
                       "MACs recomputed", "maximal"});
  for (const CornerRow& corner : corners) {
    const TileRow& row = corner.row;
    std::vector<std::string> cells = {row.tile, report::Grouped(row.tiles), row.policy,
                                      PeakCell(row)};
    cells = Joined(std::move(cells), CostCells(row));
    cells.emplace_back(corner.proven ? "proven" : "open");
    table.Add(std::move(cells));
  }
  return table.Text();
}

std::string BeyondText(const std::vector<CornerRow>& corners) {
  std::string text;
  for (const CornerRow& corner : corners) {
    if (corner.beyond.empty()) continue;
    text += fmt::format("\nbeyond {}, {}\n", base::Printable(corner.row.tile), corner.row.policy);
    for (const BeyondCorner& larger : corner.beyond) {
      const bool fits = larger.status == Status::kFeasible || larger.status == Status::kOptimal;
      text += fmt::format("  {}: {}\n", base::Printable(larger.tile),
                          larger.status == Status::kInfeasible ? base::Printable(larger.reason)
                          : fits                               ? "fits"
                                 : "not decided: " + base::Printable(larger.reason));
    }
  }
  return text;
}

std::string_view WordFor(const TileAnswer& answer) {
  if (answer.largest) return "feasible";
  return answer.largest_proven ? "infeasible" : "unknown";
}

}  // namespace

std::string TileText(const TileAnswer& answer) {
  std::string text = base::Printable(answer.subject) + "\n\n";
  if (!answer.rows.empty()) text += RowsTable(answer.rows) + '\n';
  if (!answer.corners.empty()) text += CornersTable(answer.corners) + '\n';
  if (answer.thinned) text += "not all extents were tried: there are too many\n";
  if (answer.fewest) {
    text += fmt::format("fewest tiles: {}, {}\n", report::Grouped(answer.fewest->tiles),
                        answer.fewest->proven ? "proven" : "not proven");
  }
  if (answer.largest) {
    text += fmt::format("largest tile that fits: {}\n", base::Printable(*answer.largest));
    text += answer.largest_proven
                ? "every larger one is proven impossible\n"
                : "a larger one may exist: some were not decided within the budget\n";
  } else {
    text += answer.largest_proven ? "nothing fits: every tile is proven impossible\n"
                                  : "nothing found; not all is proven\n";
  }
  text += BeyondText(answer.corners);
  if (answer.refused) {
    text += fmt::format("\nwhy {} does not fit: {}", base::Printable(answer.refused->tile),
                        answer.refused->collision.Text(2));
  }
  return text;
}

std::string TileJson(const TileAnswer& answer) {
  Json document;
  document["subject"] = answer.subject;
  document["status"] = WordFor(answer);
  document["largest"] = answer.largest ? Json(*answer.largest) : nullptr;
  document["largest_proven"] = answer.largest_proven;
  if (answer.fewest)
    document["fewest_tiles"] = {{"tiles", answer.fewest->tiles}, {"proven", answer.fewest->proven}};
  document["solves"] = answer.solves;
  if (answer.is_network) {
    document["notes"] = answer.notes;
    document["all_extents"] = !answer.thinned;
    document["corners"] = Json::array();
    for (const CornerRow& corner : answer.corners) {
      Json entry = ToJson(corner.row);
      entry["proven"] = corner.proven;
      entry["beyond"] = Json::array();
      for (const BeyondCorner& larger : corner.beyond) {
        entry["beyond"].push_back(
            {{"tile", larger.tile}, {"status", NameOf(larger.status)}, {"reason", larger.reason}});
      }
      document["corners"].push_back(std::move(entry));
    }
  }
  if (!answer.is_network || !answer.rows.empty()) {
    document["candidates"] = Json::array();
    for (const TileRow& row : answer.rows) document["candidates"].push_back(ToJson(row));
  }
  if (answer.refused) {
    document["refused"] = {{"tile", answer.refused->tile},
                           {"reason", answer.refused->collision.Summary()},
                           {"explanation", ToJson(answer.refused->collision)}};
  }
  return base::WriteJson(document);
}

problem::Status ShapeAnswer::Status() const {
  if (std::any_of(policies.begin(), policies.end(),
                  [](const UnderPolicy& each) { return search::tiling::Fits(each.row.answer); }))
    return problem::Status::kFeasible;
  const bool refused = std::all_of(policies.begin(), policies.end(), [](const UnderPolicy& each) {
    return each.row.answer.status == problem::Status::kInfeasible;
  });
  return refused ? problem::Status::kInfeasible : problem::Status::kUnknown;
}

std::string ShapeAnswerText(const ShapeAnswer& answer) {
  std::string text = fmt::format("{}, tile {}\n\n", base::Printable(answer.subject), answer.tile);
  report::Table table({"policy", "tiles", "status", "lower bound", "peak B", "cycles", "energy nJ",
                       "off-chip B", "MACs recomputed"});
  for (const ShapeAnswer::UnderPolicy& each : answer.policies) {
    const TileRow& row = each.row;
    std::vector<std::string> cells = {row.policy, report::Grouped(row.tiles),
                                      std::string(NameOf(row.answer.status)),
                                      report::Grouped(row.answer.lower_bound), PeakCell(row)};
    table.Add(Joined(std::move(cells), CostCells(row)));
  }
  text += table.Text();
  for (const ShapeAnswer::UnderPolicy& each : answer.policies) {
    if (each.collision) {
      text +=
          fmt::format("\nwhy it does not fit, {}: {}", each.row.policy, each.collision->Text(2));
    } else if (!search::tiling::Fits(each.row.answer)) {
      text += fmt::format("\n{}: {}\n", each.row.policy, base::Printable(each.row.answer.reason));
    }
  }
  return text;
}

std::string ShapeAnswerJson(const ShapeAnswer& answer) {
  Json document;
  document["subject"] = answer.subject;
  document["tile"] = answer.tile;
  document["status"] = NameOf(answer.Status());
  document["notes"] = answer.notes;
  document["policies"] = Json::array();
  for (const ShapeAnswer::UnderPolicy& each : answer.policies) {
    Json entry = ToJson(each.row);
    if (each.collision) {
      entry["reason"] = each.collision->Summary();
      entry["explanation"] = ToJson(*each.collision);
    }
    document["policies"].push_back(std::move(entry));
  }
  return base::WriteJson(document);
}

namespace {

using problem::Status;

// The first impossible candidate above the largest that fits; where that is the last, the first of
// all.
std::optional<size_t> FindRefused(const search::tiling::CandidateOutcome& outcome) {
  std::optional<size_t> first;
  for (size_t i = 0; i < outcome.candidates.size(); ++i) {
    if (outcome.candidates[i].status != Status::kInfeasible) continue;
    if (!outcome.largest || i > *outcome.largest) return i;
    if (!first) first = i;
  }
  return first;
}

// Of the impossible candidates with more elements than the largest that fits the smallest.
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

// With its cost where it fits and a simulator is handed in.
TileRow RowOf(const search::tiling::IntervalTiles& tiles, size_t candidate,
              const TileSubject& subject, const search::cost::Simulator* simulator) {
  const encoder::program::SubgraphChoice& choice = tiles.Candidates()[candidate].choice;
  TileRow row{report::ShapeText(choice.tile),
              report::PolicyText(choice.policy.weights, choice.policy.in_place, choice.policy.halo,
                                 choice.policy.k_extent),
              tiles.TilingOf(candidate).tiles, tiles.Known(candidate)};
  if (simulator != nullptr && Fits(row.answer)) {
    const graph::tiling::TiledSubgraph tiling = encoder::program::CutTiles(
        subject.network, choice.interval, choice.tile, choice.policy.halo);
    row.cost = simulator->Run(tiling, choice.policy);
  }
  return row;
}

}  // namespace

base::Expected<TileAnswer> TilePrinter::SearchTileCandidates(const std::string& path,
                                                             base::Budget budget) const {
  const base::Expected<problem::files::ProblemDocument> input = LoadProblem(path);
  if (!input) return tl::unexpected(input.error());
  if (!input->ladder) {
    base::Diagnostic fault;
    fault.file = path;
    fault.message = "the file has no tile candidates";
    fault.expected = "a \"tile_candidates\" with a size for every buffer on every candidate";
    fault.hint = "`tessera alloc` answers for a Problem with one size each";
    return tl::unexpected(std::move(fault));
  }
  const std::vector<problem::CandidateSizes>& candidates = input->ladder->candidates;
  const EngineSet engines(search_);
  const search::tiling::CandidateOutcome outcome = search::tiling::SearchCandidates(
      input->problem, *input->ladder, engines.Pointers(), {.budget = budget}, stop_);
  TileAnswer answer;
  answer.subject = input->problem.name;
  if (outcome.largest) answer.largest = candidates[*outcome.largest].name;
  answer.largest_proven = outcome.largest_proven;
  answer.solves = outcome.solves;
  for (size_t i = 0; i < candidates.size(); ++i)
    answer.rows.push_back({candidates[i].name, "", 0, outcome.candidates[i]});
  if (const std::optional<size_t> refused = FindRefused(outcome)) {
    const problem::Problem sized = AtCandidate(input->problem, candidates[*refused]);
    std::optional<report::Collision> collision =
        reasons_.Find(sized, sized.memories[0].capacity, search_, stop_, &*input->ladder, *refused);
    if (collision) answer.refused = RefusedTile{candidates[*refused].name, *std::move(collision)};
  }
  return answer;
}

TileAnswer TilePrinter::Tell(const TileSubject& subject, const search::tiling::Staircase& found,
                             bool all) const {
  TileAnswer answer;
  answer.subject = subject.Text();
  answer.is_network = true;
  answer.notes = subject.notes;
  answer.largest_proven = found.largest_proven;
  answer.solves = found.tiles.Solves();
  answer.thinned = found.grid.thinned;
  if (found.fewest) answer.fewest = FewestTilesFound{found.fewest->tiles, found.fewest->proven};
  if (found.largest)
    answer.largest = report::ShapeText(found.tiles.Candidates()[*found.largest].choice.tile);

  const search::cost::Simulator simulator(subject.network, subject.profile);
  std::map<size_t, std::string> reasons;
  for (const search::tiling::PolicyStaircase& policy : found.policies) {
    for (const search::tiling::Corner& corner : policy.corners) {
      CornerRow& row = answer.corners.emplace_back();
      row.row = RowOf(found.tiles, corner.candidate, subject, &simulator);
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
    std::optional<report::Collision> collision = Explain(found.tiles, *next);
    if (collision) {
      answer.refused = RefusedTile{report::ShapeText(found.tiles.Candidates()[*next].choice.tile),
                                   *std::move(collision)};
    }
  }
  return answer;
}

ShapeAnswer TilePrinter::Tell(const TileSubject& subject, const graph::tiling::TileShape& shape,
                              const search::tiling::IntervalTiles& tiles) const {
  const search::cost::Simulator simulator(subject.network, subject.profile);
  ShapeAnswer answer{subject.Text(), report::ShapeText(shape), {}, subject.notes};
  for (size_t i = 0; i < tiles.Candidates().size(); ++i) {
    ShapeAnswer::UnderPolicy& policy = answer.policies.emplace_back();
    policy.row = RowOf(tiles, i, subject, &simulator);
    if (policy.row.answer.status == Status::kInfeasible) policy.collision = Explain(tiles, i);
  }
  return answer;
}

std::string TilePrinter::ReasonOf(const search::tiling::IntervalTiles& tiles,
                                  size_t candidate) const {
  const search::tiling::CandidateAnswer& known = tiles.Known(candidate);
  if (known.status != Status::kInfeasible) return known.reason;
  const std::optional<report::Collision> collision = Explain(tiles, candidate);
  return collision ? collision->Summary() : known.reason;
}

std::optional<report::Collision> TilePrinter::Explain(const search::tiling::IntervalTiles& tiles,
                                                      size_t candidate) const {
  const problem::Problem problem = tiles.ProblemOf(candidate);
  return reasons_.Find(problem, problem.memories[0].capacity, search_, stop_);
}

}  // namespace tessera::cli
