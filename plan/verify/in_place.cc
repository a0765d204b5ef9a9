// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/in_place.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

// While operator k computes, its operand x is read and its result y is written. y may lie on x if
// every value of x is dead once k has finished and no value of y exists before k begins. That holds
// if all steps at which both buffers are observed alive belong to k's own turn. Any later reader of
// x, a next tile that already arrives in x, or a y that is still being stored appears as another
// common step. One reader is not observed: the consumer of a network output, or of state, after the
// program has ended. If k runs at the last step, the steps alone would let y destroy such a value,
// so the places of these operands are not reused.
//
// A place may already have several guests: x may itself lie on w. Then y joins w as well and must
// not be alive at any step at which w is alive. So all guests of a place are kept together. Each
// buffer that joins is compared with every guest, together with the guests that it brings.
//
// Operators that compute their result channel by channel (ChannelSurvey) are processed first,
// because the sizes of scratch depend on them.
namespace tessera::plan::verify {

namespace {

using problem::Lifespan;

bool Within(const Lifespan& steps, const Lifespan& turn) {
  return turn.lower <= steps.lower && steps.upper <= turn.upper;
}

// The ranges of steps at which both live.
std::vector<Lifespan> CommonSteps(const std::vector<Lifespan>& a, const std::vector<Lifespan>& b) {
  std::vector<Lifespan> common;
  for (const Lifespan& x : a) {
    for (const Lifespan& y : b) {
      const Lifespan both{std::max(x.lower, y.lower), std::min(x.upper, y.upper)};
      if (both.lower < both.upper) common.push_back(both);
    }
  }
  return common;
}

// Buffers that lie in one place, one after another.
using Guests = std::set<BufferUse>;

// The buffers that share a place so far, over all subgraphs. Cost of a pair: the guests of its
// place.
class Places {
 public:
  explicit Places(std::span<const InPlacePair> pairs) {
    for (const InPlacePair& pair : pairs) MoveIn(pair);
  }

  // All guests of its place, including itself.
  Guests GuestsWith(const BufferUse& use) const {
    const auto place = place_of_.find(use);
    return place == place_of_.end() ? Guests{use} : places_[place->second];
  }

  // Whether a result already lies on x, or y already lies on an operand.
  bool Overwritten(const BufferUse& x) const { return overwritten_.contains(x); }
  bool Overwriting(const BufferUse& y) const { return overwriting_.contains(y); }

  void MoveIn(const InPlacePair& pair) {
    const auto& [x, y] = pair;
    Guests guests = GuestsWith(x);
    guests.merge(GuestsWith(y));
    for (const BufferUse& guest : guests) place_of_[guest] = places_.size();
    places_.push_back(std::move(guests));
    overwritten_.insert(x);
    overwriting_.insert(y);
  }

 private:
  std::set<BufferUse> overwritten_;
  std::set<BufferUse> overwriting_;
  std::vector<Guests> places_;
  std::map<BufferUse, size_t> place_of_;  // index into places_, the latest
};

using LifespansByPhase = std::map<int, std::vector<Lifespan>>;

// The turns of each operator.
std::vector<LifespansByPhase> TurnsOf(const Plan& plan, const Trace& trace) {
  std::vector<LifespansByPhase> turns(plan.network.operators.size());
  for (const OperatorSteps& turn : trace.turns)
    turns[static_cast<size_t>(turn.op)][turn.phase].push_back(turn.steps);
  return turns;
}

// Finds the pairs of one subgraph. `extents` and `sizes` are used only for pairs of equal size.
class PairSearch {
 public:
  PairSearch(const Plan& plan, const std::vector<Users>& users, int subgraph, const Trace& trace,
             const std::vector<LifespansByPhase>& turns, const ExtentComparison& extents,
             const std::map<BufferUse, Footprint>& sizes, Places& places,
             std::vector<InPlacePair>& pairs)
      : plan_(plan),
        users_(users),
        subgraph_(subgraph),
        trace_(trace),
        turns_(turns),
        extents_(extents),
        sizes_(sizes),
        places_(places),
        pairs_(pairs) {}

  void Run() {
    const graph::Interval interval = plan_.subgraphs[static_cast<size_t>(subgraph_)].interval;
    for (int op = interval.first; op <= interval.last; ++op) Search(op);
  }

