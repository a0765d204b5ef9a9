// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/program/memory_lower_bound.h"

#include <algorithm>
#include <numeric>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/encoder/program/program_template.h"

// The first bound is the load at the compute steps of one pass, computed from the uses. An operand
// is present from its maker, or its first reader, to its last reader, and a result at least to its
// last reader. With double-buffered transfers, what is loaded is present from the begin of the pass
// and what is stored to its end, and in a loop a second buffer of each is present at every step: x
// of the next tile arrives, y of the previous one leaves. Constants that are loaded once, whole
// tensors and rolling buffers stay from pass to pass:
//
//     operator          0     1     2            first pass      middle        last pass
//     x (loaded)        |-----------|
//     a                 |-----|                  . . |-----  |-----------|  -----| . .
//     y (stored)              |-----|                 a buffer that stays from its first use in
//     w (constant of 2) |===========|                 the first pass to its last use in the last
//
// Buffers that live between compute steps, and kept rows that are copied, are omitted. So this is a
// lower bound of the load. It costs a few additions for each operator, while the exact load
// requires a Problem. A result that may take the place of an operand does not count while it is
// made. A buffer that fits in no bank makes the subgraph infeasible. Tests compare it with the
// bounds of the Problems themselves.
namespace tessera::encoder::program {
namespace {

using problem::Bytes;

Bytes Plus(Bytes a, Bytes b) { return base::CheckedAdd(a, b).value_or(base::kMaxTotal); }

size_t IndexOf(int k) { return static_cast<size_t>(k); }

// Adds the bytes to the loads of these operators.
void Raise(std::vector<Bytes>& load, int first, int last, Bytes bytes) {
  for (int k = first; k <= last; ++k) load[IndexOf(k)] = Plus(load[IndexOf(k)], bytes);
}

// The largest possible size of one buffer.
Bytes LargestBuffer(const hw_profiles::Memory& memory) {
  if (memory.span != problem::Span::kSingle || memory.banks.empty()) return memory.capacity_bytes;
  Bytes largest = 0;
  for (const problem::Bank& bank : memory.banks)
    largest = std::max(largest, bank.range.end - bank.range.begin);
  return largest;
}

}  // namespace

bool MayTakeAPlace(const hw_profiles::Profile& profile, const graph::Operator& op) {
  const std::vector<base::OperatorKind>& kinds = profile.tiling.in_place;
  return !op.in_place.empty() || std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end();
}

RoomLowerBound::RoomLowerBound(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                               const hw_profiles::Profile& profile, const SubgraphUses& uses,
                               bool in_place)
    : graph_(&graph),
      profile_(&profile),
      uses_(&uses),
      in_place_(in_place),
      largest_(LargestBuffer(profile.memories[IndexOf(profile.tile_memory)])) {
  during_.fill(std::vector<Bytes>(IndexOf(uses.Operators()), 0));
  AddWholes(usages);
  AddConstants();
}

// Adds a buffer that stays, to the passes of all kinds.
void RoomLowerBound::AddToAll(const Stay& stay) {
  for (size_t pass = 0; pass < kPassKinds; ++pass) {
    const auto kind = static_cast<PassKind>(pass);
    const bool from_begin = kind == PassKind::kMiddle || kind == PassKind::kLast;
    const bool to_end = kind == PassKind::kMiddle || kind == PassKind::kFirst;
    Raise(during_[pass], from_begin ? 0 : stay.first, to_end ? Last() : stay.last, stay.bytes);
  }
}

// Every constant that is loaded once is there before the first operator runs.
void RoomLowerBound::AddConstants() {
  for (const TensorUse& use : uses_->constants) {
    if (use.residence == Residence::kStreamed) AddSlices(use);
    if (use.residence != Residence::kResident) continue;
    std::vector<int> users = use.readers;
    for (int& user : users) user += uses_->interval.first;
    AddToAll({0, use.readers.back(), ConstantBytes(*graph_, *profile_, use.tensor, users)});
  }
}

// Slices of a constant are there while their operator runs, two of them if they are
// double-buffered. The first one then arrives while the operator before runs, in the pass before
// for the first operator.
void RoomLowerBound::AddSlices(const TensorUse& use) {
  if (uses_->split_k || uses_->slices_ahead) return;
  for (const int k : use.readers) {
    const Slicing slicing = SlicesOf(*graph_, *profile_, use.tensor, uses_->OperatorAt(*graph_, k));
    const bool alternates = IsDoubleBuffered() && slicing.count > 1;
    for (size_t pass = 0; pass < kPassKinds; ++pass) {
      const auto kind = static_cast<PassKind>(pass);
      Raise(during_[pass], k, k, alternates ? Plus(slicing.bytes, slicing.bytes) : slicing.bytes);
      if (!IsDoubleBuffered()) continue;
      if (k > 0) Raise(during_[pass], k - 1, k - 1, slicing.bytes);
      if (k == 0 && (kind == PassKind::kFirst || kind == PassKind::kMiddle))
        Raise(during_[pass], Last(), Last(), slicing.bytes);
    }
  }
}

// Constants at home in the tile memory are always present; other tensors stay from their maker to
// their last reader.
void RoomLowerBound::AddWholes(const std::vector<graph::Usage>& usages) {
  const graph::Interval& interval = uses_->interval;
  for (const int index : MayBeHeldInTileMemory(*graph_, *profile_, uses_->kept)) {
    const graph::Tensor& tensor = graph_->tensors[IndexOf(index)];
    const graph::Usage& usage = usages[IndexOf(index)];
    const base::TensorRole role = graph::RoleIn(*graph_, usage, index, interval);
    if (role == base::TensorRole::kFeature ||
        !IsHeldInTileMemory(*graph_, *profile_, uses_->kept, index, role))
      continue;
    if (tensor.constant) {
      always_ = Plus(always_, ConstantBytes(*graph_, *profile_, index, usage.consumers));
      continue;
    }
    if (!tensor.state && usage.producer > interval.last) continue;
    if (tensor.next_of >= 0) continue;  // it may lie in the place of its state
    const bool to_the_end = tensor.state || tensor.network_output || usage.consumers.empty();
    const int to = to_the_end ? interval.last : std::min(interval.last, usage.consumers.back());
    if (to < interval.first) continue;
    const bool is_made = !tensor.state && usage.producer >= interval.first;
    const int from = (is_made ? usage.producer : interval.first) - interval.first;
    const Bytes bytes = FeatureBytes(hw_profiles::LayoutOf(*profile_, role), tensor.type,
                                     NameExtents(tensor.shape, tensor.shape),
                                     PadsFor(*graph_, *profile_, usage.consumers));
    if (is_made && MayTakeAPlace(graph_->operators[IndexOf(usage.producer)])) {
      for (std::vector<Bytes>& load : during_) Raise(load, from + 1, to - interval.first, bytes);
    } else {
      AddToAll({from, to - interval.first, bytes});
    }
  }
}

bool RoomLowerBound::MayTakeAPlace(const graph::Operator& op) const {
  return in_place_ && program::MayTakeAPlace(*profile_, op);
}

Bytes RoomLowerBound::Find(const graph::tiling::TiledSubgraph& tiling) const {
  const int64_t few = uses_->second_stage > 0 ? 2 : 1;
  if (tiling.tiles <= few) return LoadOf(tiling, PassKind::kOnly);
  if (tiling.tiles > 2 || !IsDoubleBuffered()) return LoadOf(tiling, PassKind::kMiddle);
  return std::max(LoadOf(tiling, PassKind::kFirst), LoadOf(tiling, PassKind::kLast));
}

Bytes RoomLowerBound::LoadOf(const graph::tiling::TiledSubgraph& tiling, PassKind pass) const {
  std::vector<Bytes> load = during_[static_cast<size_t>(pass)];
  const bool has_before = pass == PassKind::kMiddle || pass == PassKind::kLast;
  const bool has_after = pass == PassKind::kMiddle || pass == PassKind::kFirst;
  Bytes neighbours = 0;
  for (const TensorUse& use : uses_->tensors) {
    const bool is_loaded = use.residence == Residence::kLoaded;
    const bool is_stored = use.residence == Residence::kStored;
    if (!is_loaded && !is_stored && use.residence != Residence::kInside) continue;
    const Bytes bytes = TileBytes(*graph_, *profile_, *uses_, tiling, use.tensor);
    if (bytes > largest_) return base::kMaxTotal;
    int first = use.makers.empty() ? use.readers.front() : use.makers.front();
    int last = use.readers.empty() ? first : std::max(first, use.readers.back());
    const int made_at = use.makers.empty() ? -1 : first;
    const bool waits = IsDoubleBuffered() && uses_->second_stage == 0;
    if (waits && is_loaded && use.makers.empty()) first = 0;
    if (waits && is_stored) last = Last();
    const bool is_rolling_buffer =
        use.cached && uses_->halo == hw_profiles::HaloStorage::kRollingBuffer;
    if (is_rolling_buffer) {
      Raise(load, has_before ? 0 : first, has_after ? Last() : last, bytes);
      continue;
    }
    if (IsDoubleBuffered() && ((is_loaded && has_after) || (is_stored && has_before)))
      neighbours = Plus(neighbours, bytes);
    const bool may_take = made_at >= 0 && MayTakeAPlace(uses_->OperatorAt(*graph_, made_at));
    Raise(load, may_take ? first + 1 : first, last, bytes);
  }
  if (uses_->split_k) load.front() = Plus(load.front(), SplitLoad(tiling, has_after));
  return Plus(Plus(*std::max_element(load.begin(), load.end()), neighbours), always_);
}

// The partial sums, and the slots of all operands that come in K slices. Their subgraph has one
// operator.
Bytes RoomLowerBound::SplitLoad(const graph::tiling::TiledSubgraph& tiling, bool has_after) const {
  const int op = uses_->split_k->op;
  const int result = graph_->operators[IndexOf(op)].outputs.front();
  Bytes load = AccumulatorBytes(*graph_, graph_->operators[IndexOf(op)],
                                tiling.largest[graph::tiling::SlotOf(tiling, result)]);
  const int slots = !IsDoubleBuffered() ? 1 : has_after ? 3 : 2;
  for (const std::vector<TensorUse>* uses : {&uses_->tensors, &uses_->constants}) {
    for (const TensorUse& use : *uses) {
      if (use.residence != Residence::kStreamed || !uses_->split_k->Takes(use.tensor)) continue;
      const Bytes bytes = KSliceBytes(*graph_, *profile_, *uses_, tiling, use.tensor);
      for (int slot = 0; slot < slots; ++slot) load = Plus(load, bytes);
    }
  }
  return load;
}

// The contents of a home while a subgraph runs follow from its operators and from what is kept on
// chip (home_capacity.cc). A placement needs at least the sum of the sizes, and more because of
// alignment: if all offsets in a memory are multiples of g, the greatest common divisor of their
// alignments, then each tensor uses whole units of g, except the last one:
//
//     |  x   :|y:|  z     |        units of g
//     |=======|==|========|        peak >= rounded sizes - the most that one of them was rounded up
//
// This holds for every order of the tensors in the memory. If all have the same alignment and are
// there at the same time, it is exact.

using hw_profiles::Profile;
using problem::Bytes;

// Tensors that are there at the same time.
class BytesAtHomes::Stack {
 public:
  explicit Stack(size_t memories) : memories_(memories) {}

