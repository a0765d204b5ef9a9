#include "tessera/encoder/reasons/overload.h"

#include <algorithm>
#include <map>
#include <utility>

// The commonest reason of all, found by counting.
//
//     bytes at one step, largest buffer first            |capacity
//     |=========== a ===========|====== b ======|=== c ==|===|== d ==|= e =|
//                                                        ^ c is the first beyond it: a, b and c collide
//
// The largest buffers first make the set the smallest of this step. It is minimal: without c the sizes stay within the capacity,
// and each of a and b is at least as large as c; a stack of what remains, without alignments or banks, is a placement.
// Buffers that a relation allows to share addresses are not counted.
namespace tessera::encoder::reasons {

using problem::Buffer;
using problem::Bytes;
using problem::Condition;
using problem::ConditionKind;
using problem::Problem;
using problem::RelationKind;
using problem::Step;

namespace {

constexpr size_t kSteps = 32;  // heaviest ones that are looked at

std::vector<bool> FindCounted(const Problem& problem, int memory) {
  std::vector<bool> counted;
  for (const Buffer& buffer : problem.buffers) counted.push_back(buffer.memory == memory);
  for (const problem::Relation& relation : problem.relations) {
    if (relation.kind != RelationKind::kExclusive && relation.kind != RelationKind::kColocate) continue;
    counted[static_cast<size_t>(relation.first)] = counted[static_cast<size_t>(relation.second)] = false;
  }
  return counted;
}

// Steps at which a buffer is born and more than `capacity` bytes live, heaviest first, at most kSteps.
std::vector<Step> FindHeavySteps(const Problem& problem, const std::vector<bool>& counted, Bytes capacity) {
  std::map<Step, Bytes> changes;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (!counted[i]) continue;
    for (const problem::Lifespan& life : problem.buffers[i].lifespans) {
      changes[life.lower] += problem.buffers[i].size;
      changes[life.upper] -= problem.buffers[i].size;
    }
  }
  std::vector<std::pair<Bytes, Step>> heavy;
  Bytes load = 0;
  for (const auto& [step, change] : changes) {
    load += change;
    if (change > 0 && load > capacity) heavy.emplace_back(-load, step);
  }
  std::sort(heavy.begin(), heavy.end());
  if (heavy.size() > kSteps) heavy.resize(kSteps);
  std::vector<Step> steps;
  steps.reserve(heavy.size());
  for (const auto& [load_below, step] : heavy) steps.push_back(step);
  return steps;
}

// The largest buffers of the step whose sizes exceed the capacity.
std::vector<size_t> FindLargest(const Problem& problem, const std::vector<bool>& counted, Step step,
                                Bytes capacity) {
  std::vector<size_t> living;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (counted[i] && problem::LivesAt(problem.buffers[i], step)) living.push_back(i);
  }
  std::stable_sort(living.begin(), living.end(),
                   [&](size_t a, size_t b) { return problem.buffers[a].size > problem.buffers[b].size; });
  Bytes load = 0;
  size_t count = 0;
  while (load <= capacity) load += problem.buffers[living[count++]].size;
  living.resize(count);
  return living;
}

}  // namespace

std::optional<std::vector<Condition>> FindOverload(const Query& query) {
  const Problem& problem = query.problem;
  std::optional<std::vector<Condition>> best;
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    const Bytes capacity = CapacityOf(query, static_cast<int>(m));
    const std::vector<bool> counted = FindCounted(problem, static_cast<int>(m));
    for (const Step step : FindHeavySteps(problem, counted, capacity)) {
      const std::vector<size_t> buffers = FindLargest(problem, counted, step, capacity);
      if (best && best->size() <= buffers.size() + 1) continue;
      best.emplace();
      for (const size_t i : buffers) best->push_back({ConditionKind::kBuffer, static_cast<int>(i), 0});
      best->push_back({ConditionKind::kCapacity, static_cast<int>(m), 0});
    }
  }
  if (best) std::sort(best->begin(), best->end());
  return best;
}

}  // namespace tessera::encoder::reasons
