// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/occupancy.h"

#include <algorithm>
#include <bit>

namespace tessera::search::allocate {

using problem::Lifespan;
using problem::Problem;
using problem::Step;

Sections FindSections(const Problem& problem, std::span<const int> buffers) {
  std::vector<Step> births, deaths;
  for (const int buffer : buffers) {
    for (const Lifespan& life : problem.buffers[static_cast<size_t>(buffer)].lifespans) {
      births.push_back(life.lower);
      deaths.push_back(life.upper);
    }
  }
  std::sort(births.begin(), births.end());
  std::sort(deaths.begin(), deaths.end());

  // A death closes a maximal section if there was a birth since the last death.
  Sections sections;
  std::vector<Step> closings;
  size_t born = 0;
  for (const Step death : deaths) {
    if (born == births.size() || births[born] >= death) continue;
    while (born < births.size() && births[born] < death) ++born;
    sections.steps.push_back(births[born - 1]);
    closings.push_back(death);
  }

  // A life contains section s if it begins no later than the section's last birth and ends no
  // earlier than its death.
  sections.ranges.reserve(buffers.size());
  for (const int buffer : buffers) {
    std::vector<SectionRange>& ranges = sections.ranges.emplace_back();
    for (const Lifespan& life : problem.buffers[static_cast<size_t>(buffer)].lifespans) {
      const auto first = std::lower_bound(sections.steps.begin(), sections.steps.end(), life.lower);
      const auto last = std::upper_bound(closings.begin(), closings.end(), life.upper);
      ranges.push_back({static_cast<int>(first - sections.steps.begin()),
                        static_cast<int>(last - closings.begin())});
    }
  }
  return sections;
}

std::vector<int> BuffersOf(const Problem& problem, int memory) {
  std::vector<int> indices;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].memory == memory) indices.push_back(static_cast<int>(i));
  }
  return indices;
}

using problem::Buffer;
using problem::Memory;
using problem::Problem;
using problem::Span;

Positions::Positions(std::vector<AddressRange> windows, Bytes alignment, Bytes size)
    : windows_(std::move(windows)), alignment_(alignment), size_(size) {
  plain_ = alignment_ == 1 && windows_.size() == 1 && windows_[0] == AddressRange{0, kNoPosition};
}

Bytes Positions::Search(Bytes offset) const {
  auto window = std::partition_point(windows_.begin(), windows_.end(),
                                     [&](const AddressRange& w) { return w.end < offset + size_; });
  for (; window != windows_.end(); ++window) {
    const Bytes position = base::RoundUp(std::max(offset, window->begin), alignment_);
    if (position + size_ <= window->end) return position;
  }
  return kNoPosition;
}

Bytes Positions::SearchBelow(Bytes offset) const {
  auto window = std::partition_point(windows_.begin(), windows_.end(),
                                     [&](const AddressRange& w) { return w.begin < offset; });
  while (window != windows_.begin()) {
    --window;
    const Bytes position = base::RoundDown(std::min(offset - 1, window->end - size_), alignment_);
    if (position >= window->begin) return position;
  }
  return -1;
}

void Subtract(std::vector<AddressRange>& windows, AddressRange hole) {
  std::vector<AddressRange> rest;
  for (const AddressRange& window : windows) {
    const AddressRange low{window.begin, std::min(window.end, hole.begin)};
    const AddressRange high{std::max(window.begin, hole.end), window.end};
    if (low.begin < low.end) rest.push_back(low);
    if (high.begin < high.end) rest.push_back(high);
  }
  windows = std::move(rest);
}

void SubtractAll(std::vector<AddressRange>& windows, std::vector<AddressRange> holes) {
  problem::SortByBegin(holes);
  std::vector<AddressRange> rest;
  auto hole = holes.begin();
  for (const AddressRange& window : windows) {
    Bytes begin = window.begin;
    while (hole != holes.end() && hole->end <= begin) ++hole;
    for (auto next = hole; next != holes.end() && next->begin < window.end; ++next) {
      if (begin < next->begin) rest.push_back({begin, next->begin});
      begin = std::max(begin, next->end);
    }
    if (begin < window.end) rest.push_back({begin, window.end});
  }
  windows = std::move(rest);
}

