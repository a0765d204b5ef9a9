// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/order_search/quick_placements.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <queue>
#include <set>
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

constexpr int kBuffersPerUnit = 4;

// The free ranges of the memory by address and by size. The last one has no end, so some range
// always has room for a buffer.
class FreeRanges {
 public:
  FreeRanges() { Add(0, kNoTop); }

  // Takes the smallest range in which the buffer fits; among equal ones, the lowest.
  Bytes Take(const Instance& instance, int buffer) {
    const Bytes size = instance.size[static_cast<size_t>(buffer)];
    auto range = by_size_.lower_bound({size, 0});
    while (instance.Align(buffer, range->second) - range->second > range->first - size) ++range;
    const auto [length, begin] = *range;
    by_size_.erase(range);
    const Bytes offset = instance.Align(buffer, begin), end = offset + size;
    if (begin < offset) {
      by_address_[begin] = offset;
      by_size_.emplace(offset - begin, begin);
    } else {
      by_address_.erase(begin);
    }
    if (end < begin + length) Add(end, begin + length);
    return offset;
  }

  void Return(Bytes begin, Bytes end) {
    auto after = by_address_.lower_bound(begin);
    if (after != by_address_.begin()) {
      const auto before = std::prev(after);
      if (before->second == begin) {
        begin = before->first;
        Forget(before);
      }
    }
    if (after != by_address_.end() && after->first == end) {
      end = after->second;
      Forget(after);
    }
    Add(begin, end);
  }

 private:
  using ByAddress = std::map<Bytes, Bytes>;  // begin, end

  void Add(Bytes begin, Bytes end) {
    by_address_.emplace(begin, end);
    by_size_.emplace(end - begin, begin);
  }

  void Forget(ByAddress::iterator range) {
    by_size_.erase({range->second - range->first, range->first});
    by_address_.erase(range);
  }

  ByAddress by_address_;
  std::set<std::pair<Bytes, Bytes>> by_size_;  // size, begin
};

// The buffers by the section at the beginning of which they are dead.
struct Deaths {
  explicit Deaths(const Instance& instance)
      : begin(static_cast<size_t>(instance.Sections()) + 2), buffers(instance.size.size()) {
    for (const int last : instance.last) ++begin[static_cast<size_t>(last) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<int> next(begin.begin(), begin.end() - 1);
    for (int i = 0; i < instance.Count(); ++i) {
      const auto section = static_cast<size_t>(instance.last[static_cast<size_t>(i)]);
      buffers[static_cast<size_t>(next[section]++)] = i;
    }
  }

  std::vector<int> begin;  // by section, 0 to Sections() included, and the end
  std::vector<int> buffers;
};

}  // namespace

std::optional<Offsets> PlaceElementary(const Instance& instance) {
  if (NeverLiveTogether(instance)) return Offsets(instance.size.size(), 0);
  const bool equal = instance.alignment.empty() &&
                     std::all_of(instance.size.begin(), instance.size.end(),
                                 [&](Bytes size) { return size == instance.size.front(); });
  if (!equal) return std::nullopt;
  return Colour(instance);
}

std::optional<Offsets> PlaceBySweep(const Instance& instance, Effort& effort) {
  const Deaths deaths(instance);
  FreeRanges free;
  Offsets offsets(instance.size.size(), 0);
  int dead = 0;
  for (int i = 0; i < instance.Count(); ++i) {
    const auto section = static_cast<size_t>(instance.first[static_cast<size_t>(i)]);
    for (; dead < deaths.begin[section + 1]; ++dead) {
      const int old = deaths.buffers[static_cast<size_t>(dead)];
      const Bytes begin = offsets[static_cast<size_t>(old)];
      free.Return(begin, instance.Top(old, begin));
    }
    offsets[static_cast<size_t>(i)] = free.Take(instance, i);
    if (i % kBuffersPerUnit == 0 && !effort.Spend(1)) return std::nullopt;
  }
  return offsets;
}

}  // namespace tessera::search::engines::order_search
