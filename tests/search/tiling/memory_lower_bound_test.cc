// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/program/memory_lower_bound.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "random_network.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::search {
namespace {

// The floor of one candidate alone.
problem::Bytes FloorOf(const RandomSubject& subject,
                       const encoder::program::SubgraphChoice& choice) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(subject.graph);
  auto tiles = encoder::program::PolicyTiles::Make(subject.graph, usages, subject.profile,
                                                   choice.interval, choice.policy);
  RC_ASSERT(tiles.has_value());
  const encoder::program::RoomLowerBound floor(subject.graph, usages, subject.profile,
                                               tiles->Uses(), choice.policy.in_place);
  encoder::program::SharedTilings tilings(subject.graph, choice.interval);
  const auto tiling = tiles->Cut(
      choice.tile, [&](const graph::tiling::TileShape& tile, hw_profiles::HaloStorage halo) {
        return tilings.Cut(tile, halo);
      });
  RC_ASSERT(tiling != nullptr);
  return floor.Find(*tiling);
}

// Whether the candidate has a placement in fewer bytes. The load of a Problem counts one of all
// colocated buffers where they cannot be merged, so a floor may be above it.
bool FitsBelow(const tiling::IntervalTiles& tiles, size_t candidate, problem::Bytes bytes,
               const problem::Engine& engine) {
  const encoder::program::SubgraphCandidates& known = tiles.CandidatesOf(candidate);
  const auto session = engine.Open(known.program.problem, &known.ladder);
  const problem::Result result = session->Solve(tiles.Candidates()[candidate].index, bytes - 1,
                                                base::Budget{100'000}, base::Stop());
  return result.allocation.has_value();
}

// What the floors of one interval showed.
struct Shown {
  bool exact = false;
  bool forbids = false;
};

void CheckFloors(const RandomSubject& subject, Shown& shown) {
  const engines::canonical::CanonicalEngine canonical;
  const encoder::sat::SatEngine sat;
  tiling::TileOptions options;
  options.engines = {&canonical, &sat};
  base::Expected<tiling::IntervalTiles> tiles =
      tiling::IntervalTiles::Build(subject.graph, subject.profile, subject.interval, options);
  if (!tiles.has_value()) return;
  const auto& memory = subject.profile.memories[static_cast<size_t>(subject.profile.tile_memory)];
  for (size_t i = 0; i < tiles->Candidates().size(); ++i) {
    const tiling::TileCandidate& candidate = tiles->Candidates()[i];
    const problem::Bytes floor = FloorOf(subject, candidate.choice);
    if (floor > memory.capacity_bytes) {
      shown.forbids = true;
      RC_ASSERT(tiles->Decide(i, base::Stop()) == problem::Status::kInfeasible);
    } else if (floor > candidate.lower_bound) {
      RC_ASSERT(!FitsBelow(*tiles, i, floor, canonical));
    } else {
      shown.exact = shown.exact || floor == candidate.lower_bound;
    }
  }
}

// Few subjects have a floor that is exact at its highest operator, which a fault would exceed.
constexpr int kSubjects = 10;

RC_GTEST_PROP(RoomLowerBound, IsNeverAboveAPlacementAndForbidsOnlyWhatDoesNotFit, ()) {
  Shown shown;
  for (int draw = 0; draw < kSubjects; ++draw) {
    RandomSubject subject = DrawSubject();
    const int operators = static_cast<int>(subject.graph.operators.size());
    for (int first = 0; first < operators; ++first) {
      for (int last = first; last < operators; ++last) {
        subject.interval = {first, last};
        CheckFloors(subject, shown);
      }
    }
  }
  RC_CLASSIFY(shown.exact, "meets a load");
  RC_CLASSIFY(shown.forbids, "forbids tiles");
}

}  // namespace
}  // namespace tessera::search
