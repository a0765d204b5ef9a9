// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/output.h"

#include <fmt/format.h>
#include <tessera/tessera.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tessera/base/json_document.h"
#include "tessera/explore/tables.h"

namespace tessera::explore {
namespace {

constexpr size_t kIdLength = 12;  // of the key of an answer, enough to find it in a store

Json ListOf(const Values& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(std::isfinite(value) ? AsJson(value) : Json());
  return list;
}

Json FrontJson(const Front& front) {
  Json list = Json::array();
  for (const FrontPoint& each : front.Sorted())
    list.push_back(
        {{"point", each.point}, {"minimized", each.metric}, {"values", ListOf(each.values)}});
  return list;
}

Json PairJson(const Spec& spec, const Pair& pair) {
  Json json = {{"network", spec.networks[pair.of.network].name},
               {"point", pair.of.point},
               {"settled", NameOf(pair.settled)}};
  if (pair.is_infeasible) json["outcome"] = "infeasible";
  if (!pair.reason.empty()) json["reason"] = pair.reason;
  if (!pair.least.empty()) json["least"] = ListOf(pair.least);
  for (const auto& [metric, point] : pair.from) json["bounds_from"][metric] = point;
  for (size_t i = 0; i < pair.answers.size(); ++i) {
    const Answer& answer = pair.answers[i];
    Json item = {{"id", answer.key.substr(0, kIdLength)},
                 {"minimized", answer.metric},
                 {"outcome", answer.outcome}};
    if (answer.HasPlan()) {
      item["metrics"] = AsJson(answer.values);
      item["values"] = ListOf(pair.values[i]);
    } else {
      item["reason"] = answer.reason;
    }
    json["answers"].push_back(std::move(item));
  }
  return json;
}

Json PointsJson(const Spec& spec, const Exploration& exploration) {
  Json list = Json::array();
  for (size_t i = 0; i < exploration.points.size(); ++i) {
    const Point& point = exploration.points[i];
    Json json = {{"point", i}, {"profile", spec.space.Bases()[point.base].name}};
    json["values"] = point.values;
    json["digest"] = DigestOf(point.text);
    if (!exploration.areas.empty()) json["area_mm2"] = AsJson(exploration.areas[i]);
    list.push_back(std::move(json));
  }
  return list;
}

void AddRefusedNetworks(const Spec& spec, Json& document) {
  for (const RefusedNetwork& refused : spec.refused_networks)
    document["refused_networks"].push_back({{"name", refused.name}, {"reason", refused.reason}});
}

std::string RefusedNetworksText(const Json& document) {
  std::string text;
  for (const Json& refused : document.value("refused_networks", Json::array()))
    text += fmt::format("'{}' is no network: {}\n", refused.at("name").get<std::string>(),
                        refused.at("reason").get<std::string>());
  return text;
}

const Json* FindAnswer(const Json& document, const std::string& network, const Json& entry) {
  for (const Json& pair : document.at("pairs")) {
    if (pair.at("network") != network || pair.at("point") != entry.at("point")) continue;
    for (const Json& answer : pair.value("answers", Json::array())) {
      if (answer.at("minimized") == entry.at("minimized")) return &pair;
    }
  }
  return nullptr;
}

std::string IdOf(const Json& document, const std::string& network, const Json& entry) {
  const Json* pair = FindAnswer(document, network, entry);
  if (pair == nullptr) return "";
  for (const Json& answer : pair->at("answers")) {
    if (answer.at("minimized") == entry.at("minimized")) return answer.at("id");
  }
  return "";
}

std::string FrontText(const Json& document, const std::string& network, const Json& front) {
  const bool has_ids = !network.empty();
  std::vector<std::vector<std::string>> rows(1);
  rows.front().emplace_back("point");
  for (const Json& axis : document.at("axes")) rows.front().push_back(axis.at("name"));
  for (const Json& objective : document.at("objectives"))
    rows.front().push_back(objective.get<std::string>());
  rows.front().emplace_back("minimized");
  if (has_ids) rows.front().emplace_back("id");
  for (const Json& entry : front) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(Short(entry.at("point")));
    for (const Json& value : document.at("points")[entry.at("point").get<size_t>()].at("values"))
      row.push_back(Short(value));
    for (const Json& value : entry.at("values")) row.push_back(Short(value));
    row.push_back(entry.at("minimized"));
    if (has_ids) row.push_back(IdOf(document, network, entry));
  }
  return AlignedTable(rows);
}

void Insert(std::string& page, std::string_view mark, std::string_view content) {
  const size_t at = page.find(mark);
  if (at != std::string::npos) page.replace(at, mark.size(), content);
}

// Returns JSON that cannot end the script element, whatever names it contains.
std::string AsScriptData(const Json& document) {
  std::string text;
  for (const char c : document.dump(-1, ' ', true, Json::error_handler_t::replace))
    text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return text;
}

}  // namespace

