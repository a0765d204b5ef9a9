#include "tessera/cli/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "tessera/base/markup.h"
#include "tessera/cli/tables.h"
#include "tessera/problem/svg.h"
#include "tessera/problem/window.h"

namespace tessera::cli {
namespace {

using base::EscapeMarkup;

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1c2430; --faint: #5d6b7d; --paper: #fbfbf9; --line: #d9dde3; --panel: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --faint: #9aa7b8; --paper: #14181e; --line: #323a46; --panel: #1c222b; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1240px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.faint { color: var(--faint); }
table { border-collapse: collapse; margin: .8rem 0; font-size: .93em; } th, td { padding: .25rem .55rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { font-weight: 600; } th:first-child, td:first-child { text-align: left; }
.wide { overflow-x: auto; }
.cuts { display: flex; gap: 6px; flex-wrap: wrap; margin: 1rem 0; }
.cut { display: flex; gap: 2px; padding: 4px; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); text-decoration: none; color: inherit; }
.op { min-width: 11px; height: 24px; border-radius: 3px; }
details { border: 1px solid var(--line); border-radius: 8px; background: var(--panel); margin: .8rem 0; padding: .5rem .9rem; }
summary { cursor: pointer; font-weight: 600; } summary span { font-weight: 400; }
figure { margin: .6rem 0; overflow-x: auto; background: #fff; border-radius: 4px; }
figure svg { max-width: 100%; height: auto; display: block; }
.legend span { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin: 0 .3rem -1px .9rem; }
)";

constexpr std::string_view kKindColours[] = {"#5b8def", "#35b39a", "#e0a93b", "#d98b2b", "#c06bd1",
                                             "#8a93a3", "#e06666", "#7aa5b8", "#6fae4b", "#a9a9a9",
                                             "#4fb6d8", "#b28ad6", "#2f7f93", "#c9826b", "#93a85c",
                                             "#5c6fa8", "#c2b04f", "#7f6b9c", "#3f8f6b", "#707070"};

std::string_view ColourOf(base::OperatorKind kind) { return kKindColours[static_cast<size_t>(kind)]; }

const graph::Operator& OperatorAt(const plan::Plan& plan, int index) {
  return plan.network.operators[static_cast<size_t>(index)];
}

std::string SpanOf(const plan::Plan& plan, const plan::Subgraph& subgraph) {
  std::string first = EscapeMarkup(OperatorAt(plan, subgraph.interval.first).id);
  if (subgraph.interval.first == subgraph.interval.last) return first;
  return first + " … " + EscapeMarkup(OperatorAt(plan, subgraph.interval.last).id);
}

std::string MetricRow(std::string_view name, const plan::Plan& plan, std::string_view metric) {
  const double value = ValueOf(plan.totals, metric);
  const double alone = ValueOf(plan.baseline.totals, metric);
  const double bound = ValueOf(plan.lower_bounds, metric);
  return fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", name, Rounded(value),
                     plan.baseline.complete ? Rounded(alone) : "—", Rounded(bound));
}

std::string Headline(const plan::Plan& plan) {
  std::string html =
      "<div class=\"wide\"><table><tr><th></th><th>this plan</th><th>every operator alone</th><th>lower "
      "bound</th></tr>\n";
  html += MetricRow("latency, cycles", plan, "latency");
  html += MetricRow("energy, pJ", plan, "energy");
  html += MetricRow("off-chip bytes", plan, "off_chip_bytes");
  html += MetricRow("peak on chip, bytes", plan, "peak");
  html += "</table></div>\n";
  if (!plan.baseline.complete) {
    html += "<p class=\"faint\">Alone, these operators do not fit:";
    for (const int op : plan.baseline.do_not_fit) html += ' ' + EscapeMarkup(OperatorAt(plan, op).id);
    html += ".</p>\n";
  }
  for (const std::string& note : plan.notes) html += "<p class=\"faint\">" + EscapeMarkup(note) + "</p>\n";
  return html;
}

// The operators in a row, boxed by subgraph, coloured by kind.
std::string Cuts(const plan::Plan& plan) {
  std::string html = "<div class=\"cuts\">\n";
  std::vector<bool> used(std::size(kKindColours), false);
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    html += fmt::format("<a class=\"cut\" href=\"#s{}\" title=\"subgraph {}\">", i, i);
    for (int op = plan.subgraphs[i].interval.first; op <= plan.subgraphs[i].interval.last; ++op) {
      const graph::Operator& node = OperatorAt(plan, op);
      used[static_cast<size_t>(node.kind)] = true;
      html += fmt::format("<span class=\"op\" style=\"background:{}\" title=\"{} ({})\"></span>",
                          ColourOf(node.kind), EscapeMarkup(node.id), NameOf(node.kind));
    }
    html += "</a>\n";
  }
  html += "</div>\n<p class=\"legend faint\">";
  for (size_t kind = 0; kind < used.size(); ++kind) {
    if (!used[kind]) continue;
    html += fmt::format("<span style=\"background:{}\"></span>{}", kKindColours[kind],
                        NameOf(static_cast<base::OperatorKind>(kind)));
  }
  return html + "</p>\n";
}

