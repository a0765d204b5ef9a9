#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
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
#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/tiling/shape_search.h"
#include "tessera/search/tiling/tile_driver.h"

// What tiles cost, whether they have room or not.
namespace tessera::search::partition::choices {

// How an interval runs, as far as costs depend on it: whether results lie in place changes none.
struct TileConfig {
  graph::tiling::TileShape tile;
  hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
  int64_t k_extent = 0;  // encoder::Policy::k_extent
  friend bool operator<(const TileConfig& a, const TileConfig& b) {
    return std::tie(a.tile, a.weights, a.halo, a.k_extent) <
           std::tie(b.tile, b.weights, b.halo, b.k_extent);
  }
};

// The costs of one interval under these policies. Not safe to use from two threads at once.
class TileConfigCost {
 public:
  // `context` and `stop` outlive it. Of the policies those that the encoder refuses are left out.
  TileConfigCost(const SearchContext& context, graph::Interval interval,
                 std::span<const encoder::program::Policy> policies,
                 encoder::program::TilesMade made, const base::Stop& stop);

  // Whether the encoder refuses every policy.
  bool IsRefused() const { return tried_.empty(); }

  // Whether shapes were left out because a policy makes too many tiles to follow of them, or
  // because of the stop.
  bool LeavesOut() const { return leaves_out_; }

  // Simulates tiles of these shapes, which have no fault (encoder/program/choices.h), under every
  // policy. Left out are shapes of which a policy makes no tiles, and tiles that surely have no
  // room; peak_bytes is the floor of the others (encoder/program/memory_lower_bound.h). Cost: a
  // tiling and a simulation of each class of tiles for each shape, twice or thrice where policies
  // differ in more than weights; where there is no room the most that tiles need, without classes.
  std::map<TileConfig, plan::Metrics> Find(std::span<const graph::tiling::TileShape> shapes);

 private:
  // A policy, in place if it may be: that changes no cost, and asks for less room.
  struct Tried {
    encoder::program::Policy policy;
    encoder::program::PolicyTiles tiles;
    encoder::program::RoomFloor floor;
    Tried(const SearchContext& context, const encoder::program::Policy& policy,
          encoder::program::PolicyTiles tiles);
  };

  bool IsRollingBufferByAnotherName(const Tried& tried) const;
  bool HasRoom(const graph::tiling::TiledSubgraph& tiling, hw_profiles::HaloStorage halo);
  void AddCosts(const graph::tiling::TileShape& shape, std::map<TileConfig, plan::Metrics>& costs);

  const SearchContext* context_;
  const base::Stop* stop_;
  encoder::program::TilesMade made_;
  encoder::program::SharedTilings tilings_;
  std::vector<std::unique_ptr<Tried>> tried_;  // the floor refers to the tiles
  bool leaves_out_ = false;
};

// What one interval of operators can cost as one subgraph where certain boundary tensors are kept
// on chip, found out only as far as somebody asks.
//
//     bounded ---Expand---> expanded --Formulate--> formulated --Decide--> decided
//     one optimistic cost   every choice of tile   their Problems and     a choice is known
//     under all choices     and policy simulated   bounds: some dropped   to fit, or dropped
//
// Expanding and formulating cost a few milliseconds each (tilings and a simulation of each; a
// ladder and its bounds), deciding may cost a solver run. Few intervals of a network are on a
// promising path once their costs are known, and most choices have room: so room is looked at last.

// Policies that are tried beside others with a shape in the time that the shape takes at first.
inline constexpr size_t kPoliciesForOne = 4;

// Tiles that ExpandInHaste looks at for one operator.
inline constexpr int64_t kFewTiles = 1 << 16;
inline constexpr size_t kFewShapes = 1 << 12;  // beyond those that a search begins with

enum class ChoiceStatus : uint8_t {
  kOpen,  // not asked yet
  kFits,
  kImpossible,  // proven
  kGivenUp,     // a limit came first
};

// One tile shape under one policy; before it is formulated, under all policies that differ in what
// lies in place alone.
struct Choice {
  TileConfig config;
  size_t candidate = 0;  // index into the interval's IntervalTiles, once formulated
  problem::Bytes peak_bytes =
      0;  // a lower bound, closer once it is formulated; the peak found once it fits
  cost::Cost cost;
  bool priced = true;  // else of its cost nothing is known but the peak, whose bound refuses it
  ChoiceStatus verdict = ChoiceStatus::kOpen;
  // False: a limit came before the least peak was proven, where the objective minimises it.
  bool exact = true;
  std::optional<problem::Allocation> allocation;  // of the subgraph alone, once it fits
};

class IntervalChoices {
 public:
  // `kept`: of the boundary tensors that the interval touches or that pass over it, ascending.
  // `constraints`: how it must run, or nullptr where that is open; they outlive the choices.
  IntervalChoices(const SearchContext& context, graph::Interval interval, std::vector<int> kept,
                  const constraints::PlanConstraints* constraints = nullptr);

