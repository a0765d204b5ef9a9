#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tessera/hw_profiles/profile.h"
#include "tessera/search/simulate/cycles.h"

namespace tessera::search {

// What a track carries. A port that serves reads and writes in turn is one track, else it is two.
enum class TrackFlow : uint8_t { kCompute, kIn, kOut, kBoth };

// An engine, or the way between the tile memory and one other memory. It does one thing at a time.
struct Track {
  std::string name;  // of the engine, of the link, or of the memory where no link leads there
  TrackFlow flow = TrackFlow::kCompute;
};

// The tracks of a profile: its engines, then the ways to every memory but the tile memory. The profile outlives them.
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

}  // namespace tessera::search
