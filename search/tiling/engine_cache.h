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

// Results by question, at most so many bytes of them. Questions are equal when their keys are, byte
// for byte. Where room is short, those go first that were used longest ago. Safe to use from
// several threads; what is still there then depends on their pace, so a key must settle the result.
class ResultCache {
 public:
  static constexpr size_t kUsualBytes = size_t{64} << 20;

  explicit ResultCache(size_t most_bytes = kUsualBytes) : most_bytes_(most_bytes) {}

  // The result kept under this key, now the last to go.
  std::optional<problem::Result> Find(std::string_view key);

  // A result that is larger than the cache is not kept, nor is a second one under the same key.
  void Keep(std::string key, const problem::Result& result);

  struct Counts {
    int64_t hits = 0;
    int64_t misses = 0;
    int64_t dropped = 0;  // for want of room
    size_t bytes = 0;     // held; keys, allocations and bookkeeping
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
  std::unordered_map<std::string_view, Entries::iterator>
      position_;  // keys are those of the entries
  Counts counts_;
};

// What is left of a Problem when everything is taken away on which no answer depends: blocks of a
// network that repeat leave the same.

// Buffers are called "#0", "#1", .. in their order and have neither roles nor annotations; the
// Problem, its rules and costs have no names. Where no memory has modes or ports, accesses and
// loops are gone too, and steps are numbered by the births and deaths of buffers alone, in their
// order. An allocation of the one is an allocation of the other.
problem::Problem WithoutNames(const problem::Problem& problem);

// Equal for two such Problems exactly when they are equal but for their sizes.
std::string SignatureOf(const problem::Problem& nameless);

// Puts the buffers' ids back into a sentence about the Problem without names.
std::string RestoreNames(const std::string& sentence, const problem::Problem& problem);

// Engines that remember answers across candidates, subgraphs and networks: see cached_engines.cc.
// They answer alike whatever was asked before, whoever else asks, and however many bytes there are
// to remember in. They decide, and minimise no costs. Safe to share between threads.
class CachedEngines {
 public:
  // The engines outlive this.
  explicit CachedEngines(const Engines& engines, size_t most_bytes = ResultCache::kUsualBytes);
  CachedEngines(const CachedEngines&) = delete;
  CachedEngines& operator=(const CachedEngines&) = delete;
  ~CachedEngines();

  // In the same order and under the same names; they live as long as this does.
  const Engines& Pointers() const { return pointers_; }

  ResultCache::Counts Count() const { return cache_.Count(); }

 private:
  ResultCache cache_;
  std::vector<std::unique_ptr<problem::Engine>> wrapped_;
  Engines pointers_;
};

}  // namespace tessera::search::tiling