  // No choice costs less: SubgraphBound. Nothing before it is told.
  void SetBound(const plan::Metrics& bound);

  graph::Interval Interval() const { return interval_; }
  const std::vector<int>& Kept() const { return kept_; }
  bool IsExpanded() const { return expanded_ != nullptr; }
  const cost::Cost& Bound() const { return bound_; }

  // Makes choices known: those of all tile shapes that a ShapeSearch looks at, going by costs
  // alone, that may have room. A stop leaves out those around the best, here and below.
  void Expand(const base::Stop& stop);

  // Instead of expanding and formulating, where a stop came before a choice was found that fits:
  // takes tile shapes in ascending number of tiles until one fits, as long as they make no more
  // than kFewTiles tiles in all.
  void ExpandInHaste();

  // Makes known which choices bounds refuse, and further ones that a ShapeSearch then looks at.
  // Where there were no choices, those that have no room are there from then on. Indices of choices
  // change. What encoder::BuildCandidates refuses leaves none, and a refusal. Expanded before.
  void Formulate(const base::Stop& stop);

  // Adds choices for tiles larger than those of this choice that have no room, so that they can be
  // told of: the smallest `most`, and as many as are no larger than these. Posed before.
  void FormulateRefused(size_t choice, size_t most);
  bool IsFormulated() const { return expanded_ != nullptr && expanded_->formulated; }
  const base::Diagnostic* Refusal() const;  // nullptr where there is none

  std::span<const Choice> Choices() const;
  const tiling::IntervalTiles& Tiles() const {
    return *expanded_->tiles;
  }  // only where formulated and not refused

  // Settles one choice of an interval that is formulated. Its cost may rise: peaks are known only
  // then.
  void Decide(size_t choice, const base::Stop& stop);

  // The choices that a best partition may use: those neither impossible nor given up that no other
  // such choice dominates, in ascending order; choices in `kept` always, and as if they were not
  // there for the others.
  std::vector<size_t> Front(const std::vector<size_t>& kept) const;

  // Adds choices for up to `most` of the tile shapes that were skipped, even cuts first, then the
  // smallest; the number of shapes.
  size_t Extend(size_t most);

  // The same, but choices that score no less than this are put aside: they are not among the
  // choices, and only their least score is known. What was put aside before and scores less comes
  // first. Where all shapes are there, policies that were skipped are tried with all of them; they
  // count as shapes do, kPoliciesForOne of them as one.
  size_t ExtendBelow(double score, size_t most);

  // Makes choices of all shapes, if no more than `most` are missing. Expanded before.
  void TryAll(size_t most);

  // What the shapes and policies that were skipped, and those put aside, cost at least; nullopt
  // where there are none. Expanded before.
  std::optional<cost::Cost> UntriedBound() const;

  // How many shapes Extend would give if asked for all, policies that were skipped included.
  // Expanded before.
  int64_t CountUntried() const;

  // Whether policies were skipped, and whether shapes were. Expanded before.
  bool LeavesOutPolicies() const {
    return !expanded_->further.empty() || !expanded_->lists_policies;
  }
  bool LeavesOutShapes() const;

  // Whether tiles are left out that the profile allows, and not for what they cost or need.
  bool IsRequired() const {
    return (config_ != nullptr && (config_->tile || config_->halo)) || !pins_.empty();
  }

