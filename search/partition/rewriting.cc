// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/rewriting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/vocabulary.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/rewrites.h"
#include "tessera/search/partition/least_need.h"

namespace tessera::search::partition {
namespace {

struct Found {
  std::vector<int> which;        // operators or tensors, ascending
  std::vector<std::string> ids;  // of them
  bool is_needed = false;        // as in Rewriting

  void Add(size_t number, const std::string& id, bool needed) {
    which.push_back(static_cast<int>(number));
    ids.push_back(id);
    is_needed = is_needed || needed;
  }
};

Found FindForTwoPasses(const graph::Graph& network, const hw_profiles::Profile& profile) {
  Found found;
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (!graph::CanTakeTwoPasses(op) || encoder::program::RunsOnHost(network, profile, op))
      continue;
    const problem::Bytes tables = TablesOf(network, profile, number);
    Need need = NeedOf(network, profile, op);
    need.Add(tables);
    if (Fits(need, profile)) continue;
    Need sure = SurelyNeeded(network, profile, op, op.axes);
    sure.Add(tables);
    found.Add(number, op.id, !Fits(sure, profile));
  }
  return found;
}

// Returns the K extent of the smallest slice of a reduction: that of the whole axis if the profile
// has no slices.
int64_t SmallestSlice(const graph::Graph& network, const hw_profiles::Profile& profile, int op,
                      int64_t whole) {
  if (!HasSlices(profile)) return whole;
  const auto cut = encoder::program::FindKCut(network, profile, {op, op}, 0);
  return cut ? cut->granularity : whole;
}

// Whether an engine other than the host runs a reduction of the operator's operand.
bool HasEngineForReduce(const graph::Graph& network, const hw_profiles::Profile& profile,
                        graph::Operator op) {
  op.axes = graph::ReducedAxes(op);
  op.kind = base::OperatorKind::kReduce;
  return encoder::program::EngineOf(network, profile, op) != nullptr &&
         !encoder::program::RunsOnHost(network, profile, op);
}

// Finds reductions over several axes of which not even the smallest slice fits.
Found FindForAxisByAxis(const graph::Graph& network, const hw_profiles::Profile& profile) {
  Found found;
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (!graph::CanGoAxisByAxis(op) || encoder::program::RunsOnHost(network, profile, op) ||
        !HasEngineForReduce(network, profile, op))
      continue;
    std::vector<int> axes = graph::ReducedAxes(op);
    const int64_t whole =
        graph::ShapeOf(network, op.inputs.front())[static_cast<size_t>(axes.front())];
    const int64_t slice = SmallestSlice(network, profile, static_cast<int>(number), whole);
    axes.erase(axes.begin());
    Need sure = SurelyNeeded(network, profile, op, axes);
    sure = {base::SaturatingMul(sure.bytes, slice), base::SaturatingMul(sure.longest, slice)};
    const int64_t smallest = SmallestTile(network, profile, op);
    Need need = {base::SaturatingMul(sure.bytes, smallest),
                 base::SaturatingMul(sure.longest, smallest)};
    need.Add(encoder::program::AccumulatorBytes(network, op, std::array{smallest}));
    if (Fits(need, profile)) continue;
    found.Add(number, op.id, !Fits(sure, profile));
  }
  return found;
}

graph::Operator AsGlobalPool(graph::Operator op) {
  op.kind = base::OperatorKind::kGlobalPool;
  op.window = {};
  return op;
}

// Whether the operator is a pool whose one window is the whole map, and could read slices of it as
// a global pool, because the profile has that policy.
bool IsGlobalInSlices(const graph::Graph& network, const hw_profiles::Profile& profile,
                      const graph::Operator& op) {
  if (op.kind != base::OperatorKind::kPool || !op.measured.empty()) return false;
  const graph::Shape& map = graph::ShapeOf(network, op.inputs.front());
  const std::array<int64_t, 2> none = {0, 0};
  const bool is_whole = op.window.kernel == std::array{map[2], map[3]} &&
                        op.window.pad_low == none && op.window.pad_high == none;
  const graph::Operator pool = AsGlobalPool(op);
  return is_whole && HasSlices(profile) && !encoder::program::RunsOnHost(network, profile, op) &&
         encoder::program::EngineOf(network, profile, pool) != nullptr &&
         !encoder::program::RunsOnHost(network, profile, pool);
}

Found FindForGlobalPools(const graph::Graph& network, const hw_profiles::Profile& profile) {
  Found found;
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (!IsGlobalInSlices(network, profile, op)) continue;
    const Need window = SurelyNeeded(network, profile, op, std::array{2, 3});
    Need need = NeedOf(network, profile, op);
    need.Add(base::SaturatingMul(need.longest, op.window.kernel[0] * op.window.kernel[1]));
    if (Fits(need, profile)) continue;
    found.Add(number, op.id, !Fits(window, profile));
  }
  return found;
}

// Whether some engine runs each of the operators.
bool HasEngines(const graph::Graph& network, const hw_profiles::Profile& profile) {
  return std::all_of(network.operators.begin(), network.operators.end(),
                     [&](const graph::Operator& op) {
                       return encoder::program::EngineOf(network, profile, op) != nullptr;
                     });
}

