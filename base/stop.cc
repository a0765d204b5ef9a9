#include "tessera/base/stop.h"

#include <algorithm>

namespace tessera::base {

bool Stop::Requested() const {
  return requested_.load(std::memory_order_relaxed) || (deadline_ && Clock::now() >= *deadline_) ||
         (parent_ != nullptr && parent_->Requested());
}

std::optional<Stop::Clock::time_point> Stop::Deadline() const {
  const std::optional<Clock::time_point> parents = parent_ != nullptr ? parent_->Deadline() : std::nullopt;
  if (!deadline_ || !parents) return deadline_ ? deadline_ : parents;
  return std::min(*deadline_, *parents);
}

std::optional<Stop::Clock::time_point> Stop::Before(double share) const {
  const std::optional<Clock::time_point> deadline = Deadline();
  if (!deadline) return std::nullopt;
  const Clock::time_point now = Clock::now();
  return now + std::chrono::duration_cast<Clock::duration>(share * (*deadline - now));
}

}  // namespace tessera::base
