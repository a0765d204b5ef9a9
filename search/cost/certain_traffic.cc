// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/certain_traffic.h"

#include <algorithm>

#include "tessera/encoder/program/state_aliasing.h"

namespace tessera::search::cost {

using base::TensorRole;
using graph::tiling::Extents;
using graph::tiling::ExtentsView;

CertainTraffic::Parts CertainTraffic::Find(const std::vector<int>& kept,
                                           std::span<const char> all) const {
  const std::vector<int>& tensors = coverage_.Whole().tensors;
  std::vector<Route> routes;
  routes.reserve(tensors.size());
  for (const int tensor : tensors)
    routes.push_back(RouteOf(graph_, profile_, UsageOf(tensor), tensor, interval_, kept));
  Parts found;
  for (size_t i = 0; i < all.size(); ++i) {
    const int op = interval_.first + static_cast<int>(i);
    found.accesses.push_back(all[i] != 0 ? AccessesOf(op, routes) : std::vector<Access>());
  }
  for (size_t i = 0; i < tensors.size(); ++i) found.crossings.push_back(CrossingOf(i, routes[i]));
  return found;
}

std::optional<size_t> CertainTraffic::GrowthOf(const graph::Operator& op) const {
  return encoder::program::AxisOfGrowth(graph_, usages_, profile_, op,
                                        encoder::program::RunsIn::kSomeOrder);
}

ExtentsView CertainTraffic::MovedOf(int op, Extents& part) const {
  const graph::Operator& its = OpAt(op);
  // The host makes all of a result, even if less is needed.
  const bool all = RunsOnHost(op);
  const auto extents_of = [this, all](int tensor) -> ExtentsView {
    return all ? ExtentsView(graph::ShapeOf(graph_, tensor)) : coverage_.NeededOf(tensor);
  };
  const ExtentsView made = extents_of(its.outputs.front());
  const std::optional<size_t> growth = GrowthOf(its);
  if (!growth) return made;
  part =
      WithoutStaying({made.begin(), made.end()}, *growth, extents_of(its.inputs.front())[*growth]);
  return part;
}

bool CertainTraffic::IsUsedByHost(int tensor) const {
  const graph::Usage& usage = UsageOf(tensor);
  const auto is_hosted = [this](int op) { return coverage_.Inside(op) && RunsOnHost(op); };
  return is_hosted(usage.producer) ||
         std::any_of(usage.consumers.begin(), usage.consumers.end(), is_hosted);
}

std::vector<CertainTraffic::Access> CertainTraffic::AccessesOf(
    int op, std::span<const Route> routes) const {
  const graph::Operator& its = OpAt(op);
  std::vector<Access> accesses;
  const auto add = [&](int tensor, ExtentsView extents, Direction direction) {
    const size_t at = graph::tiling::SlotOf(coverage_.Whole(), tensor);
    accesses.push_back({at, direction, PortBytes(at, routes[at], extents, direction)});
  };
  for (size_t i = GrowthOf(its) ? 1 : 0; i < its.inputs.size(); ++i)
    add(its.inputs[i], coverage_.NeededOf(its.inputs[i]), Direction::kRead);
  Extents part;
  for (size_t i = 0; i < its.outputs.size(); ++i) {
    const ExtentsView made = i == 0 ? MovedOf(op, part) : coverage_.NeededOf(its.outputs[i]);
    add(its.outputs[i], made, Direction::kWrite);
  }
  return accesses;
}

// Returns the bytes of a tensor that an operator certainly accesses in the tile memory and not in
// its home.
int64_t CertainTraffic::PortBytes(size_t tensor, const Route& route, ExtentsView extents,
                                  Direction direction) const {
  const int number = coverage_.Whole().tensors[tensor];
  const graph::Tensor& facts = graph_.tensors[static_cast<size_t>(number)];
  const auto payload = [&](TensorRole role) {
    return PayloadBytes(facts, extents, hw_profiles::LayoutOf(profile_, role));
  };
  if (scope_ == Scope::kOneSubgraph)
    return route.transfer == TransferKind::kDirect ? 0 : payload(route.role);
  const bool may_cross = route.role == TensorRole::kFeature;
  const TensorRole at_home = may_cross ? TensorRole::kBoundary : route.role;
  const bool may_be_direct = direction == Direction::kRead
                                 ? hw_profiles::MayReadAtHome(profile_, at_home)
                                 : hw_profiles::MayWriteAtHome(profile_, at_home);
  if (may_be_direct) return 0;
  return may_cross ? std::min(payload(route.role), payload(at_home)) : payload(at_home);
}

// Returns whether an engine may write a result in its home although another operator of the
// interval reads it, because a cut may separate the two.
bool CertainTraffic::MayBeWrittenDirectly(const Route& route) const {
  return scope_ == Scope::kAnyCut && hw_profiles::MayWriteAt(profile_, route.role, route.home);
}

CertainTraffic::Crossing CertainTraffic::CrossingOf(size_t tensor, const Route& route) const {
  if (route.transfer != TransferKind::kMoved && route.transfer != TransferKind::kDirect) return {};
  const int number = coverage_.Whole().tensors[tensor];
  const graph::Tensor& facts = graph_.tensors[static_cast<size_t>(number)];
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile_, route.role);
  const bool moved = route.transfer == TransferKind::kMoved && !IsUsedByHost(number);
  if (coverage_.Inside(UsageOf(number).producer)) {
    const ExtentsView share = coverage_.Whole().classes.front().share[tensor];
    return {route.home, Direction::kWrite, PayloadBytes(facts, share, layout),
            moved && !MayBeWrittenDirectly(route)};
  }
  const auto read = coverage_.ReadOf(number);
  if (!read) return {};
  return {route.home, Direction::kRead, PayloadBytes(facts, ExtentsOf(*read), layout), moved};
}

}  // namespace tessera::search::cost
