// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tessera/base/stop.h"

namespace tessera::search::engines::order_search {

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