  std::set<int> RunByChannel(const std::set<int>& able) {
    std::set<int> found;
    for (const int op : able) {
      const int operand = At(op).inputs.front();
      const int result = At(op).outputs.front();
      if (HasNoReader(result) || IsCached(result) || IsCached(operand) || HasPads(operand) ||
          HasPads(result))
        continue;
      if (MoveInAll(PairsOf(op, operand, result, /*of_one_size=*/false))) found.insert(op);
    }
    return found;
  }

 private:
  const graph::Operator& At(int op) const {
    return plan_.network.operators[static_cast<size_t>(op)];
  }
  const graph::Tensor& TensorAt(int tensor) const {
    return plan_.network.tensors[static_cast<size_t>(tensor)];
  }

  bool IsNamed(int op) const {
    const auto& kinds = plan_.profile.tiling.in_place;
    return At(op).kind == base::OperatorKind::kElementwise &&
           std::find(kinds.begin(), kinds.end(), At(op).kind) != kinds.end();
  }

  bool IsCached(int tensor) const {
    return trace_.cached[static_cast<size_t>(subgraph_)].contains(tensor);
  }

  // The property that the author of a described operator states, for every position of this operand
  // among its inputs. Elements that it reads at coordinates other than those it writes would be
  // lost.
  bool AllowsInPlace(int op, int operand) const {
    const std::vector<int>& inputs = At(op).inputs;
    for (size_t number = 0; number < inputs.size(); ++number) {
      const bool named =
          std::count(At(op).in_place.begin(), At(op).in_place.end(), static_cast<int>(number)) > 0;
      if (inputs[number] != operand) continue;
      if (!named || At(op).accesses[number].kind != graph::ReadPattern::kElementwise) return false;
    }
    return true;
  }

  void Search(int op) {
    const int result = At(op).outputs.front();
    if (HasNoReader(result) || IsCached(result)) return;
    for (const int operand : At(op).inputs) {
      if (IsCached(operand)) continue;
      if (!IsNamed(op) && !AllowsInPlace(op, operand)) continue;
      if (operand == result || !LookAlike(operand, result) ||
          !extents_.AlwaysEqual(operand, result))
        continue;
      if (MoveInAll(PairsOf(op, operand, result, /*of_one_size=*/true))) return;
    }
  }

  bool MoveInAll(const std::vector<InPlacePair>& found) {
    for (const InPlacePair& pair : found) places_.MoveIn(pair);
    pairs_.insert(pairs_.end(), found.begin(), found.end());
    return !found.empty();
  }

  // Returns one pair for each phase, or none if one phase does not allow it.
  std::vector<InPlacePair> PairsOf(int op, int operand, int result, bool of_one_size) const {
    std::vector<InPlacePair> found;
    for (const auto& [phase, steps] : turns_[static_cast<size_t>(op)]) {
      const auto x = UseOf(operand, phase);
      const auto y = UseOf(result, phase);
      if (!x || !y || IsWantedAfterwards(*x) || places_.Overwritten(*x) || places_.Overwriting(*y))
        return {};
      if (of_one_size && !HaveOneSize(*x, *y)) return {};
      if (!MayMoveIn(steps, *x, *y)) return {};
      found.emplace_back(*x, *y);
    }
    return found;
  }

  // Gaps between rows or blocks of channels can make a tile as large as the whole tensor, of which
  // it is a part.
  bool HaveOneSize(const BufferUse& x, const BufferUse& y) const {
    return sizes_.at(x).size == sizes_.at(y).size &&
           (x.kind == y.kind || extents_.AlwaysWhole(y.tensor));
  }

  // Whether y meets x only at steps of the operator's turns, and no other guest of x's place ever
  // meets a guest of y's.
  bool MayMoveIn(const std::vector<Lifespan>& turns, const BufferUse& x, const BufferUse& y) const {
    const std::vector<Lifespan> meetings = CommonSteps(LivesOf(x), LivesOf(y));
    const bool in_turn =
        std::all_of(meetings.begin(), meetings.end(), [&](const Lifespan& meeting) {
          return std::any_of(turns.begin(), turns.end(),
                             [&](const Lifespan& turn) { return Within(meeting, turn); });
        });
    if (!in_turn || meetings.empty()) return false;
    const Guests coming = places_.GuestsWith(y);
    for (const BufferUse& guest : places_.GuestsWith(x)) {
      for (const BufferUse& other : coming) {
        if (guest == x && other == y) continue;
        if (!CommonSteps(LivesOf(guest), LivesOf(other)).empty()) return false;
      }
    }
    return true;
  }

