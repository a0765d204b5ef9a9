#include "tessera/cli/front_answer.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "tessera/base/json_writer.h"
#include "tessera/base/utf8.h"
#include "tessera/cli/tables.h"

namespace tessera::cli {
namespace {

// As ParseObjective reads it (objective.h).
std::string OptionsFor(const plan::Objective& objective) {
  std::string text = "--minimize " + objective.weights.begin()->first;
  std::string limits;
  for (const auto& [metric, most] : objective.limits)
    limits += fmt::format("{}{}={:.17g}", limits.empty() ? " --limit " : ",", metric, most);
  return text + limits;
}

}  // namespace

std::string DescribeFront(const search::Front& front, double time_ms) {
  const plan::Plan& first = front.points.front().plan;
  std::string text = fmt::format("{} on {}: {} plans, none better than another in every metric\n\n",
                                 base::Printable(first.network.name), base::Printable(first.profile.name),
                                 front.points.size());
  Table table(
      {"#", "latency, cycles", "energy nJ", "off-chip B", "peak B", "subgraphs", "status", "found with"});
  for (size_t i = 0; i < front.points.size(); ++i) {
    const auto& [objective, plan] = front.points[i];
    table.Add({std::to_string(i), Grouped(plan.totals.latency_cycles), Rounded(plan.totals.energy_pj / 1000),
               Grouped(plan.totals.off_chip_bytes), Grouped(plan.totals.peak_bytes),
               std::to_string(plan.subgraphs.size()), plan.status, OptionsFor(objective)});
  }
  text += table.Text() + '\n';
  if (const auto note = plan::NoteOnUnknownWork(first.network, {})) {
    text += "note: " + base::Printable(*note) + '\n';
  } else if (!front.complete) {
    text += "note: there may be more in between: --points looks for more\n";
  }
  return text + fmt::format("each checked; {} searches; {:.0f} ms\n", front.searches, time_ms);
}

std::string FrontAsJson(const search::Front& front, double time_ms) {
  nlohmann::ordered_json document;
  document["format"] = "tessera-front";
  document["version"] = 1;
  document["complete"] = front.complete;
  document["searches"] = front.searches;
  document["time_ms"] = time_ms;
  for (const auto& [objective, plan] : front.points) {
    nlohmann::ordered_json& point = document["points"].emplace_back();
    point["options"] = OptionsFor(objective);
    for (const std::string_view metric : search::FrontMetrics())
      point["totals"][std::string(metric)] = plan::ValueOf(plan.totals, metric);
    point["subgraphs"] = plan.subgraphs.size();
    point["status"] = plan.status;
    point["notes"] = plan.notes;
  }
  return base::WriteJson(document);
}

}  // namespace tessera::cli
