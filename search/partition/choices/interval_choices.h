// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/memory_lower_bound.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/cost/shape_bounds.h"
#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/choices/tile_config_costs.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/tiling/shape_search.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::search::partition::choices {

// The possible costs of one interval of operators as one subgraph, for given kept boundary tensors,
// computed only as far as needed.
//
//     bounded ---Expand---> expanded --Formulate--> formulated --Decide--> decided
//     one optimistic cost   every choice of tile   their Problems and     a choice is known
//     under all choices     and policy simulated   bounds: some dropped   to fit, or dropped
//
// Expand and Formulate cost a few milliseconds each (tilings and a simulation of each; a ladder and
// its bounds). Decide may cost a solver run. Once costs are known, few intervals of a network are
// on a promising path, and most choices fit. So the fit is checked last.

// The number of policies that can be tried with a known shape in the time of one new shape.
inline constexpr size_t kPoliciesForOne = 4;

// The most tiles that ExpandInHaste considers in each group of shapes, and the most shapes of a
// group other than those that a search begins with.
inline constexpr int64_t kFewTiles = 1 << 16;
inline constexpr size_t kFewShapes = 1 << 12;

enum class ChoiceStatus : uint8_t {
  kOpen,  // not decided yet
  kFits,
  kImpossible,  // proven
  kGivenUp,     // a limit came first
};

// One tile shape under one policy. Before it is formulated, it represents all policies that differ
// only in results in place.
struct Choice {
  TileConfig config;
  size_t candidate = 0;  // index into the interval's IntervalTiles, once formulated
  // A lower bound, tighter once it is formulated; the exact peak once it fits.
  problem::Bytes peak_bytes = 0;
  cost::Cost cost;
  bool priced = true;  // if false, only the peak is known, and its bound excludes the choice
  ChoiceStatus verdict = ChoiceStatus::kOpen;
  // False if the objective minimises the peak and a limit came before its least value was proven.
  bool exact = true;
  size_t addition = 0;  // until it is formulated: the addition of shapes that it came with
  std::optional<problem::Allocation> allocation;  // of the subgraph alone, once it fits
};

class IntervalChoices {
 public:
  // `kept`: the kept tensors among the boundary tensors that the interval touches or that pass over
  // it, ascending. `constraints` may be nullptr; must outlive this object.
  IntervalChoices(const SearchContext& context, graph::Interval interval, std::vector<int> kept,
                  const constraints::PlanConstraints* constraints = nullptr);

  // Sets the lower bound (SubgraphBound) of all choices or, before AddAxes, of those on the first
  // axes. Before the call there is none.
  void SetBound(const plan::Metrics& bound);

  graph::Interval Interval() const { return interval_; }
  const std::vector<int>& Kept() const { return kept_; }
  bool IsExpanded() const { return expanded_ != nullptr; }
  const cost::Cost& Bound() const { return bound_; }

  // Adds the choices of all tile shapes that a ShapeSearch selects by costs alone and that may fit.
  // After a stop, Expand and the functions below skip the remaining shapes; LeavesOutShapes() then
  // holds.
  void Expand(const base::Stop& stop);

  // From now on, tiles are also cut along the axes that the profile names for later. If expanded,
  // adds choices of such tiles, as Expand does. Indices of choices stay.
  void AddAxes(const base::Stop& stop);
  bool HasEveryAxis() const { return has_every_axis_; }

  // Replaces Expand and Formulate if the stop of the search came before a choice that fits was
  // found: tries tile shapes until one fits or `stop`, another Stop, is requested. The groups are
  // the shapes that a search begins with, the others, and both with the later axes; in each, shapes
  // are tried in ascending number of tiles, with at most kFewTiles tiles in total.
  void ExpandInHaste(const base::Stop& stop);

  // For use after the stop: adds the choice with the tile and the policy of the previous plan, and
  // decides it by its placement there, without a query to an engine.
  void ExpandAsBefore();

