// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "tessera/base/stop.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/program_template.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/encoder/program/timeline.h"

namespace tessera::encoder::program {

namespace {

// Limit on the number of tiles, because a sweep over more takes long.
constexpr int64_t kMostSwept = 4096;

bool MakesTooMany(const graph::Shape& output, const graph::tiling::TileShape& tile) {
  return graph::ElementsOf(output) / graph::ElementsOf(tile) >= kMostSwept;
}

}  // namespace

base::Expected<PolicyTiles> PolicyTiles::Make(const graph::Graph& graph,
                                              const std::vector<graph::Usage>& usages,
                                              const hw_profiles::Profile& profile,
                                              graph::Interval interval, const Policy& policy,
                                              TilesMade made) {
  if (std::optional<base::Diagnostic> fault = CheckWellFormed(graph, interval))
    return base::Unexpected(*fault);
  base::Expected<SubgraphUses> uses = FindUses(graph, usages, profile, interval, policy);
  if (!uses) return base::Unexpected(uses.error());
  return PolicyTiles(graph, profile, policy.halo, made, *std::move(uses));
}

std::shared_ptr<graph::tiling::TiledSubgraph> PolicyTiles::Cut(const graph::tiling::TileShape& tile,
                                                               const TileCutter& cut) {
  const bool caches = halo_ != hw_profiles::HaloStorage::kRecompute;
  if (caches && !MayKeepRows(*profile_, OutputShape(*graph_, uses_.interval), tile)) return nullptr;
  if (uses_.on_host && tile != OutputShape(*graph_, uses_.interval)) return nullptr;
  if (LeavesOut(tile)) return nullptr;
  std::shared_ptr<graph::tiling::TiledSubgraph> tiling = cut(tile, halo_);
  return tiling != nullptr && Mark(*tiling) ? tiling : nullptr;
}

bool PolicyTiles::LeavesOut(const graph::tiling::TileShape& tile) const {
  const graph::Shape& output = OutputShape(*graph_, uses_.interval);
  return halo_ != hw_profiles::HaloStorage::kRecompute && MakesTooMany(output, tile) &&
         MayKeepRows(*profile_, output, tile);
}

bool PolicyTiles::Mark(const graph::tiling::TiledSubgraph& tiling) {
  return MarkCached(tiling, halo_, uses_) || halo_ == hw_profiles::HaloStorage::kRecompute ||
         made_ == TilesMade::kAll || DiffersFromRecompute(*graph_, uses_, tiling);
}

bool PolicyTiles::AnyCached() const {
  return std::any_of(uses_.tensors.begin(), uses_.tensors.end(),
                     [](const TensorUse& use) { return use.cached; });
}

// Many tile shapes, few structures.
//
// Steps, lives and accesses of a subgraph depend on the tile shape only through three properties.
// The first is the number of tiles: one or several; with double-buffered transfers one, two, three,
// or more, odd or even. The second is the set of cached tensors, the third the set of results that
// may be in place channel by channel; both are mostly equal for all shapes. So a few program
// templates serve all shapes, and each shape adds its sizes. The results in place depend on sizes
// and extents too: shapes that differ in these are on different ladders.
//
// Cost: a program template for each structure; then for each shape one propagation of regions and
// one pass over the buffers.

namespace {

using problem::Relation;

// The least number of tiles with the same steps.
int64_t LeastAlike(int64_t tiles, hw_profiles::DmaSteps dma) {
  if (tiles == 1) return 1;
  if (dma == hw_profiles::DmaSteps::kSerialized) return 2;
  if (tiles <= kMostStraightTiles) return tiles;
  return kMostStraightTiles + (tiles % 2 == 0 ? 1 : 2);
}

// Returns the distinct shapes, smallest first.
std::vector<graph::tiling::TileShape> Sort(std::span<const graph::tiling::TileShape> shapes) {
  std::vector<graph::tiling::TileShape> sorted(shapes.begin(), shapes.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const graph::tiling::TileShape& a, const graph::tiling::TileShape& b) {
              const int64_t a_elements = graph::ElementsOf(a);
              const int64_t b_elements = graph::ElementsOf(b);
              return a_elements != b_elements ? a_elements < b_elements : a < b;
            });
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

std::string_view NameOf(const graph::Shape& shape, size_t axis) {
  constexpr std::pair<base::Axis, std::string_view> kNames[] = {{base::Axis::kBatch, "batch"},
                                                                {base::Axis::kChannels, "channels"},
                                                                {base::Axis::kRows, "rows"},
                                                                {base::Axis::kColumns, "columns"}};
  for (const auto& [named, name] : kNames) {
    if (graph::tiling::AxisOf(shape, named) == axis) return name;
  }
  return "axis";
}

// "rows=7 columns=14": the extents that are cut; "whole" if none is.
std::string NameOf(const graph::Shape& shape, const graph::tiling::TileShape& tile) {
  std::string name;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (tile[axis] == shape[axis]) continue;
    name += fmt::format("{}{}={}", name.empty() ? "" : " ", NameOf(shape, axis), tile[axis]);
  }
  return name.empty() ? "whole" : name;
}

bool AreAlike(const std::vector<Relation>& a, const std::vector<Relation>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Relation& left, const Relation& right) {
                      return left.first == right.first && left.second == right.second;
                    });
}

