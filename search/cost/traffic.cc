// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/traffic.h"

#include <algorithm>
#include <optional>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/encoder/program/residence.h"

namespace tessera::search::cost {
namespace {

using encoder::program::NamedExtents;
using hw_profiles::Profile;
using hw_profiles::RoleLayout;

bool Inside(int op, graph::Interval interval) {
  return interval.first <= op && op <= interval.last;
}

bool IsEmpty(graph::tiling::ExtentsView extents) {
  return std::any_of(extents.begin(), extents.end(), [](int64_t extent) { return extent <= 0; });
}

// Adds a loop around the runs, or lengthens the runs if the loop steps over adjacent data.
void Wrap(Runs& runs, int64_t count, bool adjacent) {
  if (count <= 1) return;
  if (adjacent && runs.loops.empty()) {
    runs.bytes *= count;
    return;
  }
  runs.count *= count;
  runs.loops.insert(runs.loops.begin(), count);
}

}  // namespace

Route RouteOf(const graph::Graph& graph, const Profile& profile, const graph::Usage& usage,
              int tensor, graph::Interval interval, const std::vector<int>& kept) {
  const base::TensorRole role = graph::RoleIn(graph, usage, tensor, interval);
  if (role == base::TensorRole::kFeature) return {TransferKind::kInside, role, profile.tile_memory};
  if (encoder::program::IsHeldInTileMemory(graph, profile, kept, tensor, role))
    return {TransferKind::kWhole, role, profile.tile_memory};
  const int home = encoder::program::HomeOf(graph, profile, tensor, role);
  const bool read_inside = std::any_of(usage.consumers.begin(), usage.consumers.end(),
                                       [interval](int op) { return Inside(op, interval); });
  const bool made_inside = Inside(usage.producer, interval);
  const bool on_host = encoder::program::RunsOnHost(graph, profile, interval);
  const bool direct = on_host || ((!made_inside || hw_profiles::MayWriteAt(profile, role, home)) &&
                                  (!read_inside || hw_profiles::MayReadAt(profile, role, home)));
  return {direct ? TransferKind::kDirect : TransferKind::kMoved, role, home};
}

TransferKind TransferOfConstants(const Profile& profile, hw_profiles::WeightPolicy policy) {
  if (hw_profiles::LayoutOf(profile, base::TensorRole::kConstant).home == profile.tile_memory)
    return TransferKind::kWhole;
  return policy == hw_profiles::WeightPolicy::kDirect ? TransferKind::kDirect
                                                      : TransferKind::kMoved;
}

std::vector<int> HomesOfConstants(const graph::Graph& graph, const Profile& profile,
                                  graph::Interval interval) {
  const hw_profiles::RoleLayout& layout =
      hw_profiles::LayoutOf(profile, base::TensorRole::kConstant);
  if (layout.next_homes.empty()) return {layout.home};
  std::vector<int> homes;
  for (int i = interval.first; i <= interval.last; ++i) {
    for (const int constant : graph.operators[static_cast<size_t>(i)].weights)
      homes.push_back(
          encoder::program::HomeOf(graph, profile, constant, base::TensorRole::kConstant));
  }
  if (homes.empty()) return {layout.home};
  std::sort(homes.begin(), homes.end());
  homes.erase(std::unique(homes.begin(), homes.end()), homes.end());
  return homes;
}

int64_t PayloadBytes(const graph::Tensor& tensor, graph::tiling::ExtentsView extents,
                     const RoleLayout& layout) {
  if (IsEmpty(extents)) return 0;
  const NamedExtents named = encoder::program::NameExtents(tensor.shape, extents);
  const int64_t row = base::BytesOf(
      tensor.type, named.columns * base::RoundUp(named.channels, layout.channel_block));
  return base::SaturatingMul(base::SaturatingMul(named.batch, named.rows), row);
}

Runs RunsOf(const graph::Tensor& tensor, graph::tiling::ExtentsView extents,
            const RoleLayout& layout) {
  if (IsEmpty(extents)) return {};
  const NamedExtents part = encoder::program::NameExtents(tensor.shape, extents);
  const NamedExtents full = encoder::program::NameExtents(tensor.shape, tensor.shape);
  const int64_t block = layout.channel_block;
  const int64_t full_row =
      base::BytesOf(tensor.type, full.columns * base::RoundUp(full.channels, block));
  const bool all_columns = part.columns == full.columns;
  const bool all_channels =
      base::CeilDiv(part.channels, block) == base::CeilDiv(full.channels, block);
  const bool whole_rows = all_columns && all_channels && full_row % layout.row_pitch_bytes == 0;

  Runs runs;
  if (block == 1) {
    runs = OneRun(base::BytesOf(tensor.type, part.channels));
    if (all_channels) {
      runs = OneRun(base::BytesOf(tensor.type, part.columns * part.channels));
    } else {
      Wrap(runs, part.columns, false);
    }
  } else {
    const int64_t blocks = base::CeilDiv(part.channels, block);
    runs = OneRun(base::BytesOf(tensor.type, (all_columns ? blocks : 1) * part.columns * block));
    if (!all_columns) Wrap(runs, blocks, false);
  }
  Wrap(runs, part.rows, whole_rows);
  bool adjacent = whole_rows && part.rows == full.rows;
  for (const size_t axis : graph::tiling::OuterAxes(tensor.shape)) {
    Wrap(runs, extents[axis], adjacent);
    adjacent = adjacent && extents[axis] == tensor.shape[axis];
  }
  if (layout.request_bytes > 0) {
    runs.count = base::SaturatingMul(runs.count, base::CeilDiv(runs.bytes, layout.request_bytes));
    runs.bytes = std::min(runs.bytes, layout.request_bytes);
  }
  return runs;
}

Runs OneRun(int64_t bytes) { return {.bytes = bytes, .count = 1, .loops = {}}; }

std::vector<LoadedOnce> ConstantsLoadedOnce(const graph::Graph& graph, const Profile& profile,
                                            graph::Interval interval,
                                            hw_profiles::WeightPolicy policy) {
  const bool streams = policy == hw_profiles::WeightPolicy::kStreamed;
  std::optional<encoder::program::KCut> cut;
  if (policy == hw_profiles::WeightPolicy::kSplitK)
    cut = encoder::program::FindKCut(graph, profile, interval);
  std::vector<int> constants;  // in order of first use
  std::vector<std::vector<int>> users;
  for (int i = interval.first; i <= interval.last; ++i) {
    for (const int constant : graph.operators[static_cast<size_t>(i)].weights) {
      const auto seen = std::find(constants.begin(), constants.end(), constant);
      if (seen == constants.end()) {
        constants.push_back(constant);
        users.push_back({i});
      } else {
        users[static_cast<size_t>(seen - constants.begin())].push_back(i);
      }
    }
  }
  std::vector<LoadedOnce> loaded;
  for (size_t i = 0; i < constants.size(); ++i) {
    if (streams && encoder::program::IsSliceable(graph, constants[i], interval)) continue;
    if (cut && cut->Takes(constants[i])) continue;
    loaded.push_back(
        {constants[i],
         encoder::program::HomeOf(graph, profile, constants[i], base::TensorRole::kConstant),
         encoder::program::ConstantBytes(graph, profile, constants[i], users[i])});
  }
  return loaded;
}

}  // namespace tessera::search::cost
