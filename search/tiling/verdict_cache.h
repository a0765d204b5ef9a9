#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tessera/problem/result.h"

namespace tessera::search {

// Results by question, at most so many bytes of them. Questions are equal when their keys are, byte for byte.
// Where room is short, those go first that were used longest ago. Safe to use from several threads; what is still
// there then depends on their pace, so a key must settle the result.
class VerdictCache {
 public:
  static constexpr size_t kUsualBytes = size_t{64} << 20;

  explicit VerdictCache(size_t most_bytes = kUsualBytes) : most_bytes_(most_bytes) {}

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
  Entries entries_;                                                   // used last first
  std::unordered_map<std::string_view, Entries::iterator> position_;  // keys are those of the entries
  Counts counts_;
};

}  // namespace tessera::search
