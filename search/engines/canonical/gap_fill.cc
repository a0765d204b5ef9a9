#include "tessera/search/engines/canonical/gap_fill.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

namespace tessera::search::engines::canonical {

using problem::AddressRange;
using problem::Bytes;

namespace {
constexpr Bytes kMostUnits = 4'096;  // of an array of sums
}  // namespace

GapFill::GapFill(const allocate::ConflictModel& model, Bytes capacity) : model_(model) {
  for (const Bytes size : model.sizes) unit_ = std::gcd(unit_, size);
  unit_ = std::max<Bytes>(unit_, 1);
  for (int clique = 0; clique < model.CliqueCount(); ++clique) {
    const auto at = static_cast<size_t>(clique);
    const Bytes limit = capacity + model.overhang[at];
    std::vector<AddressRange>& gaps = gaps_.emplace_back();
    Bytes begin = 0;
    for (const AddressRange& range : model.blocked[at]) {
      const Bytes end = std::min(range.begin, limit);
      if (begin < end) gaps.push_back({begin, end});
      begin = range.end;
    }
    if (begin < limit) gaps.push_back({begin, limit});
    if (gaps.size() == 1 && gaps[0] == AddressRange{0, limit}) gaps.clear();
  }
  for (int i = 0; i < model.Count(); ++i) {
    std::vector<Bytes>& ends = gap_ends_.emplace_back();
    for (const int clique : model.cliques_of[i]) {
      for (const AddressRange& gap : gaps_[static_cast<size_t>(clique)])
        ends.push_back(gap.end - model.sizes[static_cast<size_t>(i)] + 1);
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  }
}

bool GapFill::MayUse(int buffer, Bytes least, const AddressRange& gap) const {
  const allocate::Positions& positions = model_.positions[static_cast<size_t>(buffer)];
  return positions.AtLeast(std::max(least, gap.begin)) + positions.Size() <= gap.end;
}

bool GapFill::Permits(int clique, const CanonicalState& state) {
  const std::vector<AddressRange>& gaps = gaps_[static_cast<size_t>(clique)];
  if (gaps.empty()) return true;
  members_.clear();
  const auto count = static_cast<int>(gaps.size());
  size_t used = 0;
  for (const int i : model_.members[clique]) {
    if (state.IsPlaced(i)) continue;
    if (used == may_use_.size()) may_use_.emplace_back();
    std::vector<char>& may_use = may_use_[used++];
    may_use.assign(gaps.size(), 0);
    Member member{i, count, 0};
    for (int gap = count - 1; gap >= 0; --gap) {
      const auto at = static_cast<size_t>(gap);
      if (!MayUse(i, state.least[static_cast<size_t>(i)], gaps[at])) continue;
      may_use[at] = 1;
      member.lowest = gap;
      ++member.gaps;
    }
    members_.push_back(member);
  }
  const auto at = static_cast<size_t>(clique);
  Bytes fill = 0;
  for (int gap = 0; gap < count; ++gap) {
    const AddressRange& range = gaps[static_cast<size_t>(gap)];
    const Bytes begin = std::max(range.begin, state.floor[at]);
    if (begin >= range.end) continue;
    const Bytes best = FillOf(gap, range.end - begin);
    if (best < 0) return false;
    fill += best;
  }
  return fill >= state.load[at];
}

// How many bytes of the gap can be used; -1 if it is too short for those that must lie there.
Bytes GapFill::FillOf(int gap, Bytes length) {
  const auto at = static_cast<size_t>(gap);
  Bytes forced = 0, others = 0;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (may_use_[i][at] == 0) continue;
    const Bytes size = model_.sizes[static_cast<size_t>(members_[i].buffer)];
    (members_[i].gaps == 1 ? forced : others) += size;
  }
  const Bytes left = length - forced;
  if (left < 0) return -1;
  if (others <= left) return forced + others;
  if (left / unit_ >= kMostUnits) return length;
  sums_.assign(static_cast<size_t>(left / unit_) / 64 + 1, 0);
  sums_[0] = 1;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (may_use_[i][at] == 0 || members_[i].gaps == 1) continue;
    AddToSums(model_.sizes[static_cast<size_t>(members_[i].buffer)] / unit_);
  }
  // Bits above `left` are no sums that fit.
  const auto most = static_cast<size_t>(left / unit_);
  sums_.back() &= ~uint64_t{0} >> (63 - most % 64);
  size_t word = sums_.size() - 1;
  while (sums_[word] == 0) --word;
  const auto best = word * 64 + 63 - static_cast<size_t>(std::countl_zero(sums_[word]));
  return forced + static_cast<Bytes>(best) * unit_;
}

// Sums with the size added: the array, moved up by so many bits.
void GapFill::AddToSums(int64_t size) {
  const auto words = static_cast<size_t>(size / 64);
  const auto bits = static_cast<unsigned>(size % 64);
  for (size_t to = sums_.size(); to-- > words;) {
    const size_t from = to - words;
    uint64_t moved = sums_[from] << bits;
    if (bits > 0 && from > 0) moved |= sums_[from - 1] >> (64 - bits);
    sums_[to] |= moved;
  }
}

// The floor limits all members. A member was excluded from the gaps below its lowest one because
// its least offset lies above its last position there.
void GapFill::Explain(int clique, const CanonicalState& state, ConflictAnalysis& analysis) {
  const std::vector<AddressRange>& gaps = gaps_[static_cast<size_t>(clique)];
  const Bytes floor = state.floor[static_cast<size_t>(clique)];
  for (const Member& member : members_) {
    const allocate::Positions& positions = model_.positions[static_cast<size_t>(member.buffer)];
    Bytes bound = floor;
    for (int gap = 0; gap < member.lowest; ++gap) {
      const AddressRange& range = gaps[static_cast<size_t>(gap)];
      const Bytes last = positions.Below(range.end - positions.Size() + 1);
      if (last >= range.begin) bound = std::max(bound, last + 1);
    }
    analysis.Need(member.buffer, bound);
  }
}

}  // namespace tessera::search::engines::canonical
