// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/program/home_tiles.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/graph/tiling/tiling.h"

// The slots of subgraph s, of n operators and N tiles, follow those of s - 1. Slot 0 is before the
// program: network inputs are whole then.
//
//     double_buffered   slot     0       1       2       3    ..   N + 1
//                       loads    tile 0  tile 1  tile 2  ..
//                       engines          tile 0  tile 1  ..
//                       stores                   tile 0  tile 1       N - 1
//
//     serialized        3 n slots for each tile: for each operator its loads, itself, its stores
//
// The work of one slot may run in any order, so accesses in one slot must not share a byte unless
// they only read. A tensor is whole in the last slot of the subgraph that makes it: by then all of
// it has been written, and other subgraphs read it later.
namespace tessera::encoder::program {
namespace {

using graph::tiling::TileBoxes;
using problem::Bytes;
using problem::Lifespan;
using problem::Step;
using problem::TiledTensor;

// The layout of the elements of a tensor at home, in units of four bits, the least size of an
// element.
class Layout {
 public:
  Layout(const graph::Graph& graph, const hw_profiles::Profile& profile, int tensor) {
    constexpr int64_t kBits = 4;
    const graph::Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
    const hw_profiles::RoleLayout& layout =
        hw_profiles::LayoutOf(profile, RoleAtHome(graph, tensor));
    const NamedExtents extents = NameExtents(facts.shape, facts.shape);
    shape_ = facts.shape;
    box_.element = base::BitsOf(facts.type) / kBits;
    const Bytes column = base::RoundUp(extents.channels, layout.channel_block) * box_.element;
    const Bytes row = base::RoundUp(extents.columns * column, kUnits * layout.row_pitch_bytes);
    box_.strides.assign(facts.shape.size(), 0);
    const auto set = [&](base::Axis axis, Bytes stride) {
      if (const auto index = graph::tiling::AxisOf(facts.shape, axis))
        box_.strides[*index] = stride;
    };
    set(base::Axis::kChannels, box_.element);
    set(base::Axis::kColumns, column);
    set(base::Axis::kRows, row);
    std::vector<size_t> outer = graph::tiling::OuterAxes(facts.shape);
    std::sort(outer.rbegin(), outer.rend());
    Bytes stride = extents.rows * row;
    for (const size_t axis : outer) {
      box_.strides[axis] = stride;
      stride *= facts.shape[axis];
    }
  }

  // The part, widened along the innermost axes until it has at most kMostRuns runs of elements.
  graph::ops::Box Widen(graph::ops::Box part) const {
    std::vector<size_t> axes(part.size());
    std::iota(axes.begin(), axes.end(), size_t{0});
    std::stable_sort(axes.begin(), axes.end(),
                     [this](size_t a, size_t b) { return box_.strides[a] < box_.strides[b]; });
    size_t inner = 0;
    const auto is_whole = [&](size_t axis) {
      return part[axis].begin == 0 && part[axis].end == shape_[axis];
    };
    while (true) {
      while (inner < axes.size() && is_whole(axes[inner])) ++inner;
      int64_t runs = 1;
      for (size_t i = inner + 1; i < axes.size(); ++i) runs *= part[axes[i]].Length();
      if (inner >= axes.size() || runs <= kMostRuns) return part;
      part[axes[inner]] = {0, shape_[axes[inner]]};
    }
  }

  // Bytes of the box, ascending.
  std::vector<problem::AddressRange> ChunksOf(const graph::ops::Box& narrow) const {
    const graph::ops::Box part = Widen(narrow);
    problem::StridedBox box = box_;
    for (size_t axis = 0; axis < part.size(); ++axis) {
      box.extents.push_back(part[axis].Length());
      box.offset += part[axis].begin * box.strides[axis];
    }
    std::vector<problem::AddressRange> bytes;
    for (const problem::AddressRange& chunk : problem::ChunksOf(box)) {
      const problem::AddressRange rounded = {chunk.begin / kUnits,
                                             base::CeilDiv(chunk.end, kUnits)};
      if (!bytes.empty() && rounded.begin <= bytes.back().end) {
        bytes.back().end = rounded.end;
      } else {
        bytes.push_back(rounded);
      }
    }
    return bytes;
  }

