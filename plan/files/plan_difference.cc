// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/verify/residency.h"

// Two partitions are compared between the cuts that they share. So the cost of a change is counted
// where the change was made:
//
//     first    | s0      | s1   | s2        |
//     second   | s0 | s1 | s2          | s3 |
//     parts    |---------|-------------------|
//
// If a part is one subgraph in both plans, its buffers correspond and are compared one by one.
namespace tessera::plan::files {
namespace {

class Comparison {
 public:
  Comparison(const Plan& first, const Plan& second) : first_(first), second_(second) {}

  Difference Run() {
    FindCircumstances();
    difference_.comparable = SameOperators();
    difference_.reordered = !difference_.comparable && SortedIds(first_) == SortedIds(second_);
    if (!difference_.comparable) return std::move(difference_);
    CompareKept();
    CompareWholes();
    CompareParts();
    CompareHomes();
    return std::move(difference_);
  }

 private:
  // A buffer, identified by its content, in terms of the network.
  using Key = std::tuple<BufferKind, std::string, std::string, int, int>;

  void FindCircumstances() {
    const auto note = [&](bool same, const char* what) {
      if (!same) difference_.circumstances.emplace_back(what);
    };
    note(graph::import::yaml::WriteNetworkJson(graph::AsGiven(first_.network)) ==
             graph::import::yaml::WriteNetworkJson(graph::AsGiven(second_.network)),
         "network");
    note(hw_profiles::WriteProfileJson(first_.profile) ==
             hw_profiles::WriteProfileJson(second_.profile),
         "profile");
    note(first_.objective.weights == second_.objective.weights &&
             first_.objective.limits == second_.objective.limits,
         "objective");
    note(Describe(first_.network, first_.constraints) ==
             Describe(second_.network, second_.constraints),
         "constraints");
    note(first_.seed == second_.seed, "seed");
  }

  bool SameOperators() const {
    return std::equal(
        first_.network.operators.begin(), first_.network.operators.end(),
        second_.network.operators.begin(), second_.network.operators.end(),
        [](const graph::Operator& a, const graph::Operator& b) { return a.id == b.id; });
  }

  static std::vector<std::string> SortedIds(const Plan& plan) {
    std::vector<std::string> ids;
    for (const graph::Operator& op : plan.network.operators) ids.push_back(op.id);
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  void CompareKept() {
    const std::set<std::string> first = KeptBy(first_);
    const std::set<std::string> second = KeptBy(second_);
    std::set_difference(first.begin(), first.end(), second.begin(), second.end(),
                        std::back_inserter(difference_.kept_by_first));
    std::set_difference(second.begin(), second.end(), first.begin(), first.end(),
                        std::back_inserter(difference_.kept_by_second));
  }

  static std::set<std::string> KeptBy(const Plan& plan) {
    std::set<std::string> ids;
    for (const int tensor : plan.kept)
      ids.insert(plan.network.tensors[static_cast<size_t>(tensor)].id);
    return ids;
  }

  void CompareParts() {
    std::set<int> cuts;
    for (const Subgraph& subgraph : first_.subgraphs) cuts.insert(subgraph.interval.last);
    size_t a = 0;
    size_t b = 0;
    DifferingPart part;
    for (; b < second_.subgraphs.size(); ++b) {
      part.second.push_back(b);
      const int last = second_.subgraphs[b].interval.last;
      if (!cuts.contains(last)) continue;
      for (; a < first_.subgraphs.size() && first_.subgraphs[a].interval.last <= last; ++a)
        part.first.push_back(a);
      Settle(std::move(part));
      part = {};
    }
  }

  void Settle(DifferingPart part) {
    if (part.first.empty()) return;
    part.interval = {first_.subgraphs[part.first.front()].interval.first,
                     first_.subgraphs[part.first.back()].interval.last};
    for (const size_t i : part.first) Accumulate(part.first_costs, first_.subgraphs[i].metrics);
    for (const size_t i : part.second) Accumulate(part.second_costs, second_.subgraphs[i].metrics);
    const bool one_each = part.first.size() == 1 && part.second.size() == 1;
    if (one_each)
      CompareBuffers(static_cast<int>(part.first.front()), static_cast<int>(part.second.front()));
    if (one_each && IsCutAlike(part.first.front(), part.second.front()) &&
        CostAlike(part.first_costs, part.second_costs)) {
      return;
    }
    difference_.parts.push_back(std::move(part));
  }

  bool IsCutAlike(size_t first, size_t second) const {
    const Subgraph& a = first_.subgraphs[first];
    const Subgraph& b = second_.subgraphs[second];
    return a.interval == b.interval && a.tile == b.tile && a.weights == b.weights &&
           verify::KExtentOfSlices(first_, a) == verify::KExtentOfSlices(second_, b) &&
           a.in_place == b.in_place && a.halo == b.halo && a.serialized == b.serialized &&
           a.prefetch == b.prefetch && a.second_stage == b.second_stage;
  }

  static bool CostAlike(const Metrics& a, const Metrics& b) {
    return std::all_of(kMetrics.begin(), kMetrics.end(), [&](const Metric& metric) {
      return ValueOf(a, metric) == ValueOf(b, metric);
    });
  }

  static std::map<Key, size_t> BuffersOf(const Plan& plan, int subgraph) {
    std::map<Key, size_t> buffers;
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
      const BufferUse& use = plan.buffers[i];
      if (use.subgraph != subgraph) continue;
      const std::string tensor =
          use.tensor < 0 ? "" : plan.network.tensors[static_cast<size_t>(use.tensor)].id;
      const std::string op =
          use.op < 0 ? "" : plan.network.operators[static_cast<size_t>(use.op)].id;
      buffers.emplace(Key{use.kind, tensor, op, use.phase, use.slot}, i);
    }
    return buffers;
  }

