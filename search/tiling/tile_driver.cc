// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/tiling/tile_driver.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/memory_lower_bound.h"
#include "tessera/search/tiling/shape_search.h"

// A candidate belongs to a ladder. Policies differ in structure, and so do a single tile, odd and
// even numbers of tiles. Each such structure is a ladder with separate engine sessions
// (encoder::BuildCandidates), and answers are inferred only within it.
namespace tessera::search::tiling {
namespace {

using encoder::program::Policy;
using encoder::program::PolicyTiles;
using encoder::program::SubgraphCandidates;

bool IsInPlace(const std::vector<problem::Relation>& relations) {
  return std::any_of(relations.begin(), relations.end(), [](const problem::Relation& relation) {
    return relation.kind == problem::RelationKind::kColocate;
  });
}

int64_t TileElements(const TileCandidate& candidate) {
  return graph::ElementsOf(candidate.choice.tile);
}

}  // namespace

graph::tiling::ShapeGrid GridOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                graph::Interval interval) {
  std::vector<graph::tiling::CutAxis> axes;
  if (encoder::program::RunsOnHost(graph, profile, interval))
    return graph::tiling::TileShapes(graph, interval, axes);
  for (const hw_profiles::AxisGranularity& axis : profile.tiling.axes)
    axes.push_back({axis.axis, axis.granularity});
  return graph::tiling::TileShapes(graph, interval, axes);
}

bool FixOffsets(std::span<const PinnedBuffer> pins, problem::Problem& problem) {
  return std::all_of(pins.begin(), pins.end(), [&problem](const PinnedBuffer& pin) {
    const auto buffer =
        std::find_if(problem.buffers.begin(), problem.buffers.end(),
                     [&pin](const problem::Buffer& each) { return each.id == pin.id; });
    if (buffer == problem.buffers.end()) return !pin.required;
    buffer->offset = pin.offset;
    return true;
  });
}

namespace {

// Decides whether the classes of a tiling are needed. With a window that reaches far into the pads,
// every tile is a separate class, so the classes of a million tiles take gigabytes. They are
// omitted if the tiles exceed the tile memory anyway. Results in place depend on classes, and so do
// tiles that keep rows; for both, classes are always found.
class ClassNeed {
 public:
  ClassNeed(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
            const hw_profiles::Profile& profile, graph::Interval interval,
            std::span<const Policy> policies)
      : graph_(graph),
        usages_(usages),
        profile_(profile),
        interval_(interval),
        policies_(policies) {}

  bool operator()(const graph::tiling::TiledSubgraph& tiling, hw_profiles::HaloStorage halo) {
    if (tiling.tiles <= kFewTiles || halo != hw_profiles::HaloStorage::kRecompute) return true;
    if (!floors_) FindFloors();
    return may_be_in_place_ || std::any_of(floors_->begin(), floors_->end(), [&](const auto& each) {
             return each->floor.Find(tiling) <= Capacity();
           });
  }

  problem::Bytes Capacity() const {
    return profile_.memories[static_cast<size_t>(profile_.tile_memory)].capacity_bytes;
  }

 private:
  static constexpr int64_t kFewTiles = 1 << 12;  // their classes are found quickly

  struct Floor {
    Floor(const ClassNeed& need, PolicyTiles made, bool in_place)
        : tiles(std::move(made)),
          floor(need.graph_, need.usages_, need.profile_, tiles.Uses(), in_place) {}

    PolicyTiles tiles;
    encoder::program::RoomLowerBound floor;
  };

  void FindFloors() {
    floors_.emplace();
    for (const Policy& policy : policies_) {
      if (policy.halo != hw_profiles::HaloStorage::kRecompute) continue;
      base::Expected<PolicyTiles> tiles =
          PolicyTiles::Make(graph_, usages_, profile_, interval_, policy);
      if (!tiles) continue;
      floors_->push_back(std::make_unique<Floor>(*this, *std::move(tiles), policy.in_place));
      for (int op = interval_.first; policy.in_place && op <= interval_.last; ++op) {
        may_be_in_place_ =
            may_be_in_place_ ||
            encoder::program::MayTakeAPlace(profile_, graph_.operators[static_cast<size_t>(op)]);
      }
    }
  }

