#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::search {

enum class ActivityKind : uint8_t {
  kCompute,
  kLoad,       // a tile arrives
  kStore,      // a tile leaves
  kConstants,  // all that is loaded once
  kSlices,     // streamed constants of one operator
  kDirect,     // engines at work in that memory keep its port from transfers
  kCopy,       // rows kept from tile to tile are moved within the tile memory
  kPrefetch,   // all that is loaded once for the next subgraph
};

// [begin, end) in cycles. What gives way to slices and goes on after them is several activities.
struct Activity {
  int64_t begin = 0;
  int64_t end = 0;
  int track = 0;
  ActivityKind kind = ActivityKind::kCompute;
  int64_t tile = 0;
  int op = -1;        // kCompute, kSlices; for kLoad and kStore the first reader, the maker
  int tensor = -1;    // kLoad, kStore
  int64_t bytes = 0;  // of the whole transfer; 0 for kCompute and kCopy
};

// A stretch of time with its activities, counted from its begin. Tiles are counted from the one that it computes.
struct Slot {
  int64_t cycles = 0;
  std::vector<Activity> activities;
};

// Places activities in what one track leaves free.
class Filling {
 public:
  Filling(Slot& slot, int track);

  // As early as possible after what was added before.
  void Add(Activity activity, int64_t cycles);

 private:
  Slot& slot_;
  int track_;
  std::vector<std::pair<int64_t, int64_t>> taken_;
  size_t next_ = 0;
  int64_t at_ = 0;
};

// Cycles of the slot in which nothing is on the track.
int64_t FreeCycles(const Slot& slot, int track);

}  // namespace tessera::search
