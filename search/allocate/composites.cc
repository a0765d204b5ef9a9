// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/composites.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/sorting.h"

// Parts i of a and j of b share a byte exactly if
//
//     at_i - at_j - size_j  <  d  <  at_i + size_i - at_j          d = base(b) - base(a)
//
// For one i, the parts of b from the highest to the lowest yield these ranges in ascending order,
// so ranges of adjacent parts that live together with i merge immediately. A tensor whose parts are
// its rows is then only a few ranges for each part of another tensor, however many rows it has.
//
// A part of alignment A at distance `at` requires base = -at modulo A. Two such congruences are
// equivalent to one or contradict each other (Chinese remainder theorem).
namespace tessera::search::allocate {

using problem::Buffer;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;

namespace {

Bytes Modulo(Bytes value, Bytes modulus) {
  const Bytes rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

// Returns a * b modulo `modulus`, for 0 <= a, b < modulus <= 2^61, by doubling.
Bytes ProductModulo(Bytes a, Bytes b, Bytes modulus) {
  Bytes product = 0;
  for (; b > 0; b /= 2, a = (a * 2) % modulus) {
    if (b % 2 == 1) product = (product + a) % modulus;
  }
  return product;
}

// Returns the inverse of `a` modulo `modulus`; they must be coprime (extended Euclid).
Bytes InverseOf(Bytes a, Bytes modulus) {
  Bytes low = modulus, high = Modulo(a, modulus), before = 0, factor = 1;
  while (high > 0) {
    const Bytes quotient = low / high;
    low = std::exchange(high, low % high);
    before = std::exchange(factor, before - quotient * factor);
  }
  return Modulo(before, modulus);
}

// Returns the hull of all lifespans of a composite's parts.
problem::Lifespan HullOf(const Problem& problem, const Composite& composite) {
  problem::Lifespan hull = {std::numeric_limits<problem::Step>::max(),
                            std::numeric_limits<problem::Step>::min()};
  for (const CompositePart& part : composite.parts) {
    const Buffer& buffer = problem.buffers[static_cast<size_t>(part.buffer)];
    hull.lower = std::min(hull.lower, buffer.lifespans.front().lower);
    hull.upper = std::max(hull.upper, buffer.lifespans.back().upper);
  }
  return hull;
}

// Sorts the ranges, and joins those that overlap or touch.
void Unite(RangeList& ranges) {
  problem::SortByBegin(ranges);
  size_t kept = 0;
  for (const AddressRange& range : ranges) {
    if (kept > 0 && range.begin <= ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

class Composer {
 public:
  Composer(const Problem& problem, int memory, const base::Stop& stop)
      : problem_(problem), memory_(memory), work_(&stop, kWorkPerLook) {}

  Composites FindAlone() {
    FindGroups();
    for (Composite& composite : result_.all) Arrange(composite);
    BlockReserved();
    return std::move(result_);
  }

  std::optional<Composites> Run() {
    result_ = FindAlone();
    for (const Composite& composite : result_.all) CheckInside(composite);
    FindNeighbours();
    if (work_.IsCutOff()) return std::nullopt;
    return std::move(result_);
  }

 private:
  using Pair = std::pair<int, int>;

  const Buffer& BufferAt(int i) const { return problem_.buffers[static_cast<size_t>(i)]; }

  void Contradict(int a, int b, const char* why) {
    if (result_.contradiction.empty())
      result_.contradiction = BufferAt(a).id + " and " + BufferAt(b).id + why;
  }

  // Finds the groups: follows relations from each buffer that is in no group yet.
  void FindGroups() {
    std::vector<std::vector<std::pair<int, Bytes>>> tied(problem_.buffers.size());
    for (const Relation& relation : problem_.relations) {
      const Pair pair = std::minmax(relation.first, relation.second);
      if (BufferAt(relation.first).memory != memory_) continue;
      if (relation.kind == RelationKind::kSeparate) separate_.insert(pair);
      if (relation.kind == RelationKind::kExclusive) sharing_.insert(pair);
      if (relation.kind != RelationKind::kColocate) continue;
      sharing_.insert(pair);
      tied[static_cast<size_t>(relation.first)].emplace_back(relation.second, relation.delta);
      tied[static_cast<size_t>(relation.second)].emplace_back(relation.first, -relation.delta);
    }
    std::vector<std::optional<Bytes>> at(problem_.buffers.size());
    for (const int root : BuffersOf(problem_, memory_)) {
      if (at[static_cast<size_t>(root)]) continue;
      Composite& composite = result_.all.emplace_back();
      at[static_cast<size_t>(root)] = 0;
      composite.parts.push_back({root, 0});
      for (size_t next = 0; next < composite.parts.size(); ++next) {
        const CompositePart from = composite.parts[next];
        for (const auto& [other, delta] : tied[static_cast<size_t>(from.buffer)]) {
          std::optional<Bytes>& place = at[static_cast<size_t>(other)];
          if (place && *place != from.at + delta)
            Contradict(from.buffer, other, " are colocated at two distances");
          if (place) continue;
          place = from.at + delta;
          composite.parts.push_back({other, *place});
        }
      }
    }
  }

  // Sorts the parts and joins their requirements on the base.
  void Arrange(Composite& composite) {
    base::SortBy(composite.parts, [](const CompositePart& part) { return part.at; });
    const Bytes least = composite.parts.front().at;
    for (CompositePart& part : composite.parts) {
      part.at -= least;
      const Buffer& buffer = BufferAt(part.buffer);
      composite.extent = std::max(composite.extent, part.at + buffer.size);
      Require(composite, part);
      if (buffer.hint && !composite.hint && *buffer.hint >= part.at)
        composite.hint = *buffer.hint - part.at;
      if (!buffer.offset) continue;
      const Bytes base = *buffer.offset - part.at;
      if (base < 0 || composite.fixed.value_or(base) != base)
        Contradict(composite.parts.front().buffer, part.buffer,
                   " are colocated but fixed at other offsets");
      composite.fixed = base;
    }
    if (composite.fixed && Modulo(*composite.fixed - composite.residue, composite.modulus) != 0)
      Contradict(composite.parts.front().buffer, composite.parts.back().buffer,
                 " are colocated, and their fixed offset is not aligned");
  }

  void Require(Composite& composite, const CompositePart& part) {
    const Bytes modulus = problem::AlignmentOf(problem_, BufferAt(part.buffer));
    const Bytes residue = Modulo(-part.at, modulus);
    if (modulus == 1) return;
    const Bytes common = std::gcd(composite.modulus, modulus);
    const auto multiple = base::CheckedMul(composite.modulus / common, modulus);
    if (Modulo(residue - composite.residue, common) == 0 &&
        (!multiple || *multiple > kNoPosition)) {
      result_.are_exact = false;
      return;
    }
    if (Modulo(residue - composite.residue, common) != 0)
      return Contradict(composite.parts.front().buffer, part.buffer,
                        " are colocated at a distance that their alignments do not allow");
    const Bytes turns = Modulo((residue - composite.residue) / common, modulus / common);
    const Bytes inverse = InverseOf(composite.modulus / common, modulus / common);
    composite.residue += composite.modulus * ProductModulo(turns, inverse, modulus / common);
    composite.modulus = *multiple;
  }

  bool Conflict(int a, int b) const {
    const Pair pair = std::minmax(a, b);
    if (!separate_.empty() && separate_.contains(pair)) return true;
    if (!problem::LiveTogether(BufferAt(a), BufferAt(b))) return false;
    return sharing_.empty() || !sharing_.contains(pair);
  }

  void CheckInside(const Composite& composite) {
    for (size_t i = 0; i < composite.parts.size(); ++i) {
      const CompositePart& low = composite.parts[i];
      for (size_t j = i + 1; j < composite.parts.size(); ++j) {
        const CompositePart& high = composite.parts[j];
        if (high.at >= low.at + BufferAt(low.buffer).size) break;
        if (!work_.Continues()) return;
        if (Conflict(low.buffer, high.buffer))
          Contradict(low.buffer, high.buffer, " are colocated but live together");
      }
    }
  }

  void FindNeighbours() {
    const auto count = static_cast<int>(result_.all.size());
    result_.neighbours.resize(result_.all.size());
    std::vector<problem::Lifespan> hulls;
    for (const Composite& composite : result_.all) hulls.push_back(HullOf(problem_, composite));
    for (int a = 0; a < count; ++a) {
      for (int b = a + 1; b < count; ++b) {
        if (!work_.Continues()) return;
        const problem::Lifespan &x = hulls[static_cast<size_t>(a)],
                                &y = hulls[static_cast<size_t>(b)];
        if (separate_.empty() && (x.upper <= y.lower || y.upper <= x.lower)) continue;
        RangeList forbidden = ForbiddenBetween(a, b);
        if (work_.IsCutOff()) return;
        if (forbidden.empty()) continue;
        RangeList mirrored;
        for (size_t i = forbidden.size(); i-- > 0;)
          mirrored.push_back({1 - forbidden[i].end, 1 - forbidden[i].begin});
        result_.neighbours[static_cast<size_t>(a)].push_back({b, std::move(forbidden)});
        result_.neighbours[static_cast<size_t>(b)].push_back({a, std::move(mirrored)});
      }
    }
  }

  // Returns the forbidden values of base(b) - base(a).
  RangeList ForbiddenBetween(int a, int b) {
    const std::vector<CompositePart>& lows = result_.all[static_cast<size_t>(a)].parts;
    const std::vector<CompositePart>& highs = result_.all[static_cast<size_t>(b)].parts;
    RangeList ranges;
    for (const CompositePart& i : lows) {
      const Bytes size = BufferAt(i.buffer).size;
      const size_t first = ranges.size();
      if (!work_.Continues(static_cast<int64_t>(highs.size()))) return {};
      for (size_t k = highs.size(); k-- > 0;) {
        const CompositePart& j = highs[k];
        if (!Conflict(i.buffer, j.buffer)) continue;
        const AddressRange range = {i.at - j.at - BufferAt(j.buffer).size + 1, i.at + size - j.at};
        if (ranges.size() > first && range.begin <= ranges.back().end &&
            range.begin >= ranges.back().begin) {
          ranges.back().end = std::max(ranges.back().end, range.end);
        } else {
          ranges.push_back(range);
        }
      }
    }
    Unite(ranges);
    return ranges;
  }

  void BlockReserved() {
    for (const Composite& composite : result_.all) {
      RangeList ranges;
      for (const problem::Reserved& reserved :
           problem_.memories[static_cast<size_t>(memory_)].reserved) {
        for (const CompositePart& part : composite.parts)
          ranges.push_back({reserved.range.begin - part.at - BufferAt(part.buffer).size + 1,
                            reserved.range.end - part.at});
      }
      Unite(ranges);
      result_.blocked.push_back(std::move(ranges));
    }
  }

  static constexpr int64_t kWorkPerLook = 1 << 16;  // pairs of parts

  const Problem& problem_;
  int memory_;
  base::PolledWork work_;
  std::set<Pair> separate_;
  std::set<Pair> sharing_;
  Composites result_;
};

}  // namespace

Bytes Composite::AlignUp(Bytes base) const { return base + Modulo(residue - base, modulus); }
Bytes Composite::AlignDown(Bytes base) const { return base - Modulo(base - residue, modulus); }

void Composites::CopyTo(const std::vector<Bytes>& bases, std::vector<Bytes>& offsets) const {
  for (size_t i = 0; i < all.size(); ++i) {
    for (const CompositePart& part : all[i].parts)
      offsets[static_cast<size_t>(part.buffer)] = bases[i] + part.at;
  }
}

Bytes Composites::PeakOf(const std::vector<Bytes>& bases) const {
  Bytes peak = 0;
  for (size_t i = 0; i < all.size(); ++i) peak = std::max(peak, bases[i] + all[i].extent);
  return peak;
}

Bytes NextOutside(const RangeList& ranges, Bytes at) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), at,
                       [](Bytes value, const AddressRange& range) { return value < range.begin; });
  return after == ranges.begin() ? at : std::max(at, std::prev(after)->end);
}

Bytes LastOutside(const RangeList& ranges, Bytes at) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), at,
                       [](Bytes value, const AddressRange& range) { return value < range.begin; });
  if (after == ranges.begin() || std::prev(after)->end <= at) return at;
  return std::prev(after)->begin - 1;
}

bool HasFixedDistances(const Problem& problem) {
  return std::any_of(
      problem.relations.begin(), problem.relations.end(),
      [](const Relation& relation) { return relation.kind == RelationKind::kColocate; });
}

Composites FindComposites(const Problem& problem, int memory) {
  const base::Stop never;
  return Composer(problem, memory, never).FindAlone();
}

std::optional<Composites> BuildComposites(const Problem& problem, int memory,
                                          const base::Stop& stop) {
  return Composer(problem, memory, stop).Run();
}

}  // namespace tessera::search::allocate
