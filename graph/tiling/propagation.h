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
// The tile asks for itself and for its share of every other tensor that leaves the subgraph.
// Operators are then visited from last to first, and each asks of its inputs what it needs for what
// is asked of its output; a tensor asked for several times holds the hull:
//
//     conv a --> conv b --+--> add     rows 4..8 of add  ask for rows 4..8 of b and of a (skip),
//        '----------------'            b asks for rows 3..9 of a: the hull is 3..9, of a's input 2..10
//
// A Propagation is the interval compiled to axis maps over one flat array of extents, so that a run
// allocates nothing and costs some nanoseconds for each operator and axis.
namespace tessera::graph::tiling {

class Propagation {
 public:
  // The graph outlives it.
  Propagation(const Graph& graph, Interval interval);

  // Operators of a propagation, ascending, as if there were no others and the first output of the
  // last one alone left. Cheap, as what is compiled is shared.
  Propagation(const Propagation& whole, const Graph& graph, std::span<const int> operators);

  // Indices into Graph::operators, ascending. An operator's position is that among these.
  const std::vector<int>& Operators() const { return operators_; }

  // Every feature tensor (no constant) that the interval reads or makes, ascending. A position in
  // it is a slot.
  const std::vector<int>& Tensors() const { return tensors_; }
  // The slot of one of these tensors.
  size_t SlotOf(int tensor) const;
  const Shape& ShapeOf(size_t slot) const { return *shapes_[slot]; }
  bool MadeInside(size_t slot) const { return made_inside_[slot]; }
  // Made inside and read behind the interval, a network output, read by nobody, or the last
  // operator's first output.
  bool Leaves(size_t slot) const { return leaves_[slot]; }
  // The slot of the last operator's first output: what tiles are cut from.
  size_t LastSlot() const { return last_slot_; }

  // The regions of all slots, end to end; slot s holds [Begin(s), Begin(s + 1)). All extents of a
  // tensor that the tile does not need are {0, 0}.
  size_t Begin(size_t slot) const { return begins_[slot]; }
  size_t Size() const { return begins_.back(); }
  void Run(const ops::Box& tile, std::span<ops::Extent> regions) const;

  // The axis of the last output that decides over an axis of what leaves: the same position where
  // the ranks agree, else the same name (rows, columns, channels, batch), else none: then every
  // tile brings home the whole axis.
  std::optional<size_t> ShareSource(size_t slot, size_t axis) const {
    return share_sources_[begins_[slot] + axis];
  }

  // What the tile must bring home of a slot that leaves: its extents in proportion, rounded
  // outwards.
  ops::Extent ShareAlong(size_t slot, size_t axis, const ops::Box& tile) const;
  ops::Box ShareOf(size_t slot, const ops::Box& tile) const;
  // The same, appended as lengths.
  void AppendShareLengths(size_t slot, const ops::Box& tile, std::vector<int64_t>& lengths) const;

  // Which cut axes of the last output decide over an axis of a slot: bit i stands for axis i.
  using AxisSet = uint64_t;
  struct Dependence {
    AxisSet axes = 0;
    bool whole = false;  // the whole axis at every tile
  };
  // Parallel to the regions of Run. `cut` are the axes along which there is more than one tile.
  std::vector<Dependence> Dependences(AxisSet cut) const;

  // One operand of one operator of the interval.
  struct Ask {
    size_t op = 0;                       // position
    size_t output = 0;                   // slot
    size_t input = 0;                    // slot
    std::span<const ops::AxisMap> maps;  // of the input's axes
    bool may_be_empty = false;           // some part of the output needs nothing of this input
  };
  const std::vector<Ask>& Asks() const { return asks_; }

  // Grows `input` to hold what the ask needs for that part of its output: nothing where the part is
  // empty.
  static void Apply(const Ask& ask, std::span<const ops::Extent> output,
                    std::span<ops::Extent> input);

  // The axes of the last output behind one axis of the ask's input, as far as its output has been
  // `found`.
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
  std::vector<size_t> first_ask_;  // by position, and the end: of the last operator 0
  std::shared_ptr<std::deque<std::vector<ops::AxisMap>>> maps_;  // behind all asks
};

}  // namespace tessera::graph::tiling
