// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>
#include <utility>

#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/infeasibility/subgraph_need.h"

// An order of the operators, cut between two of them, leaves a set of operators that are done and
// contains what its members depend on. Every such set is done at some moment of some order, and
// different orders share most of them:
//
//     a --> b --> d        {} {a} {a b} {a c} {a b c} {a b c d}      6 sets, 2 orders
//     '---> c ----'        two such forks in a row: 11 sets, 4 orders
//
// So a network of many orders often has few sets.
namespace tessera::plan::verify::infeasibility {

Dependences::Dependences(const graph::Graph& network, const std::vector<Users>& users)
    : makers_(network.operators.size()),
      before_(network.operators.size(), std::vector<bool>(network.operators.size())) {
  for (size_t op = 0; op < network.operators.size(); ++op) {
    std::set<int> makers;
    for (const int input : network.operators[op].inputs) {
      if (network.tensors[static_cast<size_t>(input)].state) continue;
      const std::vector<int>& its = users[static_cast<size_t>(input)].makers;
      makers.insert(its.begin(), its.end());
    }
    makers_[op].assign(makers.begin(), makers.end());
    for (const int maker : makers) {
      before_[op][static_cast<size_t>(maker)] = true;
      for (size_t other = 0; other < op; ++other) {
        if (before_[static_cast<size_t>(maker)][other]) before_[op][other] = true;
      }
    }
  }
}

int64_t WholeBytes(const Plan& plan, int tensor) {
  const graph::Tensor& facts = plan.network.tensors[static_cast<size_t>(tensor)];
  const base::TensorRole role = RoleAtHome(facts);
  if (role == base::TensorRole::kConstant || role == base::TensorRole::kState) return 0;
  if (HomeOf(plan, tensor) != plan.profile.tile_memory) return 0;
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(plan.profile, role);
  return StoredBytes(NameExtents(facts.shape), facts.type, layout.channel_block,
                     layout.row_pitch_bytes);
}

bool IsHeldAt(const Plan& plan, const std::vector<Users>& users, int tensor, const Done& done) {
  const auto& [makers, readers] = users[static_cast<size_t>(tensor)];
  const auto is_done = [&](int op) { return done[static_cast<size_t>(op)]; };
  const bool is_there = std::all_of(makers.begin(), makers.end(), is_done);
  const bool is_made_output =
      plan.network.tensors[static_cast<size_t>(tensor)].network_output && !makers.empty();
  return is_there && (is_made_output || !std::all_of(readers.begin(), readers.end(), is_done));
}

Progress ProgressAt(const Plan& plan, const std::vector<Users>& users, Done done) {
  Progress progress{std::move(done), {}, 0};
  for (int tensor = 0; tensor < static_cast<int>(plan.network.tensors.size()); ++tensor) {
    if (!IsHeldAt(plan, users, tensor, progress.done)) continue;
    const int64_t bytes = WholeBytes(plan, tensor);
    if (bytes == 0) continue;
    progress.held.push_back(tensor);
    progress.bytes = Plus(progress.bytes, bytes);
  }
  return progress;
}

std::optional<std::vector<Progress>> FindProgress(const Plan& plan, const std::vector<Users>& users,
                                                  const Dependences& dependences, size_t most) {
  const size_t operators = plan.network.operators.size();
  std::vector<Progress> all;
  std::set<Done> of_one_size = {Done(operators)};
  while (!of_one_size.empty()) {
    std::set<Done> larger;
    for (const Done& done : of_one_size) {
      all.push_back(ProgressAt(plan, users, done));
      for (size_t op = 0; op < operators; ++op) {
        const std::vector<int>& makers = dependences.MakersFor(static_cast<int>(op));
        const bool is_ready = !done[op] && std::all_of(makers.begin(), makers.end(), [&](int each) {
          return done[static_cast<size_t>(each)];
        });
        if (!is_ready) continue;
        Done next = done;
        next[op] = true;
        larger.insert(std::move(next));
      }
      if (all.size() + larger.size() > most) return std::nullopt;
    }
    of_one_size = std::move(larger);
  }
  return all;
}

}  // namespace tessera::plan::verify::infeasibility