namespace {

std::vector<AddressRange> AllowedBankRanges(const Memory& memory, const Buffer& buffer) {
  std::vector<AddressRange> ranges;
  for (size_t i = 0; i < memory.banks.size(); ++i) {
    const auto& allowed = buffer.allowed_banks;
    const bool all = allowed.empty();
    if (all || std::find(allowed.begin(), allowed.end(), static_cast<int>(i)) != allowed.end()) {
      ranges.push_back(memory.banks[i].range);
    }
  }
  problem::SortByBegin(ranges);
  return ranges;
}

// Ranges that touch are merged: a contiguous buffer may cross the boundary.
std::vector<AddressRange> Fuse(const std::vector<AddressRange>& ranges) {
  std::vector<AddressRange> fused;
  for (const AddressRange& range : ranges) {
    if (!fused.empty() && fused.back().end == range.begin) {
      fused.back().end = range.end;
    } else {
      fused.push_back(range);
    }
  }
  return fused;
}

std::vector<AddressRange> WindowsInBanks(const Memory& memory, const Buffer& buffer) {
  if (memory.banks.empty()) return {{0, kNoPosition}};
  if (buffer.span == Span::kSingle) return AllowedBankRanges(memory, buffer);
  if (buffer.span == Span::kContiguous) return Fuse(AllowedBankRanges(memory, buffer));
  std::vector<AddressRange> windows = {{0, kNoPosition}};
  if (buffer.allowed_banks.empty()) return windows;
  for (size_t i = 0; i < memory.banks.size(); ++i) {
    const auto& allowed = buffer.allowed_banks;
    const bool forbidden =
        std::find(allowed.begin(), allowed.end(), static_cast<int>(i)) == allowed.end();
    if (forbidden) Subtract(windows, memory.banks[i].range);
  }
  return windows;
}

}  // namespace

std::vector<AddressRange> WindowsOf(const Problem& problem, const Buffer& buffer) {
  const Memory& memory = problem.memories[static_cast<size_t>(buffer.memory)];
  std::vector<AddressRange> windows = WindowsInBanks(memory, buffer);
  for (const problem::Reserved& reserved : memory.reserved) Subtract(windows, reserved.range);
  return windows;
}

void Merge(RangeList& list, AddressRange range) {
  const auto first = std::partition_point(
      list.begin(), list.end(), [&](const AddressRange& r) { return r.end < range.begin; });
  if (first != list.end() && first->begin <= range.begin && range.end <= first->end) return;
  const auto last = std::partition_point(
      first, list.end(), [&](const AddressRange& r) { return r.begin <= range.end; });
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

void Occupancy::Insert(size_t node, SectionRange covered, SectionRange sections,
                       AddressRange addresses) {
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

// Moves upward through several lists simultaneously.
class GapCursor {
 public:
  explicit GapCursor(const std::vector<const RangeList*>& lists) {
    for (const RangeList* list : lists)
      tracks_.push_back({list->data(), list->data() + list->size(), 0});
  }

  // Returns the least free position at or above `from`, which must not decrease between calls.
  Bytes Next(const Positions& positions, Bytes from) {
    Bytes position = positions.AtLeast(from);
    for (bool moved = true; moved && position < kNoPosition;) {
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

  // Returns the free bytes around the last returned position.
  AddressRange Gap() const {
    AddressRange gap{0, kNoPosition};
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
    const AddressRange* limit =
        track.next + std::min<std::ptrdiff_t>(stride, track.end - track.next);
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
  Bytes best = kNoPosition, best_gap = kNoPosition;
  while (position < kNoPosition) {
    const AddressRange gap = cursor.Gap();
    if (best == kNoPosition || gap.end - gap.begin < best_gap) {
      best = position;
      best_gap = gap.end - gap.begin;
    }
    if (gap.end >= kNoPosition) break;
    position = cursor.Next(positions, gap.end);
  }
  return best;
}

bool IsFree(const std::vector<const RangeList*>& taken, AddressRange range) {
  return std::none_of(taken.begin(), taken.end(), [&](const RangeList* list) {
    const auto next = std::partition_point(
        list->begin(), list->end(), [&](const AddressRange& r) { return r.end <= range.begin; });
    return next != list->end() && next->begin < range.end;
  });
}

}  // namespace tessera::search::allocate
