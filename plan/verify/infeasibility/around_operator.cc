#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/infeasibility/subgraph_need.h"

// The idea. Every plan runs an operator v in one of its subgraphs. If no subgraph with v has room,
// whatever precedes it and follows it, there is no plan:
//
//     done before   [  a subgraph with v    ]   done after it
//     x a           [ b  v  c ]                 x a b v c          each pair of sets of operators,
//     x a           [ b  v  c  d ]              x a b v c d        such that v is in the second and
//     x             [ a  b  v ]                 x a b v            not in the first, is one
//     subgraph
//
// Where feature maps are at home in the tile memory, few pairs are left. What is whole between two
// subgraphs must fit, which rules out most sets, and so must all that enters and leaves a subgraph
// of several tiles. The others pass large maps from operator to operator in tiles; these need many
// rows of other maps at once, or some operator needs a whole map. An example is a map that is
// pooled to weights with which it is then multiplied: it is whole for the pool, and must stay until
// the product, in a subgraph with both or between subgraphs.
//
// Why this is sound. The sets are those of all orders (progress.h), and the need of each pair is a
// lower bound for every order, tile and policy (subgraph_need.h). A plan runs each operator once,
// in one subgraph, and the operators done before a subgraph contain those that they depend on. If
// there are too many sets, or too many steps, nothing is claimed.
//
// v is an operator with large operands and results. Those with the largest are tried in turn. Cost:
// limited by the constants below; about a second for a network of 200 operators.
namespace tessera::plan::verify::infeasibility {
namespace {

constexpr size_t kMostSets = 4'000;
constexpr int64_t kMostOperatorsOfSets = 2'000'000;
constexpr int64_t kMostWork = 200'000'000;
constexpr size_t kMostTried = 4;

// All of the operands and results, as features.
int64_t WholeOperands(const Plan& plan, const graph::Operator& op) {
  std::set<int> tensors(op.inputs.begin(), op.inputs.end());
  tensors.insert(op.outputs.begin(), op.outputs.end());
  int64_t bytes = 0;
  for (const int tensor : tensors) bytes = Plus(bytes, WholeBytes(plan, tensor));
  return bytes;
}

std::vector<int> LargestOperators(const Plan& plan) {
  std::vector<int64_t> bytes;
  for (const graph::Operator& op : plan.network.operators) bytes.push_back(WholeOperands(plan, op));
  std::vector<int> operators(bytes.size());
  std::iota(operators.begin(), operators.end(), 0);
  std::stable_sort(operators.begin(), operators.end(), [&](int a, int b) {
    return bytes[static_cast<size_t>(a)] > bytes[static_cast<size_t>(b)];
  });
  operators.resize(std::min(operators.size(), kMostTried));
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
  Surroundings(const Plan& plan, const std::vector<Users>& users, int64_t room)
      : plan_(plan),
        users_(users),
        room_(room),
        dependences_(plan.network, users),
        needs_(plan, users, dependences_) {}

  std::optional<std::string> Find() {
    if (!FindMoments()) return std::nullopt;
    for (const int op : LargestOperators(plan_)) {
      if (const std::optional<Need> least = LeastAround(op)) return Describe(op, *least);
      if (needs_.Work() > kMostWork) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  // The moments that have room, and the least bytes of the others.
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
        least_without_room_ = std::min(least_without_room_, progress.bytes);
      }
    }
    return true;
  }

  // The least need of all subgraphs with the operator; nullopt if one may have room.
  std::optional<Need> LeastAround(int op) {
    Need least{least_without_room_, op, -1};
    for (const Progress& before : moments_) {
      if (before.done[static_cast<size_t>(op)]) continue;
      for (const Progress& after : moments_) {
        if (!after.done[static_cast<size_t>(op)] || !IsSubset(before.done, after.done)) continue;
        const Need need = needs_.Of(before, after);
        if (need.bytes <= room_ || needs_.Work() > kMostWork) return std::nullopt;
        if (need.bytes < least.bytes) least = need;
      }
    }
    return least;
  }

  std::string Describe(int op, const Need& least) const {
    const auto name = [this](int number) {
      return plan_.network.operators[static_cast<size_t>(number)].id;
    };
    std::string why = fmt::format(
        "operator '{}' has room in no subgraph, in any order of the operators: each needs {} bytes "
        "of memory '{}' at least, and {} may be used",
        name(op), least.bytes, TileMemory(plan_.profile).name, room_);
    if (least.tensor >= 0) {
      why += fmt::format(
          "; the one that needs least needs them when '{}' runs, most of them for "
          "'{}'",
          name(least.op), plan_.network.tensors[static_cast<size_t>(least.tensor)].id);
    }
    return why;
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
  const int64_t room_;
  const Dependences dependences_;
  SubgraphNeeds needs_;
  std::vector<Progress> moments_;
  int64_t least_without_room_ = base::kMaxTotal;
};

}  // namespace

std::optional<std::string> FindNoRoomAround(const Plan& plan, const std::vector<Users>& users,
                                            int64_t room) {
  return Surroundings(plan, users, room).Find();
}

}  // namespace tessera::plan::verify::infeasibility
