// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/graph/import/common/passes.h"
#include "tessera/graph/ops/matmul.h"

// Removes transposes that need no copy, because a product can read or make its matrices in another
// order of axes. Attention, with 12 heads of 64 channels, stores its tokens row by row and
// multiplies head by head:
//
//     q [197, 12, 64] --> transpose --> [12, 197, 64] --.
//                                                       matmul --> [12, 197, 197]
//     k [197, 12, 64] --> transpose --> [12, 64, 197] --'
//
// The product reads a row of q at a stride of 12 * 64 elements instead of 64, and the copies are
// removed. The same holds for a transpose of the result of a product, if columns stay innermost.
//
// Operators between the two may work in the same way in any order of axes. So for each transpose a
// *region* grows from its result. The tensors in it get the order of axes of the transpose's
// operand. Their readers either belong to the region too (elementwise, slice, concat, softmax,
// reshapes of groups of axes) or end it (a product, another transpose, a reshape for which only
// axes of extent 1 have moved). If a reader can do neither, nothing changes. If a region needs
// another operand in the same order, it grows by the transpose that makes this operand.
//
// Cost: that of the region, for each transpose. It is sound because each rewritten operator
// computes the same numbers, and no tensor of the region leaves the network.
namespace tessera::graph::import::common {
namespace {

using base::OperatorKind;
using Axes = std::vector<int>;  // of a tensor: axis i was stored as axis axes[i]

bool IsIdentity(const Axes& axes) { return std::is_sorted(axes.begin(), axes.end()); }

// The axes of a transpose by `outer` of the result of a transpose by `inner`.
Axes Composed(const Axes& inner, const Axes& outer) {
  if (inner.empty()) return outer;
  Axes composed;
  for (const int axis : outer) composed.push_back(inner[static_cast<size_t>(axis)]);
  return composed;
}

// The entry of each axis, in the stored order.
template <typename Values>
Values Stored(const Values& values, const Axes& axes) {
  Values stored = values;
  for (size_t axis = 0; axis < axes.size(); ++axis)
    stored[static_cast<size_t>(axes[axis])] = values[axis];
  return stored;
}

// Whether the axes with more than one index are stored in their order.
bool MovesOnlyOnes(const Shape& shape, const Axes& axes) {
  Axes real;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (shape[axis] != 1) real.push_back(axes[axis]);
  }
  return IsIdentity(real);
}

bool IsOneElement(const Shape& shape) { return ElementsOf(shape) == 1; }

// Axes of a reshape's operand, and those of its result that hold the same elements in their order.
struct Group {
  std::vector<size_t> from;
  std::vector<size_t> to;
  int stored = 0;  // the first of `from` with several indices, where it is stored
};

std::vector<Group> GroupsOf(const Shape& from, const Shape& to) {
  std::vector<Group> groups;
  size_t i = 0;
  size_t j = 0;
  while (i < from.size() && j < to.size()) {
    Group group{{i}, {j}};
    int64_t before = from[i++];
    int64_t after = to[j++];
    while (before != after) {
      if (before < after) {
        group.from.push_back(i);
        before *= from[i++];
      } else {
        group.to.push_back(j);
        after *= to[j++];
      }
    }
    groups.push_back(std::move(group));
  }
  for (; !groups.empty() && i < from.size(); ++i) groups.back().from.push_back(i);
  for (; !groups.empty() && j < to.size(); ++j) groups.back().to.push_back(j);
  return groups;
}

// The order of axes of the result of a reshape whose operand has the order `axes`. Groups move as a
// whole; nullopt if a group is not stored in one piece.
std::optional<Axes> AxesBehindReshape(const Shape& from, const Axes& axes, const Shape& to) {
  const Shape stored = Stored(from, axes);
  std::vector<Group> groups = GroupsOf(from, to);
  int last = 0;
  for (Group& group : groups) {
    std::vector<int> places;
    for (const size_t axis : group.from) {
      if (from[axis] != 1) places.push_back(axes[axis]);
    }
    for (size_t i = 1; i < places.size(); ++i) {
      if (places[i] < places[i - 1]) return std::nullopt;
      for (int between = places[i - 1] + 1; between < places[i]; ++between) {
        if (stored[static_cast<size_t>(between)] != 1) return std::nullopt;
      }
    }
    group.stored = places.empty() ? last : places.front();
    last = group.stored;
  }
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return groups[a].stored < groups[b].stored; });
  Axes behind(to.size());
  int place = 0;
  for (const size_t group : order) {
    for (const size_t axis : groups[group].to) behind[axis] = place++;
  }
  return behind;
}

