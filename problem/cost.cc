#include "tessera/problem/cost.h"

#include <algorithm>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::problem {
namespace {

bool Reuses(const Problem& problem, const Allocation& allocation, const Cost& cost) {
  const auto first = static_cast<size_t>(cost.first);
  const auto second = static_cast<size_t>(cost.second);
  const Buffer& a = problem.buffers[first];
  const Buffer& b = problem.buffers[second];
  return !LiveTogether(a, b) && allocation.offsets[first] < allocation.offsets[second] + b.size &&
         allocation.offsets[second] < allocation.offsets[first] + a.size;
}

int64_t SwitchesOf(const Problem& problem, const ModeSchedule& schedule) {
  const Step start = Horizon(problem).lower;
  const std::vector<std::pair<Step, Step>> pairs = Successions(problem);
  return std::count_if(pairs.begin(), pairs.end(), [&](const std::pair<Step, Step>& pair) {
    return schedule[static_cast<size_t>(pair.first - start)] !=
           schedule[static_cast<size_t>(pair.second - start)];
  });
}

}  // namespace

int64_t CostOf(const Problem& problem, const Allocation& allocation) {
  int64_t total = 0;
  for (const Cost& cost : problem.costs) {
    if (cost.kind == CostKind::kReuse) {
      total += Reuses(problem, allocation, cost) ? cost.weight : 0;
    } else {
      total += cost.weight * SwitchesOf(problem, allocation.modes[static_cast<size_t>(cost.memory)]);
    }
  }
  return total;
}

}  // namespace tessera::problem
