#include "tessera/search/allocate/canonical_order.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tessera/base/random.h"

namespace tessera::search {
namespace {

using Key = std::array<double, 3>;

// Measures are shaken; points in time are not, for they mean nothing but their order.
Key KeyOf(const problem::Problem& problem, const CanonicalModel& model, CanonicalStrategy strategy, int i,
          const std::vector<Bytes>& loads, double shake) {
  const problem::Buffer& buffer = problem.buffers[static_cast<size_t>(model.buffers[static_cast<size_t>(i)])];
  double lifetime = 0;
  for (const problem::Lifespan& life : buffer.lifespans)
    lifetime += static_cast<double>(life.upper - life.lower);
  Bytes greatest_load = 0;
  for (const int clique : model.cliques_of[i]) {
    greatest_load = std::max(greatest_load, loads[static_cast<size_t>(clique)]);
  }
  const double size = shake * static_cast<double>(buffer.size);
  const double sections = shake * static_cast<double>(model.cliques_of[i].size());
  const double load = shake * static_cast<double>(greatest_load);
  switch (strategy.order) {
    case CanonicalOrder::kSectionsAreaLoad:
      return {sections, lifetime * size, load};
    case CanonicalOrder::kSizeSectionsLoad:
      return {size, sections, load};
    case CanonicalOrder::kEndSize:
      return {strategy.direction == Direction::kForwards
                  ? static_cast<double>(buffer.lifespans.back().upper)
                  : -static_cast<double>(buffer.lifespans.front().lower),
              size, 0};
  }
  return {};
}

}  // namespace

std::vector<int> RankBuffers(const problem::Problem& problem, const CanonicalModel& model,
                             CanonicalStrategy strategy, uint64_t seed) {
  std::vector<Bytes> loads;
  for (int clique = 0; clique < model.CliqueCount(); ++clique) {
    Bytes load = 0;
    for (const int i : model.members[clique]) load += model.sizes[static_cast<size_t>(i)];
    loads.push_back(load);
  }
  base::Random random(seed);
  std::vector<Key> keys;
  for (int i = 0; i < model.Count(); ++i) {
    const double shake = seed == 0 ? 1.0 : 0.7 + 0.6 * random.Real();
    keys.push_back(KeyOf(problem, model, strategy, i, loads, shake));
  }
  std::vector<int> sequence(keys.size());
  std::iota(sequence.begin(), sequence.end(), 0);
  std::stable_sort(sequence.begin(), sequence.end(),
                   [&](int a, int b) { return keys[static_cast<size_t>(a)] > keys[static_cast<size_t>(b)]; });
  std::vector<int> ranks(keys.size());
  for (size_t rank = 0; rank < sequence.size(); ++rank) {
    ranks[static_cast<size_t>(sequence[rank])] = static_cast<int>(rank);
  }
  return ranks;
}

}  // namespace tessera::search
