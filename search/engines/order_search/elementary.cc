// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/order_search/elementary.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace tessera::search::engines::order_search {

namespace {

bool NeverLiveTogether(const Instance& instance) {
  for (size_t i = 1; i < instance.first.size(); ++i) {
    if (instance.last[i - 1] > instance.first[i]) return false;
  }
  return true;
}

Offsets Colour(const Instance& instance) {
  using Use = std::pair<int, Bytes>;  // a death, and the place that it frees
  std::priority_queue<Use, std::vector<Use>, std::greater<>> in_use;
  std::vector<Bytes> free;
  Offsets offsets;
  offsets.reserve(instance.size.size());
  for (size_t i = 0; i < instance.size.size(); ++i) {
    for (; !in_use.empty() && in_use.top().first <= instance.first[i]; in_use.pop())
      free.push_back(in_use.top().second);
    Bytes place = static_cast<Bytes>(in_use.size()) * instance.size[i];
    if (!free.empty()) {
      place = free.back();
      free.pop_back();
    }
    in_use.emplace(instance.last[i], place);
    offsets.push_back(place);
  }
  return offsets;
}

}  // namespace

std::optional<Offsets> PlaceElementary(const Instance& instance) {
  if (NeverLiveTogether(instance)) return Offsets(instance.size.size(), 0);
  const bool equal = instance.alignment.empty() &&
                     std::all_of(instance.size.begin(), instance.size.end(),
                                 [&](Bytes size) { return size == instance.size.front(); });
  if (!equal) return std::nullopt;
  return Colour(instance);
}

}  // namespace tessera::search::engines::order_search
