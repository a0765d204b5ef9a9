// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

// Private: a cache of the answers of calls, by their inputs.
namespace tessera::api {

// The texts that determine the answer of a call; the first names the kind of call. Keys are equal
// if all texts are, byte for byte; a hash only finds the candidates. Keys share the texts of
// networks and problems with these objects, so a key of a large network is small.
class CallKey {
 public:
  explicit CallKey(const std::string& kind) { Add(kind); }

  void Add(std::shared_ptr<const std::string> text);
  void Add(const std::string& text) { Add(std::make_shared<const std::string>(text)); }

  size_t Hash() const { return hash_; }
  size_t Bytes() const;
  friend bool operator==(const CallKey& a, const CallKey& b);

 private:
  std::vector<std::shared_ptr<const std::string>> texts_;
  size_t hash_ = 0;
};

// Keeps answers within a limit of bytes. If space is short, the least recently used are dropped
// first. Thread-safe.
class AnswerCache {
 public:
  explicit AnswerCache(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Returns the answer for this key, or nullptr. The kind of the key determines the type.
  template <typename Answer>
  std::shared_ptr<const Answer> Find(const CallKey& key) {
    return std::static_pointer_cast<const Answer>(FindAny(key));
  }

  // Keeps an answer of about `bytes` bytes, unless it is too large or the cache has the key.
  void Keep(CallKey key, std::shared_ptr<const void> answer, size_t bytes);

  struct Counts {
    int64_t hits = 0;
    int64_t misses = 0;
    int64_t dropped = 0;
    size_t bytes = 0;
  };
  Counts Count() const;
  void Clear();

 private:
  struct Entry {
    CallKey key;
    std::shared_ptr<const void> answer;
    size_t bytes = 0;
  };
  using Entries = std::list<Entry>;
  using Positions = std::unordered_multimap<size_t, Entries::iterator>;  // by hash

  std::shared_ptr<const void> FindAny(const CallKey& key);
  Positions::iterator PositionOf(const CallKey& key);
  void DropLast();

  const size_t most_bytes_;
  mutable std::mutex mutex_;
  Entries entries_;  // most recently used first
  Positions positions_;
  Counts counts_;
};

}  // namespace tessera::api
