// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/order_search/placed_buffers.h"

#include <algorithm>
#include <bit>

namespace tessera::search::engines::order_search {

using problem::AddressRange;

namespace {

constexpr int kBlock = 16;             // sections
constexpr int64_t kListsPerUnit = 16;  // of work

// Returns the first range that ends beyond `position`, by doubling steps.
const AddressRange* Advance(const AddressRange* range, const AddressRange* end, Bytes position) {
  if (range == end || range->end > position) return range;
  std::ptrdiff_t step = 1;
  while (end - range > step && range[step].end <= position) {
    range += step;
    step *= 2;
  }
  const AddressRange* const bound = end - range > step ? range + step : end;
  return std::partition_point(range + 1, bound,
                              [&](const AddressRange& r) { return r.end <= position; });
}

}  // namespace

PlacedBuffers::PlacedBuffers(const Instance& instance) : instance_(instance) {
  const auto blocks = static_cast<size_t>(instance.Sections() / kBlock) + 1;
  width_ = std::bit_ceil(blocks);
  nodes_.resize(2 * width_);
  parts_.resize(blocks);
}

void PlacedBuffers::Clear() {
  for (Node& node : nodes_) {
    node.whole.clear();
    node.some.clear();
  }
  for (std::vector<Part>& parts : parts_) parts.clear();
}

PlacedBuffers::Blocks PlacedBuffers::BlocksOf(int buffer) const {
  const int first = instance_.first[static_cast<size_t>(buffer)];
  const int last = instance_.last[static_cast<size_t>(buffer)];
  Blocks blocks{first / kBlock, (last - 1) / kBlock + 1, {0, 0}, 0};
  if (first % kBlock != 0) blocks.partial[blocks.partials++] = blocks.first++;
  if (last % kBlock != 0 && blocks.first < blocks.last)
    blocks.partial[blocks.partials++] = --blocks.last;
  return blocks;
}

// Collects the nodes from a node's parent to the root, each once at most by the end of a call.
void PlacedBuffers::MarkAncestors(size_t node) {
  for (node /= 2; node > 0; node /= 2) ancestors_.push_back(node);
}

void PlacedBuffers::Insert(int buffer, Bytes offset) {
  const AddressRange addresses{offset, instance_.Top(buffer, offset)};
  const Blocks blocks = BlocksOf(buffer);
  ancestors_.clear();
  for (int i = 0; i < blocks.partials; ++i) {
    const auto block = static_cast<size_t>(blocks.partial[i]);
    parts_[block].push_back({addresses, instance_.first[static_cast<size_t>(buffer)],
                             instance_.last[static_cast<size_t>(buffer)]});
    ancestors_.push_back(width_ + block);
    MarkAncestors(width_ + block);
  }
  size_t left = width_ + static_cast<size_t>(blocks.first);
  size_t right = width_ + static_cast<size_t>(std::max(blocks.first, blocks.last));
  const auto cover = [&](size_t node) {
    allocate::Merge(nodes_[node].whole, addresses);
    ancestors_.push_back(node);
    MarkAncestors(node);
  };
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2 == 1) cover(left++);
    if (right % 2 == 1) cover(--right);
  }
  std::sort(ancestors_.begin(), ancestors_.end());
  ancestors_.erase(std::unique(ancestors_.begin(), ancestors_.end()), ancestors_.end());
  for (const size_t node : ancestors_) allocate::Merge(nodes_[node].some, addresses);
  work_ += static_cast<int64_t>(ancestors_.size()) / kListsPerUnit + 1;
}

void PlacedBuffers::Add(const allocate::RangeList& list) {
  if (!list.empty()) cursors_.push_back({list.data(), list.data() + list.size()});
}

// Collects the addresses of the parts in the block that live with the buffer, coalesced.
void PlacedBuffers::AddParts(int block, int first, int last, size_t list) {
  allocate::RangeList& ranges = own_parts_[list];
  ranges.clear();
  for (const Part& part : parts_[static_cast<size_t>(block)]) {
    if (part.first < last && first < part.last) ranges.push_back(part.addresses);
  }
  problem::SortByBegin(ranges);
  size_t kept = 0;
  for (const AddressRange& range : ranges) {
    if (kept > 0 && ranges[kept - 1].end >= range.begin) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
  Add(ranges);
}

// Collects the lists whose union is the set of addresses occupied during the buffer's life.
void PlacedBuffers::Collect(int buffer) {
  const Blocks blocks = BlocksOf(buffer);
  cursors_.clear();
  ancestors_.clear();
  for (int i = 0; i < blocks.partials; ++i) {
    AddParts(blocks.partial[i], instance_.first[static_cast<size_t>(buffer)],
             instance_.last[static_cast<size_t>(buffer)], static_cast<size_t>(i));
    const size_t leaf = width_ + static_cast<size_t>(blocks.partial[i]);
    ancestors_.push_back(leaf);
    MarkAncestors(leaf);
  }
  size_t left = width_ + static_cast<size_t>(blocks.first);
  size_t right = width_ + static_cast<size_t>(std::max(blocks.first, blocks.last));
  const auto cover = [&](size_t node) {
    Add(nodes_[node].some);
    MarkAncestors(node);
  };
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2 == 1) cover(left++);
    if (right % 2 == 1) cover(--right);
  }
  std::sort(ancestors_.begin(), ancestors_.end());
  ancestors_.erase(std::unique(ancestors_.begin(), ancestors_.end()), ancestors_.end());
  for (const size_t node : ancestors_) Add(nodes_[node].whole);
}

// Visits the lists in turn. A list whose next range begins below the end of the buffer moves the
// buffer above that range. A position that all lists accept consecutively is free.
Bytes PlacedBuffers::FirstFit(int buffer, Bytes limit) {
  Collect(buffer);
  const Bytes size = instance_.size[static_cast<size_t>(buffer)];
  Bytes position = 0;
  size_t accepted = 0;
  int64_t looks = static_cast<int64_t>(cursors_.size());
  bool fits = position + size <= limit;
  for (size_t i = 0; fits && accepted < cursors_.size(); i = i + 1 == cursors_.size() ? 0 : i + 1) {
    Cursor& cursor = cursors_[i];
    bool moved = false;
    for (;;) {
      cursor.next = Advance(cursor.next, cursor.end, position);
      if (cursor.next == cursor.end || cursor.next->begin >= position + size) break;
      position = instance_.Align(buffer, cursor.next->end);
      fits = position + size <= limit;
      moved = true;
      if (!fits) break;
    }
    ++looks;
    accepted = moved ? 1 : accepted + 1;
  }
  work_ += looks / kListsPerUnit + 1;
  return fits ? position : -1;
}

bool PlaceByFirstFit(const Instance& instance, PlacedBuffers& placed, const Order& order,
                     Offsets& offsets, Effort& effort) {
  placed.Clear();
  offsets.assign(instance.size.size(), 0);
  for (const int buffer : order) {
    const int64_t before = placed.Work();
    const Bytes offset = placed.FirstFit(buffer, allocate::kNoPosition);
    offsets[static_cast<size_t>(buffer)] = offset;
    placed.Insert(buffer, offset);
    if (!effort.Spend(placed.Work() - before)) return false;
  }
  return true;
}

}  // namespace tessera::search::engines::order_search
