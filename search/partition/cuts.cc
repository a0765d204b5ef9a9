#include "tessera/search/partition/cuts.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

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
  return a.begin == b.begin && a.end == b.end && a.interval == b.interval && a.choice == b.choice;
}

// A label can stand for another only if whatever completes that one to an allowed path completes this one too.
bool Replaces(const Label& a, const Label& b) {
  return (a.forbidden & ~b.forbidden) == 0 && Dominates(a.cost, b.cost);
}

// Sums of doubles in another order differ by less.
constexpr double kRounding = 1e-12;

class BestFirst {
 public:
  BestFirst(const Scale& scale, int last, std::span<const Arc> arcs, std::span<const Forbidden> forbidden)
      : scale_(scale),
        last_(static_cast<size_t>(last)),
        arcs_(arcs),
        forbidden_(forbidden),
        starting_at_(last_),
        labels_at_(last_ + 1),
        behind_(last_ + 1, kNowhere) {
    for (size_t i = 0; i < arcs.size(); ++i) starting_at_[static_cast<size_t>(arcs[i].begin)].push_back(i);
    behind_.back() = {};
    for (size_t state = last_; state-- > 0;) {
      for (const size_t arc : starting_at_[state]) {
        const Cost& cost = arcs[arc].cost;
        const Rest& after = behind_[static_cast<size_t>(arcs[arc].end)];
        behind_[state].sum = std::min(behind_[state].sum, cost.score + after.sum);
        behind_[state].peak = std::min(behind_[state].peak, std::max(cost.peak, after.peak));
      }
    }
  }

  std::optional<Path> Find() {
    Label start;
    start.forbidden = static_cast<uint32_t>((uint64_t{1} << std::min(forbidden_.size(), kMostForbidden)) - 1);
    Add(0, start);
    std::optional<size_t> best;
    while (!open_.empty() && !(best && open_.top().least > Score(*best) * (1 + kRounding))) {
      const Open next = open_.top();
      open_.pop();
      if (next.state < last_) {
        Extend(next);
      } else if (labels_[next.label].forbidden == 0 && (!best || IsBetter(next.label, *best))) {
        best = next.label;
      }
    }
    if (!best) return std::nullopt;
    return PathTo(*best);
  }

 private:
  // What no way from a state to the last one goes below; the two may be met by different ways.
  struct Rest {
    double sum = 0;
    double peak = 0;
  };
  static constexpr Rest kNowhere = {std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::infinity()};

  struct Open {
    double least = 0;  // score of any path that it begins
    size_t label = 0;
    size_t state = 0;
    bool operator<(const Open& other) const {  // the greatest comes out first
      return least != other.least ? least > other.least : label > other.label;
    }
  };

  double Score(size_t label) const { return scale_.ScoreOf(labels_[label].cost); }

  bool IsBetter(size_t a, size_t b) const {
    const auto key = [this](size_t label) {
      const Cost& cost = labels_[label].cost;
      return std::tuple(Score(label), cost.change, cost.tie);
    };
    return key(a) < key(b);
  }

  void Add(size_t state, const Label& label) {
    const Rest& rest = behind_[state];
    if (rest.sum == kNowhere.sum) return;
    std::vector<size_t>& here = labels_at_[state];
    if (std::any_of(here.begin(), here.end(), [&](size_t other) { return Replaces(labels_[other], label); }))
      return;
    std::erase_if(here, [&](size_t other) { return Replaces(label, labels_[other]); });
    here.push_back(labels_.size());
    Cost least = label.cost;
    least.score += rest.sum;
    least.peak = std::max(least.peak, rest.peak);
    open_.push({scale_.ScoreOf(least), labels_.size(), state});
    labels_.push_back(label);
  }

  void Extend(const Open& from) {
    const std::vector<size_t>& here = labels_at_[from.state];
    if (std::find(here.begin(), here.end(), from.label) == here.end()) return;  // replaced meanwhile
    for (const size_t arc : starting_at_[from.state]) {
      const Label& before = labels_[from.label];
      const Label to{.cost = Join(before.cost, arcs_[arc].cost),
                     .arc = arc,
                     .previous = from.label,
                     .length = before.length + 1,
                     .forbidden = StillForbidden(before, arcs_[arc])};
      if (scale_.WithinLimits(to.cost)) Add(static_cast<size_t>(arcs_[arc].end), to);
    }
  }

  uint32_t StillForbidden(const Label& label, const Arc& arc) const {
    uint32_t mask = 0;
    for (size_t i = 0; i < forbidden_.size(); ++i) {
      const bool so_far = ((label.forbidden >> i) & 1U) != 0;
      if (so_far && label.length < forbidden_[i].size() && SameArc(forbidden_[i][label.length], arc))
        mask |= 1U << i;
    }
    return mask;
  }

  Path PathTo(size_t label) const {
    Path path{.arcs = {}, .cost = labels_[label].cost};
    for (; labels_[label].length > 0; label = labels_[label].previous)
      path.arcs.push_back(labels_[label].arc);
    std::reverse(path.arcs.begin(), path.arcs.end());
    return path;
  }

  const Scale& scale_;
  size_t last_;
  std::span<const Arc> arcs_;
  std::span<const Forbidden> forbidden_;
  std::vector<std::vector<size_t>> starting_at_;  // by state: arcs
  std::vector<Label> labels_;
  std::vector<std::vector<size_t>> labels_at_;  // by state: those that no other replaces
  std::vector<Rest> behind_;                    // by state
  std::priority_queue<Open> open_;
};

}  // namespace

std::optional<Path> FindBestPath(const Scale& scale, int last, std::span<const Arc> arcs,
                                 std::span<const Forbidden> forbidden) {
  return BestFirst(scale, last, arcs, forbidden).Find();
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