std::string DigestOf(const Spec& spec, const std::vector<Point>& points,
                     const std::vector<double>& areas, bool plan_all) {
  std::string text = std::string(Version()) + (plan_all ? " all\n" : "\n");
  for (const NetworkEntry& network : spec.networks) {
    Json json = {network.name,    network.digest,      network.weight,          network.limits,
                 network.columns, network.import.dims, network.import.floats_as};
    text += json.dump() + "\n";
  }
  for (const RefusedNetwork& refused : spec.refused_networks)
    text += "refused " + refused.name + "\n";
  for (const Objective& objective : spec.objectives) text += objective.name + "\n";
  const Settings& settings = spec.settings;
  text += Json{settings.budget,
               settings.seed,
               settings.max_operators.value_or(0),
               settings.keep_order,
               settings.keep_boundaries,
               spec.wants_network_fronts,
               spec.wants_set_front}
              .dump();
  text += Json(areas).dump() + "\n";
  for (const Point& point : points) text += Json(point.values).dump() + point.text + "\n";
  return explore::DigestOf(text);
}

Json AsDocument(const Spec& spec, const Exploration& exploration) {
  Json document = {{"format", "tessera-exploration"}, {"version", 1}, {"made_by", Version()}};
  for (const Objective& objective : spec.objectives)
    document["objectives"].push_back(objective.name);
  document["minimized"] = spec.metrics;
  for (const NetworkEntry& network : spec.networks)
    document["networks"].push_back({{"name", network.name},
                                    {"weight", network.weight},
                                    {"columns", AsJson(network.columns)},
                                    {"key", NetworkKey(network)},
                                    {"options", OptionsText(spec.settings, network, "")}});
  AddRefusedNetworks(spec, document);
  document["axes"] = Json::array();
  for (const Axis& axis : spec.space.Axes())
    document["axes"].push_back({{"name", axis.name}, {"path", axis.path}});
  document["points"] = PointsJson(spec, exploration);
  document["pairs"] = Json::array();
  for (const Pair& pair : exploration.pairs) document["pairs"].push_back(PairJson(spec, pair));
  document["fronts"] = Json::object();
  if (spec.wants_network_fronts) {
    for (size_t i = 0; i < spec.networks.size(); ++i)
      document["fronts"][spec.networks[i].name] = FrontJson(exploration.network_fronts[i]);
  }
  if (spec.wants_set_front) document["set_front"] = FrontJson(exploration.set_front);
  return document;
}

std::string DocumentText(const Json& document) { return base::WriteJson(document); }

std::string DocumentCsv(const Json& document) {
  std::string text = "network,point";
  for (const Json& axis : document.at("axes")) text += "," + CsvCell(axis.at("name"));
  text += ",settled,outcome,minimized,id";
  std::vector<std::string> metrics;
  for (const Json& pair : document.at("pairs")) {
    for (const Json& answer : pair.value("answers", Json::array())) {
      if (!metrics.empty() || !answer.contains("metrics")) continue;
      for (const auto& [name, value] : answer.at("metrics").items()) metrics.push_back(name);
    }
  }
  for (const std::string& metric : metrics) text += "," + metric;
  for (const Json& objective : document.at("objectives"))
    text += "," + CsvCell("objective " + objective.get<std::string>());
  text += "\n";
  const size_t objectives = document.at("objectives").size();
  for (const Json& pair : document.at("pairs")) {
    const Json& point = document.at("points")[pair.at("point").get<size_t>()];
    std::string begin = CsvCell(pair.at("network")) + "," + CsvCell(pair.at("point"));
    for (const Json& value : point.at("values")) begin += "," + CsvCell(value);
    begin += "," + CsvCell(pair.at("settled"));
    if (!pair.contains("answers")) {
      text += begin + "," + pair.value("outcome", "") + ",," +
              std::string(metrics.size() + objectives, ',') + "\n";
      continue;
    }
    for (const Json& answer : pair.at("answers")) {
      text += begin + "," + CsvCell(answer.at("outcome")) + "," + CsvCell(answer.at("minimized")) +
              "," + CsvCell(answer.at("id"));
      const bool has_plan = answer.contains("metrics");
      for (const std::string& metric : metrics)
        text += "," + (has_plan ? CsvCell(answer.at("metrics").at(metric)) : "");
      for (size_t i = 0; i < objectives; ++i)
        text += "," + (has_plan ? CsvCell(answer.at("values")[i]) : "");
      text += "\n";
    }
  }
  return text;
}

