// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/propagation.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::search::engines::lazy {
namespace {

constexpr int64_t kChangesPerLook = 4096;        // between two polls of the stop
constexpr int64_t kNeighboursPerLook = 1 << 18;  // of buffers that changed
constexpr int64_t kRulesPerLook = 64;
constexpr int64_t kChangesPerView = 16;  // in a row, before the search for a cycle

// Returns a trail with every integer, with bounds that suffice for any query; Start narrows them.
Trail MakeTrail(const Packing& packing) {
  Trail trail;
  trail.Reserve(static_cast<size_t>(packing.buffers + packing.memories) + packing.pairs.size());
  for (int i = 0; i < packing.buffers; ++i)
    trail.AddInteger(0, 0, packing.alignment[static_cast<size_t>(i)]);
  for (int m = 0; m < packing.memories; ++m) trail.AddInteger(0, 0, 1);
  for (size_t pair = 0; pair < packing.pairs.size(); ++pair) trail.AddBoolean();
  return trail;
}

}  // namespace

Propagation::Propagation(const Packing& packing, const LazyOptions& options,
                         const PackingQuery& query, bool seeks_cycles, const base::Stop* stop)
    : packing_(packing),
      options_(options),
      seeks_cycles_(seeks_cycles),
      trail_(MakeTrail(packing)),
      axis_(packing, trail_, query.sizes),
      clauses_(trail_),
      orders_(packing),
      pairs_(axis_),
      edges_(axis_, orders_),
      section_pair_cuts_(axis_, options.section_pair_cuts, stop),
      energy_(axis_, options.energy_slack_percent),
      bottom_left_(axis_) {}

bool Propagation::Start(const PackingQuery& query, bool symmetric) {
  rests_ = symmetric && options_.bottom_left && packing_.differences.empty();
  const Bound highest = packing_.HighestCeiling();
  axis_.SetSizes(query.sizes);
  for (int i = 0; i < packing_.buffers; ++i) {
    const Bound most =
        base::RoundDown(highest - axis_.Size(i), packing_.alignment[static_cast<size_t>(i)]);
    trail_.SetInitial(i, 0, most);
  }
  for (int m = 0; m < packing_.memories; ++m) trail_.SetInitial(packing_.CeilingOf(m), 0, highest);
  trail_.Clear();
  orders_.Clear();
  processed_ = 0;
  Sleep();
  energy_.Reload();
  section_pair_cuts_.Reload();
  return AssertFacts(query, symmetric);
}

bool Propagation::AssertFacts(const PackingQuery& query, bool symmetric) {
  if (seeks_cycles_ && !AssertTiedOrders()) return false;
  for (int i = 0; i < packing_.buffers; ++i) {
    const auto fixed = packing_.fixed[static_cast<size_t>(i)];
    if (fixed && !(trail_.Imply({2 * i, *fixed}, {}) && trail_.Imply({2 * i + 1, -*fixed}, {})))
      return false;
  }
  const auto assert_orders = [&](const std::vector<std::pair<int, int>>& pairs) {
    return std::all_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
      return trail_.Imply(axis_.Before(Side::kBottom, pair.first, pair.second), {});
    });
  };
  if (symmetric && options_.order_interchangeable && !assert_orders(packing_.interchangeable))
    return false;
  if (symmetric && options_.break_mirror && !assert_orders(packing_.mirrored)) return false;
  if (!AssertCeilings(query)) return false;
  for (int i = 0; i < packing_.buffers; ++i) {
    if (!pairs_.FloorRose(Side::kBottom, i) || !pairs_.FloorRose(Side::kTop, i)) return false;
  }
  return true;
}

// Asserts the order of each pair of buffers at a fixed distance. Returns false if a distance is too
// small for the sizes, or if ties and orders contradict each other.
bool Propagation::AssertTiedOrders() {
  if (packing_.differences.empty()) return true;
  const Ties ties = FindTies(packing_, axis_);
  if (ties.contradict) return false;
  for (const auto& [first, second] : packing_.pairs) {
    const auto a = static_cast<size_t>(first), b = static_cast<size_t>(second);
    if (ties.group[a] != ties.group[b]) continue;
    const Bound distance = ties.distance[b] - ties.distance[a];
    const bool is_below = distance > 0;
    if (std::abs(distance) < axis_.Size(is_below ? first : second)) return false;
    const BoundLiteral order =
        axis_.Before(Side::kBottom, is_below ? first : second, is_below ? second : first);
    if (!trail_.Imply(order, {})) return false;
  }
  return RefuteCycle(packing_, axis_, std::nullopt);
}

bool Propagation::AssertCeilings(const PackingQuery& query) {
  for (int m = 0; m < packing_.memories; ++m) {
    const Bound ceiling = query.ceilings[static_cast<size_t>(m)];
    if (!trail_.Imply(axis_.EndsAt(m, ceiling), {})) return false;
  }
  return true;
}

