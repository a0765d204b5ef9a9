// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/paths/label_search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "tessera/search/partition/paths/limit_relaxation.h"

namespace tessera::search::partition::paths {
namespace {

struct Label {
  cost::Cost cost;
  const Arc* arc = nullptr;  // that ends here
  size_t previous = 0;       // label at the arc's begin
  size_t length = 0;         // arcs so far
  uint64_t forbidden = 0;    // bit i: all arcs so far are those of forbidden path i
};

// Whether label `a` replaces `b`. It may only if every completion of `b` to an allowed path also
// completes `a` to an allowed path.
bool Replaces(const Label& a, const Label& b) {
  return (a.forbidden & ~b.forbidden) == 0 && Dominates(a.cost, b.cost);
}

// Labels extended between two polls of the stop.
constexpr int64_t kBetweenLooks = 64;

class BestFirst {
 public:
  BestFirst(const cost::Scale& scale, const ArcLists& arcs, std::span<const Forbidden> forbidden,
            const LimitRelaxation* relaxation = nullptr)
      : scale_(scale),
        relaxation_(relaxation),
        last_(arcs.LastState()),
        arcs_(arcs),
        forbidden_(forbidden),
        labels_at_(last_ + 1),
        score_behind_(last_ + 1, kInfinity),
        behind_(arcs.HaveSumsOrMaxima() ? last_ + 1 : 0, Unreachable()) {
    score_behind_.back() = 0;
    if (!behind_.empty()) behind_.back() = {};
    const std::span<const ArcLists::Place> places = arcs.All();
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
      double& score = score_behind_[place->begin];
      score = std::min(score, place->score + score_behind_[place->end]);
      if (!behind_.empty() && place->arcs != nullptr)
        behind_[place->begin].OfferMore(place->arcs->Least(), behind_[place->end]);
    }
  }

  // Returns a lower bound of the score of the best path.
  double LeastScore() const { return scale_.ScoreOf(LeastAfter(0, {})); }

  // Returns the best path, if its score is at most `most`.
  std::optional<Path> Find(double most, PathLook& look) {
    most_ = most;
    leaves_out_ = false;
    Label start;
    const size_t forbidden = std::min(forbidden_.size(), kMostForbidden);
    start.forbidden = forbidden == 0 ? 0 : ~uint64_t{0} >> (kMostForbidden - forbidden);
    Add(0, start);
    std::optional<size_t> best;
    const int64_t most_extended = MostExtended(look);
    int64_t extended = 0;
    is_long_ = false;
    while (!open_.empty() && !(best && cost::IsLess(Score(*best), open_.top().least))) {
      if (look.joins > look.most_joins || (++extended % kBetweenLooks == 0 && look.IsCutShort()))
        return std::nullopt;
      is_long_ = extended > most_extended;
      if (is_long_) break;
      const Open next = open_.top();
      open_.pop();
      if (best && IsTieBehind(*best, next)) continue;
      if (next.state < last_) {
        look.joins += Extend(next);
        if (look.IsLimited())
          look.joins += std::exchange(comparisons_, 0) / PathLook::kComparisonsForOne;
      } else if (labels_[next.label].forbidden == 0 && (!best || IsBetter(next.label, *best))) {
        best = next.label;
      }
    }
    if (!best) return std::nullopt;
    return PathTo(*best);
  }

  // Whether the last call was ended after too many labels. If it found a path, no other has a lower
  // score; ties may be open.
  bool IsLong() const { return is_long_; }

  // Whether the last call ignored labels that can only reach a greater score.
  bool LeavesOut() const { return leaves_out_; }

