// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/in_place.h"
#include "tessera/plan/verify/residency.h"

// This file applies the rule again, from its text. It does not decide for two operators whether one
// comes before the other. Instead it collects for each tensor the tensors that are certainly dead
// when it is made. A walk back from its maker over all its predecessors visits all operators that
// have run by then. A tensor is dead if these include all its readers.
//
// The lines of a memory are kept as lists, and their size is summed again for each tensor that is
// assigned. Only memories that some list can pass over have lines.
namespace tessera::plan::verify {
namespace {

using base::TensorRole;
using hw_profiles::Memory;
using hw_profiles::RoleLayout;

int64_t UpTo(int64_t bytes, int64_t step) {
  return base::CheckedMul(base::CeilDiv(bytes, step), step).value_or(base::kMaxTotal);
}

class AssignmentCheck {
 public:
  explicit AssignmentCheck(const Plan& plan) : plan_(plan), users_(FindUsers(plan.network)) {
    FindLevels();
    for (size_t next = 0; next < users_.size(); ++next) {
      if (At(next).next_of < 0) continue;
      const auto state = static_cast<size_t>(At(next).next_of);
      kin_[next].insert(state);
      kin_[state].insert(next);
    }
    for (const RoleLayout& layout : plan.profile.roles) {
      std::vector<int> homes = HomesOf(layout);
      contested_.insert(homes.begin(), std::prev(homes.end()));
    }
    contested_.erase(plan.profile.tile_memory);
  }

  // The memory of each tensor that has several homes, by tensor.
  std::map<size_t, int> Run() {
    for (const bool several : {false, true}) {
      for (const TensorRole role :
           {TensorRole::kState, TensorRole::kNetworkInput, TensorRole::kNetworkOutput,
            TensorRole::kConstant, TensorRole::kBoundary}) {
        for (const size_t tensor : TensorsOf(role, several)) {
          if (!settled_.contains(tensor)) Settle(FamilyOf(tensor));
        }
      }
    }
    std::map<size_t, int> listed;
    for (const auto& [tensor, memory] : settled_) {
      if (!LayoutOf(tensor).next_homes.empty()) listed.emplace(tensor, memory);
    }
    return listed;
  }

 private:
  using Line = std::vector<size_t>;
  using Family = std::vector<size_t>;  // tensors with one home: a state and its next value, or one

  static std::vector<int> HomesOf(const RoleLayout& layout) {
    std::vector<int> homes = {layout.home};
    homes.insert(homes.end(), layout.next_homes.begin(), layout.next_homes.end());
    return homes;
  }

  Family FamilyOf(size_t tensor) const {
    Family family = {tensor};
    const auto kin = kin_.find(tensor);
    if (kin != kin_.end()) family.insert(family.end(), kin->second.begin(), kin->second.end());
    return family;
  }

  const graph::Tensor& At(size_t tensor) const { return plan_.network.tensors[tensor]; }

  TensorRole RoleOf(size_t tensor) const { return RoleAtHome(At(tensor)); }

  const RoleLayout& LayoutOf(size_t tensor) const {
    return hw_profiles::LayoutOf(plan_.profile, RoleOf(tensor));
  }

  int64_t BytesOf(size_t tensor) const {
    const graph::Interval everything{0, static_cast<int>(plan_.network.operators.size()) - 1};
    if (At(tensor).constant)
      return ConstantBytes(plan_, users_, static_cast<int>(tensor), everything);
    return StoredBytes(NameExtents(At(tensor).shape), At(tensor).type,
                       LayoutOf(tensor).channel_block, LayoutOf(tensor).row_pitch_bytes);
  }

  int64_t BytesIn(size_t tensor, int memory) const {
    int64_t alignment = LayoutOf(tensor).alignment_bytes;
    if (const auto* link =
            hw_profiles::LinkBetween(plan_.profile, memory, plan_.profile.tile_memory))
      alignment = std::lcm(alignment, link->alignment_bytes);
    return UpTo(UpTo(BytesOf(tensor), alignment),
                plan_.profile.memories[static_cast<size_t>(memory)].alignment_bytes);
  }

