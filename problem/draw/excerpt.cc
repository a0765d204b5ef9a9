// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/draw/pictures.h"

namespace tessera::problem::draw {

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
    std::erase_if(buffer.accesses, [&](const Access& access) {
      return access.step < lower || access.step >= upper;
    });
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

namespace {

Buffer WithNamedAccesses(const Problem& problem, const Explanation& explanation, int index) {
  Buffer buffer = problem.buffers[static_cast<size_t>(index)];
  std::vector<Access> named;
  for (const Condition& each : explanation.conditions) {
    if (each.kind == ConditionKind::kAccess && each.owner == index)
      named.push_back(buffer.accesses[static_cast<size_t>(each.item)]);
  }
  buffer.accesses = std::move(named);
  return buffer;
}

// The lowest multiple of `alignment` at which `size` bytes touch none of `taken`.
Bytes FirstFit(std::vector<AddressRange> taken, Bytes alignment, Bytes size) {
  problem::SortByBegin(taken);
  Bytes offset = 0;
  for (const AddressRange& range : taken) {
    if (range.begin < offset + size && offset < range.end)
      offset = base::RoundUp(range.end, alignment);
  }
  return offset;
}

}  // namespace

Window PileUp(const Problem& problem, const Explanation& explanation) {
  Window pile;
  pile.problem.name = problem.name;
  pile.problem.memories = problem.memories;
  for (Memory& memory : pile.problem.memories) {
    memory.modes.clear();
    memory.transitions.reset();
  }
  for (const Condition& each : explanation.conditions) {
    if (each.kind != ConditionKind::kBuffer) continue;
    pile.problem.buffers.push_back(WithNamedAccesses(problem, explanation, each.owner));
  }
  const std::vector<Buffer>& buffers = pile.problem.buffers;
  const Lifespan horizon = Horizon(pile.problem);
  for (const Loop& loop : problem.loops) {
    if (horizon.lower <= loop.begin && loop.end <= horizon.upper)
      pile.problem.loops.push_back(loop);
  }

  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (buffers[a].offset.has_value() != buffers[b].offset.has_value())
      return buffers[a].offset.has_value();
    return buffers[a].size > buffers[b].size;
  });
  std::vector<Bytes>& offsets = pile.allocation.offsets;
  offsets.resize(buffers.size());
  for (size_t n = 0; n < order.size(); ++n) {
    const Buffer& buffer = buffers[order[n]];
    std::vector<AddressRange> taken;
    for (const Reserved& reserved : problem.memories[static_cast<size_t>(buffer.memory)].reserved)
      taken.push_back(reserved.range);
    for (size_t m = 0; m < n; ++m) {
      const Buffer& below = buffers[order[m]];
      if (below.memory == buffer.memory && LiveTogether(below, buffer))
        taken.push_back({offsets[order[m]], offsets[order[m]] + below.size});
    }
    offsets[order[n]] = buffer.offset.value_or(
        FirstFit(std::move(taken), AlignmentOf(problem, buffer), buffer.size));
  }
  pile.allocation.modes.resize(problem.memories.size());
  return pile;
}

}  // namespace tessera::problem::draw
