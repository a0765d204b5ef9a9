// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tessera/problem/engine.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/search/tiling/candidate_search.h"

namespace tessera::search::tiling {

// A map from queries to results, within a limit of bytes. Queries are equal if their keys are
// equal, byte for byte. If space is short, the least recently used entries are dropped first.
// Thread-safe. The contents depend on the timing of threads, so a key must determine the result.
class ResultCache {
 public:
  static constexpr size_t kUsualBytes = size_t{64} << 20;

  explicit ResultCache(size_t most_bytes = kUsualBytes) : most_bytes_(most_bytes) {}

  // Returns the result stored under this key, if any; it becomes the most recently used.
  std::optional<problem::Result> Find(std::string_view key);

  // Stores a result, unless it is larger than the cache or the key exists.
  void Keep(std::string key, const problem::Result& result);

  struct Counts {
    int64_t hits = 0;
    int64_t misses = 0;
    int64_t dropped = 0;  // for lack of space
    size_t bytes = 0;     // of keys, allocations and bookkeeping
  };
  Counts Count() const;

 private:
  struct Entry {
    std::string key;
    problem::Result result;
    size_t bytes = 0;
  };
  using Entries = std::list<Entry>;

  const size_t most_bytes_;
  mutable std::mutex mutex_;
  Entries entries_;  // used last first
  // Keys are those of the entries.
  std::unordered_map<std::string_view, Entries::iterator> position_;
  Counts counts_;
};

// The normal form of a Problem lacks everything that no answer depends on. Repeated blocks of a
// network have the same normal form.

// Returns the normal form. Its buffers are named "#0", "#1", .. in their order and have neither
// roles nor annotations; the Problem, its rules and costs have no names. If no memory has modes or
// ports, accesses and loops are removed too, and steps are numbered by the births and deaths of
// buffers only, in their order. Allocations of the two Problems are identical.
problem::Problem WithoutNames(const problem::Problem& problem);

// Returns a text that is equal for two normal forms if and only if they are equal except for the
// sizes of buffers.
std::string SignatureOf(const problem::Problem& nameless);

// Returns a sentence about the normal form of `problem` with the ids of its buffers.
std::string RestoreNames(const std::string& sentence, const problem::Problem& problem);

// Engines that cache answers across candidates, subgraphs and networks: see engine_cache.cc. Their
// answers do not depend on earlier queries, other callers, or the size of the cache. They only
// decide whether a Problem has an allocation, and do not minimise costs. Thread-safe.
class CachedEngines {
 public:
  // The engines must outlive this object.
  explicit CachedEngines(const Engines& engines, size_t most_bytes = ResultCache::kUsualBytes);
  CachedEngines(const CachedEngines&) = delete;
  CachedEngines& operator=(const CachedEngines&) = delete;
  ~CachedEngines();

  // Returns the caching engines, in the same order and with the same names; valid as long as this
  // object.
  const Engines& Pointers() const { return pointers_; }

  ResultCache::Counts Count() const { return cache_.Count(); }

 private:
  ResultCache cache_;
  std::vector<std::unique_ptr<problem::Engine>> wrapped_;
  Engines pointers_;
};

}  // namespace tessera::search::tiling
