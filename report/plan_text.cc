// SPDX-License-Identifier: Apache-2.0

#include "tessera/report/plan_text.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tessera/base/json_document.h"
#include "tessera/base/text.h"
#include "tessera/graph/import/yaml/measured_costs.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/tile_table.h"
#include "tessera/report/text_table.h"

namespace tessera::report {
namespace {

using base::Printable;

const std::string& IdOf(const plan::Plan& plan, int op) {
  return plan.network.operators[static_cast<size_t>(op)].id;
}

std::string SubgraphTable(const plan::Plan& plan) {
  Table table({"#", "operators", "ops", "tile", "tiles", "policy", "cycles", "exposed", "energy nJ",
               "off-chip B", "peak B", "bound by"});
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    const plan::Subgraph& subgraph = plan.subgraphs[i];
    table.Add({std::to_string(i), NameOfInterval(plan.network, subgraph.interval),
               std::to_string(subgraph.interval.last - subgraph.interval.first + 1),
               ShapeText(subgraph.tile), Grouped(subgraph.tiles), PolicyText(subgraph),
               Grouped(subgraph.metrics.latency_cycles), Grouped(subgraph.metrics.exposed_cycles),
               Rounded(subgraph.metrics.energy_pj / 1000), Grouped(subgraph.metrics.off_chip_bytes),
               Grouped(subgraph.metrics.peak_bytes), subgraph.metrics.bound_by});
  }
  return table.Text();
}

// Returns "energy, nJ".
std::string Heading(const plan::Metric& metric) {
  return fmt::format("{}{}{}", metric.title, metric.shown_unit.empty() ? "" : ", ",
                     metric.shown_unit);
}

std::string Shown(const plan::Metric& metric, double value) {
  return Figure(metric, value / metric.shown_per);
}

std::string TotalsTable(const plan::Plan& plan) {
  Table table({"", "this plan", "layer by layer", "lower bound"});
  const plan::Metrics* const layers =
      plan.baseline && plan.baseline->complete ? &plan.baseline->totals : nullptr;
  const std::string without = plan.baseline ? "does not fit" : "not known";
  const bool at_least = plan.totals.unknown_work > 0;
  for (const plan::Metric& metric : plan::kMetrics) {
    const auto shown = [&](const plan::Metrics& metrics) {
      return Shown(metric, ValueOf(metrics, metric));
    };
    const double bound = LowerBoundOf(plan.lower_bounds, metric, plan.objective.limits);
    const std::string_view part = GrowsWithWork(metric) ? ", at least" : ", without unknown work";
    table.Add({Heading(metric) + std::string(at_least && metric.counts_work ? part : ""),
               shown(plan.totals), layers != nullptr ? shown(*layers) : without,
               Shown(metric, bound)});
  }
  for (const hw_profiles::ProfileTotal& total : hw_profiles::kProfileTotals) {
    const auto stated = plan.profile_totals.find(std::string(total.key));
    if (stated == plan.profile_totals.end()) continue;
    const std::string value = fmt::format("{:.6g}", stated->second);
    table.Add(
        {fmt::format("{} of the hardware, {}", total.title, total.unit), value, value, value});
  }
  if (const plan::verify::HostShare share = plan::verify::HostShareOf(plan);
      !share.operators.empty()) {
    const std::string text = fmt::format("{} ({:.2f} %)", Grouped(share.macs), share.Percent());
    table.Add({"MACs on the host", text, layers != nullptr ? text : without, text});
  }
  if (plan.totals.unknown_work > 0) {
    table.Add({"operators of unknown work", Grouped(plan.totals.unknown_work),
               layers != nullptr ? Grouped(layers->unknown_work) : without,
               Grouped(plan.lower_bounds.unknown_work)});
  }
  return table.Text();
}

// Returns "tensors with several homes: 17 in 'tcm', 88 in 'dram'", in the order of the profile;
// empty if there are none.
std::string DescribeHomes(const plan::Plan& plan) {
  std::vector<int> counts(plan.profile.memories.size());
  for (int tensor = 0; tensor < static_cast<int>(plan.network.tensors.size()); ++tensor) {
    const base::TensorRole role =
        plan::verify::RoleAtHome(plan.network.tensors[static_cast<size_t>(tensor)]);
    if (hw_profiles::LayoutOf(plan.profile, role).next_homes.empty()) continue;
    ++counts[static_cast<size_t>(plan::verify::HomeOf(plan, tensor))];
  }
  std::string text;
  const char* separator = "tensors with several homes: ";
  for (size_t memory = 0; memory < counts.size(); ++memory) {
    if (counts[memory] == 0) continue;
    text +=
        fmt::format("{}{} in '{}'", separator, counts[memory], plan.profile.memories[memory].name);
    separator = ", ";
  }
  return text;
}

}  // namespace

