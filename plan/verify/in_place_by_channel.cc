// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/in_place.h"

// Why the result may overwrite its operand if the operand is local to the tile. Let the address of
// an element be a * (bytes of a batch) + h * (bytes of a row) + w * P + (place in the column),
// where P is the size of a column. If P divides the bytes of a row, it also divides those of a
// batch, and an address modulo P gives the place in the column, hence the channel. Let this hold in
// operand and result, with the same P and the same first channel. Then the bytes written for
// channel c lie on bytes of channel c, or on padding. The engine has read all of these when it
// writes: it makes a channel in scratch first.
//
//     h w      0 0     0 1     0 2     1 0     1 1 ..             P = 3
//     operand  a b c   a b c   a b c   a b c   a b c   a b c
//     result   a b c   a b c   a b c                              its rows are shorter:
//                                                                 a of (1, 0) lies on a of (0, 2)
namespace tessera::plan::verify {
namespace {

bool NamesDepthwise(const Plan& plan) {
  const std::vector<base::OperatorKind>& kinds = plan.profile.tiling.in_place;
  return std::find(kinds.begin(), kinds.end(), base::OperatorKind::kDepthwise) != kinds.end();
}

// One channel of the result for one of the operand, with the same whole number of bytes.
bool MapsChannels(const graph::Graph& network, const graph::Operator& op) {
  if (op.kind != base::OperatorKind::kDepthwise) return false;
  const graph::Tensor& x = network.tensors[static_cast<size_t>(op.inputs.front())];
  const graph::Tensor& y = network.tensors[static_cast<size_t>(op.outputs.front())];
  const bool whole_bytes = base::BytesOf(x.type, 1) * 8 == base::BitsOf(x.type);
  return x.type == y.type && whole_bytes &&
         NameExtents(x.shape).channels == NameExtents(y.shape).channels;
}

}  // namespace

ChannelSurvey::ChannelSurvey(const Plan& plan, const std::vector<Users>& users,
                             const Subgraph& subgraph)
    : plan_(plan) {
  if (!subgraph.in_place || !NamesDepthwise(plan)) return;
  for (int op = subgraph.interval.first; op <= subgraph.interval.last; ++op) {
    const graph::Operator& facts = plan.network.operators[static_cast<size_t>(op)];
    if (!MapsChannels(plan.network, facts)) continue;
    for (const int tensor : {facts.inputs.front(), facts.outputs.front()})
      held_.emplace(tensor, ResidencyOf(plan, users, subgraph, tensor));
    // The windows of other tiles read elements that a tile would overwrite in a whole buffer.
    if (subgraph.tiles == 1 || !IsWhole(facts.inputs.front())) operators_.insert(op);
  }
}

void ChannelSurvey::Look(const Tile& tile) {
  std::erase_if(operators_, [&](int index) {
    const graph::Operator& op = plan_.network.operators[static_cast<size_t>(index)];
    return ChannelsIn(tile, op.inputs.front()) != ChannelsIn(tile, op.outputs.front());
  });
}

std::set<int> ChannelSurvey::Able(const LargestExtents& largest) const {
  std::set<int> able = operators_;
  std::erase_if(able, [&](int index) {
    const graph::Operator& op = plan_.network.operators[static_cast<size_t>(index)];
    const int x = op.inputs.front();
    const int y = op.outputs.front();
    const int64_t bytes = ColumnBytes(x, largest);
    return ColumnBytes(y, largest) != bytes || !BeginsRowsWithColumns(x, bytes) ||
           !BeginsRowsWithColumns(y, bytes);
  });
  return able;
}

int64_t ChannelSurvey::ChannelsIn(const Tile& tile, int tensor) const {
  if (IsWhole(tensor))
    return NameExtents(plan_.network.tensors[static_cast<size_t>(tensor)].shape).channels;
  const auto need = tile.needs.find(tensor);
  return need == tile.needs.end() ? 0 : NameExtents(ExtentsOf(need->second)).channels;
}

int64_t ChannelSurvey::ColumnBytes(int tensor, const LargestExtents& largest) const {
  const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(tensor)];
  NamedExtents column;
  column.channels = NameExtents(IsWhole(tensor) ? facts.shape : largest.at(tensor)).channels;
  const int64_t block = hw_profiles::LayoutOf(plan_.profile, held_.at(tensor).role).channel_block;
  return StoredBytes(column, facts.type, block, /*row_pitch=*/1);
}

bool ChannelSurvey::BeginsRowsWithColumns(int tensor, int64_t column_bytes) const {
  return column_bytes %
             hw_profiles::LayoutOf(plan_.profile, held_.at(tensor).role).row_pitch_bytes ==
         0;
}

void AddChannelScratch(const Plan& plan, int subgraph, const std::set<int>& operators,
                       Trace& trace) {
  std::map<BufferUse, ObservedUse> seen;
  for (const OperatorSteps& turn : trace.turns) {
    const BufferUse use = {BufferKind::kScratch, subgraph, -1, turn.op, turn.phase, 0};
    if (!operators.contains(turn.op) || trace.buffers.contains(use)) continue;
    const hw_profiles::Engine* engine =
        EngineOf(plan, plan.network.operators[static_cast<size_t>(turn.op)]);
    const std::string name = engine == nullptr ? "" : engine->name;
    ObservedUse& observed_use = seen[use];
    observed_use.lifespans.push_back(turn.steps);
    for (const problem::AccessKind kind : {problem::AccessKind::kRead, problem::AccessKind::kWrite})
      observed_use.accesses.push_back({turn.steps.upper - 1, name, kind});
  }
  for (auto& [use, observed_use] : seen) {
    std::sort(observed_use.lifespans.begin(), observed_use.lifespans.end(),
              [](const auto& a, const auto& b) { return a.lower < b.lower; });
    std::sort(observed_use.accesses.begin(), observed_use.accesses.end(),
              [](const auto& a, const auto& b) {
                return std::tie(a.step, a.kind) < std::tie(b.step, b.kind);
              });
    trace.buffers.emplace(use, std::move(observed_use));
  }
}

}  // namespace tessera::plan::verify
