// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/choose/subsets.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace tessera::search::choose {

namespace {

using Scaled = Prices::Scaled;

constexpr size_t kBits = 64;
constexpr size_t kShareOfItem = 8;

// The effect of a choice among the first items on the others.
struct State {
  uint64_t alive = 0;  // chosen, by position among the items of the layer that still live
  uint64_t whole = 0;  // by slot of a core that is under way: all its items so far are chosen
  friend bool operator==(const State&, const State&) = default;
};

struct StateHash {
  size_t operator()(const State& state) const {
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15U;
    const uint64_t mixed = (state.alive * kOdd) ^ std::rotl(state.whole * kOdd, 31);
    return static_cast<size_t>(mixed ^ (mixed >> 29U));
  }
};

// The step that reaches the greatest value of a state.
struct Trace {
  int from = -1;      // the state of the previous layer
  bool took = false;  // whether the item between the layers is chosen
};

struct Reached {
  State state;
  int64_t value = 0;  // the greatest
  Trace trace;
};

// The effect of a core on one item.
struct CoreUse {
  size_t slot = 0;
  bool is_first = false;
  bool is_last = false;
};

class SubsetSearch {
 public:
  SubsetSearch(const Items& items, const Prices& prices, const SubsetQuery& query,
               const base::Stop& stop)
      : items_(items), prices_(prices), query_(query), work_(&stop) {}

  BestSubset Run() {
    BestSubset best;
    SortItems();
    if (!AssignSlots() || !MakeLayers()) return best;
    std::vector<std::vector<Trace>> traces;  // of the states after each item
    std::vector<Reached> before(1), after;
    size_t states = 0;
    for (size_t k = 0; k < order_.size(); ++k) {
      after.clear();
      if (!Advance(k, before, after)) return best;
      states += after.size();
      if (states > query_.most_states) return best;
      std::vector<Trace>& kept = traces.emplace_back();
      kept.reserve(after.size());
      for (const Reached& reached : after) kept.push_back(reached.trace);
      before.swap(after);
    }
    best.is_complete = true;
    if (before.empty()) return best;
    best.value = before[0].value;
    best.items.emplace(items_.all.size(), false);
    size_t at = 0;
    for (size_t k = order_.size(); k-- > 0;) {
      const Trace& trace = traces[k][at];
      (*best.items)[static_cast<size_t>(order_[k])] = trace.took;
      at = static_cast<size_t>(trace.from);
    }
    return best;
  }

 private:
  const Piece& PieceOf(size_t k) const { return main_[static_cast<size_t>(order_[k])]; }
  const Item& ItemAt(size_t k) const { return items_.all[static_cast<size_t>(order_[k])]; }

  void SortItems() {
    for (const Item& item : items_.all) {
      main_.push_back(
          *std::max_element(item.pieces.begin(), item.pieces.end(),
                            [](const Piece& a, const Piece& b) { return a.size < b.size; }));
    }
    order_.resize(items_.all.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      return main_[static_cast<size_t>(a)].first < main_[static_cast<size_t>(b)].first;
    });
    // The surplus with the cost of the main piece alone, from each item on.
    surplus_from_.assign(order_.size() + 1, 0);
    for (size_t k = order_.size(); k-- > 0;) {
      const Piece& piece = PieceOf(k);
      const Scaled surplus = static_cast<Scaled>(ItemAt(k).value) * Prices::kScale -
                             prices_.PriceOf(piece.first, piece.last) * piece.size;
      const bool counts = !ItemAt(k).is_optional || surplus > 0;
      surplus_from_[k] = surplus_from_[k + 1] + (counts ? surplus : 0);
    }
  }

  // Assigns each core a slot that no other core has while it is under way. Returns false if there
  // are too few slots.
  bool AssignSlots() {
    uses_.assign(order_.size(), {});
    std::vector<size_t> place(order_.size());
    for (size_t k = 0; k < order_.size(); ++k) place[static_cast<size_t>(order_[k])] = k;
    std::vector<std::vector<size_t>> cores;
    for (const Core& core : *query_.cores) {
      std::vector<size_t>& places = cores.emplace_back();
      for (const int item : core) places.push_back(place[static_cast<size_t>(item)]);
      std::sort(places.begin(), places.end());
    }
    std::sort(cores.begin(), cores.end());
    std::vector<size_t> free_from(kBits, 0);  // by slot
    for (const std::vector<size_t>& core : cores) {
      size_t slot = 0;
      while (slot < kBits && free_from[slot] > core.front()) ++slot;
      if (slot == kBits) return false;
      free_from[slot] = core.back() + 1;
      for (const size_t k : core) uses_[k].push_back({slot, k == core.front(), k == core.back()});
    }
    return true;
  }

