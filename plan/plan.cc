// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::plan {

problem::Bytes PeakOf(const Home& home) { return problem::PeakOf(home.problem, home.allocation); }

problem::Bytes OffChipPeakOf(std::span<const Home> homes) {
  problem::Bytes bytes = 0;
  for (const Home& home : homes) base::Accumulate(bytes, PeakOf(home));
  return bytes;
}

namespace {

std::string DescribeConfig(const TileConfigConstraint& config) {
  std::string text;
  if (config.tile) text += fmt::format(" with tiles of {}", fmt::join(*config.tile, "x"));
  if (config.weights) text += fmt::format(", weights {}", hw_profiles::NameOf(*config.weights));
  if (config.in_place) text += *config.in_place ? ", results in place" : ", no result in place";
  if (config.halo) text += fmt::format(", halo {}", hw_profiles::NameOf(*config.halo));
  if (config.serialized) text += *config.serialized ? ", serialized" : ", not serialized";
  for (const auto& [id, offset] : config.addresses)
    text += fmt::format(", {} at address {}", id, offset);
  return text;
}

}  // namespace

std::string Describe(const graph::Graph& graph, const PlanConstraint& constraint) {
  const auto op = [&](int index) -> const std::string& {
    return graph.operators[static_cast<size_t>(index)].id;
  };
  const auto tensor = [&]() -> const std::string& {
    return graph.tensors[static_cast<size_t>(constraint.tensor)].id;
  };
  const auto operators = [&] {
    if (constraint.interval.first == constraint.interval.last)
      return fmt::format("operator '{}'", op(constraint.interval.first));
    return fmt::format("operators '{}' to '{}'", op(constraint.interval.first),
                       op(constraint.interval.last));
  };
  switch (constraint.kind) {
    case PlanConstraintKind::kTogether:
      return operators() + " in one subgraph";
    case PlanConstraintKind::kApart:
      return fmt::format("a subgraph that begins with operator '{}'",
                         op(constraint.interval.first));
    case PlanConstraintKind::kSubgraph:
      return operators() + " as a subgraph" + DescribeConfig(constraint.config);
    case PlanConstraintKind::kKeep:
      return fmt::format("tensor '{}' on chip", tensor());
    case PlanConstraintKind::kSpill:
      return fmt::format("tensor '{}' at home between subgraphs", tensor());
    case PlanConstraintKind::kAddress:
      return fmt::format("tensor '{}' at address {} wherever it lies whole in memory {}", tensor(),
                         constraint.offset, constraint.memory);
  }
  return {};
}

std::string Describe(const graph::Graph& graph, const std::vector<PlanConstraint>& constraints) {
  std::string text;
  for (const PlanConstraint& constraint : constraints)
    text += (text.empty() ? "" : "; ") + Describe(graph, constraint);
  return text;
}

bool CoversAll(const Scope& scope) { return scope == Scope(); }

std::vector<std::string> DescribeProof(const Plan& plan) {
  std::vector<std::string> sentences;
  if (plan.status == "optimal") return sentences;
  if (plan.bound > 0) {
    sentences.push_back(
        fmt::format("no plan scores below {:.10g}; this one is at most {:.1f} % above the best",
                    plan.bound, 100 * (plan.score / plan.bound - 1)));
  }
  // Parts with the same omission share a sentence: the omission, and the names of the parts.
  std::vector<std::pair<std::string, std::string>> left_out;
  for (const ScopePart& part : kScopeParts) {
    const std::string& what = plan.scope.*part.left_out;
    if (what.empty()) continue;
    std::string name(part.name);
    std::replace(name.begin(), name.end(), '_', ' ');
    const auto known = std::find_if(left_out.begin(), left_out.end(),
                                    [&](const auto& each) { return each.first == what; });
    known == left_out.end() ? static_cast<void>(left_out.emplace_back(what, name))
                            : static_cast<void>(known->second += ", " + name);
  }
  for (const auto& [what, parts] : left_out)
    sentences.push_back(fmt::format("left out of {}: {}", parts, what));
  if (plan.proven) sentences.emplace_back("of all other plans this is the best, by proof");
  return sentences;
}

bool IsKnownValue(const graph::Graph& network, const Objective& objective) {
  const auto is_work = [](const auto& named) {
    const Metric* metric = FindMetric(named.first);
    return metric != nullptr && metric->counts_work;
  };
  return std::none_of(network.operators.begin(), network.operators.end(), graph::HasUnknownWork) ||
         (std::none_of(objective.weights.begin(), objective.weights.end(), is_work) &&
          std::none_of(objective.limits.begin(), objective.limits.end(), is_work));
}

namespace {

// Whether the true value may exceed the value of the known work alone. Operators of unknown work
// add cycles and energy, but the bytes that they move are known, so bytes per cycle only fall.
bool MayExceedTheKnown(const Metric& metric) {
  if (metric.joining != Joining::kRatio) return GrowsWithWork(metric);
  return std::any_of(kSummedMetrics.begin(), kSummedMetrics.end(), [&](const Metric* sum) {
    return sum->counts_work && sum->value == metric.value;
  });
}

// The limits that a plan may exceed although its known work satisfies them: "latency, power".
std::string UncertainLimits(const Objective& objective) {
  std::vector<std::string_view> names;
  for (const auto& [name, limit] : objective.limits) {
    const Metric* metric = FindMetric(name);
    if (metric != nullptr && MayExceedTheKnown(*metric)) names.push_back(metric->name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::optional<std::string> NoteOnUnknownWork(const graph::Graph& network,
                                             const Objective& objective) {
  constexpr size_t kMostNamed = 8;
  std::vector<std::string> names;
  for (const graph::Operator& op : network.operators) {
    if (!graph::HasUnknownWork(op)) continue;
    const auto type = op.annotations.find("x-op_type");
    names.push_back(op.id + (type == op.annotations.end() ? "" : " (" + type->second + ")"));
  }
  if (names.empty()) return std::nullopt;
  const size_t named = std::min(names.size(), kMostNamed);
  std::string note = fmt::format(
      "the work of {} operator{} is unknown: {}", names.size(), names.size() == 1 ? "" : "s",
      fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (named < names.size()) note += fmt::format(" and {} more", names.size() - named);
  note += "; latency, energy and MACs are lower bounds";
  if (const std::string limits = UncertainLimits(objective); !limits.empty())
    note += fmt::format(", and whether the limit on {} is kept is not known", limits);
  if (!IsKnownValue(network, objective)) note += ", and no plan is proven best";
  return note;
}

}  // namespace tessera::plan
