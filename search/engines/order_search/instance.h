// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"

// A memory, reduced to what a search over orders of placement needs: flat arrays, and time counted
// in sections (search/allocate/occupancy.h).
namespace tessera::search::engines::order_search {

using problem::Bytes;

// One number for each buffer of an Instance.
using Offsets = std::vector<Bytes>;

// A sequence of buffers of an Instance.
using Order = std::vector<int>;

// A half-open range.
struct SectionRange {
  int64_t first = 0;
  int64_t last = 0;
};

// The buffers of a memory, numbered in the order of their first sections. If all alignments have a
// common factor g, sizes are rounded up to multiples of g, so that all sums of sizes are multiples
// of g.
//
//     first:   0  0  1  1  2          Two buffers conflict if and only if their ranges
//     last:    1  3  2  4  4          [first, last) meet. Buffer 3 lives in sections 1, 2 and 3.
struct Instance {
  std::vector<int> first;
  std::vector<int> last;
  std::vector<Bytes> size;
  std::vector<Bytes> alignment;  // empty if no buffer needs more than g
  std::vector<float> life;       // in steps
  std::vector<int> origin;       // the number of the buffer where the Instance was taken from
  std::vector<Bytes> load;       // of each section
  Bytes greatest_load = 0;

  int Count() const { return static_cast<int>(size.size()); }
  int Sections() const { return static_cast<int>(load.size()); }
  Bytes Align(int buffer, Bytes offset) const;
  Bytes Top(int buffer, Bytes offset) const { return offset + size[static_cast<size_t>(buffer)]; }
};

// A value above every top.
inline constexpr Bytes kNoTop = std::numeric_limits<Bytes>::max();

inline Bytes Instance::Align(int buffer, Bytes offset) const {
  return alignment.empty() ? offset : base::RoundUp(offset, alignment[static_cast<size_t>(buffer)]);
}

// Returns a text that names a requirement on a buffer of `memory` that a search over orders cannot
// satisfy, or nullopt.
std::optional<std::string> FindUnsupportedBuffer(const problem::Problem& problem, size_t memory);

// Returns the common factor g of the alignments in `memory`; 1 if it has no buffers.
Bytes CommonAlignment(const problem::Problem& problem, size_t memory);

// Returns the buffers of `memory`; `origin` is their index in the Problem. FindUnsupported
// (engine_session.h) and FindUnsupportedBuffer must accept the Problem. Cost: O(n log n).
Instance MakeInstance(const problem::Problem& problem, size_t memory);

// Returns the instance of the given buffers alone, which ascend. It has only the sections that they
// need. `origin` is the number in `whole`.
Instance Extract(const Instance& whole, std::span<const int> buffers);

// Returns the contention of each buffer: the greatest load of its sections. A sparse table finds
// each maximum in constant time. Cost: O(n + sections log sections).
std::vector<Bytes> ContentionOf(const Instance& instance);

// Returns the highest end of a buffer.
Bytes TopOf(const Instance& instance, std::span<const Bytes> offsets);

// Returns the ranges of buffers that are connected in time, in ascending order.
std::vector<SectionRange> ComponentsOf(const Instance& instance);

// Returns for each section, and for one past the last, the first buffer that begins there or later.
std::vector<int> FirstBuffers(const Instance& instance);

// Counts work and polls a stop. A unit of work is about the time to place one buffer on a skyline
// of thousands of buffers. The limit ends a search between two constructions, the stop at any
// buffer.
class Effort {
 public:
  Effort(int64_t limit, const base::Stop& stop) : limit_(limit), stop_(&stop, kUnitsBetweenPolls) {}

  // Counts completed work. Returns false once the stop was requested.
  bool Spend(int64_t units) {
    spent_ += units;
    return stop_.Continues(units);
  }

  int64_t Spent() const { return spent_; }
  bool IsStopped() const { return stop_.IsCutOff(); }
  bool IsOver() const { return spent_ >= limit_ || IsStopped(); }

 private:
  static constexpr int64_t kUnitsBetweenPolls = 2'048;

  int64_t limit_;
  int64_t spent_ = 0;
  base::PolledWork stop_;
};

}  // namespace tessera::search::engines::order_search