  // Whether all tile shapes that constraints allow are among the choices; false where there are too
  // many.
  bool IsComplete() const;

  // No tile shape under any policy that constraints allow fits, by proof.
  bool ProvenEmpty() const;
  bool AnyGivenUp() const;  // or not exact
  int64_t Solves() const { return expanded_ == nullptr ? 0 : expanded_->solves; }

  // What it took so far, solves apart: tile shapes times operators, once for opening and once for
  // posing, each time once more where tiles that keep rows are cut beside those that compute them
  // again.
  int64_t Effort() const;

  // A fault of the program that came to light, or nullptr.
  const base::Diagnostic* Fault() const;

 private:
  // Some of the policies tried, by index.
  struct Range {
    size_t begin = 0;
    size_t end = 0;
    friend auto operator<=>(const Range&, const Range&) = default;
  };
  using Aside = std::pair<Range, graph::tiling::TileShape>;

  // What is known of it once it is expanded; most intervals of a long network never are.
  struct Expanded {
    explicit Expanded(graph::tiling::ShapeGrid grid) : shapes(std::move(grid)) {}

    tiling::ShapeSearch shapes;
    std::vector<encoder::program::Policy>
        policies;  // once asked for: those tried with all of `tried`
    std::vector<encoder::program::Policy> further;  // skipped so far
    bool lists_policies = true;                     // whether there are no others
    std::vector<graph::tiling::TileShape> tried;    // of the shapes
    std::unique_ptr<TileConfigCost> configs;        // while shapes are added
    std::map<TileConfig, cost::Cost>
        costs;  // of tiles that may have room, while they are formulated
    bool formulated = false;
    std::optional<base::Diagnostic> refusal;
    std::optional<tiling::IntervalTiles> tiles;
    std::vector<Choice> choices;
    std::map<Aside, double> aside;  // the least score of the choices that were put aside
    int64_t effort_further = 0;     // of policies that were skipped at first
    bool lost_shapes =
        false;  // that the encoder refused while it took others, of too many tiles to follow, or for a stop
    std::optional<base::Diagnostic> fault;
    int64_t solves = 0;
  };

  bool IsSingle() const { return interval_.first == interval_.last && kept_.empty(); }
  graph::tiling::ShapeGrid Grid() const;
  const std::vector<encoder::program::Policy>& Policies();
  void FindPolicies();
  void LookFirstAt(const encoder::program::Policy& before);
  encoder::program::TilesMade Made() const;
  Range EveryPolicy() const { return {0, expanded_->policies.size()}; }
  size_t TakePolicies(double score, size_t most);
  std::vector<graph::tiling::TileShape> FirstShapes();
  bool FindsOneThatFits(std::vector<graph::tiling::TileShape> tiles);
  double ChangeOf(const Choice& choice) const;
  bool AddShapes(const std::vector<graph::tiling::TileShape>& tile_shapes, const base::Stop& stop,
                 double below = std::numeric_limits<double>::infinity());
  bool AddTileConfigs(const std::vector<graph::tiling::TileShape>& tile_shapes, Range policies,
                      double below, const base::Stop& stop);
  void PutAside(Range policies, double below, std::map<TileConfig, plan::Metrics>& found);
  bool AddCandidates(const std::vector<graph::tiling::TileShape>& tile_shapes,
                     const tiling::TileFilter& filter, const base::Stop& stop);
  bool AddPriced(const std::vector<graph::tiling::TileShape>& tile_shapes, const base::Stop& stop);
  void Refine(const base::Stop& stop);
  void DecideByPeak(Choice& choice, const base::Stop& stop);
  void SetPeak(Choice& choice, problem::Bytes peak) const;
  void TakeAnswers();

  const SearchContext* context_;
  graph::Interval interval_;
  std::vector<int> kept_;
  cost::Cost bound_;
  const plan::TileConfigConstraint* config_ = nullptr;
  std::vector<tiling::PinnedBuffer> pins_;
  std::unique_ptr<Expanded> expanded_;
};

}  // namespace tessera::search::partition::choices