  void Restart() {
    labels_.clear();
    for (std::vector<size_t>& labels : labels_at_) labels.clear();
    open_ = {};
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  // Lower bounds of the components of every path from a state to the last one, except the score.
  // Each may have its least value on a different path.
  struct Rest {
    decltype(cost::Cost::maxima) maxima = {};
    decltype(cost::Cost::sums) sums = {};
    double change = 0;
    double latency = 0;

    // Lowers the bound for paths that begin with an arc of these least costs and continue with
    // `after`.
    void OfferMore(const LeastCost& cost, const Rest& after) {
      change = std::min(change, cost.change + after.change);
      latency = std::min(latency, cost.latency + after.latency);
      for (size_t i = 0; i < maxima.size(); ++i)
        maxima[i] = std::min(maxima[i], std::max(cost.maxima[i], after.maxima[i]));
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] = std::min(sums[i], cost.sums[i] + after.sums[i]);
    }

    void RaiseCost(cost::Cost& cost) const {
      cost.change += change;
      cost.tie.latency += latency;
      for (size_t i = 0; i < maxima.size(); ++i)
        cost.maxima[i] = std::max(cost.maxima[i], maxima[i]);
      for (size_t i = 0; i < sums.size(); ++i) cost.sums[i] += sums[i];
    }
  };
  static Rest Unreachable() {
    Rest rest;
    rest.maxima.fill(kInfinity);
    rest.sums.fill(kInfinity);
    rest.change = rest.latency = kInfinity;
    return rest;
  }

  // Returns a lower bound of the cost of a path to the last state that has this cost up to `state`.
  cost::Cost LeastAfter(size_t state, const cost::Cost& cost) const {
    cost::Cost least = cost;
    least.score += score_behind_[state];
    if (!behind_.empty()) behind_[state].RaiseCost(least);
    return least;
  }

  struct Open {
    double least = 0;  // a lower bound of the score of paths that begin with the label
    double change = 0;
    double latency = 0;
    size_t label = 0;
    size_t state = 0;
    bool operator<(const Open& other) const {  // the greatest comes out first
      return std::tie(least, change, latency, label) >
             std::tie(other.least, other.change, other.latency, other.label);
    }
  };

  // Whether no path that begins with the open label has the score of the best one and decides ties
  // better.
  bool IsTieBehind(size_t label, const Open& open) const {
    if (cost::IsLess(open.least, Score(label))) return false;
    const cost::Cost& best = labels_[label].cost;
    if (cost::IsLess(best.change, open.change)) return true;
    return !cost::IsLess(open.change, best.change) && cost::IsLess(best.tie.latency, open.latency);
  }

  double Score(size_t label) const { return scale_.ScoreOf(labels_[label].cost); }

  bool IsBetter(size_t a, size_t b) const {
    return scale_.Prefers(labels_[a].cost, labels_[b].cost);
  }

  void Add(size_t state, Label label) {
    if (score_behind_[state] == kInfinity) return;
    if (relaxation_ != nullptr) relaxation_->RaiseToLeast(state, label.cost);
    const cost::Cost least = LeastAfter(state, label.cost);
    if (!scale_.WithinLimits(least)) return;
    double score = scale_.ScoreOf(least);
    if (relaxation_ != nullptr) score = std::max(score, relaxation_->LeastScore(state, label.cost));
    if (score == kInfinity || IsBeyond(score)) return;
    std::vector<size_t>& here = labels_at_[state];
    comparisons_ += static_cast<int64_t>(2 * here.size());
    if (std::any_of(here.begin(), here.end(),
                    [&](size_t other) { return Replaces(labels_[other], label); }))
      return;
    std::erase_if(here, [&](size_t other) { return Replaces(label, labels_[other]); });
    here.push_back(labels_.size());
    open_.push({score, least.change, least.tie.latency, labels_.size(), state});
    labels_.push_back(label);
  }

  // Extends the label along all arcs from its state. Returns the number of these arcs.
  int64_t Extend(const Open& from) {
    const std::vector<size_t>& here = labels_at_[from.state];
    if (std::find(here.begin(), here.end(), from.label) != here.end()) {
      for (const ArcLists::Place& place : arcs_.From(from.state)) {
        if (place.arcs != nullptr) ExtendAlong(from.label, place);
      }
    }
    return arcs_.CountFrom(from.state);
  }

