// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/guided/backtrack_targets.h"

#include <algorithm>
#include <utility>

#include "tessera/search/engines/guided/candidates.h"

namespace tessera::search::engines::guided {

using problem::Bytes;
using problem::Lifespan;
using problem::Problem;
using problem::Step;

BacktrackTargets::BacktrackTargets(const Problem& problem, Bytes capacity, Bytes granularity,
                                   Backtracking policy)
    : problem_(problem),
      capacity_(capacity),
      granularity_(granularity),
      policy_(std::move(policy)) {
  if (!policy_) return;
  const std::vector<int> phases = FindPhases(problem);
  const std::vector<double> contention = FindContention(problem);
  Step first = 0, last = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const problem::Buffer& buffer = problem.buffers[i];
    Block& block = blocks_.emplace_back();
    block.phase = phases[i];
    block.bytes = static_cast<double>(buffer.size);
    block.contention = contention[i];
    for (const Lifespan& life : buffer.lifespans) {
      block.steps += static_cast<double>(life.upper - life.lower);
      first = i == 0 ? life.lower : std::min(first, life.lower);
      last = i == 0 ? life.upper : std::max(last, life.upper);
    }
  }
  steps_ = static_cast<double>(std::max<Step>(last - first, 1));
}

std::optional<int> BacktrackTargets::Pick(const std::vector<Point>& points,
                                          const lazy::Trail& trail, const lazy::Lesson& lesson) {
  if (!policy_) return std::nullopt;
  buffers_.clear();
  offsets_.clear();
  targets_.clear();
  for (const Point& point : points) {
    const int buffer = std::max(point.Decided(), -1);
    buffers_.push_back(buffer);
    offsets_.push_back(buffer < 0 ? 0 : trail[2 * buffer] * granularity_);
  }
  const std::vector<char> blamed = FindBlamed(trail, lesson);
  const size_t failed = points.size() - 1;
  for (size_t point = 0, top = 4; point < failed; top *= 2) {
    bool any = false;
    for (; point <= std::min(top, failed - 1); ++point) {
      if (blamed[point] == 0) continue;
      any = true;
      Add(points, point);
    }
    if (!any) Add(points, point - 1);
  }
  ++major_;
  if (targets_.empty()) return std::nullopt;
  return policy_({problem_, capacity_, buffers_, offsets_, targets_});
}

// Returns for each point whether the lesson blames its placement.
std::vector<char> BacktrackTargets::FindBlamed(const lazy::Trail& trail,
                                               const lazy::Lesson& lesson) {
  std::vector<char> blamed(buffers_.size(), 0);
  for (const lazy::BoundLiteral literal : lesson.clause) {
    const int change = trail.Find(trail.Not(literal));
    if (change >= 0 && trail.At(change).level > 0)
      blamed[static_cast<size_t>(trail.At(change).level) - 1] = 1;
  }
  for (size_t point = 0; point < blamed.size(); ++point) {
    if (blamed[point] != 0 && buffers_[point] >= 0)
      ++blocks_[static_cast<size_t>(buffers_[point])].blamed;
  }
  return blamed;
}

void BacktrackTargets::Add(const std::vector<Point>& points, size_t point) {
  if (buffers_[point] < 0) return;
  const auto index = static_cast<size_t>(buffers_[point]);
  const Block& block = blocks_[index];
  const int memory = problem_.buffers[index].memory;
  const auto room = static_cast<double>(std::max<Bytes>(
      memory == 0 ? capacity_ : problem_.memories[static_cast<size_t>(memory)].capacity, 1));
  const size_t failed = points.size() - 1;
  const bool same_phase =
      buffers_[failed] >= 0 && blocks_[static_cast<size_t>(buffers_[failed])].phase == block.phase;
  Target& target = targets_.emplace_back();
  target.point = static_cast<int>(point);
  const auto set = [&](Feature feature, double value) {
    target.features[static_cast<size_t>(feature)] = static_cast<float>(value);
  };
  set(Feature::kSize, block.bytes / room);
  set(Feature::kLifetime, block.steps / steps_);
  set(Feature::kContention, block.contention / room);
  set(Feature::kLevel, static_cast<double>(point));
  set(Feature::kDistance, static_cast<double>(failed - point));
  set(Feature::kBlamed, static_cast<double>(block.blamed));
  set(Feature::kReturns, static_cast<double>(points[point].returns));
  set(Feature::kInside, static_cast<double>(major_ - points[point].major));
  set(Feature::kSamePhase, same_phase ? 1 : 0);
  set(Feature::kBacktracks, static_cast<double>(major_));
}

}  // namespace tessera::search::engines::guided
