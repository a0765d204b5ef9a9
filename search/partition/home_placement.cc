#include "tessera/search/partition/home_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/portfolio.h"

// Homes are roomy and their tensors few: a greedy order usually meets the bound, and no metric looks at the peak. So only a
// little is spent on lowering it, and nothing where hints say where tensors had better be; what is spent on finding any placement
// at all is the whole budget.
namespace tessera::search {
namespace {

using problem::Result;

constexpr int64_t kLoweringBudget = 2'000;

// What a search that was stopped may still take for one home.
constexpr std::chrono::milliseconds kHomeGrace{200};

base::Expected<Result> PlaceHome(const problem::Problem& problem, const Engines& engines,
                                 const base::Budget& budget, const base::Stop& stop) {
  AllocateOptions options;
  const bool hinted = std::any_of(problem.buffers.begin(), problem.buffers.end(),
                                  [](const problem::Buffer& buffer) { return buffer.hint.has_value(); });
  options.minimize = !hinted;
  if (hinted) options.capacity = problem.memories.front().capacity;
  options.budget.units = std::min(budget.units, kLoweringBudget);
  options.stop = &stop;
  base::Expected<Result> result = Allocate(problem, nullptr, 0, engines, options);
  if (!result || result->allocation || result->status != problem::Status::kUnknown) return result;
  const base::Stop grace(base::Stop::Clock::now() + kHomeGrace);
  options.minimize = false;
  options.budget = budget;
  if (stop.Requested()) options.stop = &grace;
  return Allocate(problem, nullptr, 0, engines, options);
}

// The tensors that need most at once.
Obstacle ObstacleIn(const problem::Problem& problem) {
  const Bound bound = FindBound(problem, 0);
  Obstacle obstacle;
  obstacle.kind = ObstacleKind::kHome;
  obstacle.memory = problem.memories.front().name;
  obstacle.needed = bound.bytes;
  obstacle.available = problem.memories.front().capacity;
  obstacle.capacity = obstacle.available;
  obstacle.problem = problem;
  for (const int buffer : bound.buffers) {
    const problem::Buffer& tensor = problem.buffers[static_cast<size_t>(buffer)];
    obstacle.tensors.push_back({tensor.id, "whole", tensor.size});
  }
  return obstacle;
}

}  // namespace

base::Expected<HomePlacement> PlaceHomes(std::vector<encoder::HomeProblem> problems, const Engines& engines,
                                         const base::Budget& budget, const base::Stop& stop) {
  HomePlacement placement;
  for (encoder::HomeProblem& home : problems) {
    base::Expected<Result> result = PlaceHome(home.problem, engines, budget, stop);
    if (!result) return base::Unexpected(result.error());
    if (!result->allocation) {
      placement.status = result->status;
      placement.reason = fmt::format("tensors at home in memory '{}' have no addresses: {}",
                                     home.problem.memories.front().name, result->reason);
      placement.obstacle = ObstacleIn(home.problem);
      return placement;
    }
    placement.homes.push_back({.memory = home.memory,
                               .problem = std::move(home.problem),
                               .allocation = *std::move(result->allocation),
                               .tensors = std::move(home.tensors)});
  }
  return placement;
}

}  // namespace tessera::search
