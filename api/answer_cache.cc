// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/answer_cache.h"

#include <algorithm>
#include <functional>

namespace tessera::api {

void CallKey::Add(std::shared_ptr<const std::string> text) {
  constexpr size_t kOdd = 0x9e3779b97f4a7c15;
  hash_ = (hash_ ^ std::hash<std::string>()(*text)) * kOdd;
  texts_.push_back(std::move(text));
}

size_t CallKey::Bytes() const {
  size_t bytes = 0;
  for (const auto& text : texts_) bytes += sizeof(text) + sizeof(std::string) + text->size();
  return bytes;
}

bool operator==(const CallKey& a, const CallKey& b) {
  return a.hash_ == b.hash_ &&
         std::equal(a.texts_.begin(), a.texts_.end(), b.texts_.begin(), b.texts_.end(),
                    [](const auto& x, const auto& y) { return x == y || *x == *y; });
}

AnswerCache::Positions::iterator AnswerCache::PositionOf(const CallKey& key) {
  const auto [begin, end] = positions_.equal_range(key.Hash());
  const auto found =
      std::find_if(begin, end, [&](const auto& each) { return each.second->key == key; });
  return found == end ? positions_.end() : found;
}

std::shared_ptr<const void> AnswerCache::FindAny(const CallKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = PositionOf(key);
  if (found == positions_.end()) {
    ++counts_.misses;
    return nullptr;
  }
  ++counts_.hits;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->answer;
}

void AnswerCache::Keep(CallKey key, std::shared_ptr<const void> answer, size_t bytes) {
  constexpr size_t kBookkeeping = 128;  // list and hash nodes
  bytes += key.Bytes() + kBookkeeping;
  const std::lock_guard lock(mutex_);
  if (bytes > most_bytes_ || PositionOf(key) != positions_.end()) return;
  while (counts_.bytes + bytes > most_bytes_) DropLast();
  const size_t hash = key.Hash();
  // If memory runs out, neither of the two has the entry.
  Entries added;
  added.push_front(Entry{std::move(key), std::move(answer), bytes});
  positions_.emplace(hash, added.begin());
  entries_.splice(entries_.begin(), added);
  counts_.bytes += bytes;
}

void AnswerCache::DropLast() {
  counts_.bytes -= entries_.back().bytes;
  ++counts_.dropped;
  positions_.erase(PositionOf(entries_.back().key));
  entries_.pop_back();
}

AnswerCache::Counts AnswerCache::Count() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void AnswerCache::Clear() {
  const std::lock_guard lock(mutex_);
  positions_.clear();
  entries_.clear();
  counts_.bytes = 0;
}

}  // namespace tessera::api
