// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_CONSTRAINT_H_
#define TESSERA_CONSTRAINT_H_

#include <tessera/result.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// Restrictions on offsets that no rule of a problem states, in code of the caller:
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
  kOpen,    // none of the two is known; only where some range has several offsets
};

// The callback is pure: equal ranges always get equal judgements. A range that lies in a broken
// range is broken, and one in a kept range is kept.
struct OffsetConstraint {
  std::string name = {};                  // for messages
  std::string version = {};               // of the judgements: part of the keys of caches
  std::vector<std::string> buffers = {};  // that it is about, by id, each once
  // Judges a range for each of the buffers, in their order. The search halves ranges until nothing
  // is open, so wide ranges that are kept or broken make it short.
  std::function<Judgement(const std::vector<OffsetRange>& offsets)> judge = {};
  // Offsets that are rounded down to multiples of this are judged alike. Searches count in it.
  std::int64_t unit = 1;
};

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_CONSTRAINT_H_
