// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/boxing/box_search.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "tessera/search/allocate/occupancy.h"

namespace tessera::search::engines::boxing {

namespace {

std::vector<BoxingSchedule> SchedulesOf(const Instance& instance, BoxingOptions options) {
  std::vector<Bytes> heights = instance.size;
  std::sort(heights.begin(), heights.end());
  std::vector<BoxingSchedule> schedules = {MakeSchedule(heights, instance.greatest_load, options)};
  if (!options.calibration) return schedules;
  options.calibration = false;
  schedules.push_back(MakeSchedule(heights, instance.greatest_load, options));
  return schedules;
}

}  // namespace

Offsets OffsetsOf(const Boxing& boxing) {
  Offsets offsets(boxing.jobs.size(), 0);
  std::map<Bytes, std::vector<int>> outermost;  // by height
  for (size_t i = 0; i < boxing.jobs.size(); ++i) {
    if (boxing.jobs[i].parent < 0) outermost[boxing.jobs[i].height].push_back(static_cast<int>(i));
  }
  Bytes bottom = 0;
  for (auto& [height, boxes] : outermost) {
    const std::vector<int> rows = ColourRows(boxing.jobs, boxes);
    int most = 0;
    for (size_t i = 0; i < boxes.size(); ++i) {
      offsets[static_cast<size_t>(boxes[i])] = bottom + rows[i] * height;
      most = std::max(most, rows[i] + 1);
    }
    bottom += most * height;
  }
  // A box comes after its contents.
  for (size_t i = boxing.jobs.size(); i-- > 0;) {
    const Job& job = boxing.jobs[i];
    if (job.parent >= 0) offsets[i] = offsets[static_cast<size_t>(job.parent)] + job.at;
  }
  return offsets;
}

BoxSearch::BoxSearch(Instance instance, Offsets known, uint64_t seed, const BoxingOptions& options)
    : instance_(std::move(instance)),
      options_(options),
      random_(seed),
      schedules_(SchedulesOf(instance_, options)),
      placed_(instance_) {
  if (!known.empty()) Adopt(std::move(known));
}

void BoxSearch::Adopt(Offsets known) {
  const Bytes top = order_search::TopOf(instance_, known);
  if (top >= top_) return;
  top_ = top;
  best_ = std::move(known);
}

bool BoxSearch::Iterate(Effort& effort) {
  if (best_.empty()) return PlaceBelow(SizeOrder(), allocate::kNoPosition, effort);
  const BoxingSchedule& schedule =
      schedules_[static_cast<size_t>(iterations_++) % schedules_.size()];
  if (!BoxAll(instance_, schedule, options_, random_, effort, boxing_)) return false;
  return PlaceBelow(UnboxedOrder(boxing_), top_ - 1, effort);
}

// Returns the buffers by decreasing size, then life.
Order BoxSearch::SizeOrder() const {
  Order order(instance_.size.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int buffer) {
    const auto i = static_cast<size_t>(buffer);
    return std::tuple(-instance_.size[i], -instance_.life[i], buffer);
  };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  return order;
}

// Returns the buffers by offset; without unboxing, by the offset of the outermost box alone.
Order BoxSearch::UnboxedOrder(const Boxing& boxing) {
  Offsets offsets = OffsetsOf(boxing);
  if (!options_.unboxing) {
    for (size_t i = offsets.size(); i-- > 0;) {
      const int parent = boxing.jobs[i].parent;
      if (parent >= 0) offsets[i] = offsets[static_cast<size_t>(parent)];
    }
  }
  Order order(instance_.size.size());
  std::iota(order.begin(), order.end(), 0);
  random_.Shuffle(std::span<int>(order));
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return offsets[static_cast<size_t>(a)] < offsets[static_cast<size_t>(b)];
  });
  return order;
}

bool BoxSearch::PlaceBelow(const Order& order, Bytes limit, Effort& effort) {
  placed_.Clear();
  offsets_.assign(instance_.size.size(), 0);
  for (const int buffer : order) {
    const int64_t before = placed_.Work();
    const Bytes offset = placed_.FirstFit(buffer, limit);
    if (!effort.Spend(placed_.Work() - before)) return false;
    if (offset < 0) return true;
    offsets_[static_cast<size_t>(buffer)] = offset;
    placed_.Insert(buffer, offset);
  }
  Adopt(offsets_);
  return true;
}

}  // namespace tessera::search::engines::boxing
