// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
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
// To expand and to formulate cost a few milliseconds each (tilings and a simulation of each; a
// ladder and its bounds). To decide may cost a solver run. Once costs are known, few intervals of a
// network are on a promising path, and most choices fit. So the fit is checked last.

// Number of policies that can be tried with a shape in the time that the shape initially takes.
inline constexpr size_t kPoliciesForOne = 4;

// Number of tiles that ExpandInHaste considers for one operator.
inline constexpr int64_t kFewTiles = 1 << 16;
inline constexpr size_t kFewShapes = 1 << 12;  // in addition to those that a search begins with

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
  // False: a limit came before the least peak was proven, if the objective minimises it.
  bool exact = true;
  size_t addition = 0;  // until it is formulated: the addition of shapes that it came with
  std::optional<problem::Allocation> allocation;  // of the subgraph alone, once it fits
};

class IntervalChoices {
 public:
  // `kept`: the kept tensors among the boundary tensors that the interval touches or that pass over
  // it, ascending. `constraints`: the required configuration, or nullptr if there is none; must
  // outlive this object.
  IntervalChoices(const SearchContext& context, graph::Interval interval, std::vector<int> kept,
                  const constraints::PlanConstraints* constraints = nullptr);

  // Sets the lower bound of all choices, or of those of the first axes: SubgraphBound. Before the
  // call there is none.
  void SetBound(const plan::Metrics& bound);

  graph::Interval Interval() const { return interval_; }
  const std::vector<int>& Kept() const { return kept_; }
  bool IsExpanded() const { return expanded_ != nullptr; }
  const cost::Cost& Bound() const { return bound_; }

  // Adds the choices of all tile shapes that a ShapeSearch selects by costs alone and that may fit.
  // After a stop, here and below, those around the best are skipped.
  void Expand(const base::Stop& stop);

  // From now on tiles are also cut along the axes that the profile names for later. If expanded,
  // adds choices of such tiles, as Expand does. Indices of choices stay.
  void AddAxes(const base::Stop& stop);
  bool HasEveryAxis() const { return has_every_axis_; }

  // Replaces Expand and Formulate if a stop came before a choice that fits was found: tries tile
  // shapes in ascending number of tiles until one fits, as long as they make at most kFewTiles
  // tiles in total and `stop`, another Stop, does not request an end.
  void ExpandInHaste(const base::Stop& stop);

  // After a stop: adds the choice with the tile and the policy of the previous plan, and decides it
  // by its placement there, without a query to an engine.
  void ExpandAsBefore();

  // Determines which choices bounds exclude, and adds further ones that a ShapeSearch then selects.
  // If there were no choices, those that do not fit are added. Indices of choices change. If
  // encoder::BuildCandidates refuses, there are no choices and a refusal. Must be expanded before.
  void Formulate(const base::Stop& stop);

  // Adds choices, for reporting, of tiles larger than those of this choice that do not fit: the
  // `most` smallest ones, and as many as are no larger than these. Must be formulated before.
  void FormulateRefused(size_t choice, size_t most);
  bool IsFormulated() const { return expanded_ != nullptr && expanded_->formulated; }
  const base::Diagnostic* Refusal() const;  // nullptr if there is none

  std::span<const Choice> Choices() const {
    return expanded_ == nullptr ? std::span<const Choice>() : expanded_->choices;
  }
  const tiling::IntervalTiles& Tiles() const {
    return *expanded_->tiles;
  }  // only if formulated and not refused

  // Decides one choice of a formulated interval. Its cost may rise, because peaks become known only
  // now.
  void Decide(size_t choice, const base::Stop& stop);

  // The choices that an optimal partition may use: those neither impossible nor given up that no
  // other such choice dominates, in ascending order. Choices in `kept` are always included, and do
  // not dominate others.
  std::vector<size_t> Front(const std::vector<size_t>& kept) const;

  // Adds choices for up to `most` of the skipped tile shapes: even cuts first, then the smallest.
  // If only the first axes were cut and cuts along all of them may help, those of the other axes
  // instead, as AddAxes does. Returns the number of shapes.
  size_t Extend(size_t most);

  // The same on the axes that are cut so far, but choices whose score is at least `score` are put
  // aside: they are not added, and only their least score is recorded. Earlier choices that were
  // put aside and have a lower score come first. If all shapes are present, skipped policies are
  // tried with all of them; they count as shapes, kPoliciesForOne of them as one.
  size_t ExtendBelow(double score, size_t most);

