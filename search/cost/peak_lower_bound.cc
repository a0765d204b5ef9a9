// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/encoder/program/memory_lower_bound.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/cost/traffic.h"

// Every operator v runs in some subgraph, and buffers of its operands live together at its step.
// The need of v there depends on the part of it that the subgraph needs, and only operators that
// depend on v matter. So follow the results from v through the subgraph:
//
//     v --> a --> b --> e         at v, and at each operator u after it, one of these holds:
//           '---> c               1. u's result leaves, and no inner operator reads it;
//                                 2. it leaves, and some reader of it is inside;
//                                 3. it does not leave, and all readers of it are inside.
//
// In the first two cases all operators between v and u are inside, and a share of u's result is
// needed. The bytes that v then needs at least are B(u) in the first case and B'(u) in the second
// (LeastRegions). In the last two cases the same holds for some reader, or for each. So, with R(u)
// the readers of u's result, no subgraph with all operators between v and u needs less than
//
//     G(u) = min(B(u), max(B'(u), min over R(u) of G), max over R(u) of G)
//
// The second term is omitted if there is one reader and the result is not a network output, and the
// third if it is one. G(v) is a lower bound of every plan. So is the greatest G(v) of all v,
// together with the constants that are at home in the tile memory.
//
// *Bytes.* Operands of one operator lie in different places, except a result in place of an
// operand. Each counts with its least size: a tile; a whole buffer if its home is the tile memory;
// nothing if engines access it in its home (the host does so in any home), if it is streamed in K
// slices, or if it may lie in the place of a state. A tensor kept on chip is whole, so at least as
// large as a tile. At least a slice of a constant is present, and all of it if it has no slices.
//
// Operators are visited in descending order of B(v), which is at least G(v). When B(v) is at most
// the greatest G so far, the remaining operators are skipped. G is evaluated from v on, but not
// past an operator u whose B(u) is already at most the greatest G so far, because no later value
// can raise G(u) again. Cost: usually the propagations of each operator alone, and for few
// operators those to the operators after them, which is quadratic. If these may be more than
// kMostSteps, only operators with fewer operators after them are used; each of them bounds the
// peak.
namespace tessera::search::cost {
namespace {

using base::TensorRole;
using graph::Graph;
using hw_profiles::Profile;
using problem::Bytes;

constexpr int64_t kMostSteps = 500'000;

// All operators that depend on one operator, and the operators between them.
class Descendants {
 public:
  Descendants(const std::vector<std::vector<int>>& dependencies, int op)
      : dependencies_(dependencies), follows_(dependencies.size()) {
    follows_[static_cast<size_t>(op)] = true;
    for (size_t i = static_cast<size_t>(op) + 1; i < follows_.size(); ++i) {
      const std::vector<int>& before = dependencies_[i];
      follows_[i] =
          std::any_of(before.begin(), before.end(), [this](int other) { return Has(other); });
    }
  }

  // Returns whether `op` is that operator or depends on it.
  bool Has(int op) const { return follows_[static_cast<size_t>(op)]; }

  // Returns the most steps of walks over all operators between it and each of these.
  int64_t MostSteps() const {
    const int64_t descendants = std::count(follows_.begin(), follows_.end(), true);
    return descendants * (descendants + 1) / 2;
  }

  // Returns the operators on the paths from it to `last`, both included, ascending.
  std::vector<int> UpTo(int last) const {
    std::vector<bool> needed(follows_.size());
    needed[static_cast<size_t>(last)] = true;
    std::vector<int> between;
    for (int i = last; i >= 0; --i) {
      if (!needed[static_cast<size_t>(i)] || !Has(i)) continue;
      between.push_back(i);
      for (const int other : dependencies_[static_cast<size_t>(i)])
        needed[static_cast<size_t>(other)] = true;
    }
    std::reverse(between.begin(), between.end());
    return between;
  }