  void FindLevels() {
    for (const graph::Operator& op : plan_.network.operators) {
      int64_t level = 1;
      for (const int input : op.inputs) {
        const Users& users = users_[static_cast<size_t>(input)];
        const bool is_made = !users.makers.empty() && !At(static_cast<size_t>(input)).state;
        if (is_made) level = std::max(level, levels_[static_cast<size_t>(users.makers.back())] + 1);
      }
      levels_.push_back(level);
    }
  }

  int64_t LevelOf(size_t tensor) const {
    const std::vector<int>& makers = users_[tensor].makers;
    if (!makers.empty()) return levels_[static_cast<size_t>(makers.back())];
    std::optional<int64_t> least;
    for (const int reader : users_[tensor].readers) {
      const int64_t level = levels_[static_cast<size_t>(reader)];
      least = std::min(least.value_or(level), level);
    }
    return least.value_or(0);
  }

  // The operator and all that have run before it, in every order.
  std::set<int> RunWith(int last) const {
    std::set<int> run;
    std::vector<int> waiting = {last};
    while (!waiting.empty()) {
      const int op = waiting.back();
      waiting.pop_back();
      if (!run.insert(op).second) continue;
      for (const int input : plan_.network.operators[static_cast<size_t>(op)].inputs) {
        const std::vector<int>& makers = users_[static_cast<size_t>(input)].makers;
        if (!makers.empty() && !At(static_cast<size_t>(input)).state)
          waiting.push_back(makers.back());
      }
    }
    return run;
  }

  // Tensors whose readers have all run when this one has been made, in every order.
  const std::set<size_t>& GoneAt(size_t tensor) {
    const auto [place, is_new] = gone_.try_emplace(tensor);
    std::set<size_t>& gone = place->second;
    if (!is_new || users_[tensor].makers.empty()) return gone;
    const std::set<int> run = RunWith(users_[tensor].makers.back());
    for (size_t other = 0; other < users_.size(); ++other) {
      const std::vector<int>& readers = users_[other].readers;
      const bool stays = readers.empty() || At(other).network_output;
      if (!stays &&
          std::all_of(readers.begin(), readers.end(), [&](int op) { return run.contains(op); }))
        gone.insert(other);
    }
    return gone;
  }

  bool TakeTurns(size_t a, size_t b) {
    for (const size_t tensor : {a, b}) {
      if (RoleOf(tensor) == TensorRole::kConstant || RoleOf(tensor) == TensorRole::kState)
        return false;
    }
    return GoneAt(a).contains(b) || GoneAt(b).contains(a);
  }

  std::vector<size_t> TensorsOf(TensorRole role, bool several) const {
    std::vector<size_t> tensors;
    for (size_t tensor = 0; tensor < users_.size(); ++tensor) {
      if (RoleOf(tensor) == role && LayoutOf(tensor).next_homes.empty() != several)
        tensors.push_back(tensor);
    }
    std::sort(tensors.begin(), tensors.end(), [this](size_t a, size_t b) {
      if (BytesOf(a) != BytesOf(b)) return BytesOf(a) > BytesOf(b);
      if (LevelOf(a) != LevelOf(b)) return LevelOf(a) < LevelOf(b);
      return At(a).id < At(b).id;
    });
    return tensors;
  }

  // The lines of the memory after each tensor is added to the first line that it can share, or to a
  // new line.
  std::vector<Line> With(const Family& family, int memory) {
    std::vector<Line> lines = lines_[memory];
    for (const size_t tensor : family) {
      const auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& each) {
        return std::all_of(each.begin(), each.end(),
                           [&](size_t other) { return TakeTurns(tensor, other); });
      });
      if (line == lines.end()) {
        lines.push_back({tensor});
      } else {
        line->push_back(tensor);
      }
    }
    return lines;
  }