  // Determines which choices bounds exclude, and adds further ones that a ShapeSearch then selects.
  // If there were no choices, adds those that do not fit. Indices of choices change. Where scores
  // add up, choices that cost more than one that may fit are left out; Decide adds them when they
  // are needed. If encoder::BuildCandidates refuses, there are no choices, and Refusal() is set.
  // Must be expanded before.
  void Formulate(const base::Stop& stop);

  // For reports: adds choices of tiles that are larger than that of this choice: those that do not
  // fit, the `most` smallest ones and all others of the same size; and all that may fit. Of other
  // choices that may fit, the `most` with the least scores are there afterwards. Must be formulated
  // before.
  void FormulateRefused(size_t choice, size_t most);
  bool IsFormulated() const { return expanded_ != nullptr && expanded_->formulated; }
  const base::Diagnostic* Refusal() const;  // nullptr if there is none

  std::span<const Choice> Choices() const {
    return expanded_ == nullptr ? std::span<const Choice>() : expanded_->choices;
  }
  const tiling::IntervalTiles& Tiles() const {
    return *expanded_->tiles;
  }  // only if formulated and not refused

  // Decides one choice of a formulated interval. Its cost may rise, because its exact peak becomes
  // known only now.
  void Decide(size_t choice, const base::Stop& stop);

  // Returns the choices that an optimal partition may use, ascending: those neither impossible nor
  // given up that no other such choice dominates. Such choices in `kept` are always included, and
  // do not dominate others.
  std::vector<size_t> Front(const std::vector<size_t>& kept) const;

  // Adds choices for up to `most` of the skipped tile shapes: even cuts first, then the smallest.
  // If only the first axes were cut and cuts along all axes may help, adds choices along all axes
  // instead, as AddAxes does. Returns the number of shapes.
  size_t Extend(size_t most);

  // Adds choices as Extend does, but only on the axes that are cut so far. Choices whose score is
  // at least `score` are put aside: they are not added, and only their least score is recorded.
  // Choices put aside earlier that have a lower score come first. If no shape is missing, tries
  // skipped policies with all shapes; kPoliciesForOne of them count as one shape. After a stop,
  // adds none.
  size_t ExtendBelow(double score, size_t most);

  // As ExtendBelow, but tries skipped policies first, and then up to `most` shapes.
  size_t ExtendForExchange(double score, size_t most);

  // Adds choices for all shapes, if at most `most` are missing. Must be expanded before.
  void TryAll(size_t most);

  // Adds choices that may be used in place of this one, which fits alone, but not with the other
  // subgraphs: those held back, now and from then on, and the next ones that were left out. Must be
  // formulated before.
  void LookBeyond(size_t choice);

  // Returns a lower bound of the cost of the skipped shapes and policies, and of the choices put
  // aside, on the axes that are cut so far; nullopt if there are none. Must be expanded before.
  std::optional<cost::Cost> UntriedBound() const;

  // Returns the number of shapes that ExtendBelow would add without a limit, including skipped
  // policies, without those put aside. Must be expanded before.
  int64_t CountUntried() const;

  // Whether policies were skipped. Must be expanded before.
  bool LeavesOutPolicies() const {
    return !expanded_->further.empty() || !expanded_->lists_policies;
  }
  // Whether shapes were skipped. Must be expanded before.
  bool LeavesOutShapes() const;

  // Whether tiles that the profile allows are excluded for a reason other than cost or size.
  bool IsRequired() const {
    return (config_ != nullptr && (config_->tile || config_->halo)) || !pins_.empty();
  }

  // Whether all tile shapes and policies that constraints allow were tried.
  bool IsComplete() const { return expanded_ != nullptr && has_every_axis_ && !UntriedBound(); }

  // Whether it is proven that no tile shape fits under any policy that constraints allow.
  bool ProvenEmpty() const;
  // Whether a limit left some choice undecided, or its peak inexact.
  bool AnyGivenUp() const;
  int64_t Solves() const { return expanded_ == nullptr ? 0 : expanded_->solves; }

  // Returns the work so far, without solves: tile shapes times operators, once for Expand and,
  // unless choices are formulated one after another, once for Formulate. Each shape counts twice if
  // some policy keeps rows.
  int64_t Effort() const;

