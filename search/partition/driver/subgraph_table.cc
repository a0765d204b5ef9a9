// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/driver/subgraph_table.h"

#include <algorithm>
#include <span>
#include <utility>

#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/cost/plan_cost.h"

// The program of one subgraph contains each tensor that is kept on chip while it runs, so its load
// is that of the same subgraph within the program of the network.
namespace tessera::search::partition::driver {
namespace {

// Calls `visit` with each span of steps in which both buffers live.
template <typename Visit>
void ForEachCommon(const problem::Buffer& one, const problem::Buffer& other, Visit visit) {
  for (const problem::Lifespan& a : one.lifespans) {
    for (const problem::Lifespan& b : other.lifespans) {
      const problem::Lifespan common = {std::max(a.lower, b.lower), std::min(a.upper, b.upper)};
      if (common.lower < common.upper) visit(common);
    }
  }
}

// A result in the place of its operand takes no bytes of its own while both live.
Load LoadOf(const encoder::program::Program& program) {
  std::vector<problem::Bytes> change(program.steps.size() + 1);
  for (const problem::Buffer& buffer : program.problem.buffers) {
    for (const problem::Lifespan& life : buffer.lifespans) {
      change[static_cast<size_t>(life.lower)] += buffer.size;
      change[static_cast<size_t>(life.upper)] -= buffer.size;
    }
  }
  for (const problem::Relation& relation : program.problem.relations) {
    if (relation.kind != problem::RelationKind::kColocate) continue;
    const problem::Buffer& one = program.problem.buffers[static_cast<size_t>(relation.first)];
    const problem::Buffer& other = program.problem.buffers[static_cast<size_t>(relation.second)];
    const problem::Bytes shared = std::min(one.size, other.size);
    ForEachCommon(one, other, [&](const problem::Lifespan& common) {
      change[static_cast<size_t>(common.lower)] -= shared;
      change[static_cast<size_t>(common.upper)] += shared;
    });
  }
  Load load;
  problem::Bytes live = 0;
  for (size_t step = 0; step < program.steps.size(); ++step) {
    live += change[step];
    load.peak = std::max(load.peak, live);
    if (program.steps[step].kind != plan::StepKind::kPrologue)
      load.after_prologue = std::max(load.after_prologue, live);
  }
  return load;
}

// Returns those of `kept` that are on chip at some time while the interval runs.
std::vector<int> KeptDuring(const std::vector<graph::Usage>& usages, graph::Interval interval,
                            const std::vector<int>& kept) {
  std::vector<int> during;
  for (const int tensor : kept) {
    const graph::Usage& usage = usages[static_cast<size_t>(tensor)];
    const bool is_read = usage.consumers.empty() || usage.consumers.back() >= interval.first;
    if (usage.producer <= interval.last && is_read) during.push_back(tensor);
  }
  return during;
}

}  // namespace

SubgraphTable::Entry::Entry(const choices::SearchContext& context, const plan::Subgraph& subgraph,
                            const std::vector<int>& kept)
    : context_(&context), choice_(cost::ChoiceOf(subgraph, kept)) {
  choice_.prefetch.clear();
}

const std::optional<Load>& SubgraphTable::Entry::FindLoad() {
  if (!load_) {
    const base::Expected<encoder::program::Program> program =
        encoder::program::BuildProgram(context_->graph, context_->profile, std::span(&choice_, 1));
    load_ = program ? std::optional(LoadOf(*program)) : std::nullopt;
  }
  return *load_;
}

const SubgraphTable::Costing& SubgraphTable::Entry::FindCosting() {
  if (!costing_) {
    costing_ = Costing{.policy = choice_.policy,
                       .tiling = encoder::program::CutTiles(context_->graph, choice_.interval,
                                                            choice_.tile, choice_.policy.halo),
                       .costs = std::nullopt};
    costing_->costs = context_->simulator.CostsOf(costing_->tiling, costing_->policy);
  }
  return *costing_;
}

const cost::MovedConstants& SubgraphTable::Entry::FindConstants() {
  if (!constants_)
    constants_ = cost::MovedConstantsOf(context_->graph, context_->profile, choice_.interval,
                                        choice_.policy.weights);
  return *constants_;
}

plan::Metrics SubgraphTable::Entry::PriceOf(const cost::Prefetches& prefetches,
                                            cost::Detail detail) {
  const Costing& costing = FindCosting();
  return context_->simulator.Run(costing.tiling, *costing.costs, costing.policy, detail,
                                 prefetches);
}

SubgraphTable::Entry& SubgraphTable::Of(const plan::Subgraph& subgraph,
                                        const std::vector<int>& kept) {
  Key key{.first = subgraph.interval.first,
          .last = subgraph.interval.last,
          .tile = subgraph.tile,
          .weights = subgraph.weights,
          .halo = subgraph.halo,
          .k_extent = subgraph.k_extent,
          .second_stage = subgraph.second_stage,
          .in_place = subgraph.in_place,
          .serialized = subgraph.serialized,
          .kept = KeptDuring(context_.simulator.Usages(), subgraph.interval, kept)};
  const auto at = entries_.lower_bound(key);
  if (at != entries_.end() && !(key < at->first)) return at->second;
  Entry entry(context_, subgraph, key.kept);
  return entries_.emplace_hint(at, std::move(key), std::move(entry))->second;
}

}  // namespace tessera::search::partition::driver