 private:
  const std::vector<std::vector<int>>& dependencies_;
  std::vector<bool> follows_;
};

class Floor {
 public:
  Floor(const Graph& graph, const Profile& profile)
      : graph_(graph),
        profile_(profile),
        usages_(graph::UsagesOf(graph)),
        propagation_(graph, {0, static_cast<int>(graph.operators.size()) - 1}),
        dependencies_(graph::DependenciesOf(graph)) {
    for (const graph::Operator& op : graph.operators)
      on_host_.push_back(static_cast<char>(encoder::program::RunsOnHost(graph, profile, op)));
  }

  PeakLowerBound Find() {
    const auto operators = static_cast<int>(graph_.operators.size());
    std::vector<PeakLowerBound> alone;
    alone.reserve(graph_.operators.size());
    for (int op = 0; op < operators; ++op)
      alone.push_back({.bytes = BytesOf({op}, LeastRegions::Result::kOnlyLeaves), .op = op});
    std::stable_sort(
        alone.begin(), alone.end(),
        [](const PeakLowerBound& a, const PeakLowerBound& b) { return a.bytes > b.bytes; });
    PeakLowerBound floor;
    steps_ = 0;
    for (const PeakLowerBound& each : alone) {
      if (each.bytes <= floor.bytes || steps_ > kMostSteps) break;
      const Descendants descendants(dependencies_, each.op);
      steps_ += operators;
      if (descendants.MostSteps() > kMostSteps - steps_) continue;
      Evaluation of{descendants, each.op, each.bytes, floor.bytes, {}};
      of.known.resize(graph_.operators.size());
      const Bytes least = LeastOf(of, each.op);
      if (least > floor.bytes) floor = {.bytes = least, .op = each.op};
    }
    base::Accumulate(floor.bytes, ConstantsAtHome());
    return floor;
  }

 private:
  // The evaluation of G for one operator v.
  struct Evaluation {
    const Descendants& descendants;
    int op = 0;                               // v
    Bytes alone = 0;                          // B(v)
    Bytes enough = 0;                         // values of at most this need not be exact
    std::vector<std::optional<Bytes>> known;  // G(u) by u
  };

  // Returns G(u), or any value up to `enough` if G(u) is not above that.
  Bytes LeastOf(Evaluation& of, int u) {
    std::optional<Bytes>& known = of.known[static_cast<size_t>(u)];
    if (!known) known = Evaluate(of, u);
    return *known;
  }

  Bytes Evaluate(Evaluation& of, int u) {
    const std::vector<int> between = of.descendants.UpTo(u);
    if (u != of.op && IsAnyOnHost(between)) return std::numeric_limits<Bytes>::max();
    const Bytes only_leaves =
        u == of.op ? of.alone : BytesOf(between, LeastRegions::Result::kOnlyLeaves);
    const std::vector<int> readers = ReadersOf(u);
    if (readers.empty() || only_leaves <= of.enough) return only_leaves;
    Bytes lightest = std::numeric_limits<Bytes>::max();
    Bytes heaviest = 0;
    for (const int reader : readers) {
      const Bytes least = LeastOf(of, reader);
      lightest = std::min(lightest, least);
      heaviest = std::max(heaviest, least);
    }
    const bool is_wanted = IsWanted(u);
    const bool has_one_result = graph_.operators[static_cast<size_t>(u)].outputs.size() == 1;
    if (lightest < only_leaves && has_one_result && (readers.size() > 1 || is_wanted))
      lightest = std::max(lightest, BytesOf(between, LeastRegions::Result::kMayBeReadInside));
    return std::min({only_leaves, lightest, is_wanted ? lightest : heaviest});
  }

  std::vector<int> ReadersOf(int op) const {
    std::set<int> readers;
    for (const int output : graph_.operators[static_cast<size_t>(op)].outputs)
      readers.insert(UsageOf(output).consumers.begin(), UsageOf(output).consumers.end());
    return {readers.begin(), readers.end()};
  }

  // Returns whether the host runs one of several operators. It runs each operator alone, so no
  // subgraph contains all of them then.
  bool IsAnyOnHost(const std::vector<int>& operators) const {
    return std::any_of(operators.begin(), operators.end(),
                       [this](int op) { return on_host_[static_cast<size_t>(op)] != 0; });
  }