class TransposeAbsorber {
 public:
  explicit TransposeAbsorber(Draft& draft) : draft_(draft), links_(draft.graph) {}

  void Run() {
    std::map<int, std::string> obstacles;  // by transpose that stays
    for (int op = 0; op < links_.CountOperators(); ++op) {
      if (links_.IsGone(op) || links_.At(op).kind != OperatorKind::kTranspose) continue;
      if (JoinMaker(op)) continue;
      Region region(*this, op);
      if (!region.Absorb()) obstacles[op] = region.Obstacle();
    }
    for (const auto& [op, obstacle] : obstacles) {
      const Operator& transpose = links_.At(op);
      if (links_.IsGone(op) || MovesOnlyOnes(links_.TensorAt(transpose.outputs.front()).shape,
                                             transpose.Own<TransposeAttributes>().permutation))
        continue;
      draft_.report.Add(Report::Event::kCopied, transpose.id, obstacle);
    }
    links_.Compact();
  }

 private:
  // The operators that change if a transpose is removed.
  class Region {
   public:
    Region(TransposeAbsorber& pass, int transpose) : pass_(pass), links_(pass.links_) {
      TakeIn(transpose);
    }

    // Returns whether the transpose was removed.
    bool Absorb() {
      while (obstacle_.empty() && !open_.empty()) Step();
      if (obstacle_.empty()) Rewrite();
      return obstacle_.empty();
    }
    const std::string& Obstacle() const { return obstacle_; }

   private:
    enum class Answer : uint8_t { kDone, kWaits, kFails };

    const Shape& ShapeOf(int tensor) const { return links_.TensorAt(tensor).shape; }

    void TakeIn(int transpose) {
      const Operator& op = links_.At(transpose);
      const int result = op.outputs.front();
      if (changed_.contains(transpose)) obstacle_ = op.id + " is needed twice";
      if (links_.TensorAt(op.inputs.front()).type != links_.TensorAt(result).type)
        obstacle_ = "it converts its data type";
      sources_.push_back(transpose);
      Add(result, op.Own<TransposeAttributes>().permutation);
    }

    void Add(int tensor, Axes axes) {
      const Tensor& facts = links_.TensorAt(tensor);
      if (facts.network_output || facts.next_of >= 0)
        obstacle_ = "the network returns " + facts.id + " in that order";
      axes_.emplace(tensor, std::move(axes));
      for (const int reader : links_.ReadersOf(tensor)) {
        if (!changed_.contains(reader)) open_.insert(reader);
      }
    }

    // Changes one operator. If all wait for operands, adds a transpose that makes one of them to
    // the region.
    void Step() {
      for (const int op : open_) {
        const Answer answer = Change(op);
        if (answer == Answer::kWaits) continue;
        if (answer == Answer::kFails) obstacle_ = links_.At(op).id + " needs that order";
        open_.erase(op);
        return;
      }
      for (const int op : open_) {
        for (const int tensor : links_.At(op).inputs) {
          const int maker = links_.MakerOf(tensor);
          if (axes_.contains(tensor) || maker < 0 ||
              links_.At(maker).kind != OperatorKind::kTranspose)
            continue;
          return TakeIn(maker);
        }
      }
      obstacle_ = links_.At(*open_.begin()).id + " has another operand in that order";
    }