  void Add(const Stay& stay) {
    OfMemory& here = memories_[stay.memory];
    base::Accumulate(here.rounded, stay.rounded);
    here.most_gap = std::max(here.most_gap, stay.rounded - stay.bytes);
  }

  Bytes Peak() const {
    Bytes peak = 0;
    for (const OfMemory& memory : memories_)
      base::Accumulate(peak, memory.rounded - memory.most_gap);
    return peak;
  }

 private:
  struct OfMemory {
    Bytes rounded = 0;
    Bytes most_gap = 0;
  };
  std::vector<OfMemory> memories_;
};

BytesAtHomes::BytesAtHomes(const graph::Graph& graph, const Profile& profile)
    : memories_(profile.memories.size()) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  const int last = static_cast<int>(graph.operators.size()) - 1;
  std::vector<int64_t> units(memories_);
  for (int tensor = 0; tensor < static_cast<int>(graph.tensors.size()); ++tensor) {
    const graph::Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
    const graph::Usage& usage = usages[static_cast<size_t>(tensor)];
    const base::TensorRole role = RoleAtHome(graph, tensor);
    const bool is_boundary = role == base::TensorRole::kBoundary;
    const int memory = HomeOf(graph, profile, tensor, role);
    if (memory == profile.tile_memory || (is_boundary && usage.consumers.empty())) continue;
    const auto home = static_cast<size_t>(memory);
    units[home] = std::gcd(units[home], std::lcm(AlignmentAtHome(profile, role, memory),
                                                 profile.memories[home].alignment_bytes));
    const bool lasts = facts.constant || facts.state;
    const bool to_the_end = lasts || facts.network_output || usage.consumers.empty();
    stays_.push_back({.tensor = tensor,
                      .memory = home,
                      .bytes = BytesAtHome(graph, profile, usage, tensor, role),
                      .first = lasts ? 0 : std::max(0, usage.producer),
                      .last = to_the_end ? last : usage.consumers.back(),
                      .is_boundary = is_boundary,
                      .at_begin = lasts || usage.producer < 0,
                      .at_end = to_the_end});
  }
  for (Stay& stay : stays_) stay.rounded = base::RoundUp(stay.bytes, units[stay.memory]);
}

