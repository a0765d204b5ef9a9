// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tessera/graph/import/common/passes.h"
#include "tessera/graph/ops/windows.h"

namespace tessera::graph::import::common {

Links::Links(Graph& graph)
    : graph_(&graph),
      makers_(graph.tensors.size(), -1),
      readers_(graph.tensors.size()),
      gone_(graph.operators.size(), false) {
  for (int i = 0; i < CountOperators(); ++i) {
    for (const int tensor : At(i).inputs) readers_[static_cast<size_t>(tensor)].insert(i);
    for (const int tensor : At(i).weights) readers_[static_cast<size_t>(tensor)].insert(i);
    for (const int tensor : At(i).outputs) makers_[static_cast<size_t>(tensor)] = i;
  }
}

bool Links::OnlyReads(int op, int tensor) const {
  return !TensorAt(tensor).network_output && ReadersOf(tensor) == std::set<int>{op};
}

void Links::Remove(int op) {
  for (const int tensor : At(op).inputs) readers_[static_cast<size_t>(tensor)].erase(op);
  for (const int tensor : At(op).weights) readers_[static_cast<size_t>(tensor)].erase(op);
  for (const int tensor : At(op).outputs) makers_[static_cast<size_t>(tensor)] = -1;
  gone_[static_cast<size_t>(op)] = true;
}

void Links::Absorb(int maker, const std::vector<int>& ops) {
  const std::vector<int> outputs = At(ops.back()).outputs;
  for (const int op : ops) Remove(op);
  for (const int tensor : At(maker).outputs) makers_[static_cast<size_t>(tensor)] = -1;
  for (const int tensor : outputs) makers_[static_cast<size_t>(tensor)] = maker;
  At(maker).outputs = outputs;
}

void Links::Bypass(int from, int to) {
  Remove(MakerOf(from));
  std::set<int>& readers = readers_[static_cast<size_t>(from)];
  for (const int reader : readers) {
    std::replace(At(reader).inputs.begin(), At(reader).inputs.end(), from, to);
    readers_[static_cast<size_t>(to)].insert(reader);
  }
  readers.clear();
}

void Links::ReadInstead(int op, int from, int to) {
  std::replace(At(op).inputs.begin(), At(op).inputs.end(), from, to);
  readers_[static_cast<size_t>(from)].erase(op);
  readers_[static_cast<size_t>(to)].insert(op);
}

void Links::TakeInTensors() {
  makers_.resize(graph_->tensors.size(), -1);
  readers_.resize(graph_->tensors.size());
}

void Links::Compact() {
  std::vector<Operator> rest;
  for (int i = 0; i < CountOperators(); ++i) {
    if (!IsGone(i)) rest.push_back(std::move(At(i)));
  }
  graph_->operators = std::move(rest);
  *this = Links(*graph_);
}

// Removes unread results, and joins sequences of reshapes. A transpose that moves only axes of
// extent 1 is a reshape. It becomes one after transposes have been joined, because it may be a part
// of another transpose. Between two reshapes a product of rows with a constant needs neither shape:
//
//     [1, 197, 768] -> [197, 1, 768] x [768, 2304] -> [197, 1, 2304] -> [197, 1, 3, 768]
//     [1, 197, 768]                  x [768, 2304] -> [1, 197, 2304] -> [197, 1, 3, 768]
namespace {

using base::OperatorKind;

bool IsUnread(const Links& links, const Operator& op) {
  return std::all_of(op.outputs.begin(), op.outputs.end(), [&](int tensor) {
    return links.ReadersOf(tensor).empty() && !links.TensorAt(tensor).network_output;
  });
}

// Keeps only the read outputs of an operator with several outputs.
void KeepReadOutputs(const Links& links, Operator& op) {
  std::vector<int> read;
  for (const int tensor : op.outputs) {
    if (!links.ReadersOf(tensor).empty() || links.TensorAt(tensor).network_output)
      read.push_back(tensor);
  }
  op.outputs = std::move(read);
}

class ReshapeJoiner {
 public:
  explicit ReshapeJoiner(Draft& draft) : draft_(draft), links_(draft.graph) {}

  void Run() {
    // Phases must be gathered before a preceding reshape joins these reshapes.
    ForEach(OperatorKind::kReshape, [this](int op) { GatherPhases(op); });
    JoinAll();
    ForEach(OperatorKind::kTranspose, [this](int op) { MakeReshape(op); });
    JoinAll();
    ForEach(OperatorKind::kMatmul, [this](int op) { DropShapesAround(op); });
    links_.Compact();
  }

 private:
  void JoinAll() {
    for (int op = 0; op < links_.CountOperators(); ++op) {
      if (links_.IsGone(op)) continue;
      if (links_.At(op).kind == OperatorKind::kReshape) {
        JoinReshape(op);
      } else if (links_.At(op).kind == OperatorKind::kTranspose) {
        JoinTranspose(op);
      }
    }
  }

