// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/in_place.h"

// When may the next value be written over the old one? Consider each element of the state. It must
// lie where the next value has the element of the same coordinates, and its last reader must have
// finished. Addresses are linear in the coordinates, so it is enough to consider one step along
// each axis.
//
//     state [1, 3, 2]   rows outermost    a0 b0 | a1 b1 | a2 b2
//     next  [1, 4, 2]   one more row      a0 b0 | a1 b1 | a2 b2 | a3 b3    the whole state stays
//     next  [1, 3, 3]   one more column   a0 b0 c0 | a1 ..                 b0 stays, a1 would move
//
// An operator that precedes the maker has finished with all of the state. The maker itself has
// finished with an element when it writes it, if it reads no element of other coordinates.
namespace tessera::plan::verify {
namespace {

class Succession {
 public:
  Succession(const Plan& plan, const std::vector<Users>& users, int state, int next)
      : plan_(plan), users_(users), state_(state), next_(next) {}

  bool IsInPlace() const {
    const std::vector<int>& makers = users_[static_cast<size_t>(next_)].makers;
    const std::vector<int>& readers = users_[static_cast<size_t>(state_)].readers;
    return MayBeInPlace() && (readers.empty() || readers.back() <= makers.front());
  }

  // Whether the next value may be in place if the readers other than the maker are done.
  bool MayBeInPlace() const {
    const std::vector<int>& makers = users_[static_cast<size_t>(next_)].makers;
    if (makers.empty() || At(state_).network_output || HasPads(state_) || HasPads(next_) ||
        !StaysWhereItIs())
      return false;
    const std::vector<int>& readers = users_[static_cast<size_t>(state_)].readers;
    const bool reads = std::find(readers.begin(), readers.end(), makers.front()) != readers.end();
    return !reads || TakesItsOwn(makers.front());
  }

 private:
  const graph::Tensor& At(int tensor) const {
    return plan_.network.tensors[static_cast<size_t>(tensor)];
  }
  const graph::Operator& OperatorAt(int op) const {
    return plan_.network.operators[static_cast<size_t>(op)];
  }

  bool HasPads(int tensor) const {
    if (plan_.profile.tiling.implicit_padding) return false;
    const std::vector<int>& readers = users_[static_cast<size_t>(tensor)].readers;
    return std::any_of(readers.begin(), readers.end(), [&](int reader) {
      const graph::Window& window = OperatorAt(reader).window;
      return base::TraitsOf(OperatorAt(reader).kind).slides &&
             (window.pad_low[0] + window.pad_low[1] + window.pad_high[0] + window.pad_high[1] > 0);
    });
  }

  // Bits from the beginning of the tensor's whole buffer.
  int64_t AddressOf(int tensor, const std::vector<int64_t>& coordinates) const {
    const graph::Tensor& facts = At(tensor);
    const hw_profiles::RoleLayout& layout =
        hw_profiles::LayoutOf(plan_.profile, base::TensorRole::kState);
    const int64_t bits = base::BitsOf(facts.type);
    const size_t rank = facts.shape.size();
    if (!MeaningOf(rank, 0)) {
      int64_t number = 0;
      for (size_t axis = 0; axis < rank; ++axis)
        number = number * facts.shape[axis] + coordinates[axis];
      return number * bits;
    }
    NamedExtents row = NameExtents(facts.shape);
    const int64_t rows = row.rows;
    const int64_t column = base::RoundUp(row.channels, layout.channel_block);
    row.batch = row.rows = 1;
    const int64_t row_bits =
        8 * StoredBytes(row, facts.type, layout.channel_block, layout.row_pitch_bytes);
    NamedExtents at{0, 0, 0, 0};
    for (size_t axis = 0; axis < rank; ++axis) {
      const base::Axis name = MeaningOf(rank, axis).value_or(base::Axis::kBatch);
      int64_t& index = name == base::Axis::kBatch      ? at.batch
                       : name == base::Axis::kChannels ? at.channels
                       : name == base::Axis::kRows     ? at.rows
                                                       : at.columns;
      index = (name == base::Axis::kBatch ? index * facts.shape[axis] : 0) + coordinates[axis];
    }
    return (at.batch * rows + at.rows) * row_bits + (at.columns * column + at.channels) * bits;
  }

  bool StaysWhereItIs() const {
    const graph::Shape& shape = At(state_).shape;
    const graph::Shape& room = At(next_).shape;
    if (At(state_).type != At(next_).type || shape.size() != room.size()) return false;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] > room[axis]) return false;
      std::vector<int64_t> step(shape.size(), 0);
      step[axis] = 1;
      if (shape[axis] > 1 && AddressOf(state_, step) != AddressOf(next_, step)) return false;
    }
    return true;
  }

  // Whether the maker reads of the state only the element with the coordinates that it writes.
  bool TakesItsOwn(int maker) const {
    const graph::Operator& op = OperatorAt(maker);
    if (op.outputs.front() != next_) return false;
    std::vector<size_t> places;
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] == state_) places.push_back(i);
    }
    if (places.size() != 1) return false;
    if (op.kind == base::OperatorKind::kConcat) return places.front() == 0;
    const auto& kinds = plan_.profile.tiling.in_place;
    const bool named = op.kind == base::OperatorKind::kElementwise &&
                       std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end();
    const auto number = static_cast<int>(places.front());
    const bool described =
        std::find(op.in_place.begin(), op.in_place.end(), number) != op.in_place.end() &&
        op.accesses[places.front()].kind == graph::ReadPattern::kElementwise;
    return (named || described) && At(state_).shape == At(next_).shape;
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
  int state_;
  int next_;
};

}  // namespace

bool MayTakePlaceOfState(const Plan& plan, const std::vector<Users>& users, int next) {
  const int state = plan.network.tensors[static_cast<size_t>(next)].next_of;
  return Succession(plan, users, state, next).IsInPlace();
}

bool MayTakePlaceAfterReaders(const Plan& plan, const std::vector<Users>& users, int next) {
  const int state = plan.network.tensors[static_cast<size_t>(next)].next_of;
  return Succession(plan, users, state, next).MayBeInPlace();
}

std::vector<InPlacePair> FindAliasedStates(const Plan& plan, const std::vector<Users>& users,
                                           const Trace& trace) {
  std::vector<InPlacePair> pairs;
  for (size_t i = 0; i < plan.network.tensors.size(); ++i) {
    const int state = plan.network.tensors[i].next_of;
    if (state < 0) continue;
    const auto next = static_cast<int>(i);
    const BufferUse old_value = {BufferKind::kWhole, -1, state, -1, 0, 0};
    const BufferUse new_value = {BufferKind::kWhole, -1, next, -1, 0, 0};
    if (!trace.buffers.contains(old_value) || !trace.buffers.contains(new_value)) continue;
    if (MayTakePlaceOfState(plan, users, next)) pairs.emplace_back(old_value, new_value);
  }
  return pairs;
}

}  // namespace tessera::plan::verify