// Builds the ladders of one interval and policy, shape by shape.
class CandidateBuilder {
 public:
  CandidateBuilder(const graph::Graph& graph, const hw_profiles::Profile& profile,
                   const std::vector<graph::Usage>& usages, PolicyTiles tiles, bool in_place,
                   const TileCutter& cut, const base::Stop* stop)
      : graph_(graph),
        profile_(profile),
        usages_(usages),
        tiles_(std::move(tiles)),
        in_place_(in_place),
        cut_(cut),
        stop_(stop) {}

  bool IsCutOff() const { return stop_ != nullptr && stop_->Requested(); }

  std::optional<base::Diagnostic> Add(const graph::tiling::TileShape& tile) {
    std::shared_ptr<graph::tiling::TiledSubgraph> tiling = tiles_.Cut(tile, cut_);
    if (tiling == nullptr) return std::nullopt;
    SubgraphUses uses = tiles_.Uses();
    if (in_place_) MarkByChannel(graph_, profile_, *tiling, uses);
    const Structure alike = {LeastAlike(tiling->tiles, uses.dma), CachedOf(uses), uses.by_channel};
    const ProgramTemplate& program_template = ProgramTemplateFor(alike, uses);
    if (IsCutOff()) return std::nullopt;
    base::Expected<std::vector<problem::Bytes>> sizes =
        SizesOf(graph_, profile_, program_template, {tiling.get(), 1});
    if (!sizes) return sizes.error();
    std::vector<Relation> relations = program_template.program.problem.relations;
    if (in_place_) {
      SharedPlaces places(program_template.program.problem.buffers, relations);
      AddInPlace(graph_, profile_, program_template, 0, *tiling, *sizes, places, relations);
    }
    SubgraphCandidates& ladder = CandidatesFor(alike, program_template, std::move(relations));
    ladder.ladder.candidates.push_back(
        {NameOf(OutputShape(graph_, uses.interval), tile), *std::move(sizes)});
    ladder.tilings.push_back(std::move(tiling));
    return std::nullopt;
  }

  std::vector<SubgraphCandidates> Finish() {
    for (SubgraphCandidates& ladder : ladders_) {
      std::vector<problem::Buffer>& buffers = ladder.program.problem.buffers;
      for (size_t i = 0; i < buffers.size(); ++i)
        buffers[i].size = ladder.ladder.candidates.front().sizes[i];
    }
    if (stop_ != nullptr) base::FreeUnlessAtEnd(std::move(program_templates_), *stop_);
    return std::move(ladders_);
  }