Propagation::Fixpoint Propagation::Run(const base::Stop& stop) {
  bool interrupted = false;
  bool consistent = true;
  bool idle = false;
  int64_t rules = 0;
  while (consistent && !interrupted && !idle) {
    consistent = FollowChanges(stop, interrupted);
    if (!consistent || interrupted) break;
    if (++rules % kRulesPerLook == 0 && stop.Requested()) {
      interrupted = true;
      break;
    }
    idle = section_pair_cuts_.Idle() && energy_.Idle() && edges_.Idle() && bottom_left_.Idle();
    consistent = idle || PropagateRules();
  }
  if (interrupted) return Fixpoint::kInterrupted;
  return consistent ? Fixpoint::kReached : Fixpoint::kConflict;
}

// Runs the first rule that has pending work.
bool Propagation::PropagateRules() {
  if (!section_pair_cuts_.Idle()) return section_pair_cuts_.PropagateOne();
  if (!energy_.Idle()) return energy_.PropagateOne();
  if (!edges_.Idle()) return edges_.PropagateOne();
  return bottom_left_.PropagateOne();
}

// Dispatches changes until there are none. Returns false on a conflict.
bool Propagation::FollowChanges(const base::Stop& stop, bool& interrupted) {
  const int start = processed_;
  const auto pairs = static_cast<int64_t>(packing_.pairs.size());
  const int64_t neighbours = 2 * pairs / std::max(1, packing_.buffers) + 1;
  const int64_t changes_per_look =
      std::clamp<int64_t>(kNeighboursPerLook / neighbours, 64, kChangesPerLook);
  int64_t next_look = changes_per_look;
  int64_t next_search = kChangesPerView * trail_.Views();
  while (processed_ < trail_.Size()) {
    const int64_t followed = processed_ - start;
    if (followed >= next_look) {
      next_look += changes_per_look;
      interrupted = stop.Requested() || trail_.Size() >= Trail::kMostChanges;
      if (interrupted) return true;
    }
    if (seeks_cycles_ && followed >= next_search) {
      next_search *= 4;
      if (!RefuteCycle(packing_, axis_, start)) return false;
    }
    const Change change = trail_.At(processed_++);
    if (IsOrder(change.view)) SetOrder(change.view);
    if (!clauses_.Propagate(change) || !Dispatch(change)) return false;
    if (foreign_ != nullptr && !foreign_->Follow(change)) return false;
  }
  return true;
}

bool Propagation::Dispatch(const Change& change) {
  const int integer = IntegerOf(change.view);
  if (integer < packing_.buffers) return OffsetChanged(change.view);
  if (IsOrder(change.view)) return OrderChanged(change.view);
  const bool is_ceiling = integer < packing_.buffers + packing_.memories;
  return !is_ceiling || (change.view & 1) == 0 || CeilingChanged(integer - packing_.buffers);
}

bool Propagation::IsOrder(View view) const {
  const int first = packing_.buffers + packing_.memories;
  const int integer = IntegerOf(view);
  return integer >= first && integer < first + static_cast<int>(packing_.pairs.size());
}

// Rules that count orders count every dispatched order, even if dispatching it found a conflict.
void Propagation::SetOrder(View view) {
  orders_.Set(view);
  section_pair_cuts_.OrderSet(view);
}

void Propagation::UndoOrder(View view) {
  orders_.Unset(view);
  section_pair_cuts_.OrderUndone(view);
}

bool Propagation::OffsetChanged(View view) {
  const Side side = (view & 1) == 0 ? Side::kBottom : Side::kTop;
  const int buffer = IntegerOf(view);
  if (!pairs_.FloorRose(side, buffer)) return false;
  if (rests_) bottom_left_.FloorRose(side, buffer);
  if (!options_.edge_finding) return true;
  for (const int section : packing_.sections_of[buffer]) edges_.Wake(side, section);
  return true;
}

bool Propagation::OrderChanged(View view) {
  if (!pairs_.OrderSet(view)) return false;
  if (rests_) bottom_left_.OrderSet(view);
  if (!options_.section_energy || !weighs_sections_) return true;
  auto [below, above] = packing_.OrderedPair(view);
  energy_.Wake(Side::kBottom, above);
  energy_.Wake(Side::kTop, below);
  return true;
}

bool Propagation::CeilingChanged(int memory) {
  if (!pairs_.CeilingSank(memory)) return false;
  section_pair_cuts_.CeilingSank(memory);
  if (!options_.edge_finding) return true;
  for (int section = 0; section < packing_.sections.Count(); ++section) {
    if (packing_.section_memory[static_cast<size_t>(section)] == memory)
      edges_.Wake(Side::kBottom, section);
  }
  return true;
}

void Propagation::BacktrackTo(int level) {
  if (level >= trail_.Level()) return;
  const int undispatched = std::min(processed_, trail_.Size());
  for (int at = trail_.LevelStart(level + 1); at < undispatched; ++at) {
    if (IsOrder(trail_.At(at).view)) UndoOrder(trail_.At(at).view);
  }
  trail_.BacktrackTo(level);
  processed_ = std::min(processed_, trail_.Size());
  Sleep();
}

void Propagation::Sleep() {
  edges_.Sleep();
  energy_.Sleep();
  section_pair_cuts_.Sleep();
  bottom_left_.Sleep();
}

}  // namespace tessera::search::engines::lazy
