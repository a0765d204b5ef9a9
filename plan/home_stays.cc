#include "tessera/plan/home_stays.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "tessera/plan/holdings.h"
#include "tessera/plan/sizes.h"

// The homes' books are kept while the program runs, subgraph by subgraph: what a subgraph makes and others read moves in
// as it begins, what nobody after it reads moves out as it ends. In between, the memory holds both.
//
//     constants, state, network inputs  ->| s0 |-> ...  | s1 |-> ...  | s2 |
//                                     +a  ----------------------  -a
namespace tessera::plan {
namespace {

using base::TensorRole;

class HomeBooks {
 public:
  explicit HomeBooks(const Plan& plan)
      : plan_(plan), users_(FindUsers(plan.network)), readers_left_(plan.network.tensors.size()) {}

  std::vector<HomeStay> Run() {
    for (size_t tensor = 0; tensor < users_.size(); ++tensor) {
      readers_left_[tensor] = users_[tensor].readers.size();
      const graph::Tensor& facts = plan_.network.tensors[tensor];
      if (facts.constant || facts.state || facts.network_input) MoveIn(static_cast<int>(tensor), {}, 0);
    }
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      const graph::Interval interval = plan_.subgraphs[i].interval;
      for (int op = interval.first; op <= interval.last; ++op) {
        for (const int output : plan_.network.operators[static_cast<size_t>(op)].outputs)
          MoveIn(output, interval, i);
      }
      for (const int tensor : TensorsOf(plan_.network, interval)) MoveOutAfter(interval, tensor, i);
    }
    std::vector<HomeStay> stays;
    for (const auto& [tensor, stay] : stays_) stays.push_back(stay);
    return stays;
  }

 private:
  void MoveIn(int tensor, graph::Interval interval, size_t subgraph) {
    const auto index = static_cast<size_t>(tensor);
    const graph::Tensor& facts = plan_.network.tensors[index];
    const TensorRole role = RoleOf(facts, users_[index], interval);
    if (role == TensorRole::kFeature || stays_.contains(tensor)) return;
    const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(plan_.profile, role);
    const graph::Interval everything{0, static_cast<int>(plan_.network.operators.size()) - 1};
    HomeStay stay;
    stay.memory = MemoryOf(plan_, tensor, role);
    stay.tensor = tensor;
    stay.role = role;
    stay.size = role == TensorRole::kConstant ? ConstantBytes(plan_, users_, tensor, everything)
                                              : StoredBytes(NameExtents(facts.shape), facts.type,
                                                            layout.channel_block, layout.row_pitch_bytes);
    stay.alignment = std::lcm(layout.alignment_bytes, LinkAlignment(stay.memory));
    // To the end of the program, unless somebody is seen to be the last to read it.
    stay.subgraphs = {static_cast<problem::Step>(subgraph),
                      static_cast<problem::Step>(plan_.subgraphs.size())};
    stays_.emplace(tensor, stay);
  }

  int64_t LinkAlignment(int home) const {
    int64_t alignment = 1;
    for (const hw_profiles::Link& link : plan_.profile.links) {
      if (std::minmax(link.first, link.second) != std::minmax(home, plan_.profile.tile_memory)) continue;
      alignment = link.alignment_bytes;
      break;
    }
    return alignment;
  }

  void MoveOutAfter(graph::Interval interval, int tensor, size_t subgraph) {
    const auto index = static_cast<size_t>(tensor);
    const graph::Tensor& facts = plan_.network.tensors[index];
    const std::vector<int>& readers = users_[index].readers;
    readers_left_[index] -= static_cast<size_t>(std::count_if(
        readers.begin(), readers.end(), [&](int reader) { return Contains(interval, reader); }));
    if (readers.empty() || readers_left_[index] > 0) return;
    if (facts.constant || facts.state || facts.network_output) return;
    const auto stay = stays_.find(tensor);
    if (stay != stays_.end()) stay->second.subgraphs.upper = static_cast<problem::Step>(subgraph) + 1;
  }

  const Plan& plan_;
  const std::vector<Users> users_;
  std::vector<size_t> readers_left_;  // by tensor
  std::map<int, HomeStay> stays_;     // by tensor
};

}  // namespace

std::vector<HomeStay> FindHomeStays(const Plan& plan) { return HomeBooks(plan).Run(); }

}  // namespace tessera::plan