    Answer Change(int op) {
      Operator changed = links_.At(op);
      Answer answer = Answer::kFails;
      switch (changed.kind) {
        case OperatorKind::kMatmul:
          products_.insert(op);
          return Answer::kDone;
        case OperatorKind::kTranspose:
          answer = ChangeTranspose(op, changed);
          break;
        case OperatorKind::kReshape:
          answer = ChangeReshape(changed);
          break;
        case OperatorKind::kSlice:
          answer = ChangeSlice(changed);
          break;
        case OperatorKind::kSoftmax:
        case OperatorKind::kConcat:
        case OperatorKind::kElementwise:
          answer = ChangeAligned(changed);
          break;
        default:
          break;
      }
      if (answer == Answer::kDone) changed_.emplace(op, std::move(changed));
      return answer;
    }

    // Changes the axes of the operands that belong to the final region.
    void ChangeProduct(Operator& product) const {
      MatmulAttributes& own = product.MakeOwn<MatmulAttributes>();
      for (size_t i = 0; i < product.inputs.size(); ++i) {
        const auto axes = axes_.find(product.inputs[i]);
        if (axes == axes_.end()) continue;
        Axes& taken = own.operand_axes.at(i);
        taken = taken.empty() ? axes->second : Composed(axes->second, taken);
        if (IsIdentity(taken)) taken.clear();
      }
    }

    Answer ChangeTranspose(int op, Operator& transpose) const {
      if (std::count(sources_.begin(), sources_.end(), op) > 0) return Answer::kFails;
      auto& own = transpose.MakeOwn<TransposeAttributes>();
      own.permutation = Composed(axes_.at(transpose.inputs.front()), own.permutation);
      return Answer::kDone;
    }

    Answer ChangeReshape(const Operator& op) {
      const int operand = op.inputs.front();
      const Axes& axes = axes_.at(operand);
      if (MovesOnlyOnes(ShapeOf(operand), axes)) return Answer::kDone;
      const int result = op.outputs.front();
      std::optional<Axes> behind = AxesBehindReshape(ShapeOf(operand), axes, ShapeOf(result));
      if (!behind) return Answer::kFails;
      if (!IsIdentity(*behind)) Add(result, *std::move(behind));
      return Answer::kDone;
    }

    Answer ChangeSlice(Operator& op) {
      const Axes& axes = axes_.at(op.inputs.front());
      auto& slice = op.MakeOwn<SliceAttributes>();
      slice.starts = Stored(slice.starts, axes);
      slice.steps = Stored(slice.steps, axes);
      Add(op.outputs.front(), axes);
      return Answer::kDone;
    }

    // Changes an operator that reads the same axes of all operands.
    Answer ChangeAligned(Operator& op) {
      const Axes* axes = nullptr;
      for (const int tensor : op.inputs) {
        const auto known = axes_.find(tensor);
        if (known == axes_.end()) {
          if (op.kind == OperatorKind::kElementwise && IsOneElement(ShapeOf(tensor))) continue;
          return Answer::kWaits;
        }
        if (axes != nullptr && *axes != known->second) return Answer::kFails;
        axes = &known->second;
      }
      const int result = op.outputs.front();
      if (op.outputs.size() != 1 || axes == nullptr || ShapeOf(result).size() != axes->size() ||
          !ChangeTables(op, *axes))
        return Answer::kFails;
      if (op.kind == OperatorKind::kConcat) op.axis = (*axes)[static_cast<size_t>(op.axis)];
      for (int& axis : op.axes) axis = (*axes)[static_cast<size_t>(axis)];
      std::sort(op.axes.begin(), op.axes.end());
      Add(result, Axes(*axes));
      return Answer::kDone;
    }

