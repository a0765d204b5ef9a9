#include "tessera/search/tiling/verdict_cache.h"

#include <utility>

namespace tessera::search {
namespace {

size_t BytesOf(const std::string& key, const problem::Result& result) {
  constexpr size_t kBookkeeping = 128;  // list and hash nodes
  size_t bytes = kBookkeeping + sizeof(problem::Result) + key.size() + result.reason.size();
  if (!result.allocation) return bytes;
  bytes += result.allocation->offsets.size() * sizeof(problem::Bytes);
  for (const problem::ModeSchedule& schedule : result.allocation->modes)
    bytes += sizeof(problem::ModeSchedule) + schedule.size() * sizeof(int);
  return bytes;
}

}  // namespace

std::optional<problem::Result> VerdictCache::Find(std::string_view key) {
  const std::lock_guard lock(mutex_);
  const auto found = position_.find(key);
  if (found == position_.end()) {
    ++counts_.misses;
    return std::nullopt;
  }
  ++counts_.hits;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->result;
}

void VerdictCache::Keep(std::string key, const problem::Result& result) {
  const size_t bytes = BytesOf(key, result);
  const std::lock_guard lock(mutex_);
  if (bytes > most_bytes_ || position_.contains(key)) return;
  while (counts_.bytes + bytes > most_bytes_) {
    counts_.bytes -= entries_.back().bytes;
    ++counts_.dropped;
    position_.erase(entries_.back().key);
    entries_.pop_back();
  }
  entries_.push_front(Entry{std::move(key), result, bytes});
  position_.emplace(entries_.front().key, entries_.begin());
  counts_.bytes += bytes;
}

VerdictCache::Counts VerdictCache::Count() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace tessera::search
