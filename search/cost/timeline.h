#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/cost/cost_terms.h"

namespace tessera::search::cost {

// The contents of a track. A port that serves reads and writes in turn is one track; otherwise it
// is two.
enum class TrackFlow : uint8_t { kCompute, kIn, kOut, kBoth };

// An engine, or the path between the tile memory and one other memory. It does one thing at a time.
struct Track {
  std::string name;  // of the engine, of the link, or of the memory if it has no link
  TrackFlow flow = TrackFlow::kCompute;
};

// The tracks of a profile: its engines, then the paths to every memory except the tile memory. The
// profile must outlive this object.
class Tracks {
 public:
  explicit Tracks(const hw_profiles::Profile& profile);

  int OfEngine(const hw_profiles::Engine* engine) const {
    return engine == nullptr ? 0 : static_cast<int>(engine - profile_.engines.data());
  }
  int OfMemory(int memory, Direction direction) const {
    return of_memory_[static_cast<size_t>(memory)][direction == Direction::kRead ? 0 : 1];
  }
  const std::vector<Track>& All() const { return tracks_; }

 private:
  void AddMemory(int memory);

  const hw_profiles::Profile& profile_;
  std::vector<Track> tracks_;
  std::vector<std::array<int, 2>> of_memory_;  // in, out
};

enum class ActivityKind : uint8_t {
  kCompute,
  kLoad,       // a tile arrives
  kStore,      // a tile leaves
  kConstants,  // all constants that are loaded once
  kSlices,     // streamed constants of one operator
  kDirect,     // engines that work in that memory block its port for transfers
  kCopy,       // rows kept from tile to tile are moved within the tile memory
  kPrefetch,   // all constants that are loaded once for the next subgraph
};

// [begin, end) in cycles. An activity that is interrupted by slices is listed as several
// activities.
struct Activity {
  int64_t begin = 0;
  int64_t end = 0;
  int track = 0;
  ActivityKind kind = ActivityKind::kCompute;
  int64_t tile = 0;
  int op = -1;        // kCompute, kSlices; for kLoad the first reader; for kStore the maker
  int tensor = -1;    // kLoad, kStore
  int64_t bytes = 0;  // of the whole transfer; 0 for kCompute and kCopy
};

// A period of time with its activities; times are relative to its begin. Tile numbers are relative
// to the tile that it computes.
struct Slot {
  int64_t cycles = 0;
  std::vector<Activity> activities;
};

// Places activities in the free time of one track.
class Filling {
 public:
  Filling(Slot& slot, int track);

  // As early as possible after the activities added before.
  void Add(Activity activity, int64_t cycles);

 private:
  Slot& slot_;
  int track_;
  std::vector<std::pair<int64_t, int64_t>> taken_;
  size_t next_ = 0;
  int64_t at_ = 0;
};

// Cycles of the slot in which the track is idle.
int64_t FreeCycles(const Slot& slot, int track);

// The activity of every engine and link, by cycle: the explanation of
// plan::Metrics::latency_cycles.

// Tiles [first, first + count) that are omitted, from the begin of their first slot to the end of
// their last.
struct Omission {
  int64_t first = 0;
  int64_t count = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

struct SubgraphTimeline {
  std::vector<Track> tracks;         // the same for all subgraphs of a profile
  std::vector<Activity> activities;  // by begin, then track
  std::vector<Omission> omissions;   // at most one
  std::vector<int64_t> busy;  // busy cycles of each track over all tiles; parallel to `tracks`
  int64_t cycles = 0;         // latency_cycles of Simulate
};

inline constexpr int64_t kAllTiles = INT64_MAX;

// The timeline of one subgraph, from cycle 0. If there are more than `most_tiles` tiles (at least
// 2), it contains the first and the last ones and omits the rest. Arguments as for Simulate. Cost:
// O(tiles) comparisons in addition to the activities.
SubgraphTimeline TimelineOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                            const graph::tiling::TiledSubgraph& tiling,
                            const encoder::program::Policy& policy, int64_t most_tiles,
                            const Ahead& ahead = {});

// The same for one subgraph of a finished plan.
SubgraphTimeline TimelineOf(const plan::Plan& plan, size_t subgraph, int64_t most_tiles);

}  // namespace tessera::search::cost
