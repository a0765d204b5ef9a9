// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/choose/fill.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace tessera::search::choose {

namespace order_search = engines::order_search;

namespace {

// The loads of sections: a segment tree that adds to a range and finds the greatest of a range.
class SectionLoads {
 public:
  explicit SectionLoads(int sections)
      : width_(std::bit_ceil(static_cast<size_t>(std::max(sections, 1)))),
        most_(2 * width_, 0),
        added_(2 * width_, 0) {}

  Bytes Greatest(int first, int last) const { return Greatest(1, 0, width_, At(first), At(last)); }
  void Add(int first, int last, Bytes bytes) { Add(1, 0, width_, At(first), At(last), bytes); }

 private:
  static size_t At(int section) { return static_cast<size_t>(section); }

  Bytes Greatest(size_t node, size_t begin, size_t end, size_t first, size_t last) const {
    if (last <= begin || end <= first) return 0;
    if (first <= begin && end <= last) return most_[node];
    const size_t middle = (begin + end) / 2;
    return added_[node] + std::max(Greatest(2 * node, begin, middle, first, last),
                                   Greatest(2 * node + 1, middle, end, first, last));
  }

  void Add(size_t node, size_t begin, size_t end, size_t first, size_t last, Bytes bytes) {
    if (last <= begin || end <= first) return;
    if (first <= begin && end <= last) {
      most_[node] += bytes;
      added_[node] += bytes;
      return;
    }
    const size_t middle = (begin + end) / 2;
    Add(2 * node, begin, middle, first, last, bytes);
    Add(2 * node + 1, middle, end, first, last, bytes);
    most_[node] = added_[node] + std::max(most_[2 * node], most_[2 * node + 1]);
  }

  size_t width_;
  std::vector<Bytes> most_;   // of the range of a node, with its own sums
  std::vector<Bytes> added_;  // to the whole range of a node
};

std::vector<int> ItemOfBuffers(const Items& items, const order_search::Instance& instance) {
  std::vector<int> item_of_problem;
  for (size_t i = 0; i < items.all.size(); ++i) {
    for (const int buffer : items.all[i].buffers) {
      if (item_of_problem.size() <= static_cast<size_t>(buffer))
        item_of_problem.resize(static_cast<size_t>(buffer) + 1, -1);
      item_of_problem[static_cast<size_t>(buffer)] = static_cast<int>(i);
    }
  }
  std::vector<int> item_of;
  for (const int origin : instance.origin)
    item_of.push_back(item_of_problem[static_cast<size_t>(origin)]);
  return item_of;
}

}  // namespace

Filler::Filler(const Items& items, const Prices& prices, const order_search::Instance& instance,
               Bytes capacity, uint64_t seed)
    : items_(items),
      prices_(prices),
      instance_(instance),
      capacity_(capacity),
      random_(seed),
      traits_(instance, order_search::ContentionOf(instance)),
      placed_(instance),
      item_of_(ItemOfBuffers(items, instance)),
      lift_(instance.size.size(), 0) {
  for (int i = 0; i < instance.Count(); ++i) by_attraction_.push_back(i);
  const auto key = [&](int buffer) {
    const auto item = static_cast<size_t>(item_of_[static_cast<size_t>(buffer)]);
    return std::tuple(items_.all[item].is_optional, -prices_.Attraction(item), buffer);
  };
  std::sort(by_attraction_.begin(), by_attraction_.end(),
            [&](int a, int b) { return key(a) < key(b); });
  for (const Bytes thousandths : {1000, 975, 950})
    sets_.push_back(AdmittedTo(capacity_ / 1000 * thousandths + capacity_ % 1000));
}

std::vector<bool> Filler::AdmittedTo(Bytes capacity) const {
  std::vector<bool> admitted(instance_.size.size(), false);
  SectionLoads loads(instance_.Sections());
  for (const int buffer : by_attraction_) {
    const auto i = static_cast<size_t>(buffer);
    const Bytes load = loads.Greatest(instance_.first[i], instance_.last[i]);
    if (load + instance_.size[i] > capacity) continue;
    loads.Add(instance_.first[i], instance_.last[i], instance_.size[i]);
    admitted[i] = true;
  }
  return admitted;
}

void Filler::Prefer(const std::vector<bool>& items) {
  for (size_t i = 0; i < sets_[0].size(); ++i)
    sets_[0][i] = items[static_cast<size_t>(item_of_[i])];
}

void Filler::DrawOrder() {
  order_search::Keys keys;
  if (round_ == 0) {
    keys = order_search::ProductKeys(traits_, {.angle = 0.5}, random_);
  } else if (random_.Chance(0.5)) {
    keys =
        order_search::ClassKeys(instance_, traits_, order_search::DrawClassOrder(random_), random_);
  } else {
    keys = order_search::ProductKeys(traits_, order_search::DrawProductOrder(random_), random_);
  }
  const double lift = random_.Chance(0.5) ? 1 : 0;
  for (size_t i = 0; i < keys.size(); ++i) keys[i] += lift * lift_[i];
  order_search::Order all;
  order_search::SortByKeys(keys, all);
  order_.clear();
  for (const int buffer : all) {
    if (admitted_[static_cast<size_t>(buffer)]) order_.push_back(buffer);
  }
}

bool Filler::PlaceAll(const std::vector<int>& buffers, order_search::Effort& effort) {
  for (const int buffer : buffers) {
    const auto i = static_cast<size_t>(buffer);
    if (chosen_[i]) continue;
    const int64_t before = placed_.Work();
    const Bytes offset = placed_.FirstFit(buffer, capacity_);
    if (!effort.Spend(1 + placed_.Work() - before)) return false;
    if (offset < 0) continue;
    placed_.Insert(buffer, offset);
    offsets_[i] = offset;
    chosen_[i] = true;
  }
  return true;
}

bool Filler::Fill(order_search::Effort& effort) {
  static constexpr double kLift = 0.3;
  placed_.Clear();
  chosen_.assign(instance_.size.size(), false);
  offsets_.assign(instance_.size.size(), 0);
  admitted_ = sets_[static_cast<size_t>(round_) % sets_.size()];
  DrawOrder();
  ++round_;
  const bool is_whole = PlaceAll(order_, effort) && PlaceAll(by_attraction_, effort);
  int64_t value = 0;
  bool has_all = true;
  for (size_t i = 0; i < chosen_.size(); ++i) {
    const Item& item = items_.all[static_cast<size_t>(item_of_[i])];
    if (chosen_[i]) value += item.value;
    if (!chosen_[i] && admitted_[i]) lift_[i] += kLift;
    has_all = has_all && (chosen_[i] || item.is_optional);
  }
  if (!has_all || value <= best_value_) return is_whole;
  best_value_ = value;
  best_offsets_ = offsets_;
  best_chosen_.assign(items_.all.size(), false);
  for (size_t i = 0; i < chosen_.size(); ++i)
    best_chosen_[static_cast<size_t>(item_of_[i])] = chosen_[i];
  return is_whole;
}

}  // namespace tessera::search::choose
