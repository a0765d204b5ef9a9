// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/order_search/skyline.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

namespace tessera::search::engines::order_search {

namespace {
constexpr int kNone = std::numeric_limits<int>::max();
}  // namespace

Skyline::Skyline(const Instance& instance)
    : instance_(instance), first_buffer_(FirstBuffers(instance)) {
  width_ = std::bit_ceil(std::max<size_t>(instance.size.size(), 1));
  tree_.resize(2 * width_);
  rank_.resize(instance.size.size());
  segments_.resize(instance.load.size());
}

void Skyline::Reset(const Order& order) {
  order_ = &order;
  for (size_t rank = 0; rank < order.size(); ++rank)
    rank_[static_cast<size_t>(order[rank])] = static_cast<int>(rank);
  for (size_t i = 0; i < width_; ++i)
    tree_[width_ + i] = i < rank_.size() ? Node{instance_.last[i], rank_[i]} : Node{kNone, kNone};
  for (size_t node = width_ - 1; node > 0; --node) {
    const Node& left = tree_[2 * node];
    const Node& right = tree_[2 * node + 1];
    tree_[node] = {std::min(left.earliest_death, right.earliest_death),
                   std::min(left.best_rank, right.best_rank)};
  }
  std::fill(segments_.begin(), segments_.end(), Segment{});
  by_height_.clear();
}

bool Skyline::Place(const Order& order, Offsets& offsets, Effort& effort) {
  offsets.assign(order.size(), 0);
  if (order.empty()) return true;
  Reset(order);
  Write(0, instance_.Sections(), 0, -1, -1);
  for (size_t left = order.size(); left > 0;) {
    std::pop_heap(by_height_.begin(), by_height_.end(), std::greater<>());
    const auto [height, at] = by_height_.back();
    by_height_.pop_back();
    const Segment& segment = segments_[static_cast<size_t>(at)];
    if (!segment.exists || segment.height != height) continue;
    query_begin_ = first_buffer_[static_cast<size_t>(at)];
    query_end_ = first_buffer_[static_cast<size_t>(segment.end)];
    latest_death_ = segment.end;
    found_ = kNone;
    if (query_begin_ < query_end_) FindBest(1, 0, static_cast<int>(width_));
    if (found_ == kNone) {
      Lift(at);
      continue;
    }
    if (!effort.Spend(1)) return false;
    const int buffer = order[static_cast<size_t>(found_)];
    const Bytes offset = instance_.Align(buffer, height);
    offsets[static_cast<size_t>(buffer)] = offset;
    Remove(buffer);
    Cover(at, buffer, instance_.Top(buffer, offset));
    --left;
  }
  return true;
}

// Finds the best rank among the buffers that begin and end in the segment.
void Skyline::FindBest(size_t node, int begin, int end) {
  if (end <= query_begin_ || query_end_ <= begin) return;
  const Node& seen = tree_[node];
  if (seen.earliest_death > latest_death_ || seen.best_rank >= found_) return;
  if (query_begin_ <= begin && end <= query_end_) {
    const auto best = static_cast<size_t>((*order_)[static_cast<size_t>(seen.best_rank)]);
    if (instance_.last[best] <= latest_death_) {
      found_ = seen.best_rank;
      return;
    }
  }
  if (node >= width_) return;
  const int middle = begin + (end - begin) / 2;
  if (tree_[2 * node].best_rank <= tree_[2 * node + 1].best_rank) {
    FindBest(2 * node, begin, middle);
    FindBest(2 * node + 1, middle, end);
  } else {
    FindBest(2 * node + 1, middle, end);
    FindBest(2 * node, begin, middle);
  }
}

void Skyline::Remove(int buffer) {
  size_t node = width_ + static_cast<size_t>(buffer);
  tree_[node] = {kNone, kNone};
  for (node /= 2; node > 0; node /= 2) {
    const Node& left = tree_[2 * node];
    const Node& right = tree_[2 * node + 1];
    tree_[node] = {std::min(left.earliest_death, right.earliest_death),
                   std::min(left.best_rank, right.best_rank)};
  }
}

// Raises a segment to its lower neighbour, and joins them.
void Skyline::Lift(int at) {
  const Segment segment = segments_[static_cast<size_t>(at)];
  int begin = at, end = segment.end, before = segment.before, after = segment.after;
  Bytes height = std::numeric_limits<Bytes>::max();
  if (before >= 0) height = segments_[static_cast<size_t>(before)].height;
  if (after >= 0) height = std::min(height, segments_[static_cast<size_t>(after)].height);
  if (after >= 0 && segments_[static_cast<size_t>(after)].height == height) {
    Segment& joined = segments_[static_cast<size_t>(after)];
    joined.exists = false;
    end = joined.end;
    after = joined.after;
  }
  if (before >= 0 && segments_[static_cast<size_t>(before)].height == height) {
    segments_[static_cast<size_t>(at)].exists = false;
    begin = before;
    before = segments_[static_cast<size_t>(before)].before;
  }
  Write(begin, end, height, before, after);
}

// Puts a buffer on the segment. The parts of the segment on both sides of the buffer become
// separate segments.
void Skyline::Cover(int at, int buffer, Bytes top) {
  const Segment segment = segments_[static_cast<size_t>(at)];
  int begin = instance_.first[static_cast<size_t>(buffer)];
  int end = instance_.last[static_cast<size_t>(buffer)];
  int before = segment.before, after = segment.after;
  segments_[static_cast<size_t>(at)].exists = false;
  if (at < begin) {
    Write(at, begin, segment.height, before, begin);
    before = at;
  } else if (before >= 0 && segments_[static_cast<size_t>(before)].height == top) {
    begin = before;
    before = segments_[static_cast<size_t>(before)].before;
  }
  if (end < segment.end) {
    Write(end, segment.end, segment.height, begin, after);
    after = end;
  } else if (after >= 0 && segments_[static_cast<size_t>(after)].height == top) {
    segments_[static_cast<size_t>(after)].exists = false;
    end = segments_[static_cast<size_t>(after)].end;
    after = segments_[static_cast<size_t>(after)].after;
  }
  Write(begin, end, top, before, after);
}

void Skyline::Write(int at, int end, Bytes height, int before, int after) {
  segments_[static_cast<size_t>(at)] = {height, end, before, after, true};
  if (before >= 0) segments_[static_cast<size_t>(before)].after = at;
  if (after >= 0) segments_[static_cast<size_t>(after)].before = at;
  by_height_.emplace_back(height, at);
  std::push_heap(by_height_.begin(), by_height_.end(), std::greater<>());
}

}  // namespace tessera::search::engines::order_search
