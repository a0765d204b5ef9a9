// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "tessera/plan/verify/checks.h"

namespace tessera::plan::verify {

namespace {

// The address of a buffer; nullopt if no buffer has that id.
std::optional<int64_t> AddressOf(const std::string& id, const problem::Problem& problem,
                                 const problem::Allocation& allocation) {
  for (size_t i = 0; i < std::min(problem.buffers.size(), allocation.offsets.size()); ++i) {
    if (problem.buffers[i].id == id) return allocation.offsets[i];
  }
  return std::nullopt;
}

bool RunsAs(const Plan& plan, size_t index, const TileConfigConstraint& config) {
  const Subgraph& subgraph = plan.subgraphs[index];
  const bool same = (!config.tile || subgraph.tile == *config.tile) &&
                    (!config.weights || subgraph.weights == *config.weights) &&
                    (!config.in_place || subgraph.in_place == *config.in_place) &&
                    (!config.halo || subgraph.halo == *config.halo) &&
                    (!config.serialized || subgraph.serialized == *config.serialized);
  return same &&
         std::all_of(config.addresses.begin(), config.addresses.end(), [&](const auto& pin) {
           return AddressOf(fmt::format("s{}/{}", index, pin.first), plan.problem,
                            plan.allocation) == pin.second;
         });
}

bool IsSubgraph(const Plan& plan, const PlanConstraint& constraint) {
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    if (plan.subgraphs[i].interval == constraint.interval)
      return RunsAs(plan, i, constraint.config);
  }
  return false;
}

bool LiesAt(const Plan& plan, const PlanConstraint& constraint) {
  const std::string& id = plan.network.tensors[static_cast<size_t>(constraint.tensor)].id;
  const auto lies = [&](const problem::Problem& problem, const problem::Allocation& allocation) {
    return problem.memories.front().name != constraint.memory ||
           AddressOf(id, problem, allocation).value_or(constraint.offset) == constraint.offset;
  };
  return lies(plan.problem, plan.allocation) &&
         std::all_of(plan.homes.begin(), plan.homes.end(),
                     [&](const Home& home) { return lies(home.problem, home.allocation); });
}

bool IsCutBetween(const Plan& plan, int first, int last) {
  return std::any_of(plan.subgraphs.begin(), plan.subgraphs.end(), [&](const Subgraph& subgraph) {
    return first < subgraph.interval.first && subgraph.interval.first <= last;
  });
}

// The interval from the maker of the tensor to its last reader.
graph::Interval LifeOf(const Plan& plan, int tensor) {
  graph::Interval life = {-1, -1};
  const auto has = [tensor](const std::vector<int>& list) {
    return std::find(list.begin(), list.end(), tensor) != list.end();
  };
  for (size_t i = 0; i < plan.network.operators.size(); ++i) {
    const graph::Operator& op = plan.network.operators[i];
    if (has(op.outputs)) life.first = static_cast<int>(i);
    if (has(op.inputs) || has(op.weights)) life.last = static_cast<int>(i);
  }
  return life;
}

}  // namespace

bool Keeps(const Plan& plan, const PlanConstraint& constraint) {
  const auto is_kept = [&] {
    return std::count(plan.kept.begin(), plan.kept.end(), constraint.tensor) > 0;
  };
  switch (constraint.kind) {
    case PlanConstraintKind::kTogether:
      return !IsCutBetween(plan, constraint.interval.first, constraint.interval.last);
    case PlanConstraintKind::kApart:
      return constraint.interval.first == 0 ||
             IsCutBetween(plan, constraint.interval.first - 1, constraint.interval.first);
    case PlanConstraintKind::kSubgraph:
      return IsSubgraph(plan, constraint);
    case PlanConstraintKind::kKeep: {
      const graph::Interval life = LifeOf(plan, constraint.tensor);
      return is_kept() || !IsCutBetween(plan, life.first, life.last);
    }
    case PlanConstraintKind::kSpill:
      return !is_kept();
    case PlanConstraintKind::kAddress:
      return LiesAt(plan, constraint);
  }
  return false;
}