  void ExtendAlong(size_t from, const ArcLists::Place& place) {
    const double behind = score_behind_[place.end];
    if (IsBeyond(labels_[from].cost.score + place.score + behind)) return;
    for (const Arc& arc : place.arcs->All()) {
      const Label& before = labels_[from];
      if (IsBeyond(before.cost.score + arc.cost.score + behind)) continue;
      const Label to{.cost = cost::Join(before.cost, arc.cost),
                     .arc = &arc,
                     .previous = from,
                     .length = before.length + 1,
                     .forbidden = StillForbidden(before, arc)};
      Add(place.end, to);
    }
  }

  int64_t MostExtended(const PathLook& look) const {
    if (scale_.AddsUp() || scale_.WeighsRatios()) return std::numeric_limits<int64_t>::max();
    return relaxation_ == nullptr ? look.most_labels : look.most_labels_with_prices;
  }

  bool IsBeyond(double least_score) {
    const bool beyond = cost::IsLess(most_, least_score);
    leaves_out_ = leaves_out_ || beyond;
    return beyond;
  }

  uint64_t StillForbidden(const Label& label, const Arc& arc) const {
    uint64_t mask = 0;
    for (size_t i = 0; i < std::min(forbidden_.size(), kMostForbidden); ++i) {
      const bool so_far = ((label.forbidden >> i) & 1U) != 0;
      if (so_far && label.length < forbidden_[i].size() &&
          IsForbiddenBy(forbidden_[i][label.length], arc))
        mask |= uint64_t{1} << i;
    }
    return mask;
  }

  Path PathTo(size_t label) const {
    Path path;
    for (; labels_[label].length > 0; label = labels_[label].previous)
      path.arcs.push_back(*labels_[label].arc);
    std::reverse(path.arcs.begin(), path.arcs.end());
    for (const Arc& arc : path.arcs) path.cost = cost::Join(path.cost, arc.cost);
    return path;
  }

  const cost::Scale& scale_;
  const LimitRelaxation* relaxation_;
  bool is_long_ = false;
  size_t last_;
  const ArcLists& arcs_;
  std::span<const Forbidden> forbidden_;
  std::vector<Label> labels_;
  std::vector<std::vector<size_t>> labels_at_;  // by state: the labels that no other replaces
  std::vector<double> score_behind_;            // by state: the least score to the last one
  std::vector<Rest> behind_;                    // by state; empty if scores are all that matters
  std::priority_queue<Open> open_;
  int64_t comparisons_ = 0;  // of labels, since they were last counted
  double most_ = kInfinity;  // the greatest score of labels that are not ignored
  bool leaves_out_ = false;
};

std::optional<Path> FindWithPrices(const cost::Scale& scale, const ArcLists& arcs,
                                   std::span<const Forbidden> forbidden, PathLook& look) {
  const LimitRelaxation relaxation(scale, arcs, forbidden, look);
  const ChangedArcs useful(arcs, [&](const Arc& arc) {
    return relaxation.MayUse(arc) ? std::optional(arc.cost) : std::nullopt;
  });
  BestFirst search(scale, useful.Lists(), forbidden, &relaxation);
  std::optional<Path> path = search.Find(relaxation.Most(), look);
  if (path || look.IsCutShort()) return path;
  if (search.IsLong()) look.left_open = true;
  return relaxation.Solution();
}

std::vector<ParallelArcs> InOrder(std::span<const Arc> arcs) {
  std::vector<ParallelArcs> each(arcs.begin(), arcs.end());
  std::stable_sort(each.begin(), each.end(),
                   [](const auto& a, const auto& b) { return a.Begin() < b.Begin(); });
  return each;
}

std::vector<ArcLists::Place> PlacesOf(std::span<const ParallelArcs> each) {
  std::vector<ArcLists::Place> places;
  places.reserve(each.size());
  for (const ParallelArcs& arc : each) places.push_back({.begin = arc.Begin(), .end = arc.End()});
  return places;
}

}  // namespace