  // Returns an error of the program that was detected, or nullptr.
  const base::Diagnostic* Fault() const;

 private:
  // A range of the tried policies, by index.
  struct Range {
    size_t begin = 0;
    size_t end = 0;
    friend bool operator==(const Range&, const Range&) = default;
    friend bool operator<(const Range& a, const Range& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    }
  };
  using Aside = std::pair<Range, graph::tiling::TileShape>;

  // A score, or a lower bound of one; a shape with only a bound need not fit.
  struct Least {
    double score = 0;
    bool is_exact = true;
  };

  struct Waiting {
    double least_score = 0;  // a lower bound
    size_t addition = 0;     // Choice::addition
  };

  // Data that exists once the interval is expanded; most intervals of a long network never are.
  struct Expanded {
    explicit Expanded(graph::tiling::ShapeGrid grid) : shapes(std::move(grid)) {}

    tiling::ShapeSearch shapes;
    // The policies that are tried with all shapes in `tried`, once requested.
    std::vector<encoder::program::Policy> policies;
    std::vector<encoder::program::Policy> further;  // the policies skipped so far
    bool lists_policies = true;                     // whether there are no other policies
    std::vector<graph::tiling::TileShape> tried;    // the shapes so far
    std::unique_ptr<TileConfigCost> configs;        // while shapes are added
    std::map<TileConfig, cost::Cost> costs;  // of tiles that may fit, while they are formulated
    bool formulated = false;
    // Whether choices are formulated in the order of their scores: see choices_in_turn.cc. If so,
    // the costs of those that are left out so far.
    bool in_turn = false;
    std::map<TileConfig, cost::Cost> pending;
    size_t together = 1;      // the number of choices that are formulated at least
    std::set<size_t> beyond;  // the choices of LookBeyond
    std::optional<base::Diagnostic> refusal;
    std::optional<tiling::IntervalTiles> tiles;
    std::vector<Choice> choices;
    std::map<Aside, Least> aside;  // the least score of the choices that were put aside
    // Shapes among `tried` without prices, because bounds exclude them from the front: see
    // waiting_choices.cc. Empty once formulated, unless `in_turn`.
    std::map<graph::tiling::TileShape, Waiting> waiting;
    size_t additions = 0;                       // of shapes, so far
    std::unique_ptr<cost::AxisSums> sums;       // once requested
    std::unique_ptr<cost::ShapeBounds> bounds;  // under `policies`, once requested
    size_t bounded_policies = 0;                // the number of policies of `bounds`
    // Serialized configurations that are no choices as long as the same tiles may fit
    // double-buffered.
    std::set<TileConfig> held;
    // After the last release: the number of choices, of choices that may fit, and of `held`.
    std::array<size_t, 3> released_at = {};
    bool holds_back = true;
    std::optional<bool> may_fit_by_later_axes;  // once requested
    int64_t effort_further = 0;                 // of policies that were initially skipped
    // Whether some shapes were refused by the encoder although it accepted others, have too many
    // tiles to follow, or were skipped after a stop.
    bool lost_shapes = false;
    std::optional<base::Diagnostic> fault;
    int64_t solves = 0;
  };

