// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// The activity of every engine and link, by cycle: the explanation of Metrics::latency_cycles.
namespace tessera::plan {

struct Plan;

// The contents of a track. A port that serves reads and writes in turn is one track; otherwise it
// is two.
enum class TrackFlow : uint8_t { kCompute, kIn, kOut, kBoth };

// An engine, or the path between the tile memory and one other memory. It does one thing at a time.
struct Track {
  std::string name;  // of the engine, of the link, or of the memory if it has no link
  TrackFlow flow = TrackFlow::kCompute;
};

enum class ActivityKind : uint8_t {
  kCompute,
  kLoad,       // a tile arrives
  kStore,      // a tile leaves
  kConstants,  // all constants that are loaded once
  kSlices,     // streamed constants of one operator
  kDirect,     // engines that work in that memory block its port for transfers
  kCopy,       // rows kept from tile to tile are moved within the tile memory
  kPrefetch,   // all constants that are loaded once for later subgraphs
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

// Tiles [first, first + count) that are omitted, from the beginning of their first slot to the end
// of their last.
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
  int64_t cycles = 0;         // Metrics::latency_cycles
};

inline constexpr int64_t kAllTiles = INT64_MAX;

// The timeline of one subgraph of a plan, from cycle 0. If there are more than `most_tiles` tiles
// (at least 2), it contains the first and the last ones and omits the rest.
using TimelineSource =
    std::function<SubgraphTimeline(const Plan& plan, size_t subgraph, int64_t most_tiles)>;

}  // namespace tessera::plan