  void CompareWholes() { CompareBuffers(-1, -1); }

  void CompareBuffers(int first_subgraph, int second_subgraph) {
    const std::map<Key, size_t> others = BuffersOf(second_, second_subgraph);
    for (const auto& [key, i] : BuffersOf(first_, first_subgraph)) {
      const auto other = others.find(key);
      if (other == others.end()) continue;
      const size_t j = other->second;
      Compare({.id = first_.problem.buffers[i].id,
               .memory = first_.problem.memories.front().name,
               .first_offset = first_.allocation.offsets[i],
               .second_offset = second_.allocation.offsets[j],
               .first_size = first_.problem.buffers[i].size,
               .second_size = second_.problem.buffers[j].size});
    }
  }

  void CompareHomes() {
    // by memory and tensor
    std::map<std::pair<std::string, std::string>, std::pair<const Home*, size_t>> others;
    for (const Home& home : second_.homes) {
      for (size_t i = 0; i < home.problem.buffers.size(); ++i)
        others.emplace(std::pair(home.problem.memories.front().name, home.problem.buffers[i].id),
                       std::pair(&home, i));
    }
    for (const Home& home : first_.homes) {
      for (size_t i = 0; i < home.problem.buffers.size(); ++i) {
        const problem::Buffer& buffer = home.problem.buffers[i];
        const auto other = others.find({home.problem.memories.front().name, buffer.id});
        if (other == others.end()) continue;
        const auto& [there, j] = other->second;
        Compare({.id = buffer.id,
                 .memory = home.problem.memories.front().name,
                 .first_offset = home.allocation.offsets[i],
                 .second_offset = there->allocation.offsets[j],
                 .first_size = buffer.size,
                 .second_size = there->problem.buffers[j].size});
      }
    }
  }

  void Compare(Shift shift) {
    if (shift.first_offset == shift.second_offset && shift.first_size == shift.second_size) return;
    difference_.shifts.push_back(std::move(shift));
  }

  const Plan& first_;
  const Plan& second_;
  Difference difference_;
};

}  // namespace

Difference FindDifference(const Plan& first, const Plan& second) {
  return Comparison(first, second).Run();
}

}  // namespace tessera::plan::files