  bool IsSingle() const { return interval_.first == interval_.last && kept_.empty(); }
  graph::tiling::ShapeGrid Grid(const hw_profiles::Profile& cut) const;
  bool MayFitByLaterAxes();
  const hw_profiles::Profile& Cut() const {
    return has_every_axis_ ? context_->profile : *context_->first_axes;
  }
  std::vector<graph::tiling::TileShape> TakeEveryAxis();
  const std::vector<encoder::program::Policy>& Policies();
  void FindPolicies();
  void LookFirstAt(const encoder::program::Policy& before);
  encoder::program::TilesMade Made() const;
  Range EveryPolicy() const { return {0, expanded_->policies.size()}; }
  size_t TakePolicies(double score, size_t most);
  std::vector<graph::tiling::TileShape> FirstShapes();
  void DropConfigs() { base::FreeUnlessAtEnd(std::move(expanded_->configs), context_->stop); }
  void BeginInHaste();
  bool FindsOneThatFits(std::vector<graph::tiling::TileShape> tiles, const base::Stop& stop);
  double ChangeOf(const Choice& choice) const;
  tiling::ShapeSearch::Rate RateOf(const Choice& choice) const;
  bool AddShapes(const std::vector<graph::tiling::TileShape>& tile_shapes, const base::Stop& stop,
                 double below = std::numeric_limits<double>::infinity());
  bool AddTileConfigs(const std::vector<graph::tiling::TileShape>& tile_shapes, Range policies,
                      double below, const base::Stop& stop);
  void PutAside(Range policies, double below, std::map<TileConfig, TilePrice>& found);
  std::map<TileConfig, TilePrice> FindPrices(std::span<const graph::tiling::TileShape> tile_shapes,
                                             Range policies, const base::Stop& stop,
                                             std::set<TileConfig>& held);
  void AddChoices(const std::map<TileConfig, TilePrice>& found, size_t addition);

  // choices_in_turn.cc
  bool OnlyLeastMatters() const;
  bool FormulateNext(const base::Stop& stop);
  bool FormulateUpTo(double score, const base::Stop& stop);
  bool FormulatePending(const std::function<bool(const TileConfig&, const cost::Cost&)>& is_next,
                        const base::Stop& stop);
  double LeastPending() const;
  double PendingScore(size_t count) const;
  std::optional<double> LeastPending(const graph::tiling::TileShape& shape) const;
  void AddPending(const std::map<TileConfig, TilePrice>& found);
  void FormulateForReport(int64_t elements, const TileConfig& chosen, size_t most);
  void DropPending();

  // waiting_choices.cc
  bool MayWait() const;
  bool MakeWait(const std::vector<graph::tiling::TileShape>& tile_shapes);
  class ShapeFloors;
  ShapeFloors FloorsUnder(Range policies);
  void PriceWaiting(const graph::tiling::TileShape& shape, const base::Stop& stop);
  void PriceFront(const base::Stop& stop);
  void PriceAll(const base::Stop& stop);
  void DropWaiting();
  void Sort();
  std::vector<graph::tiling::TileShape> PutAsideUnpriced(
      const std::vector<graph::tiling::TileShape>& tile_shapes, Range policies, double below);
  void PriceAside(double below);
  void PriceLeastAside();
  size_t CountAside(size_t most);
  void LookForLost(std::span<const graph::tiling::TileShape> tile_shapes, Range policies,
                   const base::Stop& stop);
  bool MayHoldBack() const;
  void HoldBack(const std::set<TileConfig>& held, std::map<TileConfig, TilePrice>& found);
  bool Release(const base::Stop& stop);
  std::set<TileConfig> TakeReleased();
  bool AddCandidates(const std::vector<graph::tiling::TileShape>& tile_shapes,
                     const tiling::TileFilter& filter, const base::Stop& stop);
  bool AddPriced(const std::vector<graph::tiling::TileShape>& tile_shapes, const base::Stop& stop);
  void Refine(const base::Stop& stop);
  void DecideByPeak(Choice& choice, const base::Stop& stop);
  std::optional<problem::Result> PlacedBefore(const Choice& choice,
                                              const problem::Problem& problem) const;
  void SetPeak(Choice& choice, problem::Bytes peak) const;
  void SetOffChipPeak(cost::Cost& cost) const;
  void TakeAnswers();

  const SearchContext* context_;
  graph::Interval interval_;
  std::vector<int> kept_;
  double off_chip_peak_;  // of every choice; 0 if the objective does not use it
  cost::Cost bound_;
  const plan::TileConfigConstraint* config_ = nullptr;
  std::vector<tiling::PinnedBuffer> pins_;
  bool has_every_axis_;  // false: only the first axes are cut
  std::unique_ptr<Expanded> expanded_;
};

}  // namespace tessera::search::partition::choices
