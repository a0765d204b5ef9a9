// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/region.h"

// From a tile of a subgraph's last output to the regions of all its feature tensors.
//
// The tile requests its own box and its share of every other tensor that leaves the subgraph.
// Operators are then visited from last to first. Each requests from its inputs the parts that it
// needs for the requested part of its output. A tensor that is requested several times gets the
// hull:
//
//     conv a --> conv b --+--> add     rows 4..8 of add need rows 4..8 of b and of a (skip),
//        '----------------'            b needs rows 3..9 of a: the hull is 3..9,
//                                      and a needs rows 2..10 of its input
//
// A Propagation is the interval compiled to axis maps over one flat array of extents. A run
// allocates nothing and takes some nanoseconds for each operator and axis.
namespace tessera::graph::tiling {

class Propagation {
 public:
  // The graph must outlive it.
  Propagation(const Graph& graph, Interval interval);

  // The propagation of some of the operators of `whole`, ascending, as if there were no others and
  // only the first output of the last one left the subgraph. Cheap, because the compiled maps are
  // shared.
  Propagation(const Propagation& whole, const Graph& graph, std::span<const int> operators);

  // Indices into Graph::operators, ascending. An operator's position is its index in this list.
  const std::vector<int>& Operators() const { return operators_; }

  // Every feature tensor (no constant) that the interval reads or makes, ascending. A position in
  // this list is a slot.
  const std::vector<int>& Tensors() const { return tensors_; }
  // The slot of one of these tensors.
  size_t SlotOf(int tensor) const;
  const Shape& ShapeOf(size_t slot) const { return *shapes_[slot]; }
  bool MadeInside(size_t slot) const { return made_inside_[slot]; }
  // Whether the tensor is made inside and is read after the interval, a network output, never read,
  // or the last operator's first output.
  bool Leaves(size_t slot) const { return leaves_[slot]; }
  // The slot of the last operator's first output, which tiles divide.
  size_t LastSlot() const { return last_slot_; }

  // The regions of all slots, end to end; slot s has [Begin(s), Begin(s + 1)). All extents of a
  // tensor that the tile does not need are {0, 0}.
  size_t Begin(size_t slot) const { return begins_[slot]; }
  size_t Size() const { return begins_.back(); }
  void Run(const ops::Box& tile, std::span<ops::Extent> regions) const;

  // The axis of the last output that determines the share along an axis of a tensor that leaves:
  // the same position if the ranks agree, otherwise the same name (rows, columns, channels, batch),
  // otherwise none: then every tile stores the whole axis.
  std::optional<size_t> ShareSource(size_t slot, size_t axis) const {
    return share_sources_[begins_[slot] + axis];
  }

  // The part of a leaving slot that the tile must store: its extents in proportion, rounded
  // outwards.
  ops::Extent ShareAlong(size_t slot, size_t axis, const ops::Box& tile) const;
  ops::Box ShareOf(size_t slot, const ops::Box& tile) const;
  // The same, appended as lengths.
  void AppendShareLengths(size_t slot, const ops::Box& tile, std::vector<int64_t>& lengths) const;

  // A set of axes of the last output; bit i represents axis i.
  using AxisSet = uint64_t;
  struct Dependence {
    AxisSet axes = 0;
    bool whole = false;  // every tile needs the whole axis
  };
  // For each axis of each slot, the cut axes of the last output on which it depends; parallel to
  // the regions of Run. `cut` are the axes along which there is more than one tile. All axes of a
  // tensor that some tile does not need depend on what decides that, unless emptiness is kept
  // apart.
  enum class Emptiness : uint8_t { kOnEveryAxis, kApart };
  std::vector<Dependence> Dependences(AxisSet cut,
                                      Emptiness counts = Emptiness::kOnEveryAxis) const;

  // One operand of one operator of the interval.
  struct Ask {
    size_t op = 0;                       // position
    size_t output = 0;                   // slot
    size_t input = 0;                    // slot
    std::span<const ops::AxisMap> maps;  // of the input's axes
    bool may_be_empty = false;           // some part of the output needs nothing of this input
  };
  const std::vector<Ask>& Asks() const { return asks_; }

  // Extends `input` by the part that the ask needs for that part of its output; nothing if the part
  // is empty.
  static void Apply(const Ask& ask, std::span<const ops::Extent> output,
                    std::span<ops::Extent> input);

  // The axes of the last output on which one axis of the ask's input depends, as far as they are
  // `found` for its output.
  AxisSet AxesBehind(const Ask& ask, const ops::AxisMap& map,
                     std::span<const Dependence> found) const;

 private:
  void CollectTensors(const Graph& graph);
  void MarkMade(const Graph& graph);
  void MarkLeaving(const Graph& graph, Interval interval);
  void CompileAsks(const Graph& graph);
  void AskForOutputs(const Operator& op, size_t position);
  std::span<const ops::AxisMap> Keep(std::vector<ops::AxisMap> maps);
  void FindShareSources();

  std::vector<int> operators_;
  std::vector<int> tensors_;
  std::vector<const Shape*> shapes_;
  std::vector<char> made_inside_;
  std::vector<char> leaves_;
  std::vector<size_t> begins_;
  size_t last_slot_ = 0;
  std::vector<std::optional<size_t>> share_sources_;  // parallel to the regions of Run
  std::vector<Ask> asks_;                             // last operator first
  std::vector<size_t> first_ask_;  // by position, with an end: the end for the last operator is 0
  std::shared_ptr<std::deque<std::vector<ops::AxisMap>>> maps_;  // the storage of all asks' maps
};

}  // namespace tessera::graph::tiling
