#include "tessera/search/allocate/canonical_cache.h"

#include <algorithm>

namespace tessera::search {

bool FailureCache::Holds(std::span<const Bytes> state) const {
  const std::vector<Bytes>& slot = slots_[SlotOf(state)];
  return !slot.empty() && std::equal(slot.begin(), slot.end(), state.begin(), state.end());
}

void FailureCache::Insert(std::span<const Bytes> state) {
  std::vector<Bytes>& slot = slots_[SlotOf(state)];
  if (words_ - slot.size() + state.size() > kMostWords) return;
  words_ += state.size() - slot.size();
  slot.assign(state.begin(), state.end());
  slot.shrink_to_fit();
}

size_t FailureCache::SlotOf(std::span<const Bytes> state) {
  uint64_t hash = state.size();
  for (const Bytes word : state) {
    hash = (hash ^ static_cast<uint64_t>(word)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29;
  }
  return static_cast<size_t>(hash % kSlots);
}

}  // namespace tessera::search