 private:
  struct Structure {
    int64_t tiles = 1;            // the least equivalent number
    std::vector<int> cached;      // tensors
    std::vector<int> by_channel;  // operators that may work channel by channel
    friend bool operator==(const Structure&, const Structure&) = default;
    friend bool operator<(const Structure& a, const Structure& b) {
      return std::tie(a.tiles, a.cached, a.by_channel) < std::tie(b.tiles, b.cached, b.by_channel);
    }
  };
  using ProgramTemplates = std::map<Structure, ProgramTemplate>;

  static std::vector<int> CachedOf(const SubgraphUses& uses) {
    std::vector<int> cached;
    for (const TensorUse& use : uses.tensors) {
      if (use.cached) cached.push_back(use.tensor);
    }
    return cached;
  }

  // The uses must be marked accordingly.
  const ProgramTemplate& ProgramTemplateFor(const Structure& structure, const SubgraphUses& uses) {
    const auto found = program_templates_->find(structure);
    if (found != program_templates_->end()) return found->second;
    return program_templates_
        ->emplace(structure,
                  BuildProgramTemplate(graph_, usages_, profile_, {uses}, {&structure.tiles, 1}))
        .first->second;
  }

  SubgraphCandidates& CandidatesFor(const Structure& structure,
                                    const ProgramTemplate& program_template,
                                    std::vector<Relation> relations) {
    for (size_t i = 0; i < ladders_.size(); ++i) {
      if (structures_[i] == structure && AreAlike(ladders_[i].program.problem.relations, relations))
        return ladders_[i];
    }
    SubgraphCandidates& ladder = ladders_.emplace_back();
    ladder.program = program_template.program;
    ladder.program.problem.relations = std::move(relations);
    structures_.push_back(structure);
    return ladder;
  }

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const std::vector<graph::Usage>& usages_;
  PolicyTiles tiles_;
  bool in_place_;
  const TileCutter& cut_;
  const base::Stop* stop_;
  std::unique_ptr<ProgramTemplates> program_templates_ = std::make_unique<ProgramTemplates>();
  std::vector<SubgraphCandidates> ladders_;
  std::vector<Structure> structures_;  // parallel to ladders_
};

}  // namespace

base::Expected<std::vector<SubgraphCandidates>> BuildCandidates(
    const graph::Graph& graph, const hw_profiles::Profile& profile, graph::Interval interval,
    const Policy& policy, std::span<const graph::tiling::TileShape> shapes) {
  if (std::optional<base::Diagnostic> fault = CheckWellFormed(graph, interval))
    return base::Unexpected(*fault);
  SharedTilings tilings(graph, interval);
  return BuildCandidates(
      graph, graph::UsagesOf(graph), profile, interval, policy, shapes,
      [&tilings](const graph::tiling::TileShape& tile, hw_profiles::HaloStorage halo) {
        return tilings.Cut(tile, halo);
      });
}

base::Expected<std::vector<SubgraphCandidates>> BuildCandidates(
    const graph::Graph& graph, const std::vector<graph::Usage>& usages,
    const hw_profiles::Profile& profile, graph::Interval interval, const Policy& policy,
    std::span<const graph::tiling::TileShape> shapes, const TileCutter& cut, TilesMade made,
    const base::Stop* stop) {
  base::Expected<PolicyTiles> tiles =
      PolicyTiles::Make(graph, usages, profile, interval, policy, made);
  if (!tiles) return base::Unexpected(tiles.error());
  CandidateBuilder builder(graph, profile, usages, *std::move(tiles), policy.in_place, cut, stop);
  if (std::optional<base::Diagnostic> fault = CheckWellFormed(graph, interval, shapes))
    return base::Unexpected(*fault);
  for (const graph::tiling::TileShape& tile : Sort(shapes)) {
    if (builder.IsCutOff()) break;
    if (std::optional<base::Diagnostic> fault = builder.Add(tile)) return base::Unexpected(*fault);
  }
  return builder.Finish();
}

}  // namespace tessera::encoder::program
