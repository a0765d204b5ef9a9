// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/work_count.h"

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/cost_terms.h"

namespace tessera::plan::verify {
namespace {

using base::OperatorKind;

// The number of input elements of which one output element is the weighted sum.
int64_t TermsOf(const graph::Graph& network, const graph::Operator& op) {
  const graph::Shape& in = ShapeOf(network, op.inputs.front());
  const int64_t window = op.window.kernel[0] * op.window.kernel[1];
  switch (op.kind) {
    case OperatorKind::kConv:
    case OperatorKind::kTransposedConv:
      return in.size() == 4 ? in[1] / std::max<int64_t>(1, op.groups) * window : 0;
    case OperatorKind::kDepthwise:
      return window;
    case OperatorKind::kMatmul:
      return in.size() < 2 ? 0 : in[KAxisOfInput(network, op, 0).value_or(0)];
    default:
      return 0;
  }
}

}  // namespace

int64_t MacsFor(const graph::Graph& network, const graph::Operator& op, const Box& output) {
  if (op.kind == OperatorKind::kOpaque) {
    __extension__ using Wide = __int128;
    const Wide all = VolumeOf(WholeOf(ShapeOf(network, op.outputs.front())));
    const Wide macs = op.macs.value_or(0);
    const Wide share = macs * VolumeOf(output) / all;
    return static_cast<int64_t>(share * all < macs * VolumeOf(output) ? share + 1 : share);
  }
  if (op.inputs.empty()) return 0;
  const int64_t terms = VolumeOf(output) * TermsOf(network, op);
  if (op.kind != OperatorKind::kTransposedConv) return terms;
  // A kernel that moves by a stride over the output applies taps / stride of its taps at each
  // position on average.
  const int64_t spread = op.window.stride[0] * op.window.stride[1];
  return (terms + spread - 1) / spread;
}

WorkCount::WorkCount(const Plan& plan, const std::vector<Users>& users, const Subgraph& subgraph)
    : plan_(plan),
      users_(users),
      subgraph_(subgraph),
      k_slices_(FindKSlices(plan, subgraph)),
      grids_(plan) {
  for (const int tensor : TensorsOf(plan.network, subgraph.interval)) {
    const Held held = ResidencyOf(plan, users, subgraph, tensor);
    held_.emplace(tensor, held);
    if (held.residency == Residency::kResident) {
      work_.off_chip["weights"] += ConstantBytes(plan, users, tensor, subgraph.interval);
    }
  }
}

void WorkCount::Add(const Tile& tile) {
  for (int i = subgraph_.interval.first; i <= subgraph_.interval.last; ++i) {
    const graph::Operator& op = plan_.network.operators[static_cast<size_t>(i)];
    macs_[i] = Plus(macs_[i], MacsFor(plan_.network, op, MadeOf(tile, op.outputs.front())));
  }
  for (const auto& [tensor, need] : tile.needs) {
    const Held& held = held_.at(tensor);
    if (held.residency == Residency::kLoaded) Move("inputs", tensor, MadeOf(tile, tensor));
    if (held.residency == Residency::kStreamed) MoveSlices(tensor, need);
    if (held.residency == Residency::kDirect && held.read) Move("inputs", tensor, need);
  }
  for (const auto& [tensor, share] : tile.shares) {
    const Residency residency = held_.at(tensor).residency;
    if (residency == Residency::kStored || residency == Residency::kDirect)
      Move("outputs", tensor, share);
  }
  if (!k_slices_) {
    ReadConstants(tile);
  } else if (k_slices_->constant >= 0 &&
             held_.at(k_slices_->constant).residency == Residency::kStreamed) {
    const int result = plan_.network.operators[static_cast<size_t>(k_slices_->op)].outputs.front();
    ReadConstantOfSplitK(ExtentsOf(tile.needs.at(result))[k_slices_->result_channels]);
  }
}

// Each slice of K is a separate transfer.
void WorkCount::MoveSlices(int tensor, const Box& need) {
  const size_t axis = k_slices_->along.at(tensor);
  for (int64_t slice = 0; slice < k_slices_->Count() && !IsEmpty(need); ++slice) {
    Box part = need;
    part[axis] = {slice * k_slices_->granularity,
                  slice * k_slices_->granularity + k_slices_->DepthOf(slice)};
    Move("inputs", tensor, part);
  }
}

void WorkCount::ReadConstantOfSplitK(int64_t channels) {
  int64_t& bytes = work_.off_chip["weights"];
  for (int64_t slice = 0; slice < k_slices_->Count(); ++slice)
    bytes += KSliceBytes(plan_, *k_slices_, k_slices_->DepthOf(slice), channels);
  bytes += plan_.profile.table_bytes_per_channel * channels;
}

// Bytes as stored at home: channels in blocks, rows without their pitch.
void WorkCount::Move(const std::string& cause, int tensor, const Box& box) {
  if (IsEmpty(box)) return;
  const int64_t block = hw_profiles::LayoutOf(plan_.profile, held_.at(tensor).role).channel_block;
  const base::DataType type = plan_.network.tensors[static_cast<size_t>(tensor)].type;
  work_.off_chip[cause] += StoredBytes(NameExtents(ExtentsOf(box)), type, block, 1);
}

// Constants that are fetched again for every tile: slices by each operator, direct ones in their
// home, for each area of output blocks.
void WorkCount::ReadConstants(const Tile& tile) {
  for (const auto& [constant, held] : held_) {
    if (held.role != base::TensorRole::kConstant) continue;
    if (held.residency != Residency::kStreamed && held.residency != Residency::kDirect) continue;
    for (const int reader : users_[static_cast<size_t>(constant)].readers) {
      if (!Contains(subgraph_.interval, reader)) continue;
      const graph::Operator& op = plan_.network.operators[static_cast<size_t>(reader)];
      const std::optional<BlockGrid> grid =
          held.residency == Residency::kDirect ? grids_.Find(op, tile) : std::nullopt;
      work_.off_chip["weights"] +=
          Times(ConstantBytes(plan_, op, constant), grid ? grid->areas : 1);
    }
  }
}

Work WorkCount::Finish() const {
  Work work = work_;
  work.macs_of = macs_;
  for (const auto& [i, macs] : macs_) {
    const graph::Operator& op = plan_.network.operators[static_cast<size_t>(i)];
    const int64_t once =
        MacsFor(plan_.network, op, WholeOf(ShapeOf(plan_.network, op.outputs.front())));
    work.macs = Plus(work.macs, macs);
    work.unknown_work += graph::HasUnknownWork(op) ? 1 : 0;
    work.recomputed_macs = Plus(work.recomputed_macs, std::max<int64_t>(0, macs - once));
  }
  return work;
}

}  // namespace tessera::plan::verify