  // Returns whether the first result leaves every subgraph.
  bool IsWanted(int op) const {
    const int result = graph_.operators[static_cast<size_t>(op)].outputs.front();
    return graph_.tensors[static_cast<size_t>(result)].network_output;
  }

  // Returns a lower bound of the need of the first of these operators, if all are in one subgraph
  // and the result of the last leaves it.
  Bytes BytesOf(const std::vector<int>& operators, LeastRegions::Result result) {
    steps_ += static_cast<int64_t>(operators.size());
    const LeastRegions regions(graph_, usages_, propagation_, profile_, operators, result);
    Bytes least = OperandBytes(operators, KCutOf(operators), regions.WhereRowsAreRecomputed());
    if (regions.MayKeepRows())
      least = std::min(least, OperandBytes(operators, std::nullopt, regions.WhereRowsAreKept()));
    return least;
  }

  // A result may take the place of an operand; then only the larger of the two is certain.
  Bytes OperandBytes(const std::vector<int>& operators,
                     const std::optional<encoder::program::KCut>& cut,
                     const LeastRegions::Extents& regions) const {
    const int number = operators.front();
    const graph::Operator& op = graph_.operators[static_cast<size_t>(number)];
    const bool on_host = on_host_[static_cast<size_t>(number)] != 0;
    const Use reads = on_host ? Use::kByHost : Use::kRead;
    const Use makes = on_host ? Use::kByHost : Use::kMade;
    Bytes read = 0;
    Bytes made = 0;
    for (const int tensor : std::set<int>(op.inputs.begin(), op.inputs.end())) {
      if (cut && cut->Takes(tensor)) continue;
      const graph::tiling::Extents extents = regions.Of(tensor);
      Bytes least = BytesAs(RoleAlone(number, tensor), tensor, extents, reads, {number});
      const bool may_be_inside = !on_host && UsageOf(tensor).producer >= 0 &&
                                 !graph_.tensors[static_cast<size_t>(tensor)].network_output;
      if (may_be_inside)
        least = std::min(least, BytesAs(TensorRole::kFeature, tensor, extents, reads, {number}));
      base::Accumulate(read, least);
    }
    for (const int tensor : op.outputs) {
      const graph::tiling::Extents extents = regions.Of(tensor);
      const bool may_leave =
          operators.size() == 1 || !AreAllAmong(UsageOf(tensor).consumers, operators);
      const bool may_stay =
          operators.size() > 1 && !graph_.tensors[static_cast<size_t>(tensor)].network_output;
      Bytes least = std::numeric_limits<Bytes>::max();
      if (may_leave || !may_stay)
        least = BytesAs(RoleAlone(number, tensor), tensor, extents, makes, {});
      if (may_stay)
        least = std::min(least, BytesAs(TensorRole::kFeature, tensor, extents, makes, {}));
      base::Accumulate(made, least);
    }
    const Bytes features = encoder::program::MayTakeAPlace(profile_, op)
                               ? std::max(read, made)
                               : base::SaturatingAdd(read, made);
    return on_host ? features : base::SaturatingAdd(features, ConstantBytes(number, cut));
  }

  bool Offers(hw_profiles::WeightPolicy policy) const {
    const std::vector<hw_profiles::WeightPolicy>& weights = profile_.tiling.weights;
    return std::find(weights.begin(), weights.end(), policy) != weights.end();
  }

  // Returns the bytes of constants whose home is not the tile memory: a slice of each constant that
  // may be streamed, and all of the others.
  Bytes ConstantBytes(int number, const std::optional<encoder::program::KCut>& cut) const {
    const graph::Operator& op = graph_.operators[static_cast<size_t>(number)];
    Bytes bytes = 0;
    for (const int constant : std::set<int>(op.weights.begin(), op.weights.end())) {
      const int home = encoder::program::HomeOf(graph_, profile_, constant, TensorRole::kConstant);
      const bool is_direct = Offers(hw_profiles::WeightPolicy::kDirect) &&
                             hw_profiles::MayReadAt(profile_, TensorRole::kConstant, home);
      if (home == profile_.tile_memory || is_direct || (cut && cut->Takes(constant))) continue;
      const bool is_sliced = Offers(hw_profiles::WeightPolicy::kStreamed) &&
                             encoder::program::IsSliceable(graph_, constant, {number, number});
      base::Accumulate(
          bytes, is_sliced ? encoder::program::SlicesOf(graph_, profile_, constant, op).bytes
                           : encoder::program::ConstantBytes(graph_, profile_, constant, {number}));
    }
    return bytes;
  }

