// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/choose/value_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::search::choose {

namespace {

constexpr double kFirstShare = 0.05;

// One evaluation of the bound: its value and a subgradient.
class Evaluation {
 public:
  explicit Evaluation(const Items& items)
      : items_(items),
        before_(items.capacity.size() + 1, 0),
        excess_(items.capacity.size() + 1, 0) {}

  // Returns the bound with these prices. Afterwards Excess() returns for each section the bytes of
  // the items that are worth their costs, less the capacity.
  double At(const std::vector<double>& price) {
    double bound = 0;
    for (size_t section = 0; section < price.size(); ++section) {
      before_[section + 1] = before_[section] + price[section];
      bound += price[section] * static_cast<double>(items_.capacity[section]);
    }
    std::fill(excess_.begin(), excess_.end(), 0.0);
    for (const Item& item : items_.all) {
      double surplus = static_cast<double>(item.value);
      for (const Piece& piece : item.pieces)
        surplus -= static_cast<double>(piece.size) * PriceOf(piece);
      if (item.is_optional && surplus <= 0) continue;
      bound += surplus;
      for (const Piece& piece : item.pieces) {
        excess_[static_cast<size_t>(piece.first)] += static_cast<double>(piece.size);
        excess_[static_cast<size_t>(piece.last)] -= static_cast<double>(piece.size);
      }
    }
    double load = 0;
    for (size_t section = 0; section < price.size(); ++section) {
      load += excess_[section];
      excess_[section] = load - static_cast<double>(items_.capacity[section]);
    }
    return bound;
  }

  const std::vector<double>& Excess() const { return excess_; }

 private:
  double PriceOf(const Piece& piece) const {
    return before_[static_cast<size_t>(piece.last)] - before_[static_cast<size_t>(piece.first)];
  }

  const Items& items_;
  std::vector<double> before_;
  std::vector<double> excess_;
};

}  // namespace

int Prices::RoundsFor(const Items& items) {
  constexpr int64_t kWork = 30'000'000;  // items and sections looked at
  constexpr int64_t kMostRounds = 5'000;
  const auto size = static_cast<int64_t>(items.all.size() + items.capacity.size() + 1);
  return static_cast<int>(std::clamp<int64_t>(kWork / size, kLeastRounds, kMostRounds));
}

Prices::Prices(const Items& items, int rounds, const base::Stop& stop)
    : items_(&items), price_(items.capacity.size(), 0) {
  search_.price = price_;
  search_.direction = price_;
  search_.best = std::numeric_limits<double>::infinity();
  search_.share = kFirstShare;
  Improve(rounds, stop);
}

// Polyak's rule: the step is a share of the distance to a target below the best bound, and the
// share shrinks after several rounds without gain. The direction is smoothed, which avoids zigzags.
void Prices::Improve(int rounds, const base::Stop& stop) {
  static constexpr double kSmooth = 0.7, kShrink = 0.8, kLeastShare = 1e-5;
  static constexpr int kPatience = 12;
  Evaluation evaluation(*items_);
  auto& [price, direction, best, share, failures, is_over] = search_;
  for (int round = 0; round < rounds && !is_over && !stop.Requested(); ++round) {
    const double bound = evaluation.At(price);
    if (bound < best * (1 - 1e-7)) {
      best = bound;
      price_ = price;
      failures = 0;
    } else if (++failures == kPatience) {
      failures = 0;
      share *= kShrink;
      price = price_;
      std::fill(direction.begin(), direction.end(), 0.0);
      evaluation.At(price);
    }
    double norm = 0;
    for (size_t section = 0; section < price.size(); ++section) {
      // A price of zero does not fall.
      const double excess = evaluation.Excess()[section];
      const double wanted = price[section] == 0 && excess < 0 ? 0 : excess;
      direction[section] = kSmooth * direction[section] + (1 - kSmooth) * wanted;
      norm += direction[section] * direction[section];
    }
    is_over = norm == 0 || share <= kLeastShare;
    if (norm == 0) break;
    const double step = share * std::max(best, 1.0) / norm;
    for (size_t section = 0; section < price.size(); ++section)
      price[section] = std::max(0.0, price[section] + step * direction[section]);
  }
  Settle();
}

void Prices::Settle() {
  static constexpr double kMostPrice = 1e15;  // so that no product exceeds 127 bits
  before_.assign(1, 0);
  surplus_.clear();
  attraction_.clear();
  std::vector<Scaled> terms;
  for (size_t section = 0; section < price_.size(); ++section) {
    const double scaled = std::min(price_[section] * static_cast<double>(kScale), kMostPrice);
    const auto price = static_cast<Scaled>(scaled);
    before_.push_back(before_.back() + price);
    terms.push_back(price * items_->capacity[section]);
  }
  capacity_from_.assign(price_.size() + 1, 0);
  for (size_t section = price_.size(); section-- > 0;)
    capacity_from_[section] = capacity_from_[section + 1] + terms[section];
  Scaled bound = capacity_from_[0];
  Scaled certain = 0;  // the bound with prices of zero
  for (const Item& item : items_->all) {
    const Scaled value = static_cast<Scaled>(item.value) * kScale;
    Scaled cost = 0;
    for (const Piece& piece : item.pieces) cost += PriceOf(piece.first, piece.last) * piece.size;
    surplus_.push_back(value - cost);
    const auto ratio = static_cast<double>(value) / static_cast<double>(cost);
    attraction_.push_back(cost == 0 ? std::numeric_limits<double>::infinity() : ratio);
    if (!item.is_optional || value > cost) bound += value - cost;
    certain += value;
  }
  bound_ = std::min(bound_, static_cast<int64_t>(std::min(bound, certain) / kScale));
}

std::vector<int> Prices::OptionalByAttraction() const {
  std::vector<int> order;
  for (size_t i = 0; i < items_->all.size(); ++i) {
    if (items_->all[i].is_optional) order.push_back(static_cast<int>(i));
  }
  std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
    return Attraction(static_cast<size_t>(a)) > Attraction(static_cast<size_t>(b));
  });
  return order;
}

}  // namespace tessera::search::choose
