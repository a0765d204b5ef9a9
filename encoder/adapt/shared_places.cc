#include "tessera/encoder/adapt/shared_places.h"

#include <algorithm>
#include <numeric>
#include <utility>

// Places pass from hand to hand: where b took the place of a, and c is to take that of b, all three lie at one address. So c must
// keep clear of every buffer that lies there, not of b alone: a may be a loaded tile, filled again in the very pass in which c
// still leaves. Likewise for whoever has taken c's place already.
//
//     a   |-----------|          |--                 place of b: {a, b}
//     b               |-----|                        place of c: {c, d}     only b and c may meet, while c is made of b
//     c                    |-------|
//     d                            |--------|
namespace tessera::encoder {

using problem::Lifespan;

SharedPlaces::SharedPlaces(std::span<const problem::Buffer> buffers,
                           std::span<const problem::Relation> relations)
    : buffers_(buffers), place_(buffers.size()), guests_(buffers.size()) {
  std::iota(place_.begin(), place_.end(), size_t{0});
  for (size_t i = 0; i < guests_.size(); ++i) guests_[i].push_back(i);
  for (const problem::Relation& relation : relations) {
    if (relation.kind == problem::RelationKind::kColocate) Join(relation);
  }
}

bool SharedPlaces::MayJoin(size_t operand, size_t result, std::span<const Lifespan> turns) const {
  if (operands_.contains(operand) || results_.contains(result)) return false;
  for (const size_t there : guests_[place_[operand]]) {
    for (const size_t coming : guests_[place_[result]]) {
      const bool meet = there == operand && coming == result;
      if (!ShareOnly(meet ? turns : std::span<const Lifespan>(), there, coming)) return false;
    }
  }
  return true;
}

void SharedPlaces::Join(const problem::Relation& relation) {
  const auto operand = static_cast<size_t>(relation.first);
  const auto result = static_cast<size_t>(relation.second);
  operands_.insert(operand);
  results_.insert(result);
  if (place_[operand] == place_[result]) return;
  std::vector<size_t>& there = guests_[place_[operand]];
  const std::vector<size_t> coming = std::exchange(guests_[place_[result]], {});
  for (const size_t guest : coming) place_[guest] = place_[operand];
  there.insert(there.end(), coming.begin(), coming.end());
}

// Whether the lives have nothing in common but steps of one of the turns.
bool SharedPlaces::ShareOnly(std::span<const Lifespan> turns, size_t a, size_t b) const {
  for (const Lifespan& x : buffers_[a].lifespans) {
    for (const Lifespan& y : buffers_[b].lifespans) {
      const Lifespan shared = {std::max(x.lower, y.lower), std::min(x.upper, y.upper)};
      const auto covers = [&shared](const Lifespan& turn) {
        return turn.lower <= shared.lower && shared.upper <= turn.upper;
      };
      if (shared.lower < shared.upper && std::none_of(turns.begin(), turns.end(), covers)) return false;
    }
  }
  return true;
}

}  // namespace tessera::encoder