    // Gives a constant another shape, if its elements keep their order.
    bool ChangeTables(Operator& op, const Axes& axes) {
      for (int& constant : op.weights) {
        Shape shape = ShapeOf(constant);
        if (shape.size() > axes.size()) return false;
        shape.insert(shape.begin(), axes.size() - shape.size(), 1);
        if (!MovesOnlyOnes(shape, axes)) return false;
        Shape stored = Stored(shape, axes);
        if (stored != shape) constant = pass_.ConstantAs(constant, std::move(stored));
      }
      return true;
    }

    void Rewrite() {
      for (auto& [op, changed] : changed_) links_.At(op) = std::move(changed);
      for (const int op : products_) ChangeProduct(links_.At(op));
      for (auto& [tensor, axes] : axes_)
        links_.TensorAt(tensor).shape = Stored(links_.TensorAt(tensor).shape, axes);
      for (const int op : sources_) {
        const Operator& transpose = links_.At(op);
        const int result = transpose.outputs.front();
        const std::set<int>& readers = links_.ReadersOf(result);
        if (readers.size() == 1) {
          pass_.draft_.report.Join(Report::Event::kFused, transpose.id,
                                   links_.At(*readers.begin()).id, "order of axes");
        } else {
          pass_.draft_.report.Remove(Report::Event::kDropped, transpose.id,
                                     "its readers take the axes in that order");
        }
        links_.Bypass(result, transpose.inputs.front());
      }
    }

    TransposeAbsorber& pass_;
    Links& links_;
    std::vector<int> sources_;
    std::map<int, Axes> axes_;  // by tensor of the region
    std::set<int> open_;        // readers to change
    std::map<int, Operator> changed_;
    std::set<int> products_;
    std::string obstacle_;  // why the transpose stays; empty: nothing was found yet
  };

  // The product before this transpose makes its result in that order.
  bool JoinMaker(int op) {
    const Operator& transpose = links_.At(op);
    const int operand = transpose.inputs.front();
    const int maker = links_.OnlyReads(op, operand) ? links_.MakerOf(operand) : -1;
    if (maker < 0 || links_.At(maker).kind != OperatorKind::kMatmul ||
        links_.TensorAt(operand).next_of >= 0 ||
        links_.TensorAt(operand).type != links_.TensorAt(transpose.outputs.front()).type)
      return false;
    Operator& product = links_.At(maker);
    const size_t rank = links_.TensorAt(operand).shape.size();
    const bool has_tables =
        std::any_of(product.weights.begin(), product.weights.end(), [&](int constant) {
          return constant != product.weights.front() && links_.TensorAt(constant).shape.size() > 1;
        });
    Axes& made = product.MakeOwn<MatmulAttributes>().result_axes;
    Axes axes = Composed(made, transpose.Own<TransposeAttributes>().permutation);
    if (has_tables || axes.back() + 1 != static_cast<int>(rank)) return false;
    made = IsIdentity(axes) ? Axes() : std::move(axes);
    draft_.report.Join(Report::Event::kFused, transpose.id, product.id, "order of axes");
    links_.Absorb(maker, {op});
    return true;
  }

  // The constant with the same elements in another shape.
  int ConstantAs(int constant, Shape shape) {
    const auto [known, is_new] = constants_.try_emplace({constant, shape}, -1);
    if (is_new) {
      const Tensor facts = links_.TensorAt(constant);
      known->second = draft_.AddFeature(facts.id, std::move(shape), facts.type);
      draft_.TensorAt(known->second).constant = true;
      draft_.TensorAt(known->second).stored_bytes = facts.stored_bytes;
      links_.TakeInTensors();
    }
    return known->second;
  }

  Draft& draft_;
  Links links_;
  std::map<std::pair<int, Shape>, int> constants_;
};

}  // namespace

void AbsorbTransposes(Draft& draft) { TransposeAbsorber(draft).Run(); }

}  // namespace tessera::graph::import::common
