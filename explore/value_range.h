// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/space.h"

// Profiles that differ in one whole number.
namespace tessera::explore {

// The values of the number at a path, in steps from the least to the greatest; the last step may be
// shorter. If an axis of the space varies the number, the values lie between those of the axis;
// else none exceeds that of the profile.
class ValueRange {
 public:
  // Refuses a path that does not name exactly one whole number. `base` must outlive the range.
  static base::Expected<ValueRange> Find(const Space& space, const BaseProfile& base,
                                         const std::string& path);

  int64_t Least() const { return least_; }
  int64_t Most() const { return most_; }
  int64_t Step() const { return step_; }

  int64_t At(int64_t index) const;
  int64_t Last() const;  // the index of the greatest value

  Json ProfileWith(int64_t index) const;

  // Returns at most `most` indices between the first and the last one: the middle first, then the
  // middles of both halves, and so on.
  std::vector<int64_t> Between(size_t most) const;

 private:
  ValueRange(const BaseProfile& base, std::string path, int64_t most)
      : base_(&base), path_(std::move(path)), most_(most) {}

  const BaseProfile* base_;
  std::string path_;
  int64_t least_ = 0;
  int64_t most_;
  int64_t step_ = 1;
};

}  // namespace tessera::explore