  // Visits the operators in program order, without those that were removed before their turn.
  template <typename Visit>
  void ForEach(OperatorKind kind, Visit visit) {
    for (int op = 0; op < links_.CountOperators(); ++op) {
      if (!links_.IsGone(op) && links_.At(op).kind == kind) visit(op);
    }
  }

  const Shape& ShapeOf(int tensor) const { return links_.TensorAt(tensor).shape; }
  bool HaveOneType(int a, int b) const {
    return links_.TensorAt(a).type == links_.TensorAt(b).type;
  }

  void Drop(int op, const std::string& why) {
    draft_.report.Remove(Report::Event::kDropped, links_.At(op).id, why);
  }

  void Join(int op, int into, const std::string& detail) {
    draft_.report.Join(Report::Event::kDropped, links_.At(op).id, links_.At(into).id, detail);
  }

  // The operator before this one, if it has no other reader; otherwise -1.
  int Before(int op) const {
    const int input = links_.At(op).inputs.front();
    return links_.OnlyReads(op, input) ? links_.MakerOf(input) : -1;
  }

  // Removes an operator that restores `tensor`. Also removes the operator before it, unless its
  // result has another reader.
  void Undo(int op, int tensor, const std::string& detail) {
    const int result = links_.At(op).outputs.front();
    if (links_.TensorAt(result).network_output) return;
    const int before = links_.MakerOf(links_.At(op).inputs.front());
    Drop(op, detail);
    links_.Bypass(result, tensor);
    if (!IsUnread(links_, links_.At(before))) return;
    Drop(before, "goes with the next");
    links_.Remove(before);
  }

  void ReadInstead(int op, int tensor) {
    const int before = links_.MakerOf(links_.At(op).inputs.front());
    links_.Bypass(links_.At(op).inputs.front(), tensor);
    Join(before, op, "goes with the next");
  }

  void JoinReshape(int op) {
    const int input = links_.At(op).inputs.front();
    const int maker = links_.MakerOf(input);
    if (maker < 0) return;
    const Operator& before = links_.At(maker);
    const Shape& result = ShapeOf(links_.At(op).outputs.front());
    if (before.kind == OperatorKind::kReshape) {
      const int origin = before.inputs.front();
      if (ShapeOf(origin) == result && HaveOneType(origin, links_.At(op).outputs.front()))
        return Undo(op, origin, "restores the shape of before");
      if (Before(op) >= 0) return ReadInstead(op, origin);
    }
    if (Before(op) >= 0 && DropsAxes(before, ShapeOf(input), result)) {
      Join(op, maker, "drops axes of extent 1");
      links_.Absorb(maker, {op});
    }
  }

  // The parts into which a reshape splits a map: positions of the axes, -1 for an absent phase.
  struct PhaseSplit {
    std::vector<int> permutation;  // that puts the phases first
    size_t rows = 0;
    int row_phases = 0;
    size_t columns = 0;
    int column_phases = 0;
  };

  // A space_to_batch of foreign formats: a reshape splits rows, columns, or both into blocks and
  // phases, a transpose puts the phases first, and the reshape `op` makes images of them.
  void GatherPhases(int op) {
    const std::array<PhaseSplit, 3> splits = {{{{3, 5, 0, 1, 2, 4}, 2, 3, 4, 5},
                                               {{3, 0, 1, 2, 4}, 2, 3, 4, -1},
                                               {{4, 0, 1, 2, 3}, 2, -1, 3, 4}}};
    const int turn = Before(op);
    if (turn < 0 || links_.At(turn).kind != OperatorKind::kTranspose) return;
    const auto its = std::find_if(splits.begin(), splits.end(), [&](const PhaseSplit& each) {
      return each.permutation == links_.At(turn).Own<TransposeAttributes>().permutation;
    });
    const int split = Before(turn);
    if (its == splits.end() || split < 0 || links_.At(split).kind != OperatorKind::kReshape) return;
    const Shape& map = ShapeOf(links_.At(split).inputs.front());
    const Shape& parts = ShapeOf(links_.At(split).outputs.front());
    const auto phases = [&parts](int place) {
      return place < 0 ? int64_t{1} : parts[static_cast<size_t>(place)];
    };
    const std::array block = {phases(its->row_phases), phases(its->column_phases)};
    const int64_t rows = parts[its->rows];
    const int64_t columns = parts[its->columns];
    if (map.size() != 4 || std::max(block[0], block[1]) > ops::kMostWindow ||
        block == std::array<int64_t, 2>{1, 1} ||
        map != Shape{parts[0], parts[1], rows * block[0], columns * block[1]} ||
        ShapeOf(links_.At(op).outputs.front()) !=
            Shape{block[0] * block[1] * map[0], map[1], rows, columns})
      return;
    for (const int part : {turn, op})
      draft_.report.Join(Report::Event::kFused, links_.At(part).id, links_.At(split).id,
                         "space to batch");
    links_.Absorb(split, {turn, op});
    links_.At(split).kind = OperatorKind::kSpaceToBatch;
    links_.At(split).own = base::SpaceToBatchAttributes{block};
  }

