// SPDX-License-Identifier: Apache-2.0

#include "tessera/bench/order_baselines.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "tessera/base/random.h"
#include "tessera/base/stop.h"
#include "tessera/search/engines/order_search/instance.h"
#include "tessera/search/engines/order_search/placed_buffers.h"
#include "tessera/search/engines/order_search/quick_placements.h"

namespace tessera::bench {

namespace order_search = search::engines::order_search;
using problem::Bytes;

namespace {
constexpr int64_t kNoLimit = int64_t{1} << 60;
}  // namespace

Bytes BestFitPeak(const problem::Problem& problem) {
  const base::Stop never;
  order_search::Effort effort(kNoLimit, never);
  const order_search::Instance instance = order_search::MakeInstance(problem, 0);
  return order_search::TopOf(instance, *order_search::PlaceBySweep(instance, effort));
}

Bytes HillClimbingPeak(const problem::Problem& problem, uint64_t seed, double seconds) {
  const base::Stop stop(std::chrono::steady_clock::now() +
                        std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6)));
  const base::Stop never;
  order_search::Effort first(kNoLimit, never), effort(kNoLimit, stop);
  const order_search::Instance instance = order_search::MakeInstance(problem, 0);
  order_search::PlacedBuffers placed(instance);
  order_search::Order order(instance.size.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return instance.size[static_cast<size_t>(a)] > instance.size[static_cast<size_t>(b)];
  });
  order_search::Offsets offsets;
  order_search::PlaceByFirstFit(instance, placed, order, offsets, first);
  Bytes least = order_search::TopOf(instance, offsets);
  base::Random random(seed);
  const auto last = static_cast<int64_t>(order.size()) - 1;
  while (!stop.Requested() && last > 0) {
    const auto a = static_cast<size_t>(random.Uniform(0, last));
    const auto b = static_cast<size_t>(random.Uniform(0, last));
    std::swap(order[a], order[b]);
    if (!order_search::PlaceByFirstFit(instance, placed, order, offsets, effort)) break;
    const Bytes top = order_search::TopOf(instance, offsets);
    if (top > least) std::swap(order[a], order[b]);
    least = std::min(least, top);
  }
  return least;
}

}  // namespace tessera::bench