 private:
  static constexpr int64_t kUnits = 2;  // of a byte
  static constexpr int64_t kMostRuns = 1'024;
  graph::Shape shape_;
  problem::StridedBox box_;
};

class TileCollector {
 public:
  TileCollector(const graph::Graph& graph, const hw_profiles::Profile& profile,
                std::span<const SubgraphChoice> choices, const HomeProblem& home,
                const base::Stop& stop)
      : graph_(graph),
        profile_(profile),
        choices_(choices),
        usages_(graph::UsagesOf(graph)),
        home_(home),
        stop_(stop) {
    for (size_t i = 0; i < home.tensors.size(); ++i) {
      const problem::Buffer& buffer = home.problem.buffers[i];
      TiledTensor& tensor = tensors_.emplace_back();
      tensor.id = buffer.id;
      tensor.role = buffer.role;
      tensor.size = buffer.size;
      tensor.alignment = buffer.alignment;
      numbers_.emplace(home.tensors[i], i);
      layouts_.emplace_back(graph, profile, home.tensors[i]);
    }
  }

  std::optional<std::vector<TiledTensor>> Run() {
    Step begin = 1;
    for (const SubgraphChoice& choice : choices_) {
      const auto uses = FindUses(graph_, usages_, profile_, choice.interval, choice.policy);
      if (!uses || !Collect(choice, *uses, begin)) return std::nullopt;
      begin = end_;
      last_slots_.push_back(end_ - 1);
    }
    for (size_t i = 0; i < tensors_.size(); ++i) {
      TiledTensor& tensor = tensors_[i];
      tensor.whole = WholeOf(home_.tensors[i], home_.problem.buffers[i].lifespans.front());
      // A tile lives from its store until the tensor is whole, and from then until its load.
      for (problem::TensorTile& tile : tensor.tiles) {
        tile.life.lower = std::min(tile.life.lower, tensor.whole.lower);
        tile.life.upper = std::max(tile.life.upper, tensor.whole.upper);
      }
    }
    return std::move(tensors_);
  }

 private:
  bool IsDoubleBuffered(const SubgraphUses& uses) const {
    return uses.dma == hw_profiles::DmaSteps::kDoubleBuffered;
  }

  // Returns false after a stop, or if there are too many chunks.
  bool Collect(const SubgraphChoice& choice, const SubgraphUses& uses, Step begin) {
    int64_t tile = 0;
    const auto visit = [&](const TileBoxes& boxes) {
      for (size_t slot = 0; slot < uses.tensors.size(); ++slot)
        AddTile(uses, uses.tensors[slot], boxes, slot, SlotsOf(uses, begin, tile));
      ++tile;
    };
    const hw_profiles::HaloStorage halo = choice.policy.halo;
    const bool is_over =
        halo == hw_profiles::HaloStorage::kRecompute
            ? !graph::tiling::ForEachTile(graph_, choice.interval, choice.tile, &stop_, visit)
            : !graph::tiling::ForEachTileKeepingRows(graph_, choice.interval, choice.tile,
                                                     halo != hw_profiles::HaloStorage::kAdjacent,
                                                     &stop_, visit);
    end_ = IsDoubleBuffered(uses) ? begin + tile + 2 : begin + tile * 3 * uses.Operators();
    return !is_over && chunks_ <= kMostHomeChunks;
  }

  // The slots of one tile.
  struct Slots {
    bool overlap = false;  // transfers and compute
    Step first = 0;
    Lifespan Loads(int op) const { return At(overlap ? 0 : 3 * op); }
    Lifespan Engine(int op) const { return At(overlap ? 1 : 3 * op + 1); }
    Lifespan Stores(int op) const { return At(overlap ? 2 : 3 * op + 2); }
    Lifespan At(Step step) const { return {first + step, first + step + 1}; }
  };