std::vector<std::string> DescribePeaksAtHome(const plan::Plan& plan) {
  std::vector<std::string> lines;
  for (const plan::Home& home : plan.homes) {
    problem::Bytes lasting = 0;
    for (const problem::Buffer& buffer : home.problem.buffers) {
      const bool lasts = buffer.role == base::NameOf(base::TensorRole::kConstant) ||
                         buffer.role == base::NameOf(base::TensorRole::kState);
      if (lasts) lasting += buffer.size;
    }
    std::string line =
        fmt::format("off-chip peak in '{}': {} bytes, {} of them constants and state",
                    plan.profile.memories[static_cast<size_t>(home.memory)].name,
                    Grouped(plan::PeakOf(home)), Grouped(lasting));
    if (home.lower_bound > 0) line += fmt::format("; at least {}", Grouped(home.lower_bound));
    if (home.by_tiles) line += "; tensors share addresses tile by tile";
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string NoteLine(const std::string& note) {
  constexpr size_t kMostShown = 400;
  if (note.size() <= kMostShown) return "note: " + Printable(note) + '\n';
  const size_t end = note.rfind("; ", kMostShown);
  const std::string begin = note.substr(0, end == std::string::npos ? kMostShown : end);
  return "note: " + Printable(begin) + "; .. (--format json has it all)\n";
}

std::string DescribeKnownError(const plan::Plan& plan) {
  const auto& error = plan.profile.known_error;
  if (!error) return "";
  return fmt::format(
      "known error of cycles on this profile: half of them within {:.1f} %, nine of ten within "
      "{:.1f} % ({})",
      100 * error->median, 100 * error->nine_of_ten, error->source);
}

std::string DescribePlan(const plan::Plan& plan, double time_ms) {
  std::string text =
      fmt::format("{} on {}: {} operator{} in {} subgraph{}\n\n", Printable(plan.network.name),
                  Printable(plan.profile.name), plan.network.operators.size(),
                  plan.network.operators.size() == 1 ? "" : "s", plan.subgraphs.size(),
                  plan.subgraphs.size() == 1 ? "" : "s");
  text += SubgraphTable(plan) + '\n' + TotalsTable(plan) + '\n';
  if (!plan.kept.empty()) {
    text += "kept on chip from subgraph to subgraph:";
    for (const int tensor : plan.kept)
      text += ' ' + Printable(plan.network.tensors[static_cast<size_t>(tensor)].id);
    text += '\n';
  }
  if (const std::string error = DescribeKnownError(plan); !error.empty())
    text += Printable(error) + '\n';
  for (const std::string& line : DescribePeaksAtHome(plan)) text += Printable(line) + '\n';
  if (const std::string homes = DescribeHomes(plan); !homes.empty())
    text += Printable(homes) + '\n';
  if (plan.baseline && !plan.baseline->complete) {
    text += plan.baseline->do_not_fit.empty()
                ? "layer by layer, the memories have no room for all tensors between subgraphs"
                : "alone, these operators do not fit:";
    for (const int op : plan.baseline->do_not_fit) text += ' ' + Printable(IdOf(plan, op));
    text += '\n';
  }
  for (const std::string& note : plan.notes) text += NoteLine(note);
  for (const std::string& sentence : plan::DescribeProof(plan))
    text += "proof: " + Printable(sentence) + '\n';
  return text +
         fmt::format("{}, checked; score {}; {:.0f} ms\n", plan.status,
                     plan.score < 1000 ? fmt::format("{:.4f}", plan.score) : Rounded(plan.score),
                     time_ms);
}

namespace {

// Returns the options in the form that ParseObjective (cli/plan_options.h) reads.
std::string OptionsFor(const plan::Objective& objective) {
  std::string text = "--minimize " + objective.weights.begin()->first;
  std::string limits;
  for (const auto& [metric, most] : objective.limits)
    limits += fmt::format("{}{}={:.17g}", limits.empty() ? " --limit " : ",", metric, most);
  return text + limits;
}

}  // namespace

std::string DescribeFront(const plan::PartitionFront& front, double time_ms) {
  const plan::Plan& first = front.points.front().plan;
  std::string text = fmt::format("{} on {}: {} plans, none better than another in every metric\n\n",
                                 base::Printable(first.network.name),
                                 base::Printable(first.profile.name), front.points.size());
  std::vector<std::string> heads = {"#"};
  for (const plan::Metric& metric : plan::kMetrics)
    if (metric.is_of_front) heads.push_back(Heading(metric));
  heads.insert(heads.end(), {"subgraphs", "status", "found with"});
  Table table(heads);
  for (size_t i = 0; i < front.points.size(); ++i) {
    const auto& [objective, plan] = front.points[i];
    std::vector<std::string> cells = {std::to_string(i)};
    for (const plan::Metric& metric : plan::kMetrics)
      if (metric.is_of_front) cells.push_back(Shown(metric, ValueOf(plan.totals, metric)));
    cells.insert(cells.end(),
                 {std::to_string(plan.subgraphs.size()), plan.status, OptionsFor(objective)});
    table.Add(cells);
  }
  text += table.Text() + '\n';
  if (const auto note = plan::NoteOnUnknownWork(first.network, {})) {
    text += "note: " + base::Printable(*note) + '\n';
  } else if (!front.complete) {
    text += "note: there may be more in between: --points looks for more\n";
  }
  return text + fmt::format("each checked; {} searches; {:.0f} ms\n", front.searches, time_ms);
}

std::string FrontAsJson(const plan::PartitionFront& front, double time_ms) {
  nlohmann::ordered_json document;
  document["format"] = "tessera-front";
  document["version"] = 1;
  document["complete"] = front.complete;
  document["searches"] = front.searches;
  document["time_ms"] = time_ms;
  for (const auto& [objective, plan] : front.points) {
    nlohmann::ordered_json& point = document["points"].emplace_back();
    point["options"] = OptionsFor(objective);
    for (const plan::Metric& metric : plan::kMetrics) {
      if (metric.is_of_front)
        point["totals"][std::string(metric.name)] = plan::ValueOf(plan.totals, metric);
    }
    point["subgraphs"] = plan.subgraphs.size();
    point["status"] = plan.status;
    point["notes"] = plan.notes;
  }
  return base::WriteJson(document);
}

namespace {

// Returns a text as exactly one cell, whatever the name contains.
std::string Cell(const std::string& text) {
  if (text.find_first_of(",\" \t") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string TilesAsCsv(const plan::Plan& plan) {
  std::string csv = "operator,tile,engine,cycles,pj,signature,tiles,source\n";
  for (const plan::verify::TileRow& row : plan::verify::TileTableOf(plan)) {
    const graph::Operator& op = plan.network.operators[static_cast<size_t>(row.op)];
    const std::string signature = graph::import::yaml::SignatureOf(plan.network, op);
    // The text must read back, so a name with escapes is left out.
    const bool is_printable = base::Printable(op.id) == op.id;
    csv += fmt::format("{},{},{},{},{},{},{},{}\n", is_printable ? Cell(op.id) : signature,
                       fmt::join(row.tile, "x"), Cell(row.engine), row.cycles, row.pj, signature,
                       row.count, row.measured ? "measured" : "model");
  }
  return csv;
}

}  // namespace tessera::report