struct FoundParts : Found {
  std::vector<graph::Parts> parts;  // parallel to `which`
};

// Finds sums of products of which the smallest tile does not fit, and the longest parts that fit;
// each length that is tried is half of the one before. One addition of all partial sums must fit
// too. A sum in a longer subgraph takes no slices, so no plan exists if already the factors of one
// element of the result do not fit.
FoundParts FindForParts(const graph::Graph& network, const hw_profiles::Profile& profile) {
  FoundParts found;
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (!op.measured.empty() || !graph::CanGoInParts(network, op) ||
        Fits(NeedOfBarrier(network, op), profile) ||
        encoder::program::RunsOnHost(network, profile, op))
      continue;
    const graph::Shape& operand = graph::ShapeOf(network, op.inputs.front());
    const int64_t whole = operand[*graph::ops::SumAxisOf(op, 0, operand.size())];
    const int64_t slice = SmallestSlice(network, profile, static_cast<int>(number), whole);
    const std::vector<int64_t> extents = SmallestExtents(network, profile, op);
    graph::Parts parts{static_cast<int>(number), slice};
    const auto fits = [&] {
      return Fits(NeedOfSum(network, profile, op, extents, parts.k_extent), profile);
    };
    if (fits()) continue;
    while (parts.k_extent > 1 && !fits())
      parts.k_extent = base::CeilDiv(parts.k_extent, int64_t{2});
    const graph::Parts only{0, parts.k_extent};
    const int64_t count = base::CeilDiv(whole, parts.k_extent);
    if (!fits() || !Fits(NeedOfAddition(network, profile, op, extents, count), profile) ||
        !HasEngines(graph::InParts(Alone(network, op), std::span(&only, 1)), profile))
      continue;
    const std::vector<int64_t> one(extents.size(), 1);
    found.Add(number, op.id, !Fits(NeedOfFactors(network, profile, op, one, slice), profile));
    found.parts.push_back(parts);
  }
  return found;
}

// Finds constants that should become states. An operator does not fit if all its constants together
// with its smallest tile exceed the tile memory.
Found FindForStates(const graph::Graph& network, const hw_profiles::Profile& profile) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(network);
  const bool are_direct = hw_profiles::MayReadAtHome(profile, base::TensorRole::kConstant);
  std::set<int> chosen;
  Found found;
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (op.weights.empty() || op.kind != base::OperatorKind::kElementwise ||
        encoder::program::RunsOnHost(network, profile, op))
      continue;
    Need tables;
    Need need = NeedOf(network, profile, op);
    for (const int weight : op.weights) {
      const problem::Bytes bytes =
          encoder::program::ConstantBytes(network, profile, weight, {static_cast<int>(number)});
      tables.Add(bytes);
      need.Add(bytes);
    }
    if (Fits(need, profile)) continue;
    const auto can_be_state = [&](int weight) {
      return graph::CanBeState(network, usages[static_cast<size_t>(weight)], weight);
    };
    std::copy_if(op.weights.begin(), op.weights.end(), std::inserter(chosen, chosen.end()),
                 can_be_state);
    found.is_needed = found.is_needed || (!are_direct && !Fits(tables, profile));
  }
  for (const int tensor : chosen)
    found.Add(static_cast<size_t>(tensor), network.tensors[static_cast<size_t>(tensor)].id, false);
  return found;
}

// Finds operators that should run on the host: opaque ones that do not fit. Their tensors are in
// the tile memory, unless an engine accesses their homes, as the host does.
Found FindForHost(const graph::Graph& network, const hw_profiles::Profile& profile) {
  Found found;
  if (hw_profiles::HostOf(profile) == nullptr) return found;
  static constexpr std::array kRoles = {
      base::TensorRole::kNetworkInput, base::TensorRole::kBoundary,
      base::TensorRole::kNetworkOutput, base::TensorRole::kConstant, base::TensorRole::kState};
  const bool are_direct = std::any_of(
      kRoles.begin(), kRoles.end(),
      [&profile](base::TensorRole role) { return hw_profiles::MayReadAtHome(profile, role); });
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (op.kind != base::OperatorKind::kOpaque || (!op.engine.empty() && !op.engine_chosen) ||
        encoder::program::RunsOnHost(network, profile, op))
      continue;
    const bool is_barrier = graph::IsBarrier(op);
    if (Fits(is_barrier ? NeedOfBarrier(network, op) : NeedOfDescribed(network, profile, op),
             profile))
      continue;
    found.Add(
        number, op.id,
        (!are_direct && (is_barrier || !Fits(SurelyNeededOfDescribed(network, op), profile))));
  }
  return found;
}

graph::Graph WithGlobalPools(graph::Graph network, const std::vector<int>& operators) {
  for (const int op : operators) {
    graph::Operator& pool = network.operators[static_cast<size_t>(op)];
    pool = AsGlobalPool(std::move(pool));
  }
  return network;
}