  // A global pool may also make [batch, channels], and a reduction may drop its reduced axes.
  static bool DropsAxes(const Operator& before, const Shape& kept, const Shape& result) {
    if (before.kind == OperatorKind::kGlobalPool)
      return kept.size() == 4 && result == Shape{kept[0], kept[1]};
    if (before.kind != OperatorKind::kReduce) return false;
    Shape rest = kept;
    for (size_t i = before.axes.size(); i-- > 0;) {
      const auto axis = static_cast<size_t>(before.axes[i]);
      if (axis >= rest.size() || rest[axis] != 1) return false;
      rest.erase(rest.begin() + before.axes[i]);
    }
    return rest == result && rest.size() + before.axes.size() == kept.size();
  }

  void JoinTranspose(int op) {
    const int maker = links_.MakerOf(links_.At(op).inputs.front());
    if (maker < 0 || links_.At(maker).kind != OperatorKind::kTranspose) return;
    const Operator& before = links_.At(maker);
    std::vector<int> joined;
    for (const int axis : links_.At(op).Own<TransposeAttributes>().permutation)
      joined.push_back(before.Own<TransposeAttributes>().permutation[static_cast<size_t>(axis)]);
    if (std::is_sorted(joined.begin(), joined.end()))
      return Undo(op, before.inputs.front(), "restores the order of before");
    if (Before(op) < 0) return;
    links_.At(op).own = TransposeAttributes{std::move(joined)};
    ReadInstead(op, before.inputs.front());
  }

  // Whether the axes with more than one index keep their order.
  bool MovesOnlyOnes(const Operator& op) const {
    const Shape& input = ShapeOf(op.inputs.front());
    std::vector<int> moved = op.Own<TransposeAttributes>().permutation;
    std::erase_if(moved, [&](int axis) { return input[static_cast<size_t>(axis)] == 1; });
    return std::is_sorted(moved.begin(), moved.end());
  }

  void MakeReshape(int op) {
    Operator& turn = links_.At(op);
    if (!MovesOnlyOnes(turn)) return;
    turn.kind = OperatorKind::kReshape;
    turn.own = {};
    const int input = turn.inputs.front();
    const int result = turn.outputs.front();
    if (ShapeOf(input) != ShapeOf(result) || !HaveOneType(input, result) ||
        links_.TensorAt(result).network_output)
      return;
    Drop(op, "keeps the shape");
    links_.Bypass(result, input);
  }

  // The reshape that alone reads the tensor; otherwise -1.
  int ReshapeAfter(int tensor) const {
    const std::set<int>& readers = links_.ReadersOf(tensor);
    if (readers.size() != 1 || links_.TensorAt(tensor).network_output) return -1;
    return links_.At(*readers.begin()).kind == OperatorKind::kReshape ? *readers.begin() : -1;
  }

  // Rows may lie on any axis for the engine, but tiles are cut along the last axis but one. So a
  // product keeps its shape if the other one has fewer rows there, or more axes than a batch of
  // matrices.
  bool MayBegin(int product, const Shape& other) const {
    constexpr size_t kMostAxes = 3;
    const Shape& own = ShapeOf(links_.At(product).inputs.front());
    const size_t rank = other.size();
    return rank >= 2 && rank <= kMostAxes && other.back() == own.back() &&
           other[rank - 2] >= own[own.size() - 2];
  }

  void DropShapesAround(int op) {
    const Operator& product = links_.At(op);
    const int before = Before(op);
    const bool has_tables = product.weights.size() > 1;
    if (product.inputs.size() != 1 || product.Own<MatmulAttributes>() != MatmulAttributes{} ||
        has_tables || before < 0)
      return;
    const int result = product.outputs.front();
    const int after = ReshapeAfter(result);
    if (links_.At(before).kind != OperatorKind::kReshape || after < 0) return;
    const int origin = links_.At(before).inputs.front();
    if (!HaveOneType(origin, product.inputs.front()) || !MayBegin(op, ShapeOf(origin))) return;
    ReadInstead(op, origin);
    Shape shape = ShapeOf(origin);
    shape.back() = ShapeOf(result).back();
    links_.TensorAt(result).shape = shape;
    const int behind = links_.At(after).outputs.front();
    if (ShapeOf(behind) != shape || !HaveOneType(result, behind)) return;
    Join(after, op, "keeps the shape");
    links_.Absorb(op, {after});
  }

  Draft& draft_;
  Links links_;
};

}  // namespace

void DropUnread(Draft& draft) {
  Links links(draft.graph);
  for (int op = links.CountOperators(); op-- > 0;) {
    if (IsUnread(links, links.At(op))) {
      draft.report.Remove(Report::Event::kDropped, links.At(op).id, "no output depends on it");
      links.Remove(op);
    } else {
      KeepReadOutputs(links, links.At(op));
    }
  }
  links.Compact();
}

void JoinReshapes(Draft& draft) { ReshapeJoiner(draft).Run(); }

}  // namespace tessera::graph::import::common