void CheckConstraints(const Plan& plan, Findings& findings) {
  for (const PlanConstraint& constraint : plan.constraints) {
    if (!Keeps(plan, constraint))
      findings.Note(ViolationKind::kConstraint,
                    "not as required: " + Describe(plan.network, constraint));
  }
}

namespace {

// The number of the constraint's operators in the interval.
int CountInside(std::span<const int> order, graph::Interval interval, graph::Interval required) {
  int count = 0;
  for (int op = interval.first; op <= interval.last; ++op)
    count += Contains(required, order[static_cast<size_t>(op)]) ? 1 : 0;
  return count;
}

int LengthOf(graph::Interval interval) { return interval.last - interval.first + 1; }

// Whether some operator outside the interval also uses the tensor.
bool CrossesBoundary(const Users& users, graph::Interval interval) {
  const auto outside = [&](int op) { return !Contains(interval, op); };
  return std::any_of(users.makers.begin(), users.makers.end(), outside) ||
         std::any_of(users.readers.begin(), users.readers.end(), outside);
}

bool Allows(const PlanConstraint& constraint, std::span<const int> order,
            const std::vector<Users>& users, graph::Interval interval,
            const std::vector<int>& kept) {
  const int inside = CountInside(order, interval, constraint.interval);
  const bool is_kept = std::count(kept.begin(), kept.end(), constraint.tensor) > 0;
  switch (constraint.kind) {
    case PlanConstraintKind::kTogether:
      return inside == 0 || inside == LengthOf(constraint.interval);
    case PlanConstraintKind::kApart:
      return inside == 0 || order[static_cast<size_t>(interval.first)] == constraint.interval.first;
    case PlanConstraintKind::kSubgraph:
      return inside == 0 ||
             (inside == LengthOf(constraint.interval) && inside == LengthOf(interval));
    case PlanConstraintKind::kKeep: {
      const Users& who = users[static_cast<size_t>(constraint.tensor)];
      const bool touches = AnyInside(who.makers, interval) || AnyInside(who.readers, interval);
      return !touches || is_kept || !CrossesBoundary(who, interval);
    }
    case PlanConstraintKind::kSpill:
      return !is_kept;
    case PlanConstraintKind::kAddress:
      return true;
  }
  return true;
}

}  // namespace

bool MayBeSubgraph(const Plan& plan, std::span<const int> order, const std::vector<Users>& users,
                   graph::Interval interval, const std::vector<int>& kept) {
  return std::all_of(plan.constraints.begin(), plan.constraints.end(),
                     [&](const PlanConstraint& constraint) {
                       return Allows(constraint, order, users, interval, kept);
                     });
}

const PlanConstraint* ConstraintOn(const Plan& plan, std::span<const int> order,
                                   graph::Interval interval) {
  const auto found = std::find_if(
      plan.constraints.begin(), plan.constraints.end(), [&](const PlanConstraint& constraint) {
        return constraint.kind == PlanConstraintKind::kSubgraph &&
               CountInside(order, interval, constraint.interval) == LengthOf(constraint.interval) &&
               LengthOf(interval) == LengthOf(constraint.interval);
      });
  return found == plan.constraints.end() ? nullptr : &*found;
}

bool RunsAsRequired(const Plan& plan, std::span<const int> order, const Subgraph& subgraph) {
  const PlanConstraint* constraint = ConstraintOn(plan, order, subgraph.interval);
  if (constraint == nullptr) return true;
  const TileConfigConstraint& config = constraint->config;
  return (!config.tile || subgraph.tile == *config.tile) &&
         (!config.weights || subgraph.weights == *config.weights) &&
         (!config.in_place || subgraph.in_place == *config.in_place) &&
         (!config.halo || subgraph.halo == *config.halo) &&
         (!config.serialized || subgraph.serialized == *config.serialized);
}

}  // namespace tessera::plan::verify
