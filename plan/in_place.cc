#include "tessera/plan/in_place.h"

#include <algorithm>

// While operator k computes, its operand x is read and its result y written. y may lie where x lies if every value
// of x is dead once k has finished and no value of y is there before k begins, that is, if the steps at which both
// buffers were seen alive all belong to k's own turn. Anything else that reads x later, a next tile that is already
// arriving in it, or a y that is still leaving, shows up as another common step. One reader is never seen: whoever
// takes a network output, or state, when the program has ended. If k runs at the last step, the steps alone would
// let y destroy what is still wanted, so such operands keep their place.
namespace tessera::plan {
namespace {

using problem::Lifespan;

bool Within(const Lifespan& steps, const Lifespan& turn) {
  return turn.lower <= steps.lower && steps.upper <= turn.upper;
}

// Whether all steps that both live at lie in the turn, and there is one.
bool ShareOnly(const Lifespan& turn, const std::vector<Lifespan>& a, const std::vector<Lifespan>& b) {
  bool any = false;
  for (const Lifespan& x : a) {
    for (const Lifespan& y : b) {
      const Lifespan both{std::max(x.lower, y.lower), std::min(x.upper, y.upper)};
      if (both.lower >= both.upper) continue;
      if (!Within(both, turn)) return false;
      any = true;
    }
  }
  return any;
}

class PairSearch {
 public:
  PairSearch(const Plan& plan, const std::vector<Users>& users, int subgraph, const Trace& trace,
             const ExtentComparison& extents, const std::map<BufferUse, Footprint, UseOrder>& sizes)
      : plan_(plan), users_(users), subgraph_(subgraph), trace_(trace), extents_(extents), sizes_(sizes) {}

  std::vector<InPlacePair> Run() {
    const graph::Interval interval = plan_.subgraphs[static_cast<size_t>(subgraph_)].interval;
    for (const Turn& turn : trace_.turns) {
      if (Contains(interval, turn.op) && IsNamed(turn.op)) Search(turn);
    }
    return std::move(pairs_);
  }

 private:
  const graph::Operator& At(int op) const { return plan_.network.operators[static_cast<size_t>(op)]; }
  const graph::Tensor& TensorAt(int tensor) const {
    return plan_.network.tensors[static_cast<size_t>(tensor)];
  }

  bool IsNamed(int op) const {
    const auto& kinds = plan_.profile.tiling.in_place;
    return At(op).kind == base::OperatorKind::kElementwise &&
           std::find(kinds.begin(), kinds.end(), At(op).kind) != kinds.end();
  }

  void Search(const Turn& turn) {
    const int result = At(turn.op).outputs.front();
    for (const int operand : At(turn.op).inputs) {
      const auto x = UseOf(operand, turn.parity);
      const auto y = UseOf(result, turn.parity);
      if (!x || !y || operand == result || IsWantedAfterwards(*x) || !LookAlike(operand, result) ||
          !extents_.AlwaysEqual(operand, result)) {
        continue;
      }
      if (sizes_.at(*x).size != sizes_.at(*y).size || overwritten_.contains(*x) || placed_.contains(*y))
        continue;
      if (!ShareOnly(turn.steps, trace_.buffers.at(*x).lifespans, trace_.buffers.at(*y).lifespans)) continue;
      overwritten_.insert(*x);
      placed_.insert(*y);
      pairs_.emplace_back(*x, *y);
      return;
    }
  }

  // The buffer that holds the tensor in passes of that parity, if it has one.
  std::optional<BufferUse> UseOf(int tensor, int parity) const {
    for (const BufferUse& use : {BufferUse{BufferKind::kTile, subgraph_, tensor, -1, parity, 0},
                                 BufferUse{BufferKind::kWhole, -1, tensor, -1, 0, 0}}) {
      if (trace_.buffers.contains(use)) return use;
    }
    return std::nullopt;
  }

  bool IsWantedAfterwards(const BufferUse& use) const {
    const graph::Tensor& tensor = TensorAt(use.tensor);
    return use.kind == BufferKind::kWhole && (tensor.network_output || tensor.state);
  }

  // Pads stand before the data, and those of operand and result need not agree.
  bool HasPads(int tensor) const {
    if (plan_.profile.tiling.implicit_padding) return false;
    for (const int reader : users_[static_cast<size_t>(tensor)].readers) {
      const graph::Window& window = At(reader).window;
      for (const int64_t pad :
           {window.pad_low[0], window.pad_low[1], window.pad_high[0], window.pad_high[1]}) {
        if (pad > 0) return true;
      }
    }
    return false;
  }

  bool LookAlike(int operand, int result) const {
    if (HasPads(operand) || HasPads(result)) return false;
    const graph::Tensor& x = TensorAt(operand);
    const graph::Tensor& y = TensorAt(result);
    const hw_profiles::RoleLayout& x_layout = LayoutOf(operand);
    const hw_profiles::RoleLayout& y_layout = LayoutOf(result);
    return x.type == y.type && x.shape == y.shape && x_layout.channel_block == y_layout.channel_block &&
           x_layout.row_pitch_bytes == y_layout.row_pitch_bytes;
  }

  const hw_profiles::RoleLayout& LayoutOf(int tensor) const {
    const Subgraph& subgraph = plan_.subgraphs[static_cast<size_t>(subgraph_)];
    const auto index = static_cast<size_t>(tensor);
    return hw_profiles::LayoutOf(plan_.profile, RoleOf(TensorAt(tensor), users_[index], subgraph.interval));
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
  const int subgraph_;
  const Trace& trace_;
  const ExtentComparison& extents_;
  const std::map<BufferUse, Footprint, UseOrder>& sizes_;
  std::set<BufferUse, UseOrder> overwritten_;
  std::set<BufferUse, UseOrder> placed_;
  std::vector<InPlacePair> pairs_;
};

}  // namespace

void ExtentComparison::Look(graph::Interval interval, const Tile& tile) {
  for (int i = interval.first; i <= interval.last; ++i) {
    const graph::Operator& op = network_.operators[static_cast<size_t>(i)];
    const int result = op.outputs.front();
    for (const int operand : op.inputs) {
      const auto x = tile.needs.find(operand);
      const auto y = tile.needs.find(result);
      if (x == tile.needs.end() || y == tile.needs.end() || ExtentsOf(x->second) != ExtentsOf(y->second)) {
        unequal_.insert({operand, result});
      }
    }
  }
}

std::vector<InPlacePair> FindInPlacePairs(const Plan& plan, const std::vector<Users>& users, int subgraph,
                                          const Trace& trace, const ExtentComparison& extents,
                                          const std::map<BufferUse, Footprint, UseOrder>& sizes) {
  return PairSearch(plan, users, subgraph, trace, extents, sizes).Run();
}

}  // namespace tessera::plan
