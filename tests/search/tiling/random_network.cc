// SPDX-License-Identifier: Apache-2.0

#include "random_network.h"

#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../../encoder/program/small_networks.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::search {
namespace {

using hw_profiles::Profile;

int64_t Draw(int64_t least, int64_t most) { return *rc::gen::inRange<int64_t>(least, most + 1); }
bool Flip() { return *rc::gen::arbitrary<bool>(); }

class NetworkDraw {
 public:
  NetworkDraw() {
    shape_ = {Draw(1, 2), Draw(1, 4), Draw(1, 12), Draw(1, 12)};
    tensors_.push_back(net_.Input("x", shape_));
  }

  graph::Graph Run() {
    const int64_t operators = Draw(1, 4);
    for (int64_t i = 0; i < operators; ++i) AddOperator(std::to_string(i));
    net_.Output(tensors_.back());
    return std::move(net_.graph);
  }

 private:
  void AddOperator(const std::string& number) {
    const int input =
        Draw(0, 3) == 0 ? tensors_[static_cast<size_t>(Draw(0, Count() - 1))] : tensors_.back();
    const graph::Shape& from = ShapeOf(input);
    const int64_t kind = Draw(0, 3);
    if (kind >= 2) {
      AddSum(number, input);
      return;
    }
    graph::Shape shape = from;
    if (kind == 0) shape[1] = Draw(1, 4);
    const int output = net_.Tensor("t" + number, shape);
    const int64_t height = 2 * Draw(0, 1) + 1;
    const int64_t width = 2 * Draw(0, 1) + 1;
    const int weights =
        net_.Constant("w" + number, {shape[1], kind == 0 ? ShapeOf(input)[1] : 1, height, width});
    net_.Conv("op" + number, input, weights, output, height, height / 2);
    graph::Operator& op = net_.graph.operators.back();
    op.window.kernel[1] = width;
    op.window.pad_low[1] = op.window.pad_high[1] = width / 2;
    if (kind == 1) op.kind = base::OperatorKind::kDepthwise;
    tensors_.push_back(output);
  }

  // With another tensor of the same shape, where there is one.
  void AddSum(const std::string& number, int input) {
    std::vector<int> inputs = {input};
    for (const int other : tensors_) {
      if (other != input && ShapeOf(other) == ShapeOf(input) && Flip()) inputs.push_back(other);
    }
    const int output = net_.Tensor("t" + number, graph::Shape(ShapeOf(input)));
    net_.Elementwise("op" + number, inputs, output);
    tensors_.push_back(output);
  }

  int64_t Count() const { return static_cast<int64_t>(tensors_.size()); }
  const graph::Shape& ShapeOf(int tensor) const {
    return net_.graph.tensors[static_cast<size_t>(tensor)].shape;
  }

  encoder::Network net_;
  graph::Shape shape_;
  std::vector<int> tensors_;
};

Profile DrawProfile() {
  const auto dma =
      Flip() ? hw_profiles::DmaSteps::kSerialized : hw_profiles::DmaSteps::kDoubleBuffered;
  Profile profile = Draw(0, 3) == 0 ? encoder::OneSram() : encoder::TwoLevels(dma);
  hw_profiles::Throughput depthwise;
  depthwise.kind = base::OperatorKind::kDepthwise;
  profile.engines[0].throughputs.push_back(depthwise);
  profile.tiling.axes.clear();
  for (const base::Axis axis :
       {base::Axis::kRows, base::Axis::kColumns, base::Axis::kChannels, base::Axis::kBatch}) {
    if (Draw(0, 3) > 0) profile.tiling.axes.push_back({axis, std::max<int64_t>(1, Draw(-2, 2))});
  }
  if (Flip()) {
    profile.tiling.weights.insert(profile.tiling.weights.begin(),
                                  hw_profiles::WeightPolicy::kSplitK);
    profile.tiling.k_granularity = Draw(1, 2);
  }
  if (Flip())
    profile.tiling.in_place = {base::OperatorKind::kElementwise, base::OperatorKind::kDepthwise};
  if (Draw(0, 3) > 0) {
    profile.tiling.halo = {hw_profiles::HaloStorage::kRecompute,
                           static_cast<hw_profiles::HaloStorage>(Draw(1, 3))};
  }
  profile.tiling.implicit_padding = Flip();
  if (Flip()) {
    hw_profiles::Scratch scratch;
    scratch.kind = base::OperatorKind::kConv;
    scratch.bytes = Draw(1, 3);
    scratch.factors = {hw_profiles::ScratchFactor::kInChannels,
                       hw_profiles::ScratchFactor::kOutRows};
    profile.scratch = {scratch};
  }
  hw_profiles::Memory& sram = profile.memories[static_cast<size_t>(profile.tile_memory)];
  sram.alignment_bytes = int64_t{1} << Draw(0, 3);
  return profile;
}

// Two halves, in some draws.
void DrawBanks(hw_profiles::Memory& sram) {
  if (Draw(0, 3) > 0) return;
  const int64_t boundary = sram.capacity_bytes / 2;
  for (const problem::AddressRange range :
       {problem::AddressRange{0, boundary}, {boundary, sram.capacity_bytes}}) {
    problem::Bank bank;
    bank.name = range.begin == 0 ? "low" : "high";
    bank.range = range;
    sram.banks.push_back(bank);
  }
  sram.span = Flip() ? problem::Span::kSingle : problem::Span::kContiguous;
}

// A lower bound of the memory for a tile of this shape.
int64_t LoadOf(const RandomSubject& subject, const graph::tiling::TileShape& shape) {
  const encoder::program::SubgraphChoice choice = {
      subject.interval, shape, {subject.profile.tiling.weights.back(), false}};
  const auto program = encoder::program::BuildProgram(subject.graph, subject.profile, {&choice, 1});
  return program ? allocate::FindBound(program->problem, 0).bytes : 64;
}

}  // namespace

RandomSubject DrawSubject() {
  RandomSubject subject;
  subject.graph = NetworkDraw().Run();
  subject.profile = DrawProfile();
  subject.interval = {0, static_cast<int>(subject.graph.operators.size()) - 1};
  const graph::tiling::ShapeGrid grid =
      tiling::GridOf(subject.graph, subject.profile, subject.interval);
  graph::tiling::TileShape smallest;
  graph::tiling::TileShape whole;
  for (const std::vector<int64_t>& extents : grid.extents) {
    smallest.push_back(extents.front());
    whole.push_back(extents.back());
  }
  hw_profiles::Memory& sram =
      subject.profile.memories[static_cast<size_t>(subject.profile.tile_memory)];
  const int64_t least = LoadOf(subject, smallest);
  sram.capacity_bytes =
      std::max<int64_t>(2, Draw(least - least / 8, std::max(least, LoadOf(subject, whole))));
  DrawBanks(sram);
  return subject;
}

}  // namespace tessera::search