  const std::vector<Lifespan>& LivesOf(const BufferUse& use) const {
    return trace_.buffers.at(use).lifespans;
  }

  // The buffer that holds the tensor in passes of that phase, if there is one.
  std::optional<BufferUse> UseOf(int tensor, int phase) const {
    for (const BufferUse& use : {BufferUse{BufferKind::kTile, subgraph_, tensor, -1, phase, 0},
                                 BufferUse{BufferKind::kWhole, -1, tensor, -1, 0, 0}}) {
      if (trace_.buffers.contains(use)) return use;
    }
    return std::nullopt;
  }

  bool IsWantedAfterwards(const BufferUse& use) const {
    const graph::Tensor& tensor = TensorAt(use.tensor);
    return use.kind == BufferKind::kWhole && (tensor.network_output || tensor.state);
  }

  // A result that is dropped immediately is never alive together with later readers of the operand,
  // but it would still destroy the data that they read.
  bool HasNoReader(int result) const {
    const graph::Tensor& tensor = TensorAt(result);
    return users_[static_cast<size_t>(result)].readers.empty() && !tensor.network_output &&
           !tensor.state;
  }

  // Pads come before the data, and those of operand and result may differ.
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
    return x.type == y.type && x.shape == y.shape &&
           x_layout.channel_block == y_layout.channel_block &&
           x_layout.row_pitch_bytes == y_layout.row_pitch_bytes;
  }

  const hw_profiles::RoleLayout& LayoutOf(int tensor) const {
    const Subgraph& subgraph = plan_.subgraphs[static_cast<size_t>(subgraph_)];
    const auto index = static_cast<size_t>(tensor);
    return hw_profiles::LayoutOf(plan_.profile,
                                 RoleOf(TensorAt(tensor), users_[index], subgraph.interval));
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
  const int subgraph_;
  const Trace& trace_;
  const std::vector<LifespansByPhase>& turns_;
  const ExtentComparison& extents_;
  const std::map<BufferUse, Footprint>& sizes_;
  Places& places_;
  std::vector<InPlacePair>& pairs_;
};

}  // namespace

void ExtentComparison::Look(graph::Interval interval, const Tile& tile) {
  for (int i = interval.first; i <= interval.last; ++i) {
    const graph::Operator& op = network_.operators[static_cast<size_t>(i)];
    const int result = op.outputs.front();
    const auto y = tile.needs.find(result);
    const graph::Shape& whole = network_.tensors[static_cast<size_t>(result)].shape;
    if (y == tile.needs.end() || ExtentsOf(y->second) != whole) partial_.insert(result);
    for (const int operand : op.inputs) {
      const auto x = tile.needs.find(operand);
      if (x == tile.needs.end() || y == tile.needs.end() ||
          ExtentsOf(x->second) != ExtentsOf(y->second)) {
        unequal_.insert({operand, result});
      }
    }
  }
}

void AddInPlacePairs(const Plan& plan, const std::vector<Users>& users, const Trace& trace,
                     std::span<const ExtentComparison> extents,
                     const std::map<BufferUse, Footprint>& sizes, std::vector<InPlacePair>& pairs) {
  Places places(pairs);
  const std::vector<LifespansByPhase> turns = TurnsOf(plan, trace);
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    if (!plan.subgraphs[i].in_place) continue;
    PairSearch(plan, users, static_cast<int>(i), trace, turns, extents[i], sizes, places, pairs)
        .Run();
  }
}

void AddChannelPairs(const Plan& plan, const std::vector<Users>& users, const Trace& trace,
                     std::vector<std::set<int>>& operators, std::vector<InPlacePair>& pairs) {
  Places places(pairs);
  const std::vector<LifespansByPhase> turns = TurnsOf(plan, trace);
  const ExtentComparison extents(plan.network);
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    operators[i] =
        PairSearch(plan, users, static_cast<int>(i), trace, turns, extents, {}, places, pairs)
            .RunByChannel(operators[i]);
  }
}

}  // namespace tessera::plan::verify
