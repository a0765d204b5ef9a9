// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/kept_offsets.h"

#include <algorithm>
#include <utility>

#include "tessera/search/allocate/portfolio.h"

// A placement changes little when few buffers do:
//
//     address                       the buffer x grew. Everything else stays where it was if
//        ^   .---.                  the free addresses suffice (first try). Else the buffers that
//        |   | b | .----.           live together with x may move too (second try): b and c, not
//        |   '---' | c  | .---.     d.
//        |  .--x--------. | d |
//        '--'-----------'-'---'--> step
//
// The buffers that stay get fixed offsets, so all engines and all constraints of a Problem work as
// usual, and no special code decides what fits. A third try with more buffers would cost little
// less than a search from the beginning.
namespace tessera::search::allocate {
namespace {

using problem::Problem;

constexpr int64_t kNodesPerBuffer = 2;

// Returns for each buffer whether a buffer without a former offset lives at one of its steps, by a
// sweep over both.
std::vector<bool> LivesWithChanged(const Problem& problem,
                                   std::span<const std::optional<problem::Bytes>> former) {
  std::vector<problem::Lifespan> changed;
  for (size_t i = 0; i < former.size(); ++i) {
    const auto& lifespans = problem.buffers[i].lifespans;
    if (!former[i]) changed.insert(changed.end(), lifespans.begin(), lifespans.end());
  }
  problem::SortByBegin(changed);
  std::vector<problem::Step> latest;  // end of the changed lifespans up to each
  latest.reserve(changed.size());
  for (const problem::Lifespan& lifespan : changed)
    latest.push_back(std::max(latest.empty() ? lifespan.upper : latest.back(), lifespan.upper));
  const auto meets = [&](const problem::Lifespan& lifespan) {
    const auto behind =
        std::lower_bound(changed.begin(), changed.end(), lifespan.upper,
                         [](const auto& a, problem::Step step) { return a.lower < step; });
    return behind != changed.begin() &&
           latest[static_cast<size_t>(behind - changed.begin()) - 1] > lifespan.lower;
  };
  std::vector<bool> lives(former.size());
  for (size_t i = 0; i < former.size(); ++i) {
    const auto& lifespans = problem.buffers[i].lifespans;
    lives[i] = std::any_of(lifespans.begin(), lifespans.end(), meets);
  }
  return lives;
}

}  // namespace

base::Expected<std::optional<problem::Result>> KeepOffsets(
    const Problem& problem, std::span<const std::optional<problem::Bytes>> former,
    problem::Bytes capacity, std::span<const problem::Engine* const> engines,
    const base::Stop& stop) {
  std::vector<bool> moves(former.size());
  for (size_t i = 0; i < former.size(); ++i) moves[i] = !former[i];
  for (const bool widens : {false, true}) {
    if (widens) moves = LivesWithChanged(problem, former);
    Problem pinned = problem;
    for (size_t i = 0; i < former.size(); ++i) {
      if (!moves[i]) pinned.buffers[i].offset = former[i];
    }
    AllocateOptions options;
    options.capacity = capacity;
    options.budget.units = kNodesPerBuffer * static_cast<int64_t>(former.size());
    options.stop = &stop;
    base::Expected<problem::Result> result = Allocate(pinned, nullptr, 0, engines, options);
    if (!result) return base::Unexpected(result.error());
    if (result->allocation) return std::optional(*std::move(result));
    if (stop.Requested()) break;
  }
  return std::optional<problem::Result>();
}

}  // namespace tessera::search::allocate
