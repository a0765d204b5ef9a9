#include "tessera/plan/refutation/refute.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>

#include "tessera/plan/check_assignment.h"
#include "tessera/plan/check_partition.h"
#include "tessera/plan/derivation.h"
#include "tessera/plan/refutation/floors.h"
#include "tessera/plan/refutation/orders.h"
#include "tessera/plan/refutation/passage.h"

// A plan is an order of the operators, a way through its cuts, and for each interval on that way a
// tile, policies, and the tensors that are kept around it. So there is none if something bars every
// plan (FindImpossible), or in every order no way leads through (passage.h).
namespace tessera::plan::refutation {
namespace {

using problem::Bytes;

constexpr size_t kMostOrders = 1'000;

// As much of the tile memory as the limit of the peak leaves.
Bytes RoomOf(const Plan& question) {
  const Bytes capacity = TileMemory(question.profile).capacity;
  const auto peak = question.objective.limits.find("peak");
  if (peak == question.objective.limits.end() || peak->second >= static_cast<double>(capacity))
    return capacity;
  return std::max<Bytes>(0, static_cast<Bytes>(std::floor(peak->second)));
}

// Prefetching may shorten a plan, and with it what leaks.
Plan WithoutWhatPrefetchingChanges(Plan question) {
  if (question.run.prefetches) {
    question.objective.limits.erase("latency");
    question.objective.limits.erase("energy");
  }
  return question;
}

// Whether the network is one that a plan can be about.
bool IsSound(Plan question) {
  const auto last = static_cast<int>(question.network.operators.size()) - 1;
  if (last < 0 || question.network.operators.back().outputs.empty()) return false;
  const int tiled = question.network.operators.back().outputs.front();
  Subgraph whole;
  whole.interval = {0, last};
  whole.tile = question.network.tensors[static_cast<size_t>(tiled)].shape;
  whole.tiles = 1;
  question.subgraphs = {whole};
  Findings findings(std::numeric_limits<size_t>::max());
  CheckPartition(question, findings);
  const std::vector<Violation> violations = findings.Take();
  return std::none_of(violations.begin(), violations.end(), [](const Violation& violation) {
    return violation.kind == ViolationKind::kNetwork || violation.kind == ViolationKind::kMemory;
  });
}

std::vector<int> OrderOfFile(const graph::Graph& network) {
  std::vector<int> order(network.operators.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Judgement JudgeIn(const Plan& asked, const FindProof& find_proof, const base::Stop& stop,
                  const Effort& effort) {
  Plan question = WithoutWhatPrefetchingChanges(asked);
  AssignHomes(question);
  if (!IsSound(question))
    return {std::nullopt, "the network is beyond what an independent check goes through"};
  const Bytes room = RoomOf(question);
  Refutation refutation;
  if (auto why = FindImpossible(question, FindUsers(question.network), room)) {
    refutation.argument = *std::move(why);
    return {std::move(refutation), {}};
  }
  std::vector<std::vector<int>> orders = {OrderOfFile(question.network)};
  if (question.run.searches_order) {
    auto all = OrdersOf(question.network, kMostOrders);
    if (!all) return {std::nullopt, "the operators have more orders than an independent check goes through"};
    orders = *std::move(all);
  }
  Shared shared;
  shared.work = effort.work;
  Placements placements(find_proof, effort.proofs);
  for (const std::vector<int>& order : orders) {
    Passage passage(question, order, room, shared, placements, stop);
    if (!passage.IsBarred()) return {std::nullopt, passage.Gap()};
  }
  refutation.orders = static_cast<int64_t>(orders.size());
  refutation.intervals = static_cast<int64_t>(shared.floors.size());
  for (const auto& [interval, choices] : shared.choices)
    refutation.ways += choices.ways ? static_cast<int64_t>(choices.ways->size()) : 0;
  refutation.proofs = placements.TakeProofs();
  refutation.argument =
      orders.size() == 1
          ? "no sequence of subgraphs leads from the first operator to the last"
          : fmt::format(
                "in each of {} orders of the operators no sequence of subgraphs leads from the first "
                "operator to the last",
                orders.size());
  return {std::move(refutation), {}};
}

}  // namespace

Judgement Judge(const Plan& asked, const FindProof& find_proof, const base::Stop& stop,
                const Effort& effort) {
  try {
    return JudgeIn(asked, find_proof, stop, effort);
  } catch (const std::bad_alloc&) {
    return {std::nullopt, "memory is exhausted"};
  }
}

}  // namespace tessera::plan::refutation
