#pragma once

#include <memory>
#include <vector>

#include "tessera/problem/engine.h"
#include "tessera/search/tiling/ladder_search.h"
#include "tessera/search/tiling/verdict_cache.h"

namespace tessera::search {

// Engines that remember answers across rungs, subgraphs and networks: see cached_engines.cc. They answer alike
// whatever was asked before, whoever else asks, and however many bytes there are to remember in. They decide, and
// minimise no costs. Safe to share between threads.
class CachedEngines {
 public:
  // The engines outlive this.
  explicit CachedEngines(const Engines& engines, size_t most_bytes = VerdictCache::kUsualBytes);
  CachedEngines(const CachedEngines&) = delete;
  CachedEngines& operator=(const CachedEngines&) = delete;
  ~CachedEngines();

  // In the same order and under the same names; they live as long as this does.
  const Engines& Pointers() const { return pointers_; }

  VerdictCache::Counts Count() const { return cache_.Count(); }

 private:
  VerdictCache cache_;
  std::vector<std::unique_ptr<problem::Engine>> wrapped_;
  Engines pointers_;
};

}  // namespace tessera::search
