#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/result.h"
#include "tessera/search/partition/demands.h"
#include "tessera/search/partition/planning.h"
#include "tessera/search/partition/scale.h"
#include "tessera/search/partition/way_costs.h"
#include "tessera/search/tiling/shape_search.h"
#include "tessera/search/tiling/tile_driver.h"

// What one interval of operators can cost as one subgraph where certain borders are kept on chip, found out only as far as
// somebody asks.
//
//     bounded ----Open----> open ------Pose-----> posed ----Decide----> decided
//     one optimistic cost   every choice of tile   their Problems and     a choice is known
//     under all choices     and policy simulated   bounds: some dropped   to fit, or dropped
//
// Opening and posing cost a few milliseconds each (tilings and a simulation of each; a ladder and its bounds), deciding may cost a
// solver run. Few intervals of a network are on a promising path once their costs are known, and most choices have room: so room
// is looked at last.
namespace tessera::search {

enum class Verdict : uint8_t {
  kOpen,  // not asked yet
  kFits,
  kImpossible,  // proven
  kGivenUp,     // a limit came first
};

// One tile shape under one policy; before it is posed, under all policies that differ in what lies in place alone.
struct Choice {
  Way way;
  size_t candidate = 0;  // index into the interval's IntervalTiles, once posed
  // Without parts. peak_bytes: a lower bound, closer once it is posed; the peak found once it fits. The rest may be nothing where
  // that bound refuses it.
  plan::Metrics metrics;
  Cost cost;  // of those metrics
  Verdict verdict = Verdict::kOpen;
  // False: a limit came before the least peak was proven, where the objective minimises it.
  bool exact = true;
  std::optional<problem::Allocation> allocation;  // of the subgraph alone, once it fits
};

class IntervalChoices {
 public:
  // `kept`: of the borders that the interval touches or that pass over it, ascending. `demands`: how it must run, or nullptr where
  // that is open; they outlive the choices.
  IntervalChoices(const Planning& planning, graph::Interval interval, std::vector<int> kept,
                  const Demands* demands = nullptr);

  // No choice costs less: SubgraphBound. Nothing before it is told.
  void SetBound(const plan::Metrics& bound);

  graph::Interval Interval() const { return interval_; }
  const std::vector<int>& Kept() const { return kept_; }
  bool IsOpened() const { return opened_; }
  const Cost& Bound() const { return bound_; }

  // Makes choices known: those of all tile shapes that a ShapeSearch looks at, going by costs alone, that may have room.
  void Open();

  // Makes known which choices bounds refuse, and further ones that a ShapeSearch then looks at. Where there were no choices, those
  // that have no room are there from then on. Indices of choices change. What encoder::BuildLadders refuses leaves none, and a refusal. Opened before.
  void Pose();

  // Adds choices for tiles larger than those of this choice that have no room, so that they can be told of: the smallest `most`, and as many
  // as are no larger than these. Posed before.
  void PoseRefused(size_t choice, size_t most);
  bool IsPosed() const { return posed_; }
  const std::optional<base::Diagnostic>& Refusal() const { return refusal_; }

  const std::vector<Choice>& Choices() const { return choices_; }
  const IntervalTiles& Tiles() const { return *tiles_; }  // only where posed and not refused

  // Settles one choice of an interval that is posed. Its cost may rise: peaks are known only then.
  void Decide(size_t choice);

  // The choices that a best partition may use: those neither impossible nor given up that no other such choice dominates, in
  // ascending order; choices in `kept` always, and as if they were not there for the others.
  std::vector<size_t> Front(const std::vector<size_t>& kept) const;

  // Adds choices for up to `most` of the tile shapes that were passed over, smallest first; the number of shapes.
  size_t Extend(size_t most);

  // Whether tiles are left out that the profile allows, and not for what they cost or need.
  bool IsDemanded() const { return (way_ != nullptr && (way_->tile || way_->halo)) || !pins_.empty(); }

  // Whether all tile shapes that demands allow are among the choices; false where there are too many.
  bool IsComplete() const { return refusal_ || (shapes_ && shapes_->IsExhausted() && !lost_shapes_); }

  // No tile shape under any policy that demands allow fits, by proof.
  bool ProvenEmpty() const;
  bool AnyGivenUp() const;  // or not exact
  int64_t Solves() const { return solves_; }

  // What it took so far, solves apart: tile shapes times operators, once for opening and once for posing, each time once more where
  // tiles that keep rows are cut beside those that compute them again.
  int64_t Effort() const;

  // A fault of the program that came to light, or nullptr.
  const base::Diagnostic* Fault() const;

 private:
  graph::ShapeGrid Grid() const;
  const std::vector<encoder::Policy>& Policies();
  std::vector<graph::TileShape> FirstShapes();
  Cost CostOf(const Choice& choice) const;
  bool AddShapes(const std::vector<graph::TileShape>& tile_shapes);
  bool AddCandidates(const std::vector<graph::TileShape>& tile_shapes, const TileFilter& filter);
  bool AddPriced(const std::vector<graph::TileShape>& tile_shapes);
  void Refine();
  void DecideByPeak(Choice& choice);
  void TakeAnswers();

  const Planning* planning_;
  graph::Interval interval_;
  std::vector<int> kept_;
  Cost bound_;
  const WayDemand* way_ = nullptr;
  std::vector<PinnedBuffer> pins_;
  std::vector<encoder::Policy> policies_;  // once asked for
  bool opened_ = false;
  bool posed_ = false;
  std::optional<base::Diagnostic> refusal_;
  std::optional<ShapeSearch> shapes_;
  std::vector<graph::TileShape> tried_;  // of those
  std::unique_ptr<WayCosts> ways_;       // while shapes are added
  std::map<Way, plan::Metrics> costs_;   // of tiles that may have room, while they are posed
  std::optional<IntervalTiles> tiles_;
  std::vector<Choice> choices_;
  bool lost_shapes_ = false;  // shapes that the encoder refused while it took others
  std::optional<base::Diagnostic> fault_;
  int64_t solves_ = 0;
};

}  // namespace tessera::search