  int64_t BytesOf(const std::vector<Line>& lines, int memory) const {
    int64_t sum = 0;
    for (const Line& line : lines) {
      std::vector<int64_t> bytes;
      for (const size_t tensor : line) bytes.push_back(BytesIn(tensor, memory));
      std::sort(bytes.rbegin(), bytes.rend());
      for (size_t i = 0; i < std::min<size_t>(2, bytes.size()); ++i)
        sum = base::CheckedAdd(sum, bytes[i]).value_or(base::kMaxTotal);
    }
    return sum;
  }

  int64_t RoomIn(int memory) const {
    const Memory& facts = plan_.profile.memories[static_cast<size_t>(memory)];
    std::vector<problem::AddressRange> taken;
    for (const problem::Reserved& reserved : facts.reserved) taken.push_back(reserved.range);
    std::sort(taken.begin(), taken.end(),
              [](const auto& a, const auto& b) { return a.end > b.end; });
    int64_t room = 0;
    int64_t top = facts.capacity_bytes;  // free bytes above it are in `room`
    for (const problem::AddressRange& range : taken) {
      room += std::max<int64_t>(0, top - std::max<int64_t>(range.end, 0));
      top = std::min(top, range.begin);
    }
    return room + std::max<int64_t>(0, top);
  }

  // Bytes of a state and its next value in the tile memory: those of the larger if one may take the
  // other's place, in some order of the operators.
  int64_t StateBytes(const Family& family) const {
    int64_t sum = 0;
    int64_t largest = 0;
    bool one_place = false;
    for (const size_t tensor : family) {
      const int64_t bytes = BytesIn(tensor, plan_.profile.tile_memory);
      sum = base::CheckedAdd(sum, bytes).value_or(base::kMaxTotal);
      largest = std::max(largest, bytes);
      one_place = one_place || (At(tensor).next_of >= 0 && MayTakePlace(tensor));
    }
    return one_place ? largest : sum;
  }

  bool MayTakePlace(size_t next) const {
    if (!MayTakePlaceAfterReaders(plan_, users_, static_cast<int>(next))) return false;
    const int maker = users_[next].makers.front();
    const std::vector<int>& readers = users_[static_cast<size_t>(At(next).next_of)].readers;
    return std::none_of(readers.begin(), readers.end(), [&](int reader) {
      return reader != maker && RunWith(reader).contains(maker);
    });
  }

  const Memory& TileMemory() const {
    return plan_.profile.memories[static_cast<size_t>(plan_.profile.tile_memory)];
  }

  // Whether some step may read the state and write its next value in a tile memory with several
  // modes. Such a state is not assigned to the tile memory.
  bool NeedsBothAccesses(const Family& family) const {
    const bool is_replaced = std::any_of(family.begin(), family.end(),
                                         [this](size_t tensor) { return At(tensor).next_of >= 0; });
    return is_replaced && TileMemory().modes.size() >= 2;
  }

  bool IsLongerThanEveryBank(const Family& family) const {
    if (TileMemory().span != problem::Span::kSingle) return false;
    return std::any_of(family.begin(), family.end(), [this](size_t tensor) {
      const int64_t bytes = BytesIn(tensor, plan_.profile.tile_memory);
      return std::none_of(TileMemory().banks.begin(), TileMemory().banks.end(),
                          [bytes](const problem::Bank& bank) {
                            return bank.range.begin + bytes <= bank.range.end;
                          });
    });
  }

  bool HasRoom(const Family& family, int memory) {
    if (memory != plan_.profile.tile_memory)
      return BytesOf(With(family, memory), memory) <= RoomIn(memory);
    if (NeedsBothAccesses(family) || IsLongerThanEveryBank(family)) return false;
    int64_t load = 0;
    for (const Family& each : in_tile_memory_)
      load = base::CheckedAdd(load, StateBytes(each)).value_or(base::kMaxTotal);
    load = base::CheckedAdd(load, StateBytes(family)).value_or(base::kMaxTotal);
    return load <= RoomIn(memory) / 2;
  }