  Slots SlotsOf(const SubgraphUses& uses, Step begin, int64_t tile) const {
    const bool overlap = IsDoubleBuffered(uses);
    return {overlap, begin + (overlap ? tile : tile * 3 * uses.Operators())};
  }

  void AddTile(const SubgraphUses& uses, const TensorUse& use, const TileBoxes& boxes, size_t slot,
               const Slots& slots) {
    const auto number = numbers_.find(use.tensor);
    if (number == numbers_.end() || IsLasting(use.tensor)) return;
    switch (use.residence) {
      case Residence::kLoaded:
        Add(number->second, boxes.made[slot], slots.Loads(use.readers.front()));
        break;
      case Residence::kStreamed:  // slice by slice, up to the last round of its operator
        Add(number->second, boxes.needed[slot],
            {slots.Loads(uses.split_k->op - uses.interval.first).lower,
             slots.Engine(uses.split_k->op - uses.interval.first).upper});
        break;
      case Residence::kStored:
        Add(number->second, boxes.shares[slot], slots.Stores(use.makers.front()));
        break;
      case Residence::kDirect:
        for (const int maker : use.makers)
          Add(number->second, boxes.made[slot], slots.Engine(maker));
        for (const int reader : use.readers)
          Add(number->second, boxes.needed[slot], slots.Engine(reader));
        break;
      case Residence::kInside:
      case Residence::kWhole:
      case Residence::kResident:
        break;
    }
  }

  void Add(size_t number, const graph::ops::Box& box, Lifespan life) {
    if (chunks_ > kMostHomeChunks || graph::ops::IsEmpty(box)) return;
    std::vector<problem::AddressRange> chunks = layouts_[number].ChunksOf(box);
    chunks_ += chunks.size();
    tensors_[number].tiles.push_back({std::move(chunks), life});
  }

  bool IsLasting(int tensor) const {
    const graph::Tensor& facts = graph_.tensors[static_cast<size_t>(tensor)];
    return facts.constant || RoleAtHome(graph_, tensor) == base::TensorRole::kState;
  }

  // Slot 0 belongs to the first subgraph, and the last one to the last.
  Lifespan SlotsIn(const Lifespan& subgraphs) const {
    const auto end_of = [this](Step subgraph) {
      return last_slots_[static_cast<size_t>(subgraph)] + 1;
    };
    return {subgraphs.lower == 0 ? 0 : end_of(subgraphs.lower - 1),
            subgraphs.upper >= static_cast<Step>(last_slots_.size()) ? end_
                                                                     : end_of(subgraphs.upper - 1)};
  }

  // Returns the slots in which the whole tensor lives: for constants and state those of its
  // subgraphs, for network inputs slot 0, otherwise the last slot of its maker, up to the end if
  // nothing removes it.
  Lifespan WholeOf(int tensor, const Lifespan& subgraphs) const {
    const graph::Usage& usage = usages_[static_cast<size_t>(tensor)];
    if (IsLasting(tensor)) return SlotsIn(subgraphs);
    if (usage.producer < 0) return {0, 1};
    const Step made = last_slots_[static_cast<size_t>(subgraphs.lower)];
    const bool stays =
        graph_.tensors[static_cast<size_t>(tensor)].network_output || usage.consumers.empty();
    return {made, stays ? end_ : made + 1};
  }

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  std::span<const SubgraphChoice> choices_;
  std::vector<graph::Usage> usages_;
  const HomeProblem& home_;
  const base::Stop& stop_;
  std::map<int, size_t> numbers_;  // by tensor: its place in the home
  std::vector<Layout> layouts_;    // by place
  std::vector<TiledTensor> tensors_;
  std::vector<Step> last_slots_;  // by subgraph
  Step end_ = 1;
  size_t chunks_ = 0;
};

}  // namespace

std::optional<std::vector<problem::TiledTensor>> TilesAtHome(
    const graph::Graph& graph, const hw_profiles::Profile& profile,
    std::span<const SubgraphChoice> choices, const HomeProblem& home, const base::Stop& stop) {
  return TileCollector(graph, profile, choices, home, stop).Run();
}

}  // namespace tessera::encoder::program