bool IsForbiddenBy(const Arc& forbidden, const Arc& arc) {
  return forbidden.begin == arc.begin && forbidden.end == arc.end &&
         forbidden.interval == arc.interval &&
         (forbidden.choice == kEveryChoice || forbidden.choice == kEveryKnownChoice ||
          forbidden.choice == arc.choice);
}

void LeastCost::Add(const cost::Cost& cost) {
  score = std::min(score, cost.score);
  change = std::min(change, cost.change);
  latency = std::min(latency, cost.tie.latency);
  for (size_t i = 0; i < maxima.size(); ++i) maxima[i] = std::min(maxima[i], cost.maxima[i]);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = std::min(sums[i], cost.sums[i]);
}

bool LeastCost::HasSumsOrMaxima() const {
  const auto is_used = [](double component) { return component != 0; };
  return std::any_of(sums.begin(), sums.end(), is_used) ||
         std::any_of(maxima.begin(), maxima.end(), is_used);
}

ArcLists::ArcLists(int last, std::vector<Place> places)
    : last_(static_cast<size_t>(last)),
      places_(std::move(places)),
      first_at_(last_ + 2),
      arcs_from_(last_ + 1) {
  for (const Place& place : places_) ++first_at_[place.begin + 1];
  std::partial_sum(first_at_.begin(), first_at_.end(), first_at_.begin());
}

ArcLists ArcLists::Emptied() const {
  ArcLists empty = *this;
  for (size_t i = 0; i < places_.size(); ++i) empty.Fill(i, nullptr);
  empty.have_sums_or_maxima_ = false;
  return empty;
}

void ArcLists::Fill(size_t place, const ParallelArcs* arcs) {
  Place& here = places_[place];
  const auto count = [&here] {
    return here.arcs == nullptr ? 0 : static_cast<int64_t>(here.arcs->All().size());
  };
  const int64_t before = count();
  here.arcs = arcs;
  arcs_ += count() - before;
  arcs_from_[here.begin] += count() - before;
  here.score = std::numeric_limits<double>::infinity();
  if (arcs == nullptr) return;
  here.score = arcs->LeastScore();
  have_sums_or_maxima_ = have_sums_or_maxima_ || arcs->Least().HasSumsOrMaxima();
}

std::span<const ArcLists::Place> ArcLists::From(size_t state) const {
  return std::span(places_).subspan(first_at_[state], first_at_[state + 1] - first_at_[state]);
}

ListedArcs::ListedArcs(int last, std::span<const Arc> arcs)
    : each_(InOrder(arcs)), lists_(last, PlacesOf(each_)) {
  for (size_t i = 0; i < each_.size(); ++i) lists_.Fill(i, &each_[i]);
}

std::optional<Path> FindBestPath(const cost::Scale& scale, const ArcLists& arcs,
                                 std::span<const Forbidden> forbidden, PathLook& look) {
  if (scale.WeighsOnlyRatios()) return FindBestRatioPath(scale, arcs, forbidden, look);
  BestFirst search(scale, arcs, forbidden);
  for (const double most : {search.LeastScore(), std::numeric_limits<double>::infinity()}) {
    std::optional<Path> path = search.Find(most, look);
    if (search.IsLong()) return FindWithPrices(scale, arcs, forbidden, look);
    if (path || look.IsCutShort()) return path;
    if (!search.LeavesOut()) break;
    search.Restart();
  }
  return std::nullopt;
}

std::optional<Path> FindBestPath(const cost::Scale& scale, int last, std::span<const Arc> arcs,
                                 std::span<const Forbidden> forbidden, PathLook& look) {
  return FindBestPath(scale, ListedArcs(last, arcs).Lists(), forbidden, look);
}

}  // namespace tessera::search::partition::paths
