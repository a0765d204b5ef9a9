#include "tessera/problem/window.h"

#include <algorithm>

namespace tessera::problem {
namespace {

std::vector<Lifespan> Clip(const std::vector<Lifespan>& lifespans, Step lower, Step upper) {
  std::vector<Lifespan> clipped;
  for (const Lifespan& life : lifespans) {
    const Lifespan part{std::max(life.lower, lower), std::min(life.upper, upper)};
    if (part.lower < part.upper) clipped.push_back(part);
  }
  return clipped;
}

}  // namespace

Window CutWindow(const Problem& problem, const Allocation& allocation, Step lower, Step upper) {
  Window window;
  window.problem.name = problem.name;
  window.problem.memories = problem.memories;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    std::vector<Lifespan> lifespans = Clip(problem.buffers[i].lifespans, lower, upper);
    if (lifespans.empty()) continue;
    Buffer buffer = problem.buffers[i];
    buffer.lifespans = std::move(lifespans);
    std::erase_if(buffer.accesses,
                  [&](const Access& access) { return access.step < lower || access.step >= upper; });
    window.problem.buffers.push_back(std::move(buffer));
    window.allocation.offsets.push_back(allocation.offsets[i]);
  }
  for (const Loop& loop : problem.loops) {
    if (lower <= loop.begin && loop.end <= upper) window.problem.loops.push_back(loop);
  }
  const Step whole = Horizon(problem).lower;
  const Lifespan horizon = Horizon(window.problem);
  for (const ModeSchedule& schedule : allocation.modes) {
    window.allocation.modes.emplace_back();
    if (schedule.empty()) continue;
    window.allocation.modes.back().assign(schedule.begin() + (horizon.lower - whole),
                                          schedule.begin() + (horizon.upper - whole));
  }
  return window;
}

}  // namespace tessera::problem
