#include "tessera/search/partition/cuts.h"

#include <algorithm>
#include <tuple>

#include "tessera/search/simulate/saturating.h"

namespace tessera::search {
namespace {

struct Label {
  Cost cost;
  size_t arc = 0;          // that ends here
  size_t previous = 0;     // label at the arc's begin
  size_t length = 0;       // arcs so far
  uint32_t forbidden = 0;  // bit i: all arcs so far are those of forbidden path i
};

bool SameArc(const Arc& a, const Arc& b) {
  return a.begin == b.begin && a.end == b.end && a.choice == b.choice;
}

// A label can stand for another only if whatever completes that one to an allowed path completes this one too.
bool Replaces(const Label& a, const Label& b) {
  return (a.forbidden & ~b.forbidden) == 0 && Dominates(a.cost, b.cost);
}

void Insert(std::vector<Label>& labels, const Label& label) {
  if (std::any_of(labels.begin(), labels.end(), [&](const Label& other) { return Replaces(other, label); }))
    return;
  labels.push_back(label);
}

// Keeps the labels that no other replaces, in their order. Indices into the result are given out only afterwards.
void DropReplaced(std::vector<Label>& labels) {
  std::vector<Label> kept;
  for (size_t i = 0; i < labels.size(); ++i) {
    const bool replaced = std::any_of(labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, labels.end(),
                                      [&](const Label& other) { return Replaces(other, labels[i]); });
    if (!replaced) kept.push_back(labels[i]);
  }
  labels = std::move(kept);
}

uint32_t StillForbidden(const Label& label, const Arc& arc, std::span<const Forbidden> forbidden) {
  uint32_t mask = 0;
  for (size_t i = 0; i < forbidden.size(); ++i) {
    const bool so_far = ((label.forbidden >> i) & 1U) != 0;
    if (so_far && label.length < forbidden[i].size() && SameArc(forbidden[i][label.length], arc))
      mask |= 1U << i;
  }
  return mask;
}

}  // namespace

std::optional<Path> FindBestPath(const Scale& scale, int last, std::span<const Arc> arcs,
                                 std::span<const Forbidden> forbidden) {
  std::vector<std::vector<size_t>> starting_at(static_cast<size_t>(last));
  for (size_t i = 0; i < arcs.size(); ++i) starting_at[static_cast<size_t>(arcs[i].begin)].push_back(i);
  std::vector<std::vector<Label>> labels(static_cast<size_t>(last) + 1);
  const auto all = static_cast<uint32_t>((uint64_t{1} << std::min(forbidden.size(), kMostForbidden)) - 1);
  Label start;
  start.forbidden = all;
  labels[0].push_back(start);
  for (size_t state = 0; state < static_cast<size_t>(last); ++state) {
    DropReplaced(labels[state]);
    for (const size_t arc : starting_at[state]) {
      for (size_t i = 0; i < labels[state].size(); ++i) {
        const Label& from = labels[state][i];
        const Label to{.cost = Join(from.cost, arcs[arc].cost),
                       .arc = arc,
                       .previous = i,
                       .length = from.length + 1,
                       .forbidden = StillForbidden(from, arcs[arc], forbidden)};
        if (scale.WithinLimits(to.cost)) Insert(labels[static_cast<size_t>(arcs[arc].end)], to);
      }
    }
  }

  const Label* best = nullptr;
  for (const Label& label : labels.back()) {
    if (label.forbidden != 0) continue;
    if (best == nullptr) {
      best = &label;
      continue;
    }
    const double score = scale.ScoreOf(label.cost);
    const double least = scale.ScoreOf(best->cost);
    if (std::tie(score, label.cost.change, label.cost.tie) <
        std::tie(least, best->cost.change, best->cost.tie))
      best = &label;
  }
  if (best == nullptr) return std::nullopt;
  Path path{.arcs = {}, .cost = best->cost};
  for (const Label* label = best; label->length > 0;) {
    path.arcs.push_back(label->arc);
    label = &labels[static_cast<size_t>(arcs[label->arc].begin)][label->previous];
  }
  std::reverse(path.arcs.begin(), path.arcs.end());
  return path;
}

int64_t CountIntervals(int operators, int most) {
  int64_t count = 0;
  for (int length = 1; length <= std::min(operators, most); ++length) count += operators - length + 1;
  return count;
}

int64_t CountPartitions(int operators, int most) {
  std::vector<int64_t> ways(static_cast<size_t>(operators) + 1);
  ways[0] = 1;
  for (int end = 1; end <= operators; ++end) {
    for (int length = 1; length <= std::min(end, most); ++length) {
      Accumulate(ways[static_cast<size_t>(end)], ways[static_cast<size_t>(end - length)]);
    }
  }
  return ways.back();
}

}  // namespace tessera::search
