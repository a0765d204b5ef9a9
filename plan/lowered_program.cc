// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/lowered_program.h"

#include <set>

namespace tessera::plan {

std::string NameOf(const TileClass& tiles, const std::vector<Loop>& loops) {
  std::string name;
  for (size_t i = 0; i < loops.size(); ++i) {
    const Trips& trips = tiles.trips[i];
    const bool last = trips.end == loops[i].trips;
    const bool ragged =
        last && trips.begin + 1 == trips.end && loops[i].extent % loops[i].tile != 0;
    name += name.empty() ? "" : ", ";
    name += trips.begin == 0 ? (last ? "all" : "first")
            : ragged         ? "ragged"
            : last           ? "last"
                             : "steady";
  }
  return name.empty() ? "all" : name;
}

int64_t CountOf(const TileClass& tiles) {
  int64_t count = 1;
  for (const Trips& trips : tiles.trips) count *= trips.end - trips.begin;
  return count;
}

std::vector<int64_t> PhasesOf(const TileClass& tiles, const Lowered& lowered) {
  std::set<int64_t> phases = {0};
  int64_t stride = 1;
  for (size_t loop = lowered.loops.size(); loop-- > 0;) {
    std::set<int64_t> sums;
    const Trips& trips = tiles.trips[loop];
    for (const int64_t phase : phases) {
      sums.insert((phase + trips.begin * stride) % lowered.phases);
      if (trips.end > trips.begin + 1)
        sums.insert((phase + (trips.begin + 1) * stride) % lowered.phases);
    }
    phases = sums;
    stride *= lowered.loops[loop].trips;
  }
  return {phases.begin(), phases.end()};
}

}  // namespace tessera::plan