  // Returns the operands that may be streamed in K slices, and are then never present as a whole.
  std::optional<encoder::program::KCut> KCutOf(const std::vector<int>& operators) const {
    if (!Offers(hw_profiles::WeightPolicy::kSplitK) || operators.size() > 1) return std::nullopt;
    return encoder::program::FindKCut(graph_, profile_, {operators.front(), operators.front()});
  }

  enum class Use : uint8_t { kRead, kMade, kByHost };

  // Returns the bytes of a tensor in a role; 0 if the role may need no buffer. `readers` are the
  // operators that certainly read a tile of it.
  Bytes BytesAs(TensorRole role, int tensor, const graph::tiling::Extents& extents, Use use,
                const std::vector<int>& readers) const {
    const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile_, role);
    if (role != TensorRole::kFeature) {
      const int memory = encoder::program::HomeOf(graph_, profile_, tensor, role);
      if (memory == profile_.tile_memory) {
        // The next value may lie in the place of the state.
        if (role == TensorRole::kState) return 0;
        return BytesIn(layout, tensor, graph_.tensors[static_cast<size_t>(tensor)].shape,
                       UsageOf(tensor).consumers);
      }
      if (use == Use::kByHost ||
          (use == Use::kMade ? hw_profiles::MayWriteAt(profile_, role, memory)
                             : hw_profiles::MayReadAt(profile_, role, memory)))
        return 0;
    }
    return BytesIn(layout, tensor, extents, readers);
  }

  // Returns the bytes of a buffer; 0 if no part of the tensor is certainly needed.
  Bytes BytesIn(const hw_profiles::RoleLayout& layout, int tensor,
                const graph::tiling::Extents& extents, const std::vector<int>& readers) const {
    if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
    const graph::Tensor& t = graph_.tensors[static_cast<size_t>(tensor)];
    return encoder::program::FeatureBytes(layout, t.type,
                                          encoder::program::NameExtents(t.shape, extents),
                                          encoder::program::PadsFor(graph_, profile_, readers));
  }

  const graph::Usage& UsageOf(int tensor) const { return usages_[static_cast<size_t>(tensor)]; }

  TensorRole RoleAlone(int op, int tensor) const {
    return graph::RoleIn(graph_, UsageOf(tensor), tensor, {op, op});
  }

  static bool AreAllAmong(const std::vector<int>& some, const std::vector<int>& all) {
    return std::all_of(some.begin(), some.end(), [&all](int each) {
      return std::binary_search(all.begin(), all.end(), each);
    });
  }

  Bytes ConstantsAtHome() const {
    if (hw_profiles::LayoutOf(profile_, TensorRole::kConstant).home != profile_.tile_memory)
      return 0;
    const graph::Interval all{0, static_cast<int>(graph_.operators.size()) - 1};
    Bytes total = 0;
    for (const LoadedOnce& constant : ConstantsLoadedOnce(graph_, profile_, all))
      base::Accumulate(total, constant.bytes);
    return total;
  }

  const Graph& graph_;
  const Profile& profile_;
  std::vector<graph::Usage> usages_;
  graph::tiling::Propagation propagation_;
  std::vector<std::vector<int>> dependencies_;
  std::vector<char> on_host_;  // by operator
  int64_t steps_ = 0;          // operators visited, without those of each alone
};

}  // namespace

PeakLowerBound FindPeakLowerBound(const Graph& graph, const Profile& profile) {
  return Floor(graph, profile).Find();
}

}  // namespace tessera::search::cost
