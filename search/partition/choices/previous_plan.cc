// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tessera/encoder/program/build_program.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/search/partition/choices/search_context.h"

namespace tessera::search::partition::choices {
namespace {

using graph::Interval;
using problem::Bytes;

template <typename Index>
const auto& At(const std::vector<Index>& all, int index) {
  return all[static_cast<size_t>(index)];
}

// Whether the tensors have equal ids and are equal otherwise.
bool IsSame(const graph::Graph& a, const graph::Graph& b, const std::vector<int>& first,
            const std::vector<int>& second) {
  return std::equal(first.begin(), first.end(), second.begin(), second.end(),
                    [&](int x, int y) { return At(a.tensors, x) == At(b.tensors, y); });
}

bool IsSame(const graph::Graph& a, const graph::Graph& b, const graph::Operator& first,
            const graph::Operator& second) {
  if (!IsSame(a, b, first.inputs, second.inputs) || !IsSame(a, b, first.weights, second.weights) ||
      !IsSame(a, b, first.outputs, second.outputs))
    return false;
  graph::Operator alike = second;  // except for the indices of its tensors
  alike.inputs = first.inputs;
  alike.weights = first.weights;
  alike.outputs = first.outputs;
  if (first.engine_chosen && second.engine_chosen) alike.engine = first.engine;
  return first == alike;
}

int LengthOf(Interval interval) { return interval.last - interval.first + 1; }

}  // namespace

PreviousPlan::PreviousPlan(const plan::Plan& old, const graph::Graph& graph,
                           const hw_profiles::Profile& profile)
    : usages_(graph::UsagesOf(graph)), subgraphs_(old.subgraphs.size()) {
  for (const graph::Tensor& tensor : old.network.tensors)
    tensors_.push_back(graph::FindTensor(graph, tensor.id).value_or(-1));
  for (const graph::Operator& op : old.network.operators) {
    const std::optional<int> there = graph::FindOperator(graph, op.id);
    const bool same = there && IsSame(old.network, graph, op, At(graph.operators, *there));
    operators_.push_back(same ? *there : -1);
  }
  TakeSubgraphs(old, graph, profile);
  TakeAddresses(old);
}

// Another profile may offer an equivalent policy under another name: for instance, if no constant
// is cut, all policies for weights are equivalent.
void PreviousPlan::TakeSubgraphs(const plan::Plan& old, const graph::Graph& graph,
                                 const hw_profiles::Profile& profile) {
  std::vector<int> kept;
  for (const int tensor : old.kept) {
    if (At(tensors_, tensor) >= 0) kept.push_back(At(tensors_, tensor));
  }
  std::sort(kept.begin(), kept.end());
  for (size_t s = 0; s < old.subgraphs.size(); ++s) {
    const plan::Subgraph& subgraph = old.subgraphs[s];
    const int first = At(operators_, subgraph.interval.first);
    bool there = first >= 0;
    for (int i = 0; i < LengthOf(subgraph.interval); ++i)
      there = there && At(operators_, subgraph.interval.first + i) == first + i;
    if (!there) continue;
    const Interval now = {first, first + LengthOf(subgraph.interval) - 1};
    if (now.last >= static_cast<int>(graph.operators.size())) continue;
    const encoder::program::Policy policy = {
        .weights = subgraph.weights,
        .in_place = subgraph.in_place,
        .halo = subgraph.halo,
        .kept = Crossing(now, kept),
        .k_extent = plan::verify::KExtentOfSlices(old, subgraph),
        .serialized = subgraph.serialized};
    before_[{now.first, now.last}] = {
        .tile = subgraph.tile,
        .policy = encoder::program::AsOffered(graph, profile, now, policy),
        .prefetch = subgraph.prefetch,
        .subgraph = static_cast<int>(s)};
  }
}

void PreviousPlan::TakeAddresses(const plan::Plan& old) {
  const auto now = [](const std::vector<int>& indices, int index) {
    return index < 0 ? index : At(indices, index) < 0 ? -2 : At(indices, index);
  };
  for (size_t i = 0; i < old.buffers.size(); ++i) {
    graph::BufferUse use = old.buffers[i];
    use.tensor = now(tensors_, use.tensor);
    use.op = now(operators_, use.op);
    addresses_.emplace(use, old.allocation.offsets[i]);
  }
  placed_ = old.buffers.size();
  for (const plan::Home& home : old.homes) {
    for (size_t i = 0; i < home.problem.buffers.size(); ++i) {
      at_home_.emplace(std::pair(home.problem.memories.front().name, home.problem.buffers[i].id),
                       home.allocation.offsets[i]);
    }
    placed_ += home.problem.buffers.size();
  }
}

const PreviousPlan::Before* PreviousPlan::Find(Interval interval) const {
  const auto found = before_.find({interval.first, interval.last});
  return found == before_.end() ? nullptr : &found->second;
}

std::vector<int> PreviousPlan::Crossing(Interval interval, const std::vector<int>& kept) const {
  std::vector<int> crossing;
  for (const int tensor : kept) {
    const graph::Usage& usage = At(usages_, tensor);
    if (usage.consumers.empty()) continue;
    const auto crosses = [&usage](int position) {
      return usage.producer < position && position <= usage.consumers.back();
    };
    if (crosses(interval.first) || crosses(interval.last + 1)) crossing.push_back(tensor);
  }
  return crossing;
}

const graph::tiling::TileShape* PreviousPlan::TileOf(Interval interval) const {
  const Before* before = Find(interval);
  return before == nullptr ? nullptr : &before->tile;
}

const encoder::program::Policy* PreviousPlan::PolicyOf(Interval interval) const {
  const Before* before = Find(interval);
  return before == nullptr ? nullptr : &before->policy;
}

double PreviousPlan::LeastChange(Interval interval, const std::vector<int>& kept) const {
  const Before* before = Find(interval);
  return before != nullptr && before->policy.kept == kept ? 0 : LengthOf(interval);
}

double PreviousPlan::ChangeOf(const encoder::program::SubgraphChoice& choice) const {
  const Before* before = Find(choice.interval);
  const bool same =
      before != nullptr && before->tile == choice.tile && before->policy == choice.policy;
  return same ? 0 : LengthOf(choice.interval);
}

std::optional<Bytes> PreviousPlan::AddressOf(std::span<const Interval> intervals,
                                             graph::BufferUse use) const {
  if (use.subgraph >= 0) {
    const Before* before = Find(intervals[static_cast<size_t>(use.subgraph)]);
    if (before == nullptr) return std::nullopt;
    use.subgraph = before->subgraph;
  }
  const auto found = addresses_.find(use);
  return found == addresses_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::vector<Bytes>> PreviousPlan::OffsetsOf(
    const encoder::program::SubgraphChoice& choice,
    std::span<const encoder::program::BufferUse> buffers) const {
  if (ChangeOf(choice) > 0) return std::nullopt;
  std::vector<Bytes> offsets;
  for (const encoder::program::BufferUse& buffer : buffers) {
    const std::optional<Bytes> address = AddressOf({&choice.interval, 1}, buffer);
    if (!address) return std::nullopt;
    offsets.push_back(*address);
  }
  return offsets;
}

void PreviousPlan::AddHints(std::span<const encoder::program::SubgraphChoice> choices,
                            encoder::program::Program& program) const {
  std::vector<Interval> intervals;
  for (const encoder::program::SubgraphChoice& choice : choices)
    intervals.push_back(choice.interval);
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const std::optional<Bytes> address = AddressOf(intervals, program.buffers[i]);
    if (address) program.problem.buffers[i].hint = address;
  }
}

void PreviousPlan::AddHints(encoder::program::HomeProblem& home) const {
  for (problem::Buffer& buffer : home.problem.buffers) {
    const auto found = at_home_.find({home.problem.memories.front().name, buffer.id});
    if (found != at_home_.end()) buffer.hint = found->second;
  }
}

std::string PreviousPlan::Compare(const plan::Plan& plan) const {
  std::vector<Interval> intervals;
  size_t subgraphs = 0;
  size_t tiles = 0;
  for (const plan::Subgraph& subgraph : plan.subgraphs) {
    intervals.push_back(subgraph.interval);
    const Before* before = Find(subgraph.interval);
    if (before == nullptr) continue;
    ++subgraphs;
    tiles += before->tile == subgraph.tile && before->policy.weights == subgraph.weights &&
                     before->policy.in_place == subgraph.in_place &&
                     before->policy.halo == subgraph.halo &&
                     before->policy.serialized == subgraph.serialized &&
                     before->policy.k_extent == plan::verify::KExtentOfSlices(plan, subgraph) &&
                     before->prefetch == subgraph.prefetch
                 ? 1
                 : 0;
  }
  size_t addresses = 0;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const std::optional<Bytes> address = AddressOf(intervals, plan.buffers[i]);
    addresses += address && *address == plan.allocation.offsets[i] ? 1 : 0;
  }
  for (const plan::Home& home : plan.homes) {
    for (size_t i = 0; i < home.problem.buffers.size(); ++i) {
      const auto found =
          at_home_.find({home.problem.memories.front().name, home.problem.buffers[i].id});
      addresses += found != at_home_.end() && found->second == home.allocation.offsets[i] ? 1 : 0;
    }
  }
  std::string text = "previous plan: ";
  if (before_.size() < subgraphs_) {
    text +=
        fmt::format("operators of {} of {} subgraphs are unchanged; ", before_.size(), subgraphs_);
  }
  return text + fmt::format(
                    "{} of {} subgraphs, {} of {} tiles with their policies and {} of {} "
                    "addresses are kept",
                    subgraphs, subgraphs_, tiles, subgraphs_, addresses, placed_);
}

}  // namespace tessera::search::partition::choices
