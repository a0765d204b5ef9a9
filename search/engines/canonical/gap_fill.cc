// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

#include "tessera/search/engines/canonical/propagator.h"

namespace tessera::search::engines::canonical {

using problem::AddressRange;
using problem::Bytes;

namespace {

constexpr Bytes kMostUnits = 4'096;           // of an array of sums
constexpr Bytes kLoosePart = 8;               // of the room
constexpr size_t kMostSizes = 16;             // more have sums near every length
constexpr size_t kMostPositions = 4'000'000;  // last positions that are kept, in all

}  // namespace

GapFill::GapFill(const allocate::ConflictModel& model, Bytes capacity) : model_(model) {
  for (const Bytes size : model.sizes) unit_ = std::gcd(unit_, size);
  unit_ = std::max<Bytes>(unit_, 1);
  gap_ends_.resize(static_cast<size_t>(model.Count()));
  size_t positions_kept = 0;
  for (int clique = 0; clique < model.CliqueCount(); ++clique) {
    const auto at = static_cast<size_t>(clique);
    const Bytes limit = capacity + model.overhang[at];
    Gaps& gaps = gaps_.emplace_back();
    Bytes begin = 0;
    for (const AddressRange& range : model.blocked[at]) {
      const Bytes end = std::min(range.begin, limit);
      if (begin < end) gaps.ranges.push_back({begin, end});
      begin = range.end;
    }
    if (begin < limit) gaps.ranges.push_back({begin, limit});
    positions_kept += gaps.ranges.size() * model.members[clique].size();
    const bool whole = gaps.ranges.size() == 1 && gaps.ranges[0] == AddressRange{0, limit};
    if (whole || positions_kept > kMostPositions) gaps.ranges.clear();
    for (const int i : model.members[clique]) {
      const allocate::Positions& positions = model.positions[static_cast<size_t>(i)];
      for (const AddressRange& gap : gaps.ranges) {
        const Bytes last = positions.Below(gap.end - positions.Size() + 1);
        gaps.last.push_back(last >= gap.begin ? last : -1);
        if (last >= gap.begin) gap_ends_[static_cast<size_t>(i)].push_back(last + 1);
      }
    }
  }
  for (std::vector<Bytes>& ends : gap_ends_) {
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  }
}

bool GapFill::Permits(int clique, const CanonicalState& state) {
  const auto at = static_cast<size_t>(clique);
  if (gaps_[at].ranges.empty() || IsLoose(clique, state)) return true;
  FindUses(clique, state);
  Bytes fill = 0;
  for (const Use& use : uses_) {
    if (use.forced > use.length) return false;
    fill += std::min(use.length, use.forced + use.others);
  }
  for (const Use& use : uses_) {
    const Bytes spare = fill - state.load[at];
    if (spare < 0) return false;
    const bool decides = use.forced + use.others > use.length && use.length - use.forced > spare &&
                         use.sizes.size() <= kMostSizes;
    if (decides) fill -= use.length - FillOf(use);
  }
  return fill >= state.load[at];
}

// Returns whether the gaps have much more room than the load; they are then hardly ever a reason to
// fail.
bool GapFill::IsLoose(int clique, const CanonicalState& state) const {
  const auto at = static_cast<size_t>(clique);
  Bytes room = 0;
  for (const AddressRange& range : gaps_[at].ranges)
    room += std::max<Bytes>(0, range.end - std::max(range.begin, state.floor[at]));
  return (room - state.load[at]) * kLoosePart > room;
}

void GapFill::FindUses(int clique, const CanonicalState& state) {
  const Gaps& gaps = gaps_[static_cast<size_t>(clique)];
  const size_t count = gaps.ranges.size();
  const Bytes floor = state.floor[static_cast<size_t>(clique)];
  uses_.resize(count);
  for (size_t gap = 0; gap < count; ++gap) {
    const AddressRange& range = gaps.ranges[gap];
    uses_[gap].length = std::max<Bytes>(0, range.end - std::max(range.begin, floor));
    uses_[gap].forced = uses_[gap].others = 0;
    uses_[gap].sizes.clear();
  }
  const Bytes* last = gaps.last.data();
  for (const int i : model_.members[clique]) {
    const auto at = static_cast<size_t>(i);
    const Bytes least = state.least[at], size = model_.sizes[at];
    const auto may_use = [&](size_t gap) { return last[gap] >= least; };  // least is at least 0
    size_t first = 0;
    while (first < count && !may_use(first)) ++first;
    size_t second = first + 1;
    while (second < count && !may_use(second)) ++second;
    if (first < count && second >= count) uses_[first].forced += size;
    if (second < count) {
      for (size_t gap = first; gap < count; ++gap) {
        if (!may_use(gap)) continue;
        uses_[gap].others += size;
        uses_[gap].sizes.push_back(size);
      }
    }
    last += count;
  }
}

// Returns the bytes of the gap that its members can fill, if those that must lie there fit.
Bytes GapFill::FillOf(const Use& use) {
  const int64_t most = (use.length - use.forced) / unit_;
  if (most >= kMostUnits) return use.length;
  sums_.assign(static_cast<size_t>(most) / 64 + 1, 0);
  sums_[0] = 1;
  for (const Bytes size : use.sizes) {
    if (AddToSums(size / unit_, most)) return use.forced + most * unit_;
  }
  sums_.back() &= ~uint64_t{0} >> (63 - static_cast<size_t>(most) % 64);
  size_t word = sums_.size() - 1;
  while (sums_[word] == 0) --word;
  const auto best = static_cast<int64_t>(word) * 64 + 63 - std::countl_zero(sums_[word]);
  return use.forced + best * unit_;
}

// Adds `size` to each sum, by a shift of the array, and unites the result with the sums. Returns
// whether `most` is a sum.
bool GapFill::AddToSums(int64_t size, int64_t most) {
  const auto words = static_cast<size_t>(size / 64);
  const auto bits = static_cast<unsigned>(size % 64);
  for (size_t to = sums_.size(); to-- > words;) {
    const size_t from = to - words;
    uint64_t moved = sums_[from] << bits;
    if (bits > 0 && from > 0) moved |= sums_[from - 1] >> (64 - bits);
    sums_[to] |= moved;
  }
  return (sums_.back() >> (static_cast<size_t>(most) % 64) & 1) != 0;
}

// The floor limits all members. A member was excluded from the gaps below the first one that it may
// use, because its least offset lies above its last position there.
void GapFill::Explain(int clique, const CanonicalState& state, ConflictAnalysis& analysis) const {
  const Gaps& gaps = gaps_[static_cast<size_t>(clique)];
  const Bytes* last = gaps.last.data();
  for (const int i : model_.members[clique]) {
    Bytes bound = state.floor[static_cast<size_t>(clique)];
    for (size_t gap = 0; gap < gaps.ranges.size(); ++gap) {
      if (last[gap] < state.least[static_cast<size_t>(i)]) bound = std::max(bound, last[gap] + 1);
    }
    if (!state.IsPlaced(i)) analysis.Need(i, bound);
    last += gaps.ranges.size();
  }
}

}  // namespace tessera::search::engines::canonical
