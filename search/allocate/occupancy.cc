#include "tessera/search/allocate/occupancy.h"

#include <algorithm>
#include <bit>

namespace tessera::search {

void Merge(RangeList& list, AddressRange range) {
  const auto first = std::partition_point(list.begin(), list.end(),
                                          [&](const AddressRange& r) { return r.end < range.begin; });
  if (first != list.end() && first->begin <= range.begin && range.end <= first->end) return;
  const auto last =
      std::partition_point(first, list.end(), [&](const AddressRange& r) { return r.begin <= range.end; });
  if (first == last) {
    list.insert(first, range);
    return;
  }
  first->begin = std::min(first->begin, range.begin);
  first->end = std::max(std::prev(last)->end, range.end);
  list.erase(std::next(first), last);
}

Occupancy::Occupancy(int sections)
    : width_(static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(sections, 1))))),
      nodes_(2 * static_cast<size_t>(width_)) {}

void Occupancy::Insert(SectionRange sections, AddressRange addresses) {
  Insert(1, {0, width_}, sections, addresses);
}

void Occupancy::Insert(size_t node, SectionRange covered, SectionRange sections, AddressRange addresses) {
  Merge(nodes_[node].some, addresses);
  if (sections.first <= covered.first && covered.last <= sections.last) {
    Merge(nodes_[node].whole, addresses);
    return;
  }
  const int middle = covered.first + (covered.last - covered.first) / 2;
  if (sections.first < middle) Insert(2 * node, {covered.first, middle}, sections, addresses);
  if (sections.last > middle) Insert(2 * node + 1, {middle, covered.last}, sections, addresses);
}

void Occupancy::Collect(SectionRange sections, std::vector<const RangeList*>& lists) const {
  Collect(1, {0, width_}, sections, lists);
}

void Occupancy::Collect(size_t node, SectionRange covered, SectionRange sections,
                        std::vector<const RangeList*>& lists) const {
  if (nodes_[node].some.empty()) return;
  if (sections.first <= covered.first && covered.last <= sections.last) {
    lists.push_back(&nodes_[node].some);
    return;
  }
  if (!nodes_[node].whole.empty()) lists.push_back(&nodes_[node].whole);
  const int middle = covered.first + (covered.last - covered.first) / 2;
  if (sections.first < middle) Collect(2 * node, {covered.first, middle}, sections, lists);
  if (sections.last > middle) Collect(2 * node + 1, {middle, covered.last}, sections, lists);
}

namespace {

// Walks upward through several lists at once.
class GapCursor {
 public:
  explicit GapCursor(const std::vector<const RangeList*>& lists) {
    for (const RangeList* list : lists) tracks_.push_back({list->data(), list->data() + list->size(), 0});
  }

  // The least free position at or above `from`, which must not fall from call to call.
  Bytes Next(const Positions& positions, Bytes from) {
    Bytes position = positions.AtLeast(from);
    for (bool moved = true; moved && position < kNowhere;) {
      moved = false;
      for (Track& track : tracks_) {
        Gallop(track, position);
        if (track.next == track.end || track.next->begin >= position + positions.Size()) continue;
        position = positions.AtLeast(track.next->end);
        moved = true;
      }
    }
    return position;
  }

  // The free bytes around the position last returned.
  AddressRange Gap() const {
    AddressRange gap{0, kNowhere};
    for (const Track& track : tracks_) {
      gap.begin = std::max(gap.begin, track.passed);
      if (track.next != track.end) gap.end = std::min(gap.end, track.next->begin);
    }
    return gap;
  }

 private:
  struct Track {
    const AddressRange* next;  // the first range that ends above the position
    const AddressRange* end;
    Bytes passed;  // end of the range before it
  };

  // Doubling strides, then bisection: O(log of the distance).
  static void Gallop(Track& track, Bytes position) {
    if (track.next == track.end || track.next->end > position) return;
    std::ptrdiff_t stride = 1;
    while (stride < track.end - track.next && track.next[stride].end <= position) stride *= 2;
    const AddressRange* limit = track.next + std::min<std::ptrdiff_t>(stride, track.end - track.next);
    track.next = std::partition_point(track.next + stride / 2, limit,
                                      [&](const AddressRange& r) { return r.end <= position; });
    track.passed = track.next[-1].end;
  }

  std::vector<Track> tracks_;
};

}  // namespace

Bytes FindFit(const Positions& positions, const std::vector<const RangeList*>& taken, Fit fit) {
  GapCursor cursor(taken);
  Bytes position = cursor.Next(positions, 0);
  if (fit == Fit::kFirst) return position;
  Bytes best = kNowhere, best_gap = kNowhere;
  while (position < kNowhere) {
    const AddressRange gap = cursor.Gap();
    if (best == kNowhere || gap.end - gap.begin < best_gap) {
      best = position;
      best_gap = gap.end - gap.begin;
    }
    if (gap.end >= kNowhere) break;
    position = cursor.Next(positions, gap.end);
  }
  return best;
}

bool IsFree(const std::vector<const RangeList*>& taken, AddressRange range) {
  return std::none_of(taken.begin(), taken.end(), [&](const RangeList* list) {
    const auto next = std::partition_point(list->begin(), list->end(),
                                           [&](const AddressRange& r) { return r.end <= range.begin; });
    return next != list->end() && next->begin < range.end;
  });
}

}  // namespace tessera::search
