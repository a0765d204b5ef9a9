#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/result.h"
#include "tessera/search/partition/scale.h"
#include "tessera/search/simulate/simulate.h"
#include "tessera/search/tiling/shape_search.h"
#include "tessera/search/tiling/tile_driver.h"

// What one interval of operators can cost as one subgraph where certain borders are kept on chip, found out only as far as
// somebody asks.
//
//     bounded ----Open----> open ----Decide----> decided
//     one optimistic cost    every choice of tile     a choice is known to fit,
//     under all choices      and policy simulated;    or dropped
//                            none known to fit
//
// Opening costs a few milliseconds (tilings, problems, simulation), deciding may cost a solver run; most intervals of a network
// are never on a promising path and stay bounded.
namespace tessera::search {

// Everything that the intervals of one search share. All of it outlives them.
struct Planning {
  const graph::Graph& graph;
  const hw_profiles::Profile& profile;
  const Simulator& simulator;
  const Scale& scale;
  const base::Stop& stop;
  Engines engines;
  Engines tile_engines;  // the same, asked whether single subgraphs fit: they may remember (cached_engines.h)
  base::Budget budget;   // for each question put to an engine

  // Bytes of the tile memory that a plan may use: all, or as far as a limit on the peak goes.
  problem::Bytes Room() const;
};

enum class Verdict : uint8_t {
  kOpen,  // not asked yet
  kFits,
  kImpossible,  // proven
  kGivenUp,     // a limit came first
};

// One tile shape under one policy.
struct Choice {
  size_t candidate = 0;   // index into the interval's IntervalTiles
  plan::Metrics metrics;  // peak_bytes: a lower bound while open, the peak found once it fits
  Cost cost;              // of those metrics
  Verdict verdict = Verdict::kOpen;
  // False: a limit came before the least peak was proven, where the objective minimises it.
  bool exact = true;
  std::optional<problem::Allocation> allocation;  // of the subgraph alone, once it fits
};

class IntervalChoices {
 public:
  // `kept`: of the borders that the interval touches or that pass over it, ascending. `bound`: SubgraphBound.
  IntervalChoices(const Planning& planning, graph::Interval interval, std::vector<int> kept,
                  const plan::Metrics& bound);

  graph::Interval Interval() const { return interval_; }
  const std::vector<int>& Kept() const { return kept_; }
  bool IsOpened() const { return opened_; }
  const Cost& Bound() const { return bound_; }

  // Makes choices known: those of all tile shapes that a ShapeSearch looks at, going by costs and bounds. What
  // encoder::BuildLadders refuses leaves none, and a refusal.
  void Open();
  const std::optional<base::Diagnostic>& Refusal() const { return refusal_; }

  const std::vector<Choice>& Choices() const { return choices_; }
  const IntervalTiles& Tiles() const { return *tiles_; }  // only where opened and not refused

  // Settles one choice. Its cost may rise: peaks are known only then.
  void Decide(size_t choice);

  // The choices that a best partition may use: those neither impossible nor given up that no other such choice dominates, in
  // ascending order; choices in `kept` always, and as if they were not there for the others.
  std::vector<size_t> Front(const std::vector<size_t>& kept) const;

  // Adds choices for up to `most` of the tile shapes that Open passed over, smallest first; the number of shapes.
  size_t Extend(size_t most);

  // Whether all tile shapes are among the choices; false where there are too many.
  bool IsComplete() const { return refusal_ || (shapes_ && shapes_->IsExhausted() && !lost_shapes_); }

  // No tile shape under any policy fits, by proof.
  bool ProvenEmpty() const;
  bool AnyGivenUp() const;  // or not exact
  int64_t Solves() const { return solves_; }

  // A fault of the program that came to light, or nullptr.
  const base::Diagnostic* Fault() const;

 private:
  bool AddChoices(const std::vector<graph::TileShape>& tile_shapes);
  void DecideByPeak(Choice& choice);
  void TakeAnswers();

  const Planning* planning_;
  graph::Interval interval_;
  std::vector<int> kept_;
  Cost bound_;
  bool opened_ = false;
  std::optional<base::Diagnostic> refusal_;
  std::optional<ShapeSearch> shapes_;
  std::optional<IntervalTiles> tiles_;
  std::vector<Choice> choices_;
  bool lost_shapes_ = false;  // shapes that the encoder refused while it took others
  std::optional<base::Diagnostic> fault_;
  int64_t solves_ = 0;
};

}  // namespace tessera::search