  const graph::Graph& graph_;
  const std::vector<graph::Usage>& usages_;
  const hw_profiles::Profile& profile_;
  graph::Interval interval_;
  std::span<const Policy> policies_;
  std::optional<std::vector<std::unique_ptr<Floor>>> floors_;
  bool may_be_in_place_ = false;
};

}  // namespace

base::Expected<IntervalTiles> IntervalTiles::Build(
    const graph::Graph& graph, const hw_profiles::Profile& profile, graph::Interval interval,
    const TileOptions& options, const TileFilter& filter, const base::Stop* stop) {
  if (std::optional<base::Diagnostic> fault = encoder::program::CheckWellFormed(graph, interval))
    return base::Unexpected(*fault);
  IntervalTiles tiles;
  tiles.graph_ = &graph;
  tiles.usages_ =
      options.usages != nullptr
          ? std::shared_ptr<const Usages>(std::shared_ptr<const Usages>(), options.usages)
          : std::make_shared<const Usages>(graph::UsagesOf(graph));
  tiles.profile_ = &profile;
  tiles.interval_ = interval;
  tiles.engines_ = options.engines;
  tiles.options_ = {options.budget, options.infer};
  tiles.made_ = options.made;
  tiles.pins_ = options.pins;
  tiles.policies_ = options.policies
                        ? *options.policies
                        : encoder::program::PoliciesOf(graph, profile, interval, options.kept);
  const std::optional<base::Diagnostic> refusal = tiles.Add(
      options.shapes ? *options.shapes : ShapeSearch(GridOf(graph, profile, interval)).Start(),
      filter, stop);
  if (refusal) return base::Unexpected(*refusal);
  return tiles;
}

void IntervalTiles::Allow(std::span<const encoder::program::Policy> policies) {
  policies_.insert(policies_.end(), policies.begin(), policies.end());
}

std::optional<base::Diagnostic> IntervalTiles::Add(
    const std::vector<graph::tiling::TileShape>& shapes, const TileFilter& filter,
    const base::Stop* stop) {
  const size_t first_candidate = candidates_.size();
  const size_t first_ladder = ladders_.size();
  std::optional<base::Diagnostic> refusal;
  encoder::program::SharedTilings tilings(*graph_, interval_, stop);
  ClassNeed need(*graph_, *usages_, *profile_, interval_, policies_);
  const encoder::program::TileCutter cut = [&](const graph::tiling::TileShape& tile,
                                               hw_profiles::HaloStorage halo) {
    return tilings.Cut(tile, halo, [&need, halo](const graph::tiling::TiledSubgraph& tiling) {
      return need(tiling, halo);
    });
  };
  const auto is_cut_off = [stop] { return stop != nullptr && stop->Requested(); };
  for (const Policy& policy : policies_) {
    if (is_cut_off()) break;
    std::vector<graph::tiling::TileShape> wanted = shapes;
    if (filter)
      std::erase_if(wanted,
                    [&](const graph::tiling::TileShape& shape) { return !filter(policy, shape); });
    if (filter && wanted.empty()) continue;
    base::Expected<std::vector<SubgraphCandidates>> ladders = encoder::program::BuildCandidates(
        *graph_, *usages_, *profile_, interval_, policy, wanted, cut, made_, stop);
    if (!ladders) {
      if (!refusal) refusal = ladders.error();
      continue;
    }
    Policy without = policy;
    without.in_place = false;
    if (policy.in_place &&
        std::find(policies_.begin(), policies_.end(), without) != policies_.end()) {
      std::erase_if(*ladders, [](const SubgraphCandidates& each) {
        return !IsInPlace(each.program.problem.relations);
      });
    }
    if (!pins_.empty()) {
      std::erase_if(*ladders, [this](SubgraphCandidates& each) {
        return !FixOffsets(pins_, each.program.problem);
      });
    }
    AddPolicy(policy, *std::move(ladders));
  }
  if (is_cut_off()) {
    DropFrom(first_candidate, first_ladder, *stop);
    return std::nullopt;
  }
  if (candidates_.size() == first_candidate && refusal) return refusal;

  for (size_t i = first_ladder; i < ladders_.size(); ++i) {
    searches_.emplace_back(ladders_[i]->program.problem, ladders_[i]->ladder, engines_, options_,
                           stop);
  }
  for (size_t i = first_candidate; i < candidates_.size(); ++i) {
    candidates_[i].lower_bound = Known(i).lower_bound;
    if (TilingOf(i).classes.empty())
      candidates_[i].lower_bound = std::max(candidates_[i].lower_bound, need.Capacity() + 1);
  }
  return std::nullopt;
}

