// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/encoder/program/state_aliasing.h"

// Tensors are assigned to memories by first fit decreasing. The homes must not depend on the
// partition, because bounds and cached verdicts hold for any partition. So the load of a memory is
// an upper bound of the bytes that it holds at one time under any partition and order. The sum of
// all tensors would be such a bound, but a loose one: the boundary tensors of a chain of operators
// are live at different times. Tensors that take turns (docs/program.md) therefore form a line:
//
//     operators   a --x--> b --y--> c --z--> d          line  x y z
//     subgraphs   [a] [b c] [d]                         at most x and z: y is a feature of [b c]
//
// Let three tensors of a line, t1 before t2 before t3, be present while one subgraph S runs. t1 is
// read in S or later, and all readers of t1 come before t2 is made or make it: t2 is made in S or
// later. t3 is made in S or before, and all readers of t2 come before that or make it: t2 is read
// in S or before, by all of them. So S makes t2 and alone reads it, which makes t2 a feature: it is
// not present. Hence a line needs the space of its two largest tensors. Two places of these sizes
// also suffice for the whole line, whose tensors use them in turn. So loads that fit have
// addresses, apart from reserved ranges and banks.
//
// Chain covers of this kind bound antichains (Dilworth, "A decomposition theorem for partially
// ordered sets", 1950) and unions of two of them (Greene and Kleitman, 1976). The cover here is
// greedy.
namespace tessera::encoder::program {
namespace {

using base::TensorRole;
using hw_profiles::Memory;
using hw_profiles::Profile;
using problem::Bytes;

Bytes RoundedUp(Bytes bytes, int64_t multiple) {
  return base::CheckedMul(base::CeilDiv(bytes, multiple), multiple).value_or(base::kMaxTotal);
}

// The operators that come before an operator in every order.
class Predecessors {
 public:
  Predecessors(const graph::Graph& graph, const std::vector<graph::Usage>& usages)
      : words_(base::CeilDiv(static_cast<int64_t>(graph.operators.size()), 64)),
        before_(graph.operators.size() * static_cast<size_t>(words_)),
        levels_(graph.operators.size(), 1) {
    for (size_t op = 0; op < graph.operators.size(); ++op) {
      for (const int input : graph.operators[op].inputs) {
        const int producer = usages[static_cast<size_t>(input)].producer;
        if (producer >= 0 && !graph.tensors[static_cast<size_t>(input)].state)
          Add(op, static_cast<size_t>(producer));
      }
    }
  }

  // Whether `first` is `second` or comes before it.
  bool IsNotAfter(int first, int second) const {
    if (first == second) return true;
    const auto word = static_cast<size_t>(first) / 64;
    return ((Row(static_cast<size_t>(second))[word] >> (static_cast<size_t>(first) % 64)) & 1U) !=
           0;
  }

  // The length of the longest chain of operators that ends with `op`.
  int64_t LevelOf(int op) const { return levels_[static_cast<size_t>(op)]; }

 private:
  std::span<const uint64_t> Row(size_t op) const {
    return std::span(before_).subspan(op * static_cast<size_t>(words_),
                                      static_cast<size_t>(words_));
  }

  void Add(size_t op, size_t producer) {
    for (size_t word = 0; word < static_cast<size_t>(words_); ++word)
      before_[op * static_cast<size_t>(words_) + word] |= Row(producer)[word];
    before_[op * static_cast<size_t>(words_) + producer / 64] |= uint64_t{1} << (producer % 64);
    levels_[op] = std::max(levels_[op], levels_[producer] + 1);
  }

  int64_t words_;
  std::vector<uint64_t> before_;  // a row of bits for each operator
  std::vector<int64_t> levels_;
};

// The contents of one memory, line by line.
struct Line {
  std::vector<int> tensors;
  Bytes largest = 0;
  Bytes second = 0;
};

class Assignment {
 public:
  Assignment(const graph::Graph& graph, const Profile& profile)
      : graph_(graph),
        profile_(profile),
        usages_(graph::UsagesOf(graph)),
        predecessors_(graph, usages_),
        lines_(profile.memories.size()),
        loads_(profile.memories.size()) {}

