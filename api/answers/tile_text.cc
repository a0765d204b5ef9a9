// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tessera/api/answers/answer_text.h"
#include "tessera/base/json_document.h"
#include "tessera/base/text.h"
#include "tessera/problem/files/json_sections.h"
#include "tessera/report/text_table.h"

namespace tessera::api::answers {

namespace {

using Json = nlohmann::ordered_json;
using problem::Status;

// Leaves out the peak, which depends on a placement.
Json ToJson(const plan::Metrics& cost) {
  Json json = Json::object();
  for (const plan::MetricField& field : plan::kMetricFields) {
    if (field.joining != plan::Joining::kSum) continue;
    if (const auto* count = std::get_if<int64_t plan::Metrics::*>(&field.member))
      json[std::string(field.key)] = cost.**count;
    if (const auto* number = std::get_if<double plan::Metrics::*>(&field.member))
      json[std::string(field.key)] = cost.**number;
  }
  json["bound_by"] = cost.bound_by;
  return json;
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

Json ToJson(const Collision& collision) {
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

}  // namespace tessera::api::answers
