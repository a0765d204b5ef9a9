// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/guided/candidates.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace tessera::search::engines::guided {

using problem::Bytes;
using problem::Lifespan;
using problem::Problem;
using problem::Step;

namespace {

constexpr int kThresholds = 20;

// Returns the live bytes of one memory from each step at which they change.
std::map<Step, Bytes> LiveBytesOf(const Problem& problem, size_t memory) {
  std::map<Step, Bytes> live;
  for (const problem::Buffer& buffer : problem.buffers) {
    if (static_cast<size_t>(buffer.memory) != memory) continue;
    for (const Lifespan& life : buffer.lifespans) {
      live[life.lower] += buffer.size;
      live[life.upper] -= buffer.size;
    }
  }
  Bytes sum = 0;
  for (auto& [step, bytes] : live) bytes = sum += bytes;
  return live;
}

// Returns the live bytes relative to the memory's capacity.
std::map<Step, double> ContentionOf(const Problem& problem, size_t memory) {
  const auto capacity = static_cast<double>(std::max<Bytes>(problem.memories[memory].capacity, 1));
  std::map<Step, double> contention;
  for (const auto& [step, live] : LiveBytesOf(problem, memory))
    contention[step] = static_cast<double>(live) / capacity;
  return contention;
}

// Returns the stretches of time whose contention reaches the threshold, ascending.
std::vector<Lifespan> StretchesOf(const std::map<Step, double>& contention, double threshold) {
  std::vector<Lifespan> stretches;
  bool inside = false;
  for (const auto& [step, live] : contention) {
    const bool reaches = live >= threshold;
    if (reaches && !inside) stretches.push_back({step, step});
    if (inside) stretches.back().upper = step;
    inside = reaches;
  }
  return stretches;
}

// Returns the first stretch in which the buffer lives; -1 if there is none.
int StretchOf(const problem::Buffer& buffer, const std::vector<Lifespan>& stretches) {
  for (const Lifespan& life : buffer.lifespans) {
    const auto stretch =
        std::upper_bound(stretches.begin(), stretches.end(), life.lower,
                         [](Step step, const Lifespan& each) { return step < each.upper; });
    if (stretch != stretches.end() && stretch->lower < life.upper)
      return static_cast<int>(stretch - stretches.begin());
  }
  return -1;
}

}  // namespace

std::vector<int> FindPhases(const Problem& problem) {
  std::vector<std::map<Step, double>> contention;
  double highest = 0;
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    contention.push_back(ContentionOf(problem, m));
    for (const auto& [step, live] : contention.back()) highest = std::max(highest, live);
  }
  std::vector<int> phases(problem.buffers.size(), -1);
  int next = 0;
  for (int level = kThresholds; level >= 0; --level) {
    const double threshold = highest * level / kThresholds;
    for (size_t m = 0; m < problem.memories.size(); ++m) {
      const std::vector<Lifespan> stretches = StretchesOf(contention[m], threshold);
      std::vector<int> phase_of(stretches.size(), -1);
      for (size_t i = 0; i < phases.size(); ++i) {
        if (phases[i] >= 0 || static_cast<size_t>(problem.buffers[i].memory) != m) continue;
        const int stretch = StretchOf(problem.buffers[i], stretches);
        if (stretch < 0) continue;
        int& phase = phase_of[static_cast<size_t>(stretch)];
        if (phase < 0) phase = next++;
        phases[i] = phase;
      }
    }
  }
  return phases;
}

std::vector<double> FindContention(const Problem& problem) {
  std::vector<double> most(problem.buffers.size());
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    const std::map<Step, Bytes> live = LiveBytesOf(problem, m);
    for (size_t i = 0; i < most.size(); ++i) {
      if (static_cast<size_t>(problem.buffers[i].memory) != m) continue;
      for (const Lifespan& life : problem.buffers[i].lifespans) {
        for (auto at = live.find(life.lower); at != live.end() && at->first < life.upper; ++at)
          most[i] = std::max(most[i], static_cast<double>(at->second));
      }
    }
  }
  return most;
}

