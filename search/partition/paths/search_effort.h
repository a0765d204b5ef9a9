// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "tessera/base/stop.h"
#include "tessera/search/partition/paths/interval_lattice.h"

// The work of a path search, and the intervals that it considers for it.
//
// Most of the time goes into intervals that are long or keep much on chip, and that turn out a
// little worse than the best. If there are too many of these, the search continues without them and
// reports it. The effort is counted, not timed.
namespace tessera::search::partition::paths {

// The subgraphs that are cut along the later axes of the profile (AxisGranularity), in addition to
// single operators that do not fit otherwise.
enum class LaterAxes : uint8_t {
  kNone,
  kBestPath,  // those of the best path
  kEvery,     // all that bounds do not exclude
};

struct SearchLimits {
  int most_operators = 1;  // in one subgraph, except those that constraints hold together
  // The number of tile shapes times operators, expanded or formulated, after which subgraphs are
  // limited to kUsualMostOperators. After the same number again, intervals that keep boundary
  // tensors are excluded. If not set: never.
  std::optional<int64_t> effort;
  // The work (SearchEffort::Work) after which only single operators are examined. If not set:
  // never.
  std::optional<int64_t> most_work = std::nullopt;
  LaterAxes later_axes = LaterAxes::kNone;
};

// The intervals that a search considers.
struct SearchScope {
  int most_operators = 0;     // except those that constraints hold together
  bool looks_at_kept = true;  // false: tensors kept on chip are left out for lack of effort
  bool may_keep = true;       // false: they are excluded, except required ones
  LaterAxes later_axes = LaterAxes::kNone;

  bool Has(const LatticeInterval& interval) const {
    if (!interval.is_allowed) return false;
    if (interval.Length() > std::max(most_operators, interval.inseparable)) return false;
    return interval.is_at_home || (may_keep && looks_at_kept);
  }
  bool HasCrossing(const LatticeInterval& interval) const {  // whatever the effort
    return interval.is_allowed && (may_keep || interval.is_at_home);
  }
  friend bool operator==(const SearchScope&, const SearchScope&) = default;
};

class SearchEffort {
 public:
  // The stop must outlive this object.
  SearchEffort(const SearchLimits& limits, int most_operators, const base::Stop& stop)
      : stop_(&stop),
        most_work_(limits.most_work),
        widest_(most_operators),
        limits_{{.most_operators = most_operators, .later_axes = limits.later_axes},
                limits.effort} {}

  // The scope, and the effort after which it is reduced.
  struct Limits {
    SearchScope scope;
    std::optional<int64_t> allowance;
  };
  const Limits& Current() const { return limits_; }
  const SearchScope& Scope() const { return limits_.scope; }
  void Restore(const Limits& limits) { limits_ = limits; }

  // Returns the work so far, in tile shapes times operators, without results taken over. It only
  // grows.
  int64_t Work() const { return work_; }
  void AddWork(int64_t work) { work_ += work; }

  // Adds work that counts towards the effort too: that of examining intervals.
  void AddEffort(int64_t effort) {
    effort_ += effort;
    work_ += effort;
  }

  bool HasWorkLimit() const { return most_work_.has_value(); }

  // Whether the stop was requested, or the work limit is reached.
  bool IsCutShort() const { return stop_->Requested() || (most_work_ && work_ > *most_work_); }

  // Whether the work has doubled since the last milestone. If so, the next one is set.
  bool PassMilestone() {
    if (work_ < milestone_) return false;
    milestone_ = 2 * work_;
    return true;
  }

  // Reduces the scope if the effort is spent. Returns whether it did.
  bool DrawBackIfSpent() {
    if (!limits_.allowance || effort_ <= *limits_.allowance) return false;
    effort_ = 0;
    if (limits_.scope.most_operators > kUsualMostOperators) {
      limits_.scope.most_operators = kUsualMostOperators;
    } else {
      limits_.scope.looks_at_kept = false;
      limits_.allowance.reset();
    }
    return true;
  }

  // Restores everything that was excluded for lack of effort, and removes the effort limit from
  // then on. Returns false if nothing was excluded.
  bool Widen() {
    limits_.allowance.reset();
    if (limits_.scope.most_operators == widest_ && limits_.scope.looks_at_kept) return false;
    limits_.scope.most_operators = widest_;
    limits_.scope.looks_at_kept = true;
    return true;
  }

  void KeepNothing() { limits_.scope.may_keep = false; }
  void CutEveryAxis() { limits_.scope.later_axes = LaterAxes::kEvery; }

  // Returns the number of tile shapes that were added because nothing fits.
  size_t Extended() const { return extended_; }
  void AddExtended(size_t shapes) { extended_ += shapes; }

  // Continues with the scope of an earlier search.
  void ContinueFrom(const SearchEffort& before) {
    const LaterAxes later_axes = limits_.scope.later_axes;
    limits_.scope = before.limits_.scope;
    limits_.scope.later_axes = later_axes;
    limits_.scope.most_operators = std::min(widest_, before.limits_.scope.most_operators);
    extended_ = before.extended_;
  }

 private:
  // About a fiftieth of a second.
  static constexpr int64_t kFirstMilestone = 4096;

  const base::Stop* stop_;
  std::optional<int64_t> most_work_;
  int widest_;
  Limits limits_;
  int64_t effort_ = 0;  // since the last reduction of the scope
  int64_t work_ = 0;
  int64_t milestone_ = kFirstMilestone;  // of work
  size_t extended_ = 0;
};

}  // namespace tessera::search::partition::paths