std::string Subgraphs(const plan::Plan& plan) {
  std::string html =
      "<div "
      "class=\"wide\"><table><tr><th>operators</th><th>tile</th><th>tiles</th><th>policy</th><th>cycles</"
      "th><th>energy, pJ</th>"
      "<th>off-chip bytes</th><th>peak</th><th>recomputed MACs</th><th>bound by</th></tr>\n";
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    const plan::Subgraph& subgraph = plan.subgraphs[i];
    html += fmt::format(
        "<tr><td><a "
        "href=\"#s{}\">{}</a></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</"
        "td>"
        "<td>{}</td><td>{}</td></tr>\n",
        i, SpanOf(plan, subgraph), ShapeText(subgraph.tile), subgraph.tiles,
        PolicyText(subgraph.weights, subgraph.in_place, subgraph.halo),
        Grouped(subgraph.metrics.latency_cycles), Rounded(subgraph.metrics.energy_pj),
        Grouped(subgraph.metrics.off_chip_bytes), Grouped(subgraph.metrics.peak_bytes),
        Grouped(subgraph.metrics.recomputed_macs), EscapeMarkup(subgraph.metrics.bound_by));
  }
  return html + "</table></div>\n";
}

// The first and one past the last step of each subgraph.
std::vector<std::pair<problem::Step, problem::Step>> StretchesOf(const plan::Plan& plan) {
  std::vector<std::pair<problem::Step, problem::Step>> stretches(plan.subgraphs.size(), {0, 0});
  for (size_t step = 0; step < plan.steps.size(); ++step) {
    auto& [begin, end] = stretches[static_cast<size_t>(plan.steps[step].subgraph)];
    const auto at = static_cast<problem::Step>(step);
    if (begin == end) begin = at;
    end = at + 1;
  }
  return stretches;
}

// "0 prologue · 1 conv1 · 2 conv2 | 3 conv1 · 4 conv2 · 5 epilogue": a bar between the passes of a loop.
std::string StepsText(const plan::Plan& plan, problem::Step begin, problem::Step end) {
  static constexpr std::string_view kKinds[] = {"prologue", "load", "", "store", "epilogue", "copy "};
  std::string text;
  for (problem::Step step = begin; step < end; ++step) {
    const plan::StepUse& use = plan.steps[static_cast<size_t>(step)];
    if (step > begin) text += plan.steps[static_cast<size_t>(step - 1)].parity != use.parity ? " | " : " · ";
    text += fmt::format("{} {}", step, kKinds[static_cast<size_t>(use.kind)]);
    if (use.kind == plan::StepKind::kCompute || use.kind == plan::StepKind::kCopy)
      text += EscapeMarkup(OperatorAt(plan, use.op).id);
    if (use.kind == plan::StepKind::kLoad || use.kind == plan::StepKind::kStore) {
      for (const int tensor : use.transfers)
        text += ' ' + EscapeMarkup(plan.network.tensors[static_cast<size_t>(tensor)].id);
    }
  }
  return text;
}

std::string Maps(const plan::Plan& plan) {
  const auto stretches = StretchesOf(plan);
  std::string html;
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    const plan::Subgraph& subgraph = plan.subgraphs[i];
    const problem::Window window =
        CutWindow(plan.problem, plan.allocation, stretches[i].first, stretches[i].second);
    html += fmt::format(
        "<details id=\"s{}\"{}><summary>{} · {} <span class=\"faint\">tile {}, {} tile{}, steps {} to "
        "{}</span></summary>\n",
        i, i == 0 ? " open" : "", i, SpanOf(plan, subgraph), ShapeText(subgraph.tile), subgraph.tiles,
        subgraph.tiles == 1 ? "" : "s", stretches[i].first, stretches[i].second - 1);
    html +=
        "<p class=\"faint\">steps: " + StepsText(plan, stretches[i].first, stretches[i].second) + "</p>\n";
    html += "<figure>" + WriteSvg(window.problem, window.allocation, plan.problem.memories[0].capacity) +
            "</figure></details>\n";
  }
  return html;
}

}  // namespace

std::string WriteReport(const plan::Plan& plan) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += fmt::format("<title>{} on {}</title>\n<style>{}</style></head><body>\n",
                      EscapeMarkup(plan.network.name), EscapeMarkup(plan.profile.name), kStyle);
  html +=
      fmt::format("<h1>{} on {}</h1>\n", EscapeMarkup(plan.network.name), EscapeMarkup(plan.profile.name));
  html += fmt::format(
      "<p class=\"faint\">{} operators in {} subgraphs · {} · score {:.6g} · seed {} · tessera {}</p>\n",
      plan.network.operators.size(), plan.subgraphs.size(), EscapeMarkup(plan.status), plan.score, plan.seed,
      EscapeMarkup(plan.version));
  html += Headline(plan);
  html += "<h2>Partition</h2>\n" + Cuts(plan) + Subgraphs(plan);
  html +=
      "<h2>Memory maps</h2>\n<p class=\"faint\">Steps run to the right, addresses upwards; rest the pointer "
      "on a buffer to read about it. "
      "Brackets above are loops, bands are banks, the strip below is the mode at each step.</p>\n";
  html += Maps(plan);
  return html + "</body></html>\n";
}

}  // namespace tessera::cli
