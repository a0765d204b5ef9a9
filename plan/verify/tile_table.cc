// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/tile_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tessera/plan/index_box.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/costs.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/work_count.h"

namespace tessera::plan::verify {
namespace {

using Key = std::pair<int, std::vector<int64_t>>;  // operator, tile

void AddTiles(const Plan& plan, const std::vector<Users>& users, const Subgraph& subgraph,
              std::map<Key, TileRow>& rows) {
  if (subgraph.weights == hw_profiles::WeightPolicy::kSplitK) return;
  TileCosting costing(plan, users, subgraph);
  ForEachTile(plan.network, users, subgraph, [&](const Tile& tile) {
    const TileCost cost = costing.CostOf(tile);
    for (size_t i = 0; i < cost.steps.size(); ++i) {
      const StepCost& step = cost.steps[i];
      const bool is_empty = std::find(step.made.begin(), step.made.end(), 0) != step.made.end();
      if (step.engine == nullptr || is_empty) continue;
      const int op = subgraph.interval.first + static_cast<int>(i);
      TileRow& row = rows[{op, step.made}];
      row.op = op;
      row.tile = step.made;
      row.engine = step.engine->name;
      row.cycles = step.arithmetic;
      row.pj = step.measured_pj.value_or(hw_profiles::MacPicojoules(*step.engine) *
                                         static_cast<double>(step.macs));
      row.measured = step.measured;
      ++row.count;
    }
  });
}

// "no other engine lists softmax of int8"
std::string ReasonFor(const Plan& plan, const graph::Operator& op) {
  if (!op.engine.empty()) return "the network of this plan assigns it to the host";
  const int typical = op.inputs.empty() ? op.outputs.front() : op.inputs.front();
  const base::DataType type = plan.network.tensors[static_cast<size_t>(typical)].type;
  const auto imported = op.annotations.find("x-op_type");
  const bool names_type = graph::IsBarrier(op) && imported != op.annotations.end();
  return fmt::format("no other engine lists {} of {}{}", base::NameOf(op.kind), base::NameOf(type),
                     names_type ? " (" + imported->second + ")" : "");
}

}  // namespace

std::vector<TileRow> TileTableOf(const Plan& plan) {
  const std::vector<Users> users = FindUsers(plan.network);
  std::map<Key, TileRow> rows;
  for (const Subgraph& subgraph : plan.subgraphs) AddTiles(plan, users, subgraph, rows);
  std::vector<TileRow> table;
  table.reserve(rows.size());
  for (auto& [key, row] : rows) table.push_back(std::move(row));
  std::stable_sort(table.begin(), table.end(), [](const TileRow& a, const TileRow& b) {
    return std::tie(a.op, b.tile) < std::tie(b.op, a.tile);
  });
  return table;
}

std::optional<std::string> NoteOnMeasured(const Plan& plan) {
  const auto& operators = plan.network.operators;
  if (std::all_of(operators.begin(), operators.end(),
                  [](const graph::Operator& op) { return op.measured.empty(); }))
    return std::nullopt;
  int64_t measured = 0;
  int64_t all = 0;
  for (const TileRow& row : TileTableOf(plan)) {
    all += row.count;
    if (row.measured) measured += row.count;
  }
  std::string note =
      fmt::format("measured: the cycles of {} of {} tiles of operators", measured, all);
  for (const graph::Operator& op : operators) {
    for (const graph::MeasuredTile& tile : op.measured) {
      const auto is_its = [&](const hw_profiles::Engine& engine) {
        return engine.name == tile.engine;
      };
      if (std::none_of(plan.profile.engines.begin(), plan.profile.engines.end(), is_its))
        return note + fmt::format("; the profile has no engine '{}', which '{}' was measured on",
                                  tile.engine, op.id);
    }
  }
  return note;
}

double HostShare::Percent() const {
  return all_macs == 0 ? 0 : 100.0 * static_cast<double>(macs) / static_cast<double>(all_macs);
}

HostShare HostShareOf(const Plan& plan) {
  const graph::Graph& network = plan.network;
  HostShare share;
  for (size_t i = 0; i < network.operators.size(); ++i) {
    const graph::Operator& op = network.operators[i];
    const int64_t macs = MacsFor(network, op, WholeOf(graph::ShapeOf(network, op.outputs.front())));
    share.all_macs = Plus(share.all_macs, macs);
    if (!IsOnHost(plan, op)) continue;
    share.macs = Plus(share.macs, macs);
    share.operators.push_back({static_cast<int>(i), ReasonFor(plan, op)});
  }
  return share;
}

std::optional<std::string> NoteOnHost(const Plan& plan) {
  const HostShare share = HostShareOf(plan);
  if (share.operators.empty()) return std::nullopt;
  std::string note =
      fmt::format("on the host: {} of {} operators, {:.2f} % of the known MACs",
                  share.operators.size(), plan.network.operators.size(), share.Percent());
  for (const HostedOperator& hosted : share.operators) {
    note += fmt::format("; '{}': {}", plan.network.operators[static_cast<size_t>(hosted.op)].id,
                        hosted.reason);
  }
  return note;
}

}  // namespace tessera::plan::verify
