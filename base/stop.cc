#include "tessera/base/stop.h"

#include <algorithm>

namespace tessera::base {

// Time is time for all: where a part of a search has a deadline of its own, the whole depends on the clock. A request is for what
// watches this Stop alone, as when one of several engines has an answer.
bool Stop::Requested() const {
  if (deadline_ && Clock::now() >= *deadline_) {
    for (const Stop* stop = this; stop != nullptr; stop = stop->parent_) stop->NoteCutOff();
    return true;
  }
  const bool reached = request_at_ > 0 && polls_.fetch_add(1, std::memory_order_relaxed) + 1 >= request_at_;
  const bool requested =
      reached || requested_.load(std::memory_order_relaxed) || (parent_ != nullptr && parent_->Requested());
  if (requested) NoteCutOff();
  return requested;
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
