#include "tessera/plan/check_homes.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tessera/base/checked.h"
#include "tessera/plan/holdings.h"
#include "tessera/plan/sizes.h"

// The homes' books are kept while the program runs, subgraph by subgraph: what a subgraph makes and others read moves in
// as it begins, what nobody after it reads moves out as it ends. In between, the memory holds both.
//
//     constants, state, network inputs  ->| s0 |-> ...  | s1 |-> ...  | s2 |
//                                     +a  ----------------------  -a
//
// Addresses are not planned outside the tile memory; that the bytes fit is as much as can be said.
namespace tessera::plan {
namespace {

using base::TensorRole;
using hw_profiles::Memory;

// Bytes that are not reserved: those in front of each reserved range, and those behind the last.
int64_t FreeBytes(const Memory& memory) {
  std::map<int64_t, int64_t> taken;  // end by begin
  for (const problem::Reserved& reserved : memory.reserved) {
    int64_t& end = taken[reserved.range.begin];
    end = std::max(end, reserved.range.end);
  }
  int64_t free = 0;
  int64_t at = 0;
  for (const auto& [begin, end] : taken) {
    free += std::max<int64_t>(0, std::min(begin, memory.capacity_bytes) - at);
    at = std::max(at, end);
  }
  return free + std::max<int64_t>(0, memory.capacity_bytes - at);
}

class HomeCheck {
 public:
  HomeCheck(const Plan& plan, Findings& findings)
      : plan_(plan),
        findings_(findings),
        users_(FindUsers(plan.network)),
        loads_(plan.profile.memories.size()),
        readers_left_(plan.network.tensors.size()) {}

  void Run() {
    for (size_t tensor = 0; tensor < users_.size(); ++tensor) {
      readers_left_[tensor] = users_[tensor].readers.size();
      const graph::Tensor& facts = plan_.network.tensors[tensor];
      if (facts.constant || facts.state || facts.network_input) MoveIn(static_cast<int>(tensor), {});
    }
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      const graph::Interval interval = plan_.subgraphs[i].interval;
      for (int op = interval.first; op <= interval.last; ++op) {
        for (const int output : At(op).outputs) MoveIn(output, interval);
      }
      Compare(i);
      for (const int tensor : TensorsOf(plan_.network, interval)) MoveOutAfter(interval, tensor);
    }
  }

 private:
  struct Stay {
    size_t home = 0;
    int64_t bytes = 0;
  };

  const graph::Operator& At(int op) const { return plan_.network.operators[static_cast<size_t>(op)]; }

  void MoveIn(int tensor, graph::Interval interval) {
    const auto index = static_cast<size_t>(tensor);
    const graph::Tensor& facts = plan_.network.tensors[index];
    const TensorRole role = RoleOf(facts, users_[index], interval);
    if (role == TensorRole::kFeature || stays_.contains(tensor)) return;
    const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(plan_.profile, role);
    const graph::Interval everything{0, static_cast<int>(plan_.network.operators.size()) - 1};
    const int64_t bytes =
        role == TensorRole::kConstant
            ? ConstantBytes(plan_, users_, tensor, everything)
            : StoredBytes(NameExtents(facts.shape), facts.type, layout.channel_block, layout.row_pitch_bytes);
    const Stay stay{static_cast<size_t>(layout.home), bytes};
    stays_.emplace(tensor, stay);
    loads_[stay.home] = base::CheckedAdd(loads_[stay.home], bytes).value_or(base::kMaxTotal);
  }

  void MoveOutAfter(graph::Interval interval, int tensor) {
    const auto index = static_cast<size_t>(tensor);
    const graph::Tensor& facts = plan_.network.tensors[index];
    const std::vector<int>& readers = users_[index].readers;
    readers_left_[index] -= static_cast<size_t>(std::count_if(
        readers.begin(), readers.end(), [&](int reader) { return Contains(interval, reader); }));
    if (readers.empty() || readers_left_[index] > 0) return;
    if (facts.constant || facts.state || facts.network_output) return;
    const auto stay = stays_.find(tensor);
    if (stay == stays_.end()) return;
    loads_[stay->second.home] -= stay->second.bytes;
    stays_.erase(stay);
  }

  void Compare(size_t i) {
    for (size_t memory = 0; memory < loads_.size(); ++memory) {
      if (static_cast<int>(memory) == plan_.profile.tile_memory) continue;
      const Memory& home = plan_.profile.memories[memory];
      if (loads_[memory] <= FreeBytes(home)) continue;
      findings_.Note(
          ViolationKind::kMemory,
          fmt::format("memory '{}' is home to {} bytes while subgraph {} runs, and has room for {}",
                      home.name, loads_[memory], i, FreeBytes(home)));
    }
  }

  const Plan& plan_;
  Findings& findings_;
  const std::vector<Users> users_;
  std::vector<int64_t> loads_;        // by memory
  std::vector<size_t> readers_left_;  // by tensor
  std::map<int, Stay> stays_;         // by tensor: what is at home now
};

}  // namespace

void CheckHomes(const Plan& plan, Findings& findings) { HomeCheck(plan, findings).Run(); }

}  // namespace tessera::plan
