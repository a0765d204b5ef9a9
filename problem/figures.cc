// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/figures.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tessera::problem {

namespace {

Spread SpreadOf(std::vector<int64_t>& values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values.front(), values[values.size() / 2], values.back()};
}

// A birth or a death. At one step deaths come first, because lives are half-open.
struct LifeEvent {
  Step step;
  bool is_birth;
  Bytes size;
};

std::vector<LifeEvent> EventsOf(const Problem& problem, int memory) {
  std::vector<LifeEvent> events;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.memory != memory) continue;
    for (const Lifespan& life : buffer.lifespans) {
      events.push_back({life.lower, true, buffer.size});
      events.push_back({life.upper, false, buffer.size});
    }
  }
  std::sort(events.begin(), events.end(), [](const LifeEvent& a, const LifeEvent& b) {
    return a.step != b.step ? a.step < b.step : a.is_birth < b.is_birth;
  });
  return events;
}

struct MaximalSection {
  Step step;  // one of its steps
  Bytes load;
};

// Follows the load over time. A maximal section ends where a death follows a birth.
std::vector<MaximalSection> FollowLoad(const std::vector<LifeEvent>& events, Figures& figures) {
  std::vector<MaximalSection> sections;
  Bytes load = 0;
  int64_t alive = 0;
  double byte_steps = 0, buffer_steps = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    const LifeEvent& event = events[i];
    if (i > 0 && alive > 0) {
      const Step passed = event.step - events[i - 1].step;
      figures.steps += passed;
      byte_steps += static_cast<double>(load) * static_cast<double>(passed);
      buffer_steps += static_cast<double>(alive) * static_cast<double>(passed);
    }
    if (!event.is_birth && events[i - 1].is_birth) sections.push_back({events[i - 1].step, load});
    figures.parts += event.is_birth && alive == 0 ? 1 : 0;
    load += event.is_birth ? event.size : -event.size;
    alive += event.is_birth ? 1 : -1;
    figures.most_alive = std::max(figures.most_alive, alive);
    if (load > figures.load) {
      figures.load = load;
      figures.load_step = event.step;
    }
  }
  if (figures.steps > 0) {
    const auto steps = static_cast<double>(figures.steps);
    figures.fill = byte_steps / steps / static_cast<double>(std::max<Bytes>(1, figures.load));
    figures.mean_alive = buffer_steps / steps;
  }
  return sections;
}

bool LivesInOne(const Buffer& buffer, const std::vector<Step>& steps) {
  return std::any_of(buffer.lifespans.begin(), buffer.lifespans.end(), [&](const Lifespan& life) {
    const auto at = std::lower_bound(steps.begin(), steps.end(), life.lower);
    return at != steps.end() && *at < life.upper;
  });
}

void CountCore(const Problem& problem, int memory, const std::vector<MaximalSection>& sections,
               Figures& figures) {
  std::vector<Step> tight;
  for (const MaximalSection& section : sections) {
    if (static_cast<double>(section.load) >= Figures::kTight * static_cast<double>(figures.load))
      tight.push_back(section.step);
  }
  figures.tight_sections = static_cast<int64_t>(tight.size());
  for (const Buffer& buffer : problem.buffers)
    figures.core += buffer.memory == memory && LivesInOne(buffer, tight) ? 1 : 0;
}

void CountBuffers(const Problem& problem, int memory, Figures& figures) {
  std::vector<int64_t> sizes, lives;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.memory != memory) continue;
    ++figures.buffers;
    sizes.push_back(buffer.size);
    lives.push_back(buffer.lifespans.back().upper - buffer.lifespans.front().lower);
    figures.alignment = std::max(figures.alignment, AlignmentOf(problem, buffer));
    figures.fixed += buffer.offset ? 1 : 0;
    figures.holed += buffer.lifespans.size() > 1 ? 1 : 0;
  }
  figures.sizes = SpreadOf(sizes);
  figures.lives = SpreadOf(lives);
  figures.distinct_sizes = std::unique(sizes.begin(), sizes.end()) - sizes.begin();
}

}  // namespace

Figures FiguresOf(const Problem& problem, int memory) {
  Figures figures;
  CountBuffers(problem, memory, figures);
  const std::vector<MaximalSection> sections = FollowLoad(EventsOf(problem, memory), figures);
  figures.sections = static_cast<int64_t>(sections.size());
  CountCore(problem, memory, sections, figures);
  figures.pairs = CountMeetings(problem, memory);
  const auto n = static_cast<double>(figures.buffers);
  if (figures.buffers > 1)
    figures.density = std::min(1.0, static_cast<double>(figures.pairs) / (n * (n - 1) / 2));
  const auto is_here = [&](int buffer) {
    return problem.buffers[static_cast<size_t>(buffer)].memory == memory;
  };
  for (const Relation& relation : problem.relations)
    figures.relations += is_here(relation.first) ? 1 : 0;
  figures.rules = static_cast<int64_t>(problem.rules.size());
  figures.costs = static_cast<int64_t>(problem.costs.size());
  return figures;
}

Elementary ElementaryCaseOf(const Problem& problem, const Figures& figures) {
  const bool is_plain = figures.fixed == 0 && figures.holed == 0 && figures.relations == 0 &&
                        problem.rules.empty() && figures.alignment == 1;
  if (!is_plain) return Elementary::kNo;
  if (figures.most_alive <= 1) return Elementary::kDisjoint;
  return figures.distinct_sizes == 1 ? Elementary::kOneSize : Elementary::kNo;
}

// Every buffer costs some time. A core of more buffers than live in one section costs much more:
// one section alone is a stack, but several sections that share most of their buffers must agree.
double PredictedHardness(const Problem& problem, const Figures& figures) {
  static constexpr double kBuffersPerMs = 200, kEntanglementPerRoot = 250, kMost = 6;
  double milliseconds = static_cast<double>(figures.buffers) / kBuffersPerMs;
  if (ElementaryCaseOf(problem, figures) == Elementary::kNo) {
    const auto excess = static_cast<double>(figures.core - figures.most_alive);
    const double entanglement = std::max(0.0, excess) * static_cast<double>(figures.most_alive);
    milliseconds += std::pow(entanglement / kEntanglementPerRoot, 2);
  }
  return std::min(kMost, std::log10(1 + milliseconds));
}

}  // namespace tessera::problem