  // As ExtendBelow, but skipped policies come first, and up to `most` of the shapes after them.
  size_t ExtendForExchange(double score, size_t most);

  // Adds choices for all shapes, if at most `most` are missing. Must be expanded before.
  void TryAll(size_t most);

  // Adds the choices that are held back, and holds none back from then on: others of this interval
  // fit alone, but not with the other subgraphs. Must be formulated before.
  void ReleaseHeld();

  // A lower bound of the cost of the skipped shapes and policies, and of the choices put aside, on
  // the axes that are cut so far; nullopt if there are none. Must be expanded before.
  std::optional<cost::Cost> UntriedBound() const;

  // The number of shapes that Extend would return without a limit, including skipped policies. Must
  // be expanded before.
  int64_t CountUntried() const;

  // Whether policies were skipped, and whether shapes were. Must be expanded before.
  bool LeavesOutPolicies() const {
    return !expanded_->further.empty() || !expanded_->lists_policies;
  }
  bool LeavesOutShapes() const;

  // Whether tiles that the profile allows are excluded for a reason other than cost or size.
  bool IsRequired() const {
    return (config_ != nullptr && (config_->tile || config_->halo)) || !pins_.empty();
  }

  // Whether all tile shapes that constraints allow are among the choices; false if there are too
  // many.
  bool IsComplete() const { return expanded_ != nullptr && has_every_axis_ && !UntriedBound(); }

  // It is proven that no tile shape fits, under any policy that constraints allow.
  bool ProvenEmpty() const;
  bool AnyGivenUp() const;  // or not exact
  int64_t Solves() const { return expanded_ == nullptr ? 0 : expanded_->solves; }

  // The work so far, without solves: tile shapes times operators, once to expand and once to
  // formulate. Each counts twice if tiles that keep rows are cut in addition to those that
  // recompute them.
  int64_t Effort() const;

  // An error of the program that was detected, or nullptr.
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

  // A score, or a lower bound of one. Where it is a bound, it is open whether the shape fits.
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
    // Once requested: those tried with all of `tried`.
    std::vector<encoder::program::Policy> policies;
    std::vector<encoder::program::Policy> further;  // skipped so far
    bool lists_policies = true;                     // whether there are no others
    std::vector<graph::tiling::TileShape> tried;    // of the shapes
    std::unique_ptr<TileConfigCost> configs;        // while shapes are added
    std::map<TileConfig, cost::Cost> costs;  // of tiles that may fit, until they are formulated
    bool formulated = false;
    std::optional<base::Diagnostic> refusal;
    std::optional<tiling::IntervalTiles> tiles;
    std::vector<Choice> choices;
    std::map<Aside, Least> aside;  // the least score of the choices that were put aside
    // Shapes among `tried` without prices, because bounds exclude them from the front: see
    // waiting_choices.cc. Empty once formulated.
    std::map<graph::tiling::TileShape, Waiting> waiting;
    size_t additions = 0;                       // of shapes, so far
    std::unique_ptr<cost::AxisSums> sums;       // once requested
    std::unique_ptr<cost::ShapeBounds> bounds;  // under `policies`, once requested
    size_t bounded_policies = 0;                // how many those were
    // serialized ones that are no choices as long as the same tiles may fit double-buffered
    std::set<TileConfig> held;
    std::array<size_t, 3> released_at = {};  // choices, those that may fit, `held`: after the last
    bool holds_back = true;
    std::optional<bool> may_fit_by_later_axes;  // once requested
    int64_t effort_further = 0;                 // of policies that were initially skipped
    bool lost_shapes =
        // that the encoder refused although it accepted others, with too many tiles to follow, or
        // skipped after a stop
        false;
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

  // waiting_choices.cc
  bool MayWait() const;
  bool MakeWait(const std::vector<graph::tiling::TileShape>& tile_shapes);
  cost::ShapeBounds* Bounds(Range policies, std::unique_ptr<cost::ShapeBounds>& others);
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
  double off_chip_peak_;  // of every choice; 0 if the objective does not look at it
  cost::Cost bound_;
  const plan::TileConfigConstraint* config_ = nullptr;
  std::vector<tiling::PinnedBuffer> pins_;
  bool has_every_axis_;  // otherwise only the first ones are cut
  std::unique_ptr<Expanded> expanded_;
};

}  // namespace tessera::search::partition::choices