  void Settle(const Family& family) {
    const std::vector<int> homes = HomesOf(LayoutOf(family.front()));
    const auto found = std::find_if(homes.begin(), std::prev(homes.end()),
                                    [&](int memory) { return HasRoom(family, memory); });
    for (const size_t tensor : family) settled_[tensor] = *found;
    const bool are_states = RoleOf(family.front()) == TensorRole::kState;
    if (are_states && *found == plan_.profile.tile_memory) in_tile_memory_.push_back(family);
    if (contested_.contains(*found)) lines_[*found] = With(family, *found);
  }

  const Plan& plan_;
  const std::vector<Users> users_;
  std::vector<int64_t> levels_;              // by operator
  std::map<size_t, std::set<size_t>> kin_;   // by tensor: its state, its next values
  std::map<size_t, std::set<size_t>> gone_;  // by tensor
  std::set<int> contested_;                  // memories that may lack room, except the tile memory
  std::map<int, std::vector<Line>> lines_;   // by memory
  std::vector<Family> in_tile_memory_;       // states
  std::map<size_t, int> settled_;            // the memory, by tensor
};

// The stored bytes of a constant for which the network states none.
int64_t BytesByRatio(const Plan& plan, const graph::Tensor& constant) {
  const std::optional<double> ratio =
      hw_profiles::LayoutOf(plan.profile, TensorRole::kConstant).stored_ratio;
  if (!ratio) return 0;
  constexpr double kWithoutRounding = 1 - 0x1p-44;  // of the product
  const int64_t bytes = base::BytesOf(constant.type, VolumeOf(WholeOf(constant.shape)));
  return base::WholeCycles(static_cast<double>(bytes) * *ratio * kWithoutRounding);
}

bool FollowsFromRatio(const graph::Tensor& tensor) {
  return tensor.constant && (tensor.stored_by_ratio || tensor.stored_bytes == 0);
}

}  // namespace

void CheckAssignment(const Plan& plan, Findings& findings) {
  for (const graph::Tensor& tensor : plan.network.tensors) {
    const int64_t bytes = BytesByRatio(plan, tensor);
    if (!FollowsFromRatio(tensor) || tensor.stored_bytes == bytes) continue;
    findings.Note(ViolationKind::kMemory,
                  fmt::format("constant '{}' has {} stored bytes, but the profile's ratio gives {}",
                              tensor.id, tensor.stored_bytes, bytes));
  }
  if (!hw_profiles::HasSeveralHomes(plan.profile)) return;
  const auto name = [&](int memory) {
    return plan.profile.memories[static_cast<size_t>(memory)].name;
  };
  for (const auto& [tensor, memory] : AssignmentCheck(plan).Run()) {
    const graph::Tensor& facts = plan.network.tensors[tensor];
    const int stated = HomeOf(plan, static_cast<int>(tensor));
    if (stated == memory) continue;
    findings.Note(
        ViolationKind::kMemory,
        fmt::format("the home of tensor '{}' is '{}', but the profile's homes give it '{}'",
                    facts.id, name(stated), name(memory)));
  }
}

void AssignHomes(Plan& plan) {
  for (graph::Tensor& tensor : plan.network.tensors) {
    if (!FollowsFromRatio(tensor)) continue;
    tensor.stored_bytes = BytesByRatio(plan, tensor);
    tensor.stored_by_ratio = tensor.stored_bytes > 0;
  }
  if (!hw_profiles::HasSeveralHomes(plan.profile)) return;
  for (const auto& [tensor, memory] : AssignmentCheck(plan).Run()) {
    graph::Tensor& facts = plan.network.tensors[tensor];
    const RoleLayout& layout = hw_profiles::LayoutOf(plan.profile, RoleAtHome(facts));
    facts.home = 0;
    while (hw_profiles::HomeAt(layout, facts.home) != memory) ++facts.home;
  }
}

}  // namespace tessera::plan::verify