  // The items that live at the birth of item k, and the position of each in the next layer.
  struct Layer {
    std::vector<size_t> alive;  // places in order_
    std::vector<int> next;      // parallel to alive, then that of item k itself; -1: dead by then
  };

  bool MakeLayers() {
    layers_.resize(order_.size());
    std::vector<size_t> alive;
    for (size_t k = 0; k < order_.size(); ++k) {
      layers_[k].alive = alive;
      if (alive.size() >= kBits) return false;
      std::vector<size_t> later;
      alive.push_back(k);
      for (const size_t each : alive) {
        const bool lives = k + 1 < order_.size() && PieceOf(each).last > PieceOf(k + 1).first;
        layers_[k].next.push_back(lives ? static_cast<int>(later.size()) : -1);
        if (lives) later.push_back(each);
      }
      alive = std::move(later);
    }
    return true;
  }

  bool Advance(size_t k, const std::vector<Reached>& from, std::vector<Reached>& to) {
    std::unordered_map<State, size_t, StateHash> known;
    for (size_t at = 0; at < from.size(); ++at) {
      if (!work_.Continues(static_cast<int64_t>(layers_[k].alive.size()) + 1)) return false;
      for (const bool take : {true, false}) {
        Reached next;
        if (!Step(k, from[at], take, next)) continue;
        next.trace.from = static_cast<int>(at);
        const auto [found, is_new] = known.try_emplace(next.state, to.size());
        if (is_new)
          to.push_back(next);
        else if (to[found->second].value < next.value)
          to[found->second] = next;
      }
      if (to.size() > query_.most_states / kShareOfItem) return false;
    }
    return true;
  }

  bool Step(size_t k, const Reached& from, bool take, Reached& next) const {
    const Item& item = ItemAt(k);
    if (!take && !item.is_optional) return false;
    if (take && !HasRoom(k, from.state.alive)) return false;
    next.trace.took = take;
    next.value = from.value + (take ? item.value : 0);
    next.state.whole = from.state.whole;
    for (const CoreUse& use : uses_[k]) {
      const uint64_t bit = uint64_t{1} << use.slot;
      const bool is_whole = take && (use.is_first || (next.state.whole & bit) != 0);
      if (is_whole && use.is_last) return false;
      next.state.whole = is_whole ? next.state.whole | bit : next.state.whole & ~bit;
    }
    const Layer& layer = layers_[k];
    for (size_t position = 0; position < layer.next.size(); ++position) {
      const bool is_chosen =
          position < layer.alive.size() ? ((from.state.alive >> position) & 1U) != 0 : take;
      if (is_chosen && layer.next[position] >= 0)
        next.state.alive |= uint64_t{1} << static_cast<unsigned>(layer.next[position]);
    }
    return MayBeWorthMore(k + 1, next);
  }

  bool HasRoom(size_t k, uint64_t alive) const {
    const Piece& piece = PieceOf(k);
    Bytes load = piece.size;
    for (uint64_t bits = alive; bits != 0; bits &= bits - 1)
      load += PieceOf(layers_[k].alive[static_cast<size_t>(std::countr_zero(bits))]).size;
    return load <= items_.capacity[static_cast<size_t>(piece.first)];
  }

  // Whether the state may lead to more than the wanted value, by the prices of the sections from
  // the birth of item k on.
  bool MayBeWorthMore(size_t k, const Reached& reached) const {
    Scaled bound = static_cast<Scaled>(reached.value) * Prices::kScale;
    if (k < order_.size()) {
      const int section = PieceOf(k).first;
      bound += prices_.CapacityFrom(section) + surplus_from_[k];
      for (uint64_t bits = reached.state.alive; bits != 0; bits &= bits - 1) {
        const Piece& piece = PieceOf(layers_[k].alive[static_cast<size_t>(std::countr_zero(bits))]);
        bound -= prices_.PriceOf(section, piece.last) * piece.size;
      }
    }
    return bound / Prices::kScale > query_.more_than;
  }

  const Items& items_;
  const Prices& prices_;
  const SubsetQuery& query_;
  base::PolledWork work_;
  std::vector<int> order_;   // items by birth of their main pieces
  std::vector<Piece> main_;  // by item
  std::vector<Scaled> surplus_from_;
  std::vector<std::vector<CoreUse>> uses_;
  std::vector<Layer> layers_;
};

}  // namespace

BestSubset FindBestSubset(const Items& items, const Prices& prices, const SubsetQuery& query,
                          const base::Stop& stop) {
  return SubsetSearch(items, prices, query, stop).Run();
}

}  // namespace tessera::search::choose