void IntervalTiles::DropFrom(size_t candidate, size_t ladder, const base::Stop& stop) {
  candidates_.resize(candidate);
  for (size_t i = ladder; i < ladders_.size(); ++i)
    base::FreeUnlessAtEnd(std::move(ladders_[i]), stop);
  ladders_.resize(ladder);
}

void IntervalTiles::AddPolicy(const Policy& policy, std::vector<SubgraphCandidates> ladders) {
  const auto begin = static_cast<std::ptrdiff_t>(candidates_.size());
  for (SubgraphCandidates& ladder : ladders) {
    for (size_t index = 0; index < ladder.tilings.size(); ++index) {
      TileCandidate& candidate = candidates_.emplace_back();
      candidate.choice = {ladder.tilings[index]->interval, ladder.tilings[index]->tile, policy};
      candidate.ladder = ladders_.size();
      candidate.index = index;
    }
    ladders_.push_back(std::make_unique<SubgraphCandidates>(std::move(ladder)));
  }
  std::stable_sort(candidates_.begin() + begin, candidates_.end(),
                   [](const TileCandidate& a, const TileCandidate& b) {
                     return TileElements(a) < TileElements(b);
                   });
}

size_t IntervalTiles::RankOf(const Policy& policy) const {
  return static_cast<size_t>(std::find(policies_.begin(), policies_.end(), policy) -
                             policies_.begin());
}

void IntervalTiles::Sort() {
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [this](const TileCandidate& a, const TileCandidate& b) {
                     const auto key = [this](const TileCandidate& candidate) {
                       return std::pair(RankOf(candidate.choice.policy), TileElements(candidate));
                     };
                     return key(a) < key(b);
                   });
}

void IntervalTiles::DropClasses(const base::Stop& stop) {
  for (; without_classes_ < ladders_.size(); ++without_classes_) {
    for (const std::shared_ptr<graph::tiling::TiledSubgraph>& tiling :
         ladders_[without_classes_]->tilings)
      graph::tiling::FreeClasses(*tiling, &stop);
  }
}

const SubgraphCandidates& IntervalTiles::CandidatesOf(size_t candidate) const {
  return *ladders_[candidates_[candidate].ladder];
}

const graph::tiling::TiledSubgraph& IntervalTiles::TilingOf(size_t candidate) const {
  return *CandidatesOf(candidate).tilings[candidates_[candidate].index];
}

problem::Problem IntervalTiles::ProblemOf(size_t candidate) const {
  const SubgraphCandidates& ladder = CandidatesOf(candidate);
  return AtCandidate(ladder.program.problem,
                     ladder.ladder.candidates[candidates_[candidate].index]);
}

const CandidateAnswer& IntervalTiles::Known(size_t candidate) const {
  return searches_[candidates_[candidate].ladder].Known(candidates_[candidate].index);
}

problem::Status IntervalTiles::Decide(size_t candidate, const base::Stop& stop) {
  return searches_[candidates_[candidate].ladder].Decide(candidates_[candidate].index, stop).status;
}

void IntervalTiles::DecideAll(const base::Stop& stop) {
  for (CandidateSearch& search : searches_) search.DecideAll(stop);
}

int64_t IntervalTiles::Solves() const {
  int64_t solves = 0;
  for (const CandidateSearch& search : searches_) solves += search.Solves();
  return solves;
}

const base::Diagnostic* IntervalTiles::Fault() const {
  for (const CandidateSearch& search : searches_) {
    if (search.Fault()) return &*search.Fault();
  }
  return nullptr;
}

}  // namespace tessera::search::tiling
