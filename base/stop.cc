// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/stop.h"

#include <algorithm>
#include <limits>

#include "tessera/base/process.h"

namespace tessera::base {

// The time and memory limits cut off the whole search: if a part of a search has its own deadline,
// the result of the whole depends on the clock. A request concerns only the searches that poll this
// Stop, for example when one of several engines has an answer.
bool Stop::Requested() const {
  if (has_ended_) {
    NoteCutOff();
    return true;
  }
  if ((deadline_ && Clock::now() >= *deadline_) || ExceedsMemory()) {
    NoteCutOffOfAll();
    return true;
  }
  const bool reached =
      request_at_ > 0 && polls_.fetch_add(1, std::memory_order_relaxed) + 1 >= request_at_;
  const bool requested = reached || requested_at_.load(std::memory_order_relaxed) != 0 ||
                         (parent_ != nullptr &&
                          (only_at_interrupt_ ? parent_->IsInterrupted() : parent_->Requested()));
  if (requested) NoteCutOff();
  return requested;
}

void Stop::Request() noexcept {
  Clock::rep none = 0;
  requested_at_.compare_exchange_strong(none, Clock::now().time_since_epoch().count(),
                                        std::memory_order_relaxed);
}

std::optional<Stop::Clock::time_point> Stop::InterruptedAt() const {
  std::optional<Clock::time_point> earliest =
      parent_ != nullptr ? parent_->InterruptedAt() : std::nullopt;
  const auto take = [&earliest](Clock::time_point at) {
    earliest = std::min(earliest.value_or(at), at);
  };
  const Clock::rep requested = requested_at_.load(std::memory_order_relaxed);
  if (requested != 0) take(Clock::time_point(Clock::duration(requested)));
  if (drops_work_ && Requested()) take(Clock::time_point::min());
  return earliest;
}

bool Stop::HasEndedProcess() const {
  return (ends_process_ && Requested()) || (parent_ != nullptr && parent_->HasEndedProcess());
}

void Stop::NoteCutOffOfAll() const {
  for (const Stop* stop = this; stop != nullptr; stop = stop->parent_) stop->NoteCutOff();
}

void Stop::NoteDeclined() const {
  NoteCutOffOfAll();
  for (const Stop* stop = this; stop != nullptr; stop = stop->parent_)
    stop->has_declined_.store(true, std::memory_order_relaxed);
}

// A look at the memory is a system call of some 15 us. So the next one comes only when the room
// could be used up.
bool Stop::ExceedsMemory() const {
  if (!memory_limit_) return false;
  if (out_of_memory_.load(std::memory_order_relaxed)) return true;
  constexpr int64_t kMostBytesPerMs = int64_t{8} << 20;  // that a process adds
  const Clock::time_point now = Clock::now();
  if (now.time_since_epoch().count() < next_look_.load(std::memory_order_relaxed)) return false;
  const int64_t room = *memory_limit_ - ResidentBytes();
  const auto wait = std::chrono::milliseconds(std::clamp<int64_t>(room / kMostBytesPerMs, 2, 50));
  next_look_.store((now + wait).time_since_epoch().count(), std::memory_order_relaxed);
  if (room >= 0) return false;
  out_of_memory_.store(true, std::memory_order_relaxed);
  return true;
}

bool Stop::IsOutOfMemory() const {
  return out_of_memory_.load(std::memory_order_relaxed) ||
         (parent_ != nullptr && parent_->IsOutOfMemory());
}

int64_t Stop::MemoryLimit() const {
  const int64_t own = memory_limit_.value_or(std::numeric_limits<int64_t>::max());
  return parent_ != nullptr ? std::min(own, parent_->MemoryLimit()) : own;
}

std::optional<Stop::Clock::time_point> Stop::Deadline() const {
  const std::optional<Clock::time_point> parents =
      parent_ != nullptr ? parent_->Deadline() : std::nullopt;
  if (!deadline_ || !parents) return deadline_ ? deadline_ : parents;
  return std::min(*deadline_, *parents);
}

std::optional<Stop::Clock::time_point> Stop::Before(double share) const {
  const std::optional<Clock::time_point> deadline = Deadline();
  if (!deadline) return std::nullopt;
  const Clock::time_point now = Clock::now();
  return now + std::chrono::duration_cast<Clock::duration>(share * (*deadline - now));
}

void LeaveReachable(const void* object) {
  struct Left {
    const void* object;
    const Left* before;
  };
  static std::atomic<const Left*> last{nullptr};
  auto left = std::make_unique<Left>(Left{object, nullptr});
  left->before = last.exchange(left.get());
  static_cast<void>(left.release());
}

}  // namespace tessera::base