graph::Graph OnHost(graph::Graph network, const hw_profiles::Profile& profile,
                    const std::vector<int>& operators) {
  for (const int op : operators) {
    graph::Operator& hosted = network.operators[static_cast<size_t>(op)];
    hosted.engine = hw_profiles::HostOf(profile)->name;
    hosted.engine_chosen = false;
  }
  return network;
}

// Drops the names of engines that cannot run the parts of an operator in another form.
void DropOtherEngines(const graph::Graph& given, const hw_profiles::Profile& profile,
                      graph::Graph& rewritten) {
  for (graph::Operator& op : rewritten.operators) {
    const std::optional<int> before = graph::FindOperator(given, op.id);
    const bool is_given = before && given.operators[static_cast<size_t>(*before)].kind == op.kind;
    if (op.engine.empty() || is_given ||
        !encoder::program::EnginesFor(rewritten, profile, op).empty())
      continue;
    op.engine.clear();
    op.engine_chosen = false;
  }
}

// Returns the operators with measured tiles that the rewritten network does not use.
std::vector<std::string> MeasuredIn(const graph::Graph& network, const graph::Graph& rewritten) {
  std::set<std::pair<std::string_view, std::string_view>> used;  // operators and their engines
  for (const graph::Operator& op : rewritten.operators) {
    if (!op.measured.empty()) used.emplace(op.id, op.engine);
  }
  std::vector<std::string> ids;
  for (const graph::Operator& op : network.operators) {
    if (!op.measured.empty() && !used.contains({op.id, op.engine})) ids.push_back(op.id);
  }
  return ids;
}

// The network, or the form of it after some changes, with the stored bytes of its constants. It is
// copied only if there is a change, or if the profile has a ratio.
class Form {
 public:
  Form(const graph::Graph& network, const hw_profiles::Profile& profile)
      : network_(&network), profile_(profile) {
    if (hw_profiles::LayoutOf(profile, base::TensorRole::kConstant).stored_ratio) Take(network);
  }

  const graph::Graph& Network() const { return *network_; }
  bool IsChanged() const { return is_changed_; }
  bool IsNeeded() const { return is_needed_; }

  template <typename Make>
  void Change(const Found& found, const Make& make) {
    if (found.which.empty()) return;
    Take(make(*network_));
    is_changed_ = true;
    is_needed_ = is_needed_ || found.is_needed;
  }

 private:
  void Take(graph::Graph network) {
    taken_ = encoder::program::WithStoredBytes(std::move(network), profile_);
    network_ = &*taken_;
  }

  const graph::Graph* network_;
  const hw_profiles::Profile& profile_;
  std::optional<graph::Graph> taken_;
  bool is_changed_ = false;
  bool is_needed_ = false;
};

}  // namespace

std::optional<Rewriting> RewriteWhatDoesNotFit(const graph::Graph& network,
                                               const hw_profiles::Profile& profile) {
  using graph::Graph;
  Form form(network, profile);
  const Found hosted = FindForHost(form.Network(), profile);
  const Found pools = FindForGlobalPools(form.Network(), profile);
  form.Change(hosted, [&](const Graph& before) { return OnHost(before, profile, hosted.which); });
  form.Change(pools, [&](const Graph& before) { return WithGlobalPools(before, pools.which); });
  const Found norms = FindForTwoPasses(form.Network(), profile);
  form.Change(norms, [&](const Graph& before) { return InTwoPasses(before, norms.which); });
  const Found reductions = FindForAxisByAxis(form.Network(), profile);
  form.Change(reductions,
              [&](const Graph& before) { return AxisByAxis(before, reductions.which); });
  const FoundParts sums = FindForParts(form.Network(), profile);
  form.Change(sums, [&](const Graph& before) { return InParts(before, sums.parts); });
  const Found states = FindForStates(form.Network(), profile);
  form.Change(states, [&](const Graph& before) { return WithStates(before, states.which); });
  if (!form.IsChanged()) return std::nullopt;
  Rewriting rewriting{
      Renumbered(form.Network(), TensorsByMaker(form.Network())), {}, form.IsNeeded()};
  DropOtherEngines(network, profile, rewriting.network);
  const auto note = [&](std::string_view what, const std::vector<std::string>& ids) {
    if (ids.empty()) return;
    rewriting.notes.push_back(
        fmt::format("{} in '{}': {}; status and bound are those of the network of this plan", what,
                    TileMemory(profile).name, fmt::join(ids, ", ")));
  };
  note("constants as states that are written once, because they do not fit", states.ids);
  note("in two passes, because one does not fit", norms.ids);
  note("reduced axis by axis, because slices of all axes do not fit", reductions.ids);
  note("sums of products in parts, because they do not fit", sums.ids);
  note("pools over whole maps in slices, because these do not fit", pools.ids);
  note("on the host, because what one tile of them needs does not fit", hosted.ids);
  if (const std::vector<std::string> measured = MeasuredIn(network, rewriting.network);
      !measured.empty())
    rewriting.notes.push_back(fmt::format(
        "measured tiles of operators in another form are not used: {}", fmt::join(measured, ", ")));
  return rewriting;
}

}  // namespace tessera::search::partition