void Blame::Age() {
  constexpr double kShare = 0.95;  // that stays
  constexpr double kHuge = 1e100;
  increment_ /= kShare;
  if (increment_ < kHuge) return;
  for (double& score : scores_) score /= kHuge;
  increment_ /= kHuge;
}

Candidates::Candidates(const Problem& problem, const lazy::Axis& axis, const Blame& blame,
                       Recipe recipe)
    : axis_(axis), blame_(blame), recipe_(std::move(recipe)), phases_(problem.buffers.size(), 0) {
  if (recipe_.phases) phases_ = FindPhases(problem);
  const int count = phases_.empty() ? 0 : *std::max_element(phases_.begin(), phases_.end()) + 1;
  const auto weight_of = [&](Heuristic heuristic, int i) {
    const auto size = static_cast<double>(problem.buffers[static_cast<size_t>(i)].size);
    const auto lifetime = static_cast<double>(axis.packing().duration[static_cast<size_t>(i)]);
    switch (heuristic) {
      case Heuristic::kSize:
        return std::pair(size, lifetime);
      case Heuristic::kArea:
        return std::pair(size * lifetime, size);
      default:
        return std::pair(lifetime, size);
    }
  };
  for (const Heuristic heuristic : recipe_.heuristics) {
    std::vector<int> order(phases_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return weight_of(heuristic, a) > weight_of(heuristic, b);
    });
    auto& by_phase = orders_[static_cast<size_t>(heuristic)];
    by_phase.resize(static_cast<size_t>(count));
    for (const int buffer : order) by_phase[static_cast<size_t>(PhaseOf(buffer))].push_back(buffer);
  }
}

std::vector<int> Candidates::Pick(int phase) const {
  std::vector<int> picked;
  PickFrom(phase, picked);
  const auto count = static_cast<int>(orders_[static_cast<size_t>(recipe_.heuristics[0])].size());
  for (int other = 0; other < count; ++other) {
    if (other == phase) continue;
    const size_t before = picked.size();
    PickFrom(other, picked);
    if (picked.size() > before) break;
  }
  return picked;
}

void Candidates::PickFrom(int phase, std::vector<int>& picked) const {
  for (const Heuristic heuristic : recipe_.heuristics) {
    const int best = Best(heuristic, phase);
    const bool is_new = std::find(picked.begin(), picked.end(), best) == picked.end();
    if (best >= 0 && is_new) picked.push_back(best);
  }
}

// Returns whether a heuristic that depends on positions prefers `a`.
bool Candidates::LiesLower(Heuristic heuristic, int a, int b) const {
  const lazy::Bound left = axis_.Floor(lazy::Side::kBottom, a);
  const lazy::Bound right = axis_.Floor(lazy::Side::kBottom, b);
  return left != right ? left < right : heuristic == Heuristic::kBlamed && blame_[a] > blame_[b];
}

// Returns the best buffer of the phase that has no place; -1 if there is none.
int Candidates::Best(Heuristic heuristic, int phase) const {
  const bool by_position = heuristic == Heuristic::kLowest || heuristic == Heuristic::kBlamed;
  int best = -1;
  for (const int buffer : orders_[static_cast<size_t>(heuristic)][static_cast<size_t>(phase)]) {
    if (!IsOpen(buffer)) continue;
    if (!by_position) return buffer;
    if (best < 0 || LiesLower(heuristic, buffer, best)) best = buffer;
  }
  return best;
}

std::vector<int> Candidates::PickAll() const {
  std::vector<int> picked;
  const Heuristic heuristic = recipe_.heuristics[0];
  for (const std::vector<int>& order : orders_[static_cast<size_t>(heuristic)]) {
    std::copy_if(order.begin(), order.end(), std::back_inserter(picked),
                 [this](int buffer) { return IsOpen(buffer); });
  }
  if (heuristic == Heuristic::kLowest || heuristic == Heuristic::kBlamed) {
    std::stable_sort(picked.begin(), picked.end(),
                     [&](int a, int b) { return LiesLower(heuristic, a, b); });
  }
  return picked;
}

}  // namespace tessera::search::engines::guided
