// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/greedy/composite_greedy.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/composite_session.h"

namespace tessera::search::engines::greedy {

using allocate::Composite;
using allocate::Composites;
using problem::AddressRange;
using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

// The number of repetitions of an order, each with the composite that exceeded the capacity nearer
// to the front.
constexpr int kRepeats = 12;

// Properties by which composites are sorted, each with greater ones first.
struct Traits {
  double extent = 0;
  double area = 0;      // bytes times steps, over parts
  double lifetime = 0;  // from the first step of a part to the last
  double birth = 0;
  double death = 0;
  double peers = 0;  // composites that it must not touch
};

Traits TraitsOf(const Problem& problem, const Composites& composites, size_t number) {
  const Composite& composite = composites.all[number];
  Traits traits;
  traits.extent = static_cast<double>(composite.extent);
  traits.peers = static_cast<double>(composites.neighbours[number].size());
  const auto& front = problem.buffers[static_cast<size_t>(composite.parts.front().buffer)];
  problem::Step first = front.lifespans.front().lower, last = front.lifespans.back().upper;
  for (const allocate::CompositePart& part : composite.parts) {
    const problem::Buffer& buffer = problem.buffers[static_cast<size_t>(part.buffer)];
    first = std::min(first, buffer.lifespans.front().lower);
    last = std::max(last, buffer.lifespans.back().upper);
    for (const problem::Lifespan& life : buffer.lifespans)
      traits.area +=
          static_cast<double>(buffer.size) * static_cast<double>(life.upper - life.lower);
  }
  traits.lifetime = static_cast<double>(last - first);
  traits.birth = -static_cast<double>(first);
  traits.death = static_cast<double>(last);
  return traits;
}

using Order = std::vector<size_t>;

std::vector<Order> OrdersOf(const Problem& problem, const Composites& composites) {
  constexpr std::array kKeys = {&Traits::extent, &Traits::area,  &Traits::peers,
                                &Traits::birth,  &Traits::death, &Traits::lifetime};
  std::vector<Traits> traits;
  for (size_t i = 0; i < composites.all.size(); ++i)
    traits.push_back(TraitsOf(problem, composites, i));
  std::vector<Order> orders;
  for (const auto key : kKeys) {
    Order& order = orders.emplace_back(composites.all.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto rank = [&](size_t i) {
      return std::tuple(composites.all[i].fixed.has_value(), traits[i].*key, traits[i].extent);
    };
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return rank(a) != rank(b) ? rank(a) > rank(b) : a < b; });
  }
  return orders;
}

// One memory: greedy passes over its composites.
class Passes {
 public:
  Passes(const Problem& problem, const Composites& composites)
      : composites_(composites), orders_(OrdersOf(problem, composites)) {
    for (const Composite& composite : composites.all)
      hinted_ = hinted_ || composite.hint.has_value();
  }

  // Runs passes until one is within the capacity, the units are spent, or none is left.
  std::optional<std::vector<Bytes>> Reach(Bytes capacity, int64_t& units, const base::Stop& stop) {
    if (best_ && peak_ <= capacity) return best_;
    for (const bool use_hints : {true, false}) {
      if (use_hints && !hinted_) continue;
      for (const Order& order : orders_) {
        if (auto bases = Repeat(order, use_hints, capacity, units, stop)) return bases;
        if (units <= 0 || stop.Requested()) return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<std::vector<Bytes>> Repeat(Order order, bool use_hints, Bytes capacity,
                                           int64_t& units, const base::Stop& stop) {
    for (int turn = 0; turn <= kRepeats && units > 0 && !stop.Requested(); ++turn) {
      units -= static_cast<int64_t>(order.size());
      std::vector<Bytes> bases(order.size(), -1);
      size_t next = 0;
      while (next < order.size() && PlaceOne(order[next], use_hints, capacity, bases)) ++next;
      if (next == order.size()) {
        peak_ = composites_.PeakOf(bases);
        best_ = std::move(bases);
        return best_;
      }
      if (next == 0 || composites_.all[order[next]].fixed) return std::nullopt;
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(next / 2),
                  order.begin() + static_cast<std::ptrdiff_t>(next),
                  order.begin() + static_cast<std::ptrdiff_t>(next) + 1);
    }
    return std::nullopt;
  }

  // Places a composite at the lowest base that neither a placed neighbour nor a reserved range
  // forbids.
  bool PlaceOne(size_t number, bool use_hints, Bytes capacity, std::vector<Bytes>& bases) const {
    const Composite& composite = composites_.all[number];
    allocate::RangeList taken = composites_.blocked[number];
    for (const Composites::Neighbour& neighbour : composites_.neighbours[number]) {
      const Bytes other = bases[static_cast<size_t>(neighbour.other)];
      if (other < 0) continue;
      for (const AddressRange& range : neighbour.forbidden)
        taken.push_back({other - range.end + 1, other - range.begin + 1});
    }
    problem::SortByBegin(taken);
    const auto is_free = [&](Bytes base) {
      return base >= 0 && composite.AlignUp(base) == base &&
             std::none_of(taken.begin(), taken.end(), [base](const AddressRange& range) {
               return range.begin <= base && base < range.end;
             });
    };
    Bytes base = composite.AlignUp(0);
    if (composite.fixed) {
      base = *composite.fixed;
      if (!is_free(base)) return false;
    } else if (use_hints && composite.hint && is_free(*composite.hint)) {
      base = *composite.hint;
    } else {
      for (const AddressRange& range : taken) {
        if (range.begin > base) break;
        base = std::max(base, composite.AlignUp(range.end));
      }
    }
    if (base > capacity - composite.extent) return false;
    bases[number] = base;
    return true;
  }

  const Composites& composites_;
  std::vector<Order> orders_;
  bool hinted_ = false;
  std::optional<std::vector<Bytes>> best_;
  Bytes peak_ = 0;
};

class CompositeGreedy final : public allocate::CompositeSession {
 public:
  CompositeGreedy(const Problem& problem, const problem::Ladder* ladder)
      : allocate::CompositeSession("greedy", problem, ladder) {}

 private:
  void Restart(size_t memories) override {
    passes_.clear();
    passes_.resize(memories);
  }

  std::optional<std::vector<Bytes>> Place(size_t memory, const Composites& composites,
                                          Bytes capacity, int64_t units, const base::Stop& stop,
                                          Result& result) override {
    std::optional<Passes>& passes = passes_[memory];
    if (!passes) passes.emplace(Sized(), composites);
    const int64_t before = units;
    std::optional<std::vector<Bytes>> bases = passes->Reach(capacity, units, stop);
    result.statistics.nodes += before - units;
    if (bases) return bases;
    result.reason = stop.Requested() ? "greedy orders were stopped"
                    : units <= 0     ? "greedy orders reached their limit"
                                     : "no greedy order fits";
    const allocate::Bound bound = allocate::FindBound(Sized(), static_cast<int>(memory));
    if (memory == 0) result.lower_bound = bound.bytes;
    if (bound.bytes <= capacity) return std::nullopt;
    result.status = Status::kInfeasible;
    result.reason = allocate::Explain(Sized(), bound, capacity);
    return std::nullopt;
  }

  std::vector<std::optional<Passes>> passes_;  // for the current sizes, by memory
};

}  // namespace

std::unique_ptr<problem::Session> OpenCompositeGreedy(const Problem& problem,
                                                      const problem::Ladder* ladder) {
  return std::make_unique<CompositeGreedy>(problem, ladder);
}

}  // namespace tessera::search::engines::greedy
