// SPDX-License-Identifier: Apache-2.0

#include "tessera/bench/backtrack_samples.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tessera/base/random.h"
#include "tessera/problem/generate/families.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/guided/guided.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

namespace tessera::bench {

using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;
namespace generate = problem::generate;
using search::engines::guided::GuidedEngine;
using search::engines::guided::GuidedOptions;
using search::engines::guided::kRecipes;
using search::engines::guided::MajorBacktrack;
using search::engines::guided::Recipe;
using search::engines::guided::Target;
using search::engines::lazy::LazyEngine;

namespace {

constexpr int64_t kOracleConflicts = 1000;
constexpr int64_t kMostDeadEnds = 3000;  // of one search
constexpr size_t kMostRecorded = 150;    // major backtracks of one search
constexpr int64_t kRecordedInATurn = 30;
constexpr int64_t kPeakConflicts = 5000;

// A placement of one buffer.
struct Placed {
  std::string id;
  Bytes offset = 0;
};
using Solution = std::map<std::string, Bytes>;

// Returns how many of the first placements agree with the solution, which may be that of another
// path.
size_t CommonPrefix(const std::vector<Placed>& path, const Solution& solution) {
  const auto first_apart = std::find_if(path.begin(), path.end(), [&](const Placed& placed) {
    const auto at = solution.find(placed.id);
    return at == solution.end() || at->second != placed.offset;
  });
  return static_cast<size_t>(first_apart - path.begin());
}

// Finds how many of the first placements have a solution. Solutions are kept for later questions.
class Oracle {
 public:
  // Returns nullopt if the budget ended.
  std::optional<size_t> DeepestSolvable(const Problem& problem, Bytes capacity,
                                        const std::vector<Placed>& path) {
    size_t least = 0;
    for (const Solution& solution : solutions_)
      least = std::max(least, CommonPrefix(path, solution));
    size_t most = path.size();
    while (least < most) {
      const size_t middle = least + (most - least + 1) / 2;
      const std::optional<bool> solvable = IsSolvable(problem, capacity, path, middle);
      if (!solvable) return std::nullopt;
      if (*solvable) {
        least = std::max(middle, CommonPrefix(path, solutions_.back()));
      } else {
        most = middle - 1;
      }
    }
    return least;
  }

 private:
  std::optional<bool> IsSolvable(Problem problem, Bytes capacity, const std::vector<Placed>& path,
                                 size_t placed) {
    std::map<std::string, Bytes> fixed;
    for (size_t i = 0; i < placed; ++i) fixed[path[i].id] = path[i].offset;
    for (problem::Buffer& buffer : problem.buffers) {
      if (const auto at = fixed.find(buffer.id); at != fixed.end()) buffer.offset = at->second;
    }
    const Result result =
        LazyEngine().Open(problem, nullptr)->Solve(0, capacity, {kOracleConflicts}, {});
    if (result.status == Status::kInfeasible) return false;
    if (!result.allocation) return std::nullopt;
    Solution& solution = solutions_.emplace_back();
    for (size_t i = 0; i < problem.buffers.size(); ++i)
      solution[problem.buffers[i].id] = result.allocation->offsets[i];
    return true;
  }

  std::vector<Solution> solutions_;
};

// A major backtrack that waits for the end of the search, which shows the best return.
struct Recorded {
  std::vector<Placed> path;
  std::vector<Target> targets;
  size_t deepest = 0;
};

// One search, and the samples that it yields.
class Imitation {
 public:
  explicit Imitation(uint64_t seed)
      : random_(seed), turn_(int64_t{1} << random_.Uniform(0, 9)), left_(turn_) {}

  void Run(const Problem& problem, Bytes capacity, const Recipe& recipe, bool lessons,
           std::vector<BacktrackSample>& samples) {
    GuidedOptions options;
    options.recipes = {recipe};
    options.descents = options.stuck = options.insured = false;
    options.lessons = lessons;
    options.backtracking = [this](const MajorBacktrack& backtrack) { return Follow(backtrack); };
    const GuidedEngine engine(options);
    const Result result = engine.Open(problem, nullptr)->Solve(0, capacity, {kMostDeadEnds}, {});
    if (!result.allocation) return;
    Solution solution;
    for (size_t i = 0; i < problem.buffers.size(); ++i)
      solution[problem.buffers[i].id] = result.allocation->offsets[i];
    for (const Recorded& recorded : recorded_) {
      const size_t best = std::min(CommonPrefix(recorded.path, solution), recorded.deepest);
      for (const Target& target : recorded.targets)
        samples.push_back({target.features, ScoreOf(target.point, best, recorded.deepest)});
    }
  }

