// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/search/engines/guided/guided.h"
#include "tessera/search/engines/lazy/axis.h"

namespace tessera::search::engines::guided {

// Returns for each buffer the number of its phase. A phase is a set of buffers that live through a
// stretch of high contention, with troughs on both sides. The contention of a step is the number of
// live bytes, relative to the memory's capacity; phases of high contention come first.
//
//     bytes |   .--.                  threshold 1:  |0|
//           | .-'  '-.     .--.       threshold 2:  |-0-|     |1|       buffers of a stretch that
//           |-'      '-.---'  '-      threshold 3:  |-- 2 -----------|  no higher one has claimed
//           '------------------> step
//
// The thresholds sink in steps of a twentieth of the highest contention. Cost: O(n log n) for the
// contention, and O(n) for each threshold.
std::vector<int> FindPhases(const problem::Problem& problem);

// Returns for each buffer the most bytes that live in its memory at one of its steps.
std::vector<double> FindContention(const problem::Problem& problem);

// A score of how much each buffer took part in dead ends. Recent dead ends count more (activity:
// Moskewicz et al. 2001).
class Blame {
 public:
  explicit Blame(int buffers) : scores_(static_cast<size_t>(buffers)) {}

  void Note(int buffer) { scores_[static_cast<size_t>(buffer)] += increment_; }
  // Must be called after each dead end.
  void Age();
  double operator[](int buffer) const { return scores_[static_cast<size_t>(buffer)]; }

 private:
  std::vector<double> scores_;
  double increment_ = 1;
};

// Picks the candidates of decisions: for each heuristic the best buffer that has no place yet, in
// the phase of the last placement, and then in the first other phase that has such buffers.
class Candidates {
 public:
  // `axis` and `blame` must outlive this object.
  Candidates(const problem::Problem& problem, const lazy::Axis& axis, const Blame& blame,
             Recipe recipe);

  bool BooleansFirst() const { return recipe_.booleans_first; }
  int PhaseOf(int buffer) const { return phases_[static_cast<size_t>(buffer)]; }

  // Returns the candidates for a decision; empty if all buffers have a place.
  std::vector<int> Pick(int phase) const;
  // Returns every buffer without a place, in the order of the first heuristic.
  std::vector<int> PickAll() const;

 private:
  bool IsOpen(int buffer) const { return !axis_.trail().IsFixed(buffer); }
  void PickFrom(int phase, std::vector<int>& picked) const;
  int Best(Heuristic heuristic, int phase) const;
  bool LiesLower(Heuristic heuristic, int a, int b) const;

  const lazy::Axis& axis_;
  const Blame& blame_;
  Recipe recipe_;
  std::vector<int> phases_;
  // By heuristic and phase: the buffers, best first.
  std::array<std::vector<std::vector<int>>, kHeuristics> orders_;
};

}  // namespace tessera::search::engines::guided
