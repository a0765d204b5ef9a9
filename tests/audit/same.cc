// SPDX-License-Identifier: Apache-2.0

#include "same.h"

#include <fmt/format.h>

#include <algorithm>

#include "claims.h"
#include "draws.h"
#include "homes_rule.h"
#include "tessera/graph/graph.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/search/tiling/engine_cache.h"

namespace tessera::audit {
namespace {

using base::Random;
using graph::Graph;

void ReportChange(const std::string& kind, const PlanRequest& question, const Answer& before,
                  const Answer& after, Run& run) {
  Files files;
  if (before.plan) files["before.json"] = plan::files::WritePlanJson(*before.plan);
  if (after.plan) files["after.json"] = plan::files::WritePlanJson(*after.plan);
  run.Report({kind,
              fmt::format("before: {}; after: {}", Describe(before), Describe(after)),
              question,
              files,
              {}});
}

// Compares whole plans, byte by byte.
void ExpectSame(const std::string& kind, const PlanRequest& question, const Answer& before,
                const Answer& after, Run& run) {
  if (before.timed_out || after.timed_out) return run.Count("timed out");
  const auto text = [](const Answer& answer) {
    return answer.plan ? plan::files::WritePlanJson(*answer.plan) : "";
  };
  const bool same = before.status == after.status && before.fault == after.fault &&
                    before.reason == after.reason && text(before) == text(after);
  if (!same) ReportChange(kind, question, before, after, run);
}

// Gives every tensor and operator a new name, in an order unrelated to the order of the old names.
Graph Renamed(Random& random, Graph network) {
  std::vector<int> numbers(network.tensors.size() + network.operators.size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
  random.Shuffle(std::span<int>(numbers));
  auto number = numbers.begin();
  for (graph::Tensor& tensor : network.tensors) tensor.id = fmt::format("n{}_tensor", *number++);
  for (graph::Operator& op : network.operators) op.id = fmt::format("n{}_operator", *number++);
  return network;
}

// The same plan under other names.
bool IsAlike(const plan::Plan& a, const plan::Plan& b) {
  if (a.status != b.status || a.kept != b.kept || a.subgraphs.size() != b.subgraphs.size())
    return false;
  for (size_t i = 0; i < a.subgraphs.size(); ++i) {
    const plan::Subgraph& one = a.subgraphs[i];
    const plan::Subgraph& other = b.subgraphs[i];
    if (!(one.interval == other.interval) || one.tile != other.tile ||
        one.weights != other.weights || one.in_place != other.in_place || one.halo != other.halo)
      return false;
  }
  return a.allocation.offsets == b.allocation.offsets && a.totals.energy_pj == b.totals.energy_pj &&
         a.totals.latency_cycles == b.totals.latency_cycles &&
         a.totals.off_chip_bytes == b.totals.off_chip_bytes;
}

void CheckNames(const PlanRequest& question, const Answer& before, Random& random, Run& run) {
  const auto names = [](const hw_profiles::Rule& rule) { return !rule.select.name.empty(); };
  const auto& rules = question.profile.rules;
  if (std::any_of(rules.begin(), rules.end(), names)) return;
  PlanRequest renamed = question;
  renamed.network = Renamed(random, question.network);
  // Of interchangeable tensors, the name decides which one has the first home.
  if (HomesByRule(question.network, question.profile) !=
      HomesByRule(renamed.network, question.profile))
    return run.Count("other homes");
  const Answer after = run.Ask(renamed);
  if (before.timed_out || after.timed_out || !after.fault.empty()) return run.Count("timed out");
  run.Count("renamed");
  const bool same = before.status == after.status &&
                    before.plan.has_value() == after.plan.has_value() &&
                    (!before.plan || IsAlike(*before.plan, *after.plan));
  if (!same) ReportChange("renaming changes the answer", renamed, before, after, run);
}

// Any topological order.
std::vector<int> DrawOrder(Random& random, const Graph& network) {
  const std::vector<std::vector<int>> before = graph::DependenciesOf(network);
  std::vector<int> order;
  std::vector<char> done(before.size(), 0);
  while (order.size() < before.size()) {
    std::vector<int> ready;
    for (size_t op = 0; op < before.size(); ++op) {
      const bool is_ready = std::all_of(before[op].begin(), before[op].end(), [&](int each) {
        return done[static_cast<size_t>(each)] != 0;
      });
      if (done[op] == 0 && is_ready) ready.push_back(static_cast<int>(op));
    }
    order.push_back(
        ready[static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(ready.size()) - 1))]);
    done[static_cast<size_t>(order.back())] = 1;
  }
  return order;
}

void CheckOrder(const PlanRequest& question, const Answer& before, Random& random, Run& run) {
  const std::vector<int> order = DrawOrder(random, question.network);
  if (std::is_sorted(order.begin(), order.end())) return;
  PlanRequest permuted = question;
  const Graph reordered = graph::Reordered(question.network, order);
  permuted.network = graph::Renumbered(reordered, graph::TensorsByMaker(reordered));
  const Graph placed = AtHome(question.network, question.profile);
  for (const graph::Tensor& tensor : AtHome(permuted.network, question.profile).tensors) {
    if (placed.tensors[static_cast<size_t>(*graph::FindTensor(placed, tensor.id))].home !=
        tensor.home)
      run.Report({"another order of the file: other homes", tensor.id, permuted, {}, {}});
  }
  const Answer after = run.Ask(permuted);
  if (!after.fault.empty()) return;
  run.Count("permuted");
  const bool contradict =
      (before.plan && after.IsInfeasible()) || (after.plan && before.IsInfeasible());
  if (contradict)
    return ReportChange("another order of the file: infeasible", permuted, before, after, run);
  if (before.IsOptimal() == after.IsOptimal() && !before.IsOptimal()) return;
  if (!before.plan || !after.plan) return;
  // Bounds weigh several metrics and depend on the network, so they are equal in both.
  const bool loses = (after.IsOptimal() && IsLess(before.plan->score, after.plan->score)) ||
                     (before.IsOptimal() && IsLess(after.plan->score, before.plan->score));
  if (loses)
    ReportChange("another order of the file: optimal is beaten", permuted, before, after, run);
}

}  // namespace

void CheckSame(const PlanRequest& question, uint64_t seed, Run& run) {
  Random random(seed);
  const Answer before = run.Ask(question);
  if (!before.fault.empty()) return;
  if (before.timed_out) return run.Skip("timed out");
  PlanRequest changed = question;
  changed.threads = 2;
  ExpectSame("two threads change the answer", changed, before, run.Ask(changed), run);
  changed = question;
  const search::tiling::CachedEngines cached(UsualEngines());
  changed.cached = &cached;
  ExpectSame("a cache changes the answer", changed, before, run.Ask(changed), run);
  ExpectSame("a filled cache changes the answer", changed, before, run.Ask(changed), run);
  CheckNames(question, before, random, run);
  CheckOrder(question, before, random, run);
}

}  // namespace tessera::audit
