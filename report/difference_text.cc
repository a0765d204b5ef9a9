// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "tessera/base/json_document.h"
#include "tessera/base/text.h"
#include "tessera/report/plan_text.h"
#include "tessera/report/text_table.h"

namespace tessera::report {
namespace {

using Json = nlohmann::ordered_json;
using base::Printable;
using plan::Metrics;
using plan::Plan;
using plan::files::Difference;

constexpr size_t kShownShifts = 20;

std::string Signed(const plan::Metric& metric, double change) {
  if (change == 0) return "same";
  return (change > 0 ? "+" : "-") + Figure(metric, change > 0 ? change : -change);
}

std::string Percent(double from, double to) {
  return from == 0 || from == to ? "" : fmt::format("{:+.2f} %", (to - from) / from * 100);
}

std::string SubgraphText(const Plan& plan, size_t index) {
  const plan::Subgraph& subgraph = plan.subgraphs[index];
  return fmt::format("[{}] tile {}, {} tile{}, {}",
                     Printable(NameOfInterval(plan.network, subgraph.interval)),
                     ShapeText(subgraph.tile), Grouped(subgraph.tiles),
                     subgraph.tiles == 1 ? "" : "s", PolicyText(subgraph));
}

std::string DescribePart(const Plan& a, const Plan& b, const plan::files::DifferingPart& part) {
  std::string text =
      fmt::format("\noperators {} to {}:\n",
                  Printable(a.network.operators[static_cast<size_t>(part.interval.first)].id),
                  Printable(a.network.operators[static_cast<size_t>(part.interval.last)].id));
  for (const size_t i : part.first) text += fmt::format("  - {}\n", SubgraphText(a, i));
  for (const size_t i : part.second) text += fmt::format("  + {}\n", SubgraphText(b, i));
  for (const plan::Metric& metric : plan::kMetrics) {
    const double from = ValueOf(part.first_costs, metric);
    const double to = ValueOf(part.second_costs, metric);
    if (from != to)
      text += fmt::format("  {}: {} {} {}\n", metric.name, Signed(metric, to - from), metric.unit,
                          Percent(from, to));
  }
  return text;
}

std::string DescribeShifts(const Difference& difference) {
  if (difference.shifts.empty()) return {};
  std::string text =
      fmt::format("\n{} buffers at other addresses or of other sizes:\n", difference.shifts.size());
  for (size_t i = 0; i < std::min(kShownShifts, difference.shifts.size()); ++i) {
    const plan::files::Shift& shift = difference.shifts[i];
    text += fmt::format("  {} in {}: {} -> {}", Printable(shift.id), Printable(shift.memory),
                        shift.first_offset, shift.second_offset);
    if (shift.first_size != shift.second_size)
      text += fmt::format(", {} bytes -> {}", shift.first_size, shift.second_size);
    text += '\n';
  }
  if (difference.shifts.size() > kShownShifts)
    text += fmt::format("  and {} more; --format json has all\n",
                        difference.shifts.size() - kShownShifts);
  return text;
}

double ProfileTotalOf(const Plan& plan, const hw_profiles::ProfileTotal& total) {
  const auto stated = plan.profile_totals.find(std::string(total.key));
  return stated == plan.profile_totals.end() ? 0 : stated->second;
}

// Returns the sums over the profile that either plan states.
std::vector<const hw_profiles::ProfileTotal*> ProfileTotalsOf(const Plan& a, const Plan& b) {
  std::vector<const hw_profiles::ProfileTotal*> stated;
  for (const hw_profiles::ProfileTotal& total : hw_profiles::kProfileTotals) {
    if (ProfileTotalOf(a, total) != 0 || ProfileTotalOf(b, total) != 0) stated.push_back(&total);
  }
  return stated;
}

void AddProfileTotals(const Plan& a, const Plan& b, Table& table) {
  for (const hw_profiles::ProfileTotal* total : ProfileTotalsOf(a, b)) {
    const double from = ProfileTotalOf(a, *total);
    const double to = ProfileTotalOf(b, *total);
    table.Add({fmt::format("{} of the hardware, {}", total->title, total->unit),
               fmt::format("{:.6g}", from), fmt::format("{:.6g}", to),
               from == to ? "same" : fmt::format("{:+.6g}", to - from), Percent(from, to)});
  }
}

bool IsAlike(const Difference& difference) {
  return difference.kept_by_first.empty() && difference.kept_by_second.empty() &&
         difference.parts.empty() && difference.shifts.empty();
}

}  // namespace

std::string DifferenceAsText(const Plan& a, const Plan& b, const Difference& difference) {
  Table table({"", "first", "second", "change", ""});
  for (const plan::Metric& metric : plan::kMetrics) {
    const double from = ValueOf(a.totals, metric);
    const double to = ValueOf(b.totals, metric);
    table.Add({fmt::format("{}, {}", metric.name, metric.unit), Figure(metric, from),
               Figure(metric, to), Signed(metric, to - from), Percent(from, to)});
  }
  AddProfileTotals(a, b, table);
  std::string text = table.Text();
  if (!difference.circumstances.empty()) {
    const std::vector<std::string_view> what(difference.circumstances.begin(),
                                             difference.circumstances.end());
    text += fmt::format("the plans are not made for the same {}\n", base::Join(what));
  }
  if (difference.reordered)
    return text + "their operators run in another order: subgraphs are not compared\n";
  if (!difference.comparable) return text + "their operators differ: subgraphs are not compared\n";
  if (IsAlike(difference)) return text + "same subgraphs, same addresses\n";
  for (const std::string& id : difference.kept_by_first)
    text += fmt::format("\n- kept on chip: {}", Printable(id));
  for (const std::string& id : difference.kept_by_second)
    text += fmt::format("\n+ kept on chip: {}", Printable(id));
  if (!difference.kept_by_first.empty() || !difference.kept_by_second.empty()) text += '\n';
  for (const plan::files::DifferingPart& part : difference.parts) text += DescribePart(a, b, part);
  return text + DescribeShifts(difference);
}

namespace {

Json ChangeToJson(double from, double to) {
  return {{"first", from}, {"second", to}, {"change", to - from}};
}

Json ProfileTotalsToJson(const Plan& a, const Plan& b) {
  Json json = Json::object();
  for (const hw_profiles::ProfileTotal* total : ProfileTotalsOf(a, b))
    json[std::string(total->key)] =
        ChangeToJson(ProfileTotalOf(a, *total), ProfileTotalOf(b, *total));
  return json;
}

Json CostsToJson(const Metrics& first, const Metrics& second) {
  Json json = Json::object();
  for (const plan::Metric& metric : plan::kMetrics) {
    json[std::string(metric.name)] = ChangeToJson(ValueOf(first, metric), ValueOf(second, metric));
  }
  return json;
}

Json SubgraphsToJson(const Plan& plan, const std::vector<size_t>& indices) {
  Json json = Json::array();
  for (const size_t i : indices) {
    const plan::Subgraph& subgraph = plan.subgraphs[i];
    Json operators = Json::array();
    for (int op = subgraph.interval.first; op <= subgraph.interval.last; ++op)
      operators.push_back(plan.network.operators[static_cast<size_t>(op)].id);
    json.push_back({{"subgraph", i},
                    {"operators", operators},
                    {"tile", subgraph.tile},
                    {"tiles", subgraph.tiles},
                    {"weights", hw_profiles::NameOf(subgraph.weights)},
                    {"in_place", subgraph.in_place},
                    {"halo", hw_profiles::NameOf(subgraph.halo)}});
    if (subgraph.k_extent > 0) json.back()["k_extent"] = subgraph.k_extent;
    if (subgraph.serialized) json.back()["serialized"] = true;
    if (subgraph.second_stage > 0) {
      const int op = subgraph.interval.first + subgraph.second_stage;
      json.back()["second_stage"] = plan.network.operators[static_cast<size_t>(op)].id;
    }
    if (!subgraph.prefetch.empty()) json.back()["prefetch"] = subgraph.prefetch;
  }
  return json;
}

}  // namespace

std::string DifferenceAsJson(const Plan& a, const Plan& b, const Difference& difference) {
  Json json = Json::object();
  json["same"] = difference.circumstances.empty() && difference.comparable && IsAlike(difference);
  json["made_for_other"] = difference.circumstances;
  json["comparable"] = difference.comparable;
  json["reordered"] = difference.reordered;
  json["totals"] = CostsToJson(a.totals, b.totals);
  if (!ProfileTotalsOf(a, b).empty()) json["profile_totals"] = ProfileTotalsToJson(a, b);
  json["kept"] = {{"first", difference.kept_by_first}, {"second", difference.kept_by_second}};
  json["parts"] = Json::array();
  for (const plan::files::DifferingPart& part : difference.parts) {
    json["parts"].push_back({{"first", SubgraphsToJson(a, part.first)},
                             {"second", SubgraphsToJson(b, part.second)},
                             {"costs", CostsToJson(part.first_costs, part.second_costs)}});
  }
  json["addresses"] = Json::array();
  for (const plan::files::Shift& shift : difference.shifts) {
    json["addresses"].push_back(
        {{"buffer", shift.id},
         {"memory", shift.memory},
         {"first", {{"offset", shift.first_offset}, {"size", shift.first_size}}},
         {"second", {{"offset", shift.second_offset}, {"size", shift.second_size}}}});
  }
  return base::WriteJson(json);
}

}  // namespace tessera::report