 private:
  static float ScoreOf(int point, size_t best, size_t deepest) {
    const auto at = static_cast<size_t>(point);
    if (at < best || at > deepest) return 0;
    return static_cast<float>(10 - 5 * static_cast<double>(at - best) /
                                       static_cast<double>(deepest - best + 1));
  }

  // Turns of the default policy and of the oracle alternate, and each pair is twice as long as the
  // one before, so that the samples include searches that have long been in a bad state.
  std::optional<int> Follow(const MajorBacktrack& backtrack) {
    if (--left_ <= 0) {
      follows_ = !follows_;
      if (!follows_) turn_ *= 2;
      left_ = turn_;
    }
    const bool records =
        recorded_.size() < kMostRecorded && random_.Uniform(1, turn_) <= kRecordedInATurn;
    if (too_hard_ || (!follows_ && !records)) return std::nullopt;
    Recorded recorded;
    for (size_t point = 0; point < backtrack.buffers.size(); ++point) {
      const auto buffer = static_cast<size_t>(backtrack.buffers[point]);
      recorded.path.push_back({backtrack.problem.buffers[buffer].id, backtrack.offsets[point]});
    }
    const auto deepest =
        oracle_.DeepestSolvable(backtrack.problem, backtrack.capacity, recorded.path);
    too_hard_ = !deepest;
    if (too_hard_) return std::nullopt;
    recorded.targets.assign(backtrack.targets.begin(), backtrack.targets.end());
    recorded.deepest = *deepest;
    if (records) recorded_.push_back(std::move(recorded));
    if (!follows_) return std::nullopt;
    // The first target at or above the deepest solvable point.
    std::optional<int> chosen;
    for (const Target& target : backtrack.targets) {
      if (static_cast<size_t>(target.point) <= *deepest) chosen = target.point;
    }
    return chosen;
  }

  base::Random random_;
  Oracle oracle_;
  std::vector<Recorded> recorded_;
  int64_t turn_;  // major backtracks
  int64_t left_;
  bool follows_ = false;   // the oracle
  bool too_hard_ = false;  // for the oracle
};

// The lowest peak found by exact engines; for a perfect packing its capacity.
std::optional<Bytes> LeastPeak(const Problem& problem) {
  if (problem.name.starts_with("perfect")) return problem.memories[0].capacity;
  const search::engines::canonical::CanonicalEngine canonical;
  const LazyEngine lazy;
  const std::vector<const problem::Engine*> engines = {&canonical, &lazy};
  search::allocate::AllocateOptions options;
  options.budget = {kPeakConflicts};
  const auto result = search::allocate::Allocate(problem, nullptr, 0, engines, options);
  return result ? result->peak : std::nullopt;
}

}  // namespace

std::vector<BacktrackSample> CollectBacktrackSamples(uint64_t first_seed, uint64_t seeds) {
  const auto perfect = [](generate::PackingShape shape) {
    return [shape](uint64_t seed) { return generate::MakePerfect(shape, seed); };
  };
  const std::vector<std::function<Problem(uint64_t)>> families = {
      perfect({60, 40, 512}),
      perfect({100, 120, 4096}),
      perfect({90, 20, 1024}),
      [](uint64_t seed) {
        return generate::MakeBroken({60, 75, 1024}, seed);
      },
      [](uint64_t seed) { return generate::MakeLogUniform(100, 15, seed); },
      [](uint64_t seed) { return generate::MakeCompilerLike(100, seed); }};
  std::vector<BacktrackSample> samples;
  for (uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    for (const auto& make : families) {
      const Problem problem = make(seed);
      const std::optional<Bytes> peak = LeastPeak(problem);
      if (!peak) continue;
      for (const int percent : {100, 102, 105}) {
        const Bytes capacity = *peak * percent / 100;
        for (const Recipe& recipe : kRecipes)
          Imitation(seed).Run(problem, capacity, recipe, true, samples);
        for (const Recipe& recipe : {kRecipes.front(), kRecipes.back()})
          Imitation(seed).Run(problem, capacity, recipe, false, samples);
      }
    }
  }
  return samples;
}

}  // namespace tessera::bench
