// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/section_pair_cuts.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

namespace tessera::search::engines::lazy {
namespace {

constexpr size_t kMostEntries = 4'000'000;    // sections farther apart are not compared
constexpr int64_t kEntriesPerLook = 1 << 16;  // between two polls of the stop

struct Parting {
  std::vector<int> stayers, leavers, enterers;
};

Parting Part(std::span<const int> before, std::span<const int> after) {
  Parting parting;
  std::set_intersection(before.begin(), before.end(), after.begin(), after.end(),
                        std::back_inserter(parting.stayers));
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(parting.leavers));
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::back_inserter(parting.enterers));
  return parting;
}

}  // namespace

SectionPairCuts::SectionPairCuts(Axis& axis, int reach, const base::Stop* stop)
    : axis_(axis), trail_(axis.trail()) {
  const Packing& packing = axis.packing();
  for (int distance = 1; distance <= reach; ++distance) {
    for (int section = 0; section + distance < packing.sections.Count(); ++section) {
      if (stop != nullptr && stop->Requested()) break;
      const int other = section + distance;
      if (packing.section_memory[static_cast<size_t>(section)] !=
              packing.section_memory[static_cast<size_t>(other)] ||
          entries_.size() > kMostEntries)
        continue;
      AddRows(section, other);
      AddRows(other, section);
    }
  }
  awake_.resize(rows_.size());
  if (!FillUses(stop)) {
    rows_.clear();
    entries_.clear();
    uses_ = CompressedLists<Use>(std::vector<size_t>(static_cast<size_t>(trail_.Views()) + 1), {});
  }
}

// Counts the uses of each view, then fills them in, in the order of the rows. Returns false after a
// stop.
bool SectionPairCuts::FillUses(const base::Stop* stop) {
  base::PolledWork work(stop, kEntriesPerLook);
  std::vector<size_t> begin(static_cast<size_t>(trail_.Views()) + 1);
  for (const Entry& entry : entries_) {
    if (!work.Continues()) return false;
    ++begin[static_cast<size_t>(entry.order) + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<size_t> next(begin.begin(), begin.end() - 1);
  std::vector<Use> uses(entries_.size());
  for (size_t r = 0; r < rows_.size(); ++r) {
    if (!work.Continues(rows_[r].count)) return false;
    for (uint32_t at = rows_[r].first; at < rows_[r].first + rows_[r].count; ++at) {
      uses[next[static_cast<size_t>(entries_[at].order)]++] = {static_cast<int>(r),
                                                               entries_[at].buffer};
    }
  }
  uses_ = CompressedLists<Use>(std::move(begin), std::move(uses));
  return true;
}

void SectionPairCuts::AddRows(int first_section, int second_section) {
  const Packing& packing = axis_.packing();
  const Parting parting = Part(packing.sections[first_section], packing.sections[second_section]);
  struct Mover {
    int buffer = 0;
    bool leaves = false;
  };
  std::vector<Mover> movers;
  for (const int leaver : parting.leavers) movers.push_back({leaver, true});
  for (const int enterer : parting.enterers) movers.push_back({enterer, false});
  // All rows have the order that Reload needs, unless sizes change.
  std::stable_sort(movers.begin(), movers.end(), [this](const Mover& a, const Mover& b) {
    return axis_.Size(a.buffer) > axis_.Size(b.buffer);
  });
  for (const int stayer : parting.stayers) {
    Row row;
    row.first_section = first_section;
    row.second_section = second_section;
    row.first = static_cast<uint32_t>(entries_.size());
    row.count = static_cast<uint32_t>(movers.size());
    for (const auto& [buffer, leaves] : movers) {
      entries_.push_back(
          {leaves ? packing.BelowView(buffer, stayer) : packing.BelowView(stayer, buffer), buffer});
    }
    rows_.push_back(row);
  }
}

int SectionPairCuts::MemoryOf(const Row& row) const {
  return axis_.packing().section_memory[static_cast<size_t>(row.first_section)];
}

void SectionPairCuts::Reload() {
  const CompressedLists<int>& sections = axis_.packing().sections;
  const Row* last = nullptr;  // rows of one pair of sections are contiguous
  for (Row& row : rows_) {
    const bool same = last != nullptr && last->first_section == row.first_section &&
                      last->second_section == row.second_section;
    row.stayers = same ? last->stayers : 0;
    row.sum = row.largest = 0;
    if (!same) {
      for (const int stayer :
           Part(sections[row.first_section], sections[row.second_section]).stayers)
        row.stayers += axis_.Size(stayer);
    }
    last = &row;
    const std::span<Entry> entries(entries_.data() + row.first, row.count);
    const auto larger = [&](const Entry& a, const Entry& b) {
      return axis_.Size(a.buffer) > axis_.Size(b.buffer);
    };
    if (!std::is_sorted(entries.begin(), entries.end(), larger))
      std::stable_sort(entries.begin(), entries.end(), larger);
    if (!entries.empty()) row.largest = axis_.Size(entries.front().buffer);
  }
}

void SectionPairCuts::Wake(int row) {
  char& awake = awake_[static_cast<size_t>(row)];
  if (awake != 0) return;
  awake = 1;
  woken_.push_back(row);
}

void SectionPairCuts::OrderSet(View order) {
  for (const Use& use : uses_[order]) {
    Row& row = rows_[static_cast<size_t>(use.row)];
    row.sum += axis_.Size(use.buffer);
    if (row.sum + row.largest > Free(row)) Wake(use.row);
  }
}

void SectionPairCuts::OrderUndone(View order) {
  for (const Use& use : uses_[order])
    rows_[static_cast<size_t>(use.row)].sum -= axis_.Size(use.buffer);
}

void SectionPairCuts::CeilingSank(int memory) {
  for (size_t r = 0; r < rows_.size(); ++r) {
    if (MemoryOf(rows_[r]) == memory) Wake(static_cast<int>(r));
  }
}

void SectionPairCuts::Sleep() {
  for (const int row : woken_) awake_[static_cast<size_t>(row)] = 0;
  woken_.clear();
}

bool SectionPairCuts::PropagateOne() {
  const auto r = static_cast<size_t>(woken_.back());
  woken_.pop_back();
  awake_[r] = 0;
  const Row& row = rows_[r];
  const Bound left = Free(row) - row.sum;
  if (left < 0) return trail_.Refute(Because(row, 0));
  for (uint32_t at = row.first; at < row.first + row.count; ++at) {
    const Entry& entry = entries_[at];
    const Bound size = axis_.Size(entry.buffer);
    if (size <= left) break;
    const BoundLiteral excluded = OrderLiteral(Opposite(entry.order));
    if (trail_.IsTrue(excluded) || trail_.IsFalse(excluded)) continue;
    if (!trail_.Imply(excluded, Because(row, size))) return false;
  }
  return true;
}

// Returns as the reason enough of the true entries, the largest first, to leave no space for
// `entering`.
Reason SectionPairCuts::Because(const Row& row, Bound entering) {
  const Bound free = Free(row);
  Bound sum = entering;
  trail_.OpenReason();
  for (uint32_t at = row.first; sum <= free; ++at) {
    const BoundLiteral entry = OrderLiteral(entries_[at].order);
    if (!trail_.IsTrue(entry)) continue;
    trail_.Because(entry);
    sum += axis_.Size(entries_[at].buffer);
  }
  trail_.Because(axis_.EndsAt(MemoryOf(row), row.stayers + sum - 1));
  return trail_.CloseReason(Reason::Kind::kLiterals);
}

}  // namespace tessera::search::engines::lazy