std::string DescribeDocument(const Json& document) {
  std::map<std::string, int> settled;
  std::map<std::string, int> refusals;
  std::map<std::string, int> without_value;
  for (const Json& pair : document.at("pairs")) {
    const std::string how = pair.at("settled");
    ++settled[how];
    if (how == "refused") ++refusals[pair.at("reason")];
    if (how == "planned" && pair.contains("reason")) ++without_value[pair.at("reason")];
  }
  std::string text = fmt::format("{} points, {} networks, {} pairs:", document.at("points").size(),
                                 document.at("networks").size(), document.at("pairs").size());
  for (const auto& [how, count] : settled)
    text += fmt::format(" {} {}", count,
                        how == "bound"      ? "settled by bounds"
                        : how == "monotone" ? "settled by monotonicity"
                                            : how);
  text += "\n";
  for (const auto& [reason, count] : refusals)
    text += fmt::format("{} of them refused: {}\n", count, reason);
  for (const auto& [reason, count] : without_value)
    text += fmt::format("{} of them on no front: {}\n", count, reason);
  text += RefusedNetworksText(document);
  for (const auto& [network, front] : document.at("fronts").items())
    text += fmt::format("\nfront of {}: {} points\n{}", network, front.size(),
                        FrontText(document, network, front));
  if (document.contains("set_front"))
    text += fmt::format("\nfront of the set: {} points\n{}", document.at("set_front").size(),
                        FrontText(document, "", document.at("set_front")));
  return text;
}

Json SpecAsDocument(const Spec& spec, const std::vector<Point>& points,
                    const std::vector<std::string>& faults) {
  Json document = {
      {"format", "tessera-exploration-plan"},          {"points", points.size()},
      {"combinations", spec.space.Combinations()},     {"networks", spec.networks.size()},
      {"pairs", points.size() * spec.networks.size()}, {"minimized", spec.metrics}};
  document["axes"] = Json::array();
  for (const Axis& axis : spec.space.Axes()) {
    Json item = {{"name", axis.name}, {"path", axis.path}};
    if (axis.expression) {
      item["expression"] = axis.expression->Text();
    } else {
      item["values"] = axis.values;
    }
    document["axes"].push_back(std::move(item));
  }
  for (const Objective& objective : spec.objectives)
    document["objectives"].push_back(objective.name);
  AddRefusedNetworks(spec, document);
  document["refused"] = Json::array();
  for (size_t i = 0; i < faults.size(); ++i) {
    if (!faults[i].empty()) document["refused"].push_back({{"point", i}, {"reason", faults[i]}});
  }
  return document;
}

std::string DescribeSpec(const Json& description) {
  std::string text =
      fmt::format("{} points of {} combinations, {} networks, {} pairs, {} plans each\n",
                  description.at("points").dump(), description.at("combinations").dump(),
                  description.at("networks").dump(), description.at("pairs").dump(),
                  description.at("minimized").size());
  for (const Json& axis : description.at("axes")) {
    const std::string name = axis.at("name");
    std::string values = axis.value("expression", "");
    for (const Json& value : axis.value("values", Json::array()))
      values += (values.empty() ? "" : ", ") + Short(value);
    text += fmt::format("  {}: {}", name, values);
    const std::string path = axis.at("path");
    text += name == path ? "\n" : fmt::format("   ({})\n", path);
  }
  for (const Json& objective : description.at("objectives"))
    text += fmt::format("  minimize {}\n", objective.get<std::string>());
  text += RefusedNetworksText(description);
  const Json& refused = description.at("refused");
  if (!refused.empty())
    text += fmt::format("{} points are no profile: {}\n", refused.size(),
                        refused.front().at("reason").get<std::string>());
  return text;
}

std::string WritePage(const Json& document) {
  std::string page(PageTemplate());
  // The data is inserted last, because it may contain any text, including marks.
  Insert(page, "@STYLE@", StyleSheet());
  Insert(page, "@SCRIPT@", Script());
  Insert(page, "@DATA@", AsScriptData(document));
  return page;
}

}  // namespace tessera::explore
