// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_CONSTRAINT_H_
#define TESSERA_CONSTRAINT_H_

#include <tessera/result.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// Constraints on offsets that no rule of a problem can state, in code of the caller:
//
//     tessera::OffsetConstraint colours;
//     colours.name = "different colours";
//     colours.buffers = {"image", "kernel"};
//     colours.judge = [](const auto& offsets) { ... };
//     const auto asked = problem.With(colours);
namespace tessera {
inline namespace v0 {

// Offsets in bytes; both ends are included.
struct OffsetRange {
  std::int64_t least = 0;
  std::int64_t greatest = 0;
};

enum class Judgement : std::uint8_t {
  kKept,    // by all offsets in the ranges
  kBroken,  // by all offsets in the ranges
  kOpen,    // neither is known; only allowed if some range has several offsets
};

// The callback must be pure: it judges equal ranges alike. A range inside a broken range must be
// broken, and one inside a kept range must be kept.
struct OffsetConstraint {
  std::string name = {};                  // for messages
  std::string version = {};               // of the callback: part of the keys of caches
  std::vector<std::string> buffers = {};  // the ids of the buffers that it judges, each once
  // Judges one range for each of the buffers, in their order. The search halves ranges until none
  // is open, so it is short if wide ranges are kept or broken.
  std::function<Judgement(const std::vector<OffsetRange>& offsets)> judge = {};
  // Offsets that round down to the same multiple of this are judged alike. Searches count offsets
  // in this unit.
  std::int64_t unit = 1;
};

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_CONSTRAINT_H_