  // Returns for each tensor the index of its home in the list of its role.
  std::vector<int> Run() {
    constexpr int kNone = -1;
    std::vector<int> places(graph_.tensors.size(), kNone);
    for (const int tensor : InSequence()) {
      if (places[static_cast<size_t>(tensor)] != kNone) continue;
      const std::vector<int> together = TakenWith(tensor);
      const hw_profiles::RoleLayout& layout = LayoutOf(tensor);
      const auto last = static_cast<int>(layout.next_homes.size());
      int place = 0;
      while (place < last && !HasRoom(together, hw_profiles::HomeAt(layout, place))) ++place;
      for (const int each : together) places[static_cast<size_t>(each)] = place;
      Add(together, hw_profiles::HomeAt(layout, place));
    }
    return places;
  }

 private:
  const hw_profiles::RoleLayout& LayoutOf(int tensor) const {
    return hw_profiles::LayoutOf(profile_, RoleAtHome(graph_, tensor));
  }
  const graph::Usage& UsageOf(int tensor) const { return usages_[static_cast<size_t>(tensor)]; }
  const graph::Tensor& TensorAt(int tensor) const {
    return graph_.tensors[static_cast<size_t>(tensor)];
  }

  std::vector<int> InSequence() const {
    using Key = std::tuple<bool, size_t, Bytes, int64_t, std::string_view>;
    std::vector<std::pair<Key, int>> ranked;
    ranked.reserve(graph_.tensors.size());
    for (int tensor = 0; tensor < static_cast<int>(graph_.tensors.size()); ++tensor) {
      ranked.push_back(
          {Key{!LayoutOf(tensor).next_homes.empty(), TurnOf(RoleAtHome(graph_, tensor)),
               -BytesOf(tensor), LevelOf(tensor), TensorAt(tensor).id},
           tensor});
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<int> sequence;
    sequence.reserve(ranked.size());
    for (const auto& [key, tensor] : ranked) sequence.push_back(tensor);
    return sequence;
  }

  // The tensors that get one home together: the tensor alone, or a state and its next value.
  std::vector<int> TakenWith(int tensor) const {
    if (RoleAtHome(graph_, tensor) != TensorRole::kState) return {tensor};
    const int state = TensorAt(tensor).next_of < 0 ? tensor : TensorAt(tensor).next_of;
    std::vector<int> together = {state};
    for (int next = 0; next < static_cast<int>(graph_.tensors.size()); ++next) {
      if (TensorAt(next).next_of == state) together.push_back(next);
    }
    return together;
  }

  // Whether the memory comes before another one in some list of homes, so that its room matters.
  bool MayLackRoom(int memory) const {
    return std::any_of(profile_.roles.begin(), profile_.roles.end(),
                       [memory](const hw_profiles::RoleLayout& layout) {
                         return hw_profiles::IsHomeOf(layout, memory) &&
                                !layout.next_homes.empty() && layout.next_homes.back() != memory;
                       });
  }

  static size_t TurnOf(TensorRole role) {
    static constexpr std::array kTurns = {TensorRole::kState, TensorRole::kNetworkInput,
                                          TensorRole::kNetworkOutput, TensorRole::kConstant,
                                          TensorRole::kBoundary};
    return static_cast<size_t>(std::find(kTurns.begin(), kTurns.end(), role) - kTurns.begin());
  }

  Bytes BytesOf(int tensor) const {
    return BytesAtHome(graph_, profile_, UsageOf(tensor), tensor, RoleAtHome(graph_, tensor));
  }

  int64_t LevelOf(int tensor) const {
    const graph::Usage& usage = UsageOf(tensor);
    if (usage.producer >= 0) return predecessors_.LevelOf(usage.producer);
    int64_t level = usage.consumers.empty() ? 0 : base::kMaxTotal;
    for (const int consumer : usage.consumers)
      level = std::min(level, predecessors_.LevelOf(consumer));
    return level;
  }

  bool ComesAndGoes(int tensor) const {
    const TensorRole role = RoleAtHome(graph_, tensor);
    return role != TensorRole::kConstant && role != TensorRole::kState;
  }

  // Whether `first` ends before `second` is made.
  bool IsGoneBefore(int first, int second) const {
    const graph::Usage& usage = UsageOf(first);
    const int maker = UsageOf(second).producer;
    if (TensorAt(first).network_output || usage.consumers.empty() || maker < 0) return false;
    return std::all_of(usage.consumers.begin(), usage.consumers.end(),
                       [&](int consumer) { return predecessors_.IsNotAfter(consumer, maker); });
  }

  bool TakeTurns(int a, int b) const {
    if (!ComesAndGoes(a) || !ComesAndGoes(b)) return false;
    return IsGoneBefore(a, b) || IsGoneBefore(b, a);
  }

  // The first line that accepts the tensor, or one past the last.
  size_t LineFor(int tensor, const std::vector<Line>& lines) const {
    const auto takes = [&](const Line& line) {
      return std::all_of(line.tensors.begin(), line.tensors.end(),
                         [&](int other) { return TakeTurns(tensor, other); });
    };
    return static_cast<size_t>(std::find_if(lines.begin(), lines.end(), takes) - lines.begin());
  }

  Bytes CountedIn(int tensor, int memory) const {
    const Bytes bytes =
        RoundedUp(BytesOf(tensor), AlignmentAtHome(profile_, RoleAtHome(graph_, tensor), memory));
    return RoundedUp(bytes, profile_.memories[static_cast<size_t>(memory)].alignment_bytes);
  }

  // The bytes that the tensor adds to the line; an empty line grows by all of them.
  static Bytes Growth(Bytes bytes, const Line& line) {
    return std::max<Bytes>(0, bytes - line.second);
  }

  // A state and its next value are separate lines, so their bytes add up.
  bool HasRoom(const std::vector<int>& together, int memory) const {
    const auto index = static_cast<size_t>(memory);
    Bytes load = loads_[index];
    if (memory == profile_.tile_memory) {
      if (!SuitBanks(together)) return false;
      base::Accumulate(load, StateBytes(together));
      return load <= RoomOf(profile_.memories[index]) / 2;
    }
    const std::vector<Line>& lines = lines_[index];
    for (const int tensor : together) {
      const size_t line = LineFor(tensor, lines);
      base::Accumulate(
          load, Growth(CountedIn(tensor, memory), line < lines.size() ? lines[line] : Line{}));
    }
    return load <= RoomOf(profile_.memories[index]);
  }

  // Whether the banks of the tile memory, and their modes, allow a state and its next value.
  bool SuitBanks(const std::vector<int>& together) const {
    const Memory& memory = profile_.memories[static_cast<size_t>(profile_.tile_memory)];
    if (memory.modes.size() > 1 && together.size() > 1) return false;
    if (memory.span != problem::Span::kSingle) return true;
    const Bytes longest = LongestBuffer(memory);
    return std::all_of(together.begin(), together.end(), [&](int tensor) {
      return CountedIn(tensor, profile_.tile_memory) <= longest;
    });
  }

  // Bytes of a state, with its next value, in the tile memory. If the two lie in one place in some
  // order, only the larger counts.
  Bytes StateBytes(const std::vector<int>& together) const {
    Bytes sum = 0;
    Bytes largest = 0;
    bool in_place = false;
    for (const int tensor : together) {
      const Bytes bytes = CountedIn(tensor, profile_.tile_memory);
      base::Accumulate(sum, bytes);
      largest = std::max(largest, bytes);
      in_place = in_place || (TensorAt(tensor).next_of >= 0 && MayReplaceState(tensor));
    }
    return in_place ? largest : sum;
  }

  bool MayReplaceState(int next) const {
    const int maker = UsageOf(next).producer;
    const std::vector<int>& readers = UsageOf(TensorAt(next).next_of).consumers;
    return MayLieInPlace(graph_, usages_, profile_, next, RunsIn::kSomeOrder) &&
           std::none_of(readers.begin(), readers.end(), [&](int reader) {
             return reader != maker && predecessors_.IsNotAfter(maker, reader);
           });
  }

  void Add(const std::vector<int>& together, int memory) {
    if (memory != profile_.tile_memory) {
      for (const int tensor : together) Add(tensor, memory);
    } else if (RoleAtHome(graph_, together.front()) == TensorRole::kState) {
      base::Accumulate(loads_[static_cast<size_t>(memory)], StateBytes(together));
    }
  }

  void Add(int tensor, int memory) {
    const auto index = static_cast<size_t>(memory);
    if (!MayLackRoom(memory)) return;
    const size_t at = LineFor(tensor, lines_[index]);
    if (at == lines_[index].size()) lines_[index].emplace_back();
    Line& line = lines_[index][at];
    const Bytes bytes = CountedIn(tensor, memory);
    loads_[index] = base::CheckedAdd(loads_[index], Growth(bytes, line)).value_or(base::kMaxTotal);
    line.tensors.push_back(tensor);
    line.second = std::max(line.second, std::min(line.largest, bytes));
    line.largest = std::max(line.largest, bytes);
  }

  const graph::Graph& graph_;
  const Profile& profile_;
  std::vector<graph::Usage> usages_;
  Predecessors predecessors_;
  std::vector<std::vector<Line>> lines_;  // by memory
  std::vector<Bytes> loads_;              // by memory; of the tile memory, states alone
};

}  // namespace

Bytes RoomOf(const Memory& memory) {
  std::vector<problem::AddressRange> ranges;
  for (const problem::Reserved& reserved : memory.reserved) ranges.push_back(reserved.range);
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  Bytes room = memory.capacity_bytes;
  Bytes counted = 0;  // up to this address
  for (const problem::AddressRange& range : ranges) {
    const Bytes begin = std::max<Bytes>(counted, range.begin);
    const Bytes end = std::min<Bytes>(memory.capacity_bytes, range.end);
    if (begin < end) room -= end - begin;
    counted = std::max(counted, end);
  }
  return room;
}

Bytes BytesAtHome(const graph::Graph& graph, const Profile& profile, const graph::Usage& usage,
                  int tensor, TensorRole role) {
  if (role == TensorRole::kConstant) return ConstantBytes(graph, profile, tensor, usage.consumers);
  const graph::Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
  return FeatureBytes(hw_profiles::LayoutOf(profile, role), facts.type,
                      NameExtents(facts.shape, facts.shape), Pads{});
}

int64_t AlignmentAtHome(const Profile& profile, TensorRole role, int memory) {
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, memory, profile.tile_memory);
  return std::lcm(hw_profiles::LayoutOf(profile, role).alignment_bytes,
                  link == nullptr ? int64_t{1} : link->alignment_bytes);
}

TensorRole RoleAtHome(const graph::Graph& graph, int tensor) {
  const graph::Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
  if (facts.constant) return TensorRole::kConstant;
  if (facts.state || facts.next_of >= 0) return TensorRole::kState;
  if (facts.network_input) return TensorRole::kNetworkInput;
  return facts.network_output ? TensorRole::kNetworkOutput : TensorRole::kBoundary;
}

int HomeOf(const graph::Graph& graph, const Profile& profile, int tensor, TensorRole role) {
  return hw_profiles::HomeAt(hw_profiles::LayoutOf(profile, role),
                             graph.tensors[static_cast<size_t>(tensor)].home);
}

Bytes StoredBytes(const Profile& profile, Bytes packed) {
  const std::optional<double> ratio =
      hw_profiles::LayoutOf(profile, TensorRole::kConstant).stored_ratio;
  if (!ratio) return packed;
  return std::max<Bytes>(1, base::LeastWholeCycles(static_cast<double>(packed) * *ratio));
}

graph::Graph WithStoredBytes(graph::Graph graph, const Profile& profile) {
  const bool has_ratio =
      hw_profiles::LayoutOf(profile, TensorRole::kConstant).stored_ratio.has_value();
  for (graph::Tensor& tensor : graph.tensors) {
    if (!tensor.constant || graph::StatesStoredBytes(tensor)) continue;
    const Bytes packed = base::BytesOf(tensor.type, graph::ElementsOf(tensor.shape));
    tensor.stored_by_ratio = has_ratio;
    tensor.stored_bytes = has_ratio ? StoredBytes(profile, packed) : 0;
  }
  return graph;
}

graph::Graph WithHomes(graph::Graph given, const Profile& profile) {
  graph::Graph graph = WithStoredBytes(std::move(given), profile);
  for (graph::Tensor& tensor : graph.tensors) tensor.home = 0;
  if (!hw_profiles::HasSeveralHomes(profile)) return graph;
  const std::vector<int> places = Assignment(graph, profile).Run();
  for (size_t tensor = 0; tensor < places.size(); ++tensor)
    graph.tensors[tensor].home = places[tensor];
  return graph;
}

}  // namespace tessera::encoder::program
