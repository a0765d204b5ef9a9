#include "tessera/problem/problem.h"

#include <algorithm>
#include <numeric>

namespace tessera::problem {

Lifespan Horizon(const Problem& problem) {
  std::optional<Lifespan> horizon;
  const auto include = [&horizon](Step lower, Step upper) {
    if (!horizon) horizon = Lifespan{lower, upper};
    horizon->lower = std::min(horizon->lower, lower);
    horizon->upper = std::max(horizon->upper, upper);
  };
  for (const Buffer& buffer : problem.buffers) {
    for (const Lifespan& life : buffer.lifespans) include(life.lower, life.upper);
  }
  for (const Loop& loop : problem.loops) include(loop.begin, loop.end);
  return horizon.value_or(Lifespan{0, 0});
}

Bytes AlignmentOf(const Problem& problem, const Buffer& buffer) {
  return std::lcm(buffer.alignment, problem.memories[static_cast<size_t>(buffer.memory)].alignment);
}

bool LivesAt(const Buffer& buffer, Step step) {
  return std::any_of(buffer.lifespans.begin(), buffer.lifespans.end(),
                     [step](const Lifespan& life) { return life.lower <= step && step < life.upper; });
}

bool LiveTogether(const Buffer& a, const Buffer& b) {
  auto x = a.lifespans.begin();
  auto y = b.lifespans.begin();
  while (x != a.lifespans.end() && y != b.lifespans.end()) {
    if (x->lower < y->upper && y->lower < x->upper) return true;
    x->upper < y->upper ? ++x : ++y;
  }
  return false;
}

int64_t CountMeetings(const Problem& problem, int memory) {
  std::vector<std::pair<Step, int>> events;  // leavers first: lifespans are half-open
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.memory != memory) continue;
    for (const Lifespan& life : buffer.lifespans) {
      events.emplace_back(life.lower, 1);
      events.emplace_back(life.upper, -1);
    }
  }
  std::sort(events.begin(), events.end());
  int64_t alive = 0;
  int64_t meetings = 0;
  for (const auto& [step, change] : events) {
    if (change > 0) meetings += alive;
    alive += change;
  }
  return meetings;
}

std::vector<std::pair<Step, Step>> Successions(const Problem& problem) {
  const Lifespan horizon = Horizon(problem);
  std::vector<std::pair<Step, Step>> pairs;
  for (Step step = horizon.lower; step + 1 < horizon.upper; ++step) pairs.emplace_back(step, step + 1);
  for (const Loop& loop : problem.loops) {
    pairs.emplace_back(loop.end - 1, loop.begin);
    for (const Step exit : loop.exits) {
      if (loop.end < horizon.upper) pairs.emplace_back(exit - 1, loop.end);
    }
  }
  for (const Loop& loop : problem.loops) {
    const bool leaves_at_end = std::find(loop.exits.begin(), loop.exits.end(), loop.end) != loop.exits.end();
    if (!leaves_at_end) std::erase(pairs, std::pair{loop.end - 1, loop.end});
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

}  // namespace tessera::problem
