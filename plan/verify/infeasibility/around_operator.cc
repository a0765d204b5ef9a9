// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/infeasibility/subgraph_need.h"

// The idea. Every plan runs an operator v in one of its subgraphs. If no subgraph with v has room,
// whatever precedes it and follows it, there is no plan:
//
//     done before   [  a subgraph with v    ]   done after it
//     x a           [ b  v  c ]                 x a b v c
//     x a           [ b  v  c  d ]              x a b v c d
//     x             [ a  b  v ]                 x a b v
//
// Each pair of sets of operators is one subgraph if v is in the second and not in the first.
//
// Where feature maps are at home in the tile memory, few pairs are left. The whole tensors between
// two subgraphs must fit, which rules out most sets, and so must all tensors that enter and leave a
// subgraph of several tiles. In the other pairs, large maps pass from operator to operator in
// tiles. These tiles need many rows of other maps at once, or some operator needs a whole map. An
// example is a map that is pooled to weights with which it is then multiplied. It is whole for the
// pool, and must stay until the product, in a subgraph with both operators or between subgraphs.
//
// Why this is sound. The sets are those of all orders (progress.cc), and the need of each pair is a
// lower bound for every order, tile and policy (subgraph_need.h). A plan runs each operator once,
// in one subgraph, and the operators done before a subgraph contain those that they depend on. If
// there are too many sets, or too many steps, nothing is claimed.
//
// Operators are tried as v in turn, those with the largest operands and results first. A subgraph
// that may have room shows that none of its operators is such a v. Cost: limited by `most_work` and
// by the constants below; a few seconds for a network of 400 operators.
namespace tessera::plan::verify::infeasibility {
namespace {

constexpr size_t kMostSets = 4'000;
constexpr int64_t kMostOperatorsOfSets = 2'000'000;

// The bytes of the whole operands and results, as features.
int64_t WholeOperands(const Plan& plan, const graph::Operator& op) {
  std::set<int> tensors(op.inputs.begin(), op.inputs.end());
  tensors.insert(op.outputs.begin(), op.outputs.end());
  int64_t bytes = 0;
  for (const int tensor : tensors) bytes = Plus(bytes, WholeBytes(plan, tensor));
  return bytes;
}

// The operators with the largest operands and results first.
std::vector<int> BySize(const Plan& plan) {
  std::vector<int64_t> bytes;
  for (const graph::Operator& op : plan.network.operators) bytes.push_back(WholeOperands(plan, op));
  std::vector<int> operators(bytes.size());
  std::iota(operators.begin(), operators.end(), 0);
  std::stable_sort(operators.begin(), operators.end(), [&](int a, int b) {
    return bytes[static_cast<size_t>(a)] > bytes[static_cast<size_t>(b)];
  });
  return operators;
}

bool IsSubset(const Done& a, const Done& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] && !b[i]) return false;
  }
  return true;
}

class Surroundings {
 public:
  Surroundings(const Plan& plan, const std::vector<Users>& users, int64_t room, int64_t most_work,
               const base::Stop& stop)
      : plan_(plan),
        users_(users),
        room_(room),
        most_work_(most_work),
        stop_(stop),
        dependences_(plan.network, users),
        needs_(plan, users, dependences_),
        may_have_room_(plan.network.operators.size()) {}

  std::optional<std::string> Find() {
    if (!FindMoments()) return std::nullopt;
    for (const int op : BySize(plan_)) {
      if (may_have_room_[static_cast<size_t>(op)]) continue;
      if (const std::optional<Need> least = LeastAround(op)) return Describe(op, *least);
      if (IsSpent()) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  int LargestOf(const std::vector<int>& tensors) const {
    if (tensors.empty()) return -1;
    return *std::max_element(tensors.begin(), tensors.end(), [this](int a, int b) {
      return WholeBytes(plan_, a) < WholeBytes(plan_, b);
    });
  }

  // Finds the moments that have room, and the least need of the others.
  bool FindMoments() {
    const size_t operators = plan_.network.operators.size();
    const size_t most = std::min(
        kMostSets, static_cast<size_t>(kMostOperatorsOfSets) / std::max<size_t>(1, operators));
    auto all = FindProgress(plan_, users_, dependences_, most);
    if (!all) return false;
    for (Progress& progress : *all) {
      if (progress.bytes <= room_) {
        moments_.push_back(std::move(progress));
      } else {
        if (progress.bytes < least_elsewhere_.bytes)
          least_elsewhere_ = {progress.bytes, -1, LargestOf(progress.held)};
      }
    }
    return true;
  }

  // The least need of all subgraphs with the operator; nullopt if one may have room. Small
  // subgraphs are examined first.
  std::optional<Need> LeastAround(int op) {
    Need least{base::kMaxTotal, -1, -1};
    for (auto before = moments_.rbegin(); before != moments_.rend(); ++before) {
      if (before->done[static_cast<size_t>(op)]) continue;
      for (const Progress& after : moments_) {
        if (!after.done[static_cast<size_t>(op)] || !IsSubset(before->done, after.done)) continue;
        const Need need = needs_.Of(*before, after, op, least.bytes);
        if (need.bytes <= room_) NoteRoom(*before, after);
        if (need.bytes <= room_ || IsSpent()) return std::nullopt;
        if (need.bytes < least.bytes) least = need;
      }
    }
    return least.bytes < base::kMaxTotal ? least : least_elsewhere_;
  }

  bool IsSpent() const { return needs_.Work() > most_work_ || stop_.Requested(); }

  // Records that a subgraph may have room, so that none of its operators shows that there is no
  // plan.
  void NoteRoom(const Progress& before, const Progress& after) {
    for (size_t op = 0; op < may_have_room_.size(); ++op) {
      if (after.done[op] && !before.done[op]) may_have_room_[op] = true;
    }
  }

  std::string Describe(int op, const Need& least) const {
    const auto name = [this](int number) {
      return plan_.network.operators[static_cast<size_t>(number)].id;
    };
    std::string why = fmt::format(
        "operator '{}' has room in no subgraph, in any order of the operators: where one may begin "
        "and end, it needs {} bytes of memory '{}' at least, and {} may be used",
        name(op), least.bytes, TileMemory(plan_.profile).name, room_);
    if (least.tensor >= 0) {
      const std::string& tensor = plan_.network.tensors[static_cast<size_t>(least.tensor)].id;
      why += fmt::format("; most of them for '{}', {}", tensor,
                         least.op >= 0 ? fmt::format("when '{}' runs", name(least.op))
                                       : "with all that is whole before and after it");
    }
    return why;
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
  const int64_t room_;
  const int64_t most_work_;
  const base::Stop& stop_;
  const Dependences dependences_;
  SubgraphNeeds needs_;
  std::vector<Progress> moments_;
  std::vector<bool> may_have_room_;  // by operator: in a subgraph with it
  Need least_elsewhere_{base::kMaxTotal, -1, -1};
};

}  // namespace

std::optional<std::string> FindNoRoomAround(const Plan& plan, const std::vector<Users>& users,
                                            int64_t room, int64_t most_work,
                                            const base::Stop& stop) {
  return Surroundings(plan, users, room, most_work, stop).Find();
}

}  // namespace tessera::plan::verify::infeasibility