std::vector<Bytes> BytesAtHomes::DuringEach(std::span<const SubgraphChoice> choices) const {
  const std::vector<int> kept = KeptBy(choices);
  std::vector<Bytes> bytes(choices.size());
  const auto subgraph_of = [choices](int op) {
    const auto after = std::partition_point(
        choices.begin(), choices.end(),
        [op](const SubgraphChoice& choice) { return choice.interval.last < op; });
    return static_cast<size_t>(after - choices.begin());
  };
  for (const Stay& stay : stays_) {
    const size_t first = subgraph_of(stay.first);
    const size_t last = subgraph_of(stay.last);
    if (stay.is_boundary &&
        (first == last || std::binary_search(kept.begin(), kept.end(), stay.tensor)))
      continue;
    for (size_t s = first; s <= last; ++s) base::Accumulate(bytes[s], stay.bytes);
  }
  return bytes;
}

Bytes BytesAtHomes::LeastPeak(graph::Interval interval, const std::vector<int>& kept) const {
  Stack stack(memories_);
  for (const Stay& stay : stays_) {
    if (stay.last < interval.first || interval.last < stay.first) continue;
    const bool is_inside = interval.first <= stay.first && stay.last <= interval.last;
    if (stay.is_boundary &&
        (is_inside || std::binary_search(kept.begin(), kept.end(), stay.tensor)))
      continue;
    stack.Add(stay);
  }
  return stack.Peak();
}

Bytes BytesAtHomes::LeastPeak() const {
  Stack at_begin(memories_);
  Stack at_end(memories_);
  for (const Stay& stay : stays_) {
    if (stay.at_begin) at_begin.Add(stay);
    if (stay.at_end) at_end.Add(stay);
  }
  return std::max(at_begin.Peak(), at_end.Peak());
}

}  // namespace tessera::encoder::program
