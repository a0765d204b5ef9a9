// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

namespace tessera::base {

// How much work a search may do, in its own units (nodes, conflicts, evaluations). The same budget
// gives the same answer on every machine.
struct Budget {
  int64_t units = std::numeric_limits<int64_t>::max();
};

// Tells a search to stop before its budget is spent: on request (from another thread or a signal
// handler), at a wall-clock deadline or at a memory limit. Polling is cheap enough for every few
// hundred nodes. An answer that a Stop cut off is `unknown`, never `infeasible`.
//
// A Stop is shared by reference and outlives the searches that poll it. It may have a parent; it
// then also stops when the parent stops. A Stop that never answered true did not change the work:
// the result is the same as without it and can be reproduced.
class Stop {
 public:
  using Clock = std::chrono::steady_clock;

  Stop() = default;
  explicit Stop(std::optional<Clock::time_point> deadline, const Stop* parent = nullptr)
      : deadline_(deadline), parent_(parent) {}

  // Makes the Stop request itself at the k-th poll (k >= 1) and count its polls. A test uses it to
  // cut off a search at each of its polls in turn, without a clock.
  struct AtPoll {
    int64_t k = 1;
  };
  explicit Stop(AtPoll at) : request_at_(at.k) {}

  // Makes a Stop that has stopped, as after a deadline. This does not affect its parent.
  struct Ended {};
  Stop(Ended, const Stop* parent) : parent_(parent), has_ended_(true) {}

  // Makes a Stop that stops only when its parent is interrupted. Deadlines and memory limits do not
  // stop it.
  struct AtInterrupt {};
  Stop(AtInterrupt, const Stop* parent) : parent_(parent), only_at_interrupt_(true) {}
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;
  ~Stop() = default;

  // From now on the Stop also stops, permanently, when the process holds more than `bytes` bytes.
  // Searches also build nothing that would need more. Call this before the Stop is shared.
  void LimitMemory(int64_t bytes) { memory_limit_ = bytes; }

  // Call this before the Stop is shared, if the process ends soon after the stop. Searches then do
  // not free their memory, which can take longer than an answer may be late.
  void EndProcess() { ends_process_ = true; }

  // Call this before the Stop is shared, if no answer needs the work in progress at the stop. Any
  // cause of the stop then counts as an interruption long ago, so that nothing is completed first.
  void DropWork() { drops_work_ = true; }

  // Whether the process ends soon after it, or a parent, stops.
  bool EndsProcess() const {
    return ends_process_ || (parent_ != nullptr && parent_->EndsProcess());
  }
  // Whether it, or a parent, has stopped and ends the process.
  bool HasEndedProcess() const;

  // Safe to call from any thread and from a signal handler.
  void Request() noexcept;

  bool Requested() const;

  // Whether it, or a parent, was stopped by a request, not only by a deadline or a memory limit; or
  // has stopped and drops its work.
  bool IsInterrupted() const { return InterruptedAt().has_value(); }

  // Returns the time of the earliest such request; nullopt if there is none. If the work is
  // dropped, it is the least time.
  std::optional<Clock::time_point> InterruptedAt() const;

  // The number of polls of a Stop made with AtPoll, including polls through Stops that have it as
  // their parent; 0 for other Stops.
  int64_t Polls() const { return polls_.load(std::memory_order_relaxed); }

  // Records that a search which polls this Stop lost a part of its work because an allocation
  // failed. Nothing stops, but the result may not be reproducible.
  void NoteFailedAllocation() const { NoteCutOffOfAll(); }

  // Records that a search which polls this Stop left work out because it would need more than the
  // memory limit. The result may differ with another limit, so this counts as a cut.
  void NoteDeclined() const;
  bool HasDeclined() const { return has_declined_.load(std::memory_order_relaxed); }

  // Whether Requested() has returned true, or whether a deadline of a Stop that has this one as its
  // parent has passed, or an allocation failed there.
  bool HasCutOff() const { return has_cut_off_.load(std::memory_order_relaxed); }

  // Whether the memory limit was reached.
  bool IsOutOfMemory() const;

  // The minimum of its own memory limit and its parents'; the greatest number if there is no limit.
  int64_t MemoryLimit() const;

  // The earliest of its own deadline and its parents', if there is any.
  std::optional<Clock::time_point> Deadline() const;

  // The time at which the fraction `share` (0 to 1) of the time from now until the deadline is
  // over.
  std::optional<Clock::time_point> Before(double share) const;

 private:
  void NoteCutOff() const { has_cut_off_.store(true, std::memory_order_relaxed); }
  void NoteCutOffOfAll() const;  // its parents too
  bool ExceedsMemory() const;

  std::atomic<Clock::rep> requested_at_{0};  // in ticks of the clock; 0: not requested
  mutable std::atomic<bool> has_cut_off_{false};
  mutable std::atomic<bool> has_declined_{false};
  mutable std::atomic<int64_t> polls_{0};
  std::optional<Clock::time_point> deadline_;
  std::optional<int64_t> memory_limit_;
  bool ends_process_ = false;
  bool drops_work_ = false;
  mutable std::atomic<bool> out_of_memory_{false};
  // when memory is measured next, in ticks of the clock
  mutable std::atomic<int64_t> next_look_{0};
  const Stop* parent_ = nullptr;
  bool has_ended_ = false;
  bool only_at_interrupt_ = false;
  int64_t request_at_ = 0;  // 0: polls are not counted
};

// Keeps the object reachable until the process ends, so that leak checkers do not report it.
void LeaveReachable(const void* object);

// Frees the object, unless the Stop has ended the process.
template <typename Held>
void FreeUnlessAtEnd(std::unique_ptr<Held> held, const Stop& stop) {
  if (held != nullptr && stop.HasEndedProcess()) LeaveReachable(held.release());
}

// Polls a Stop once for about every `period` units of work.
class PolledWork {
 public:
  // The Stop may be nullptr; otherwise it must outlive this object.
  explicit PolledWork(const Stop* stop, int64_t period = 2'048) : stop_(stop), period_(period) {}

  // Counts work that was done. Returns false from the stop on.
  bool Continues(int64_t units = 1) {
    if (stop_ == nullptr) return true;
    left_ -= units;
    if (left_ > 0 || cut_off_) return !cut_off_;
    left_ = period_;
    cut_off_ = stop_->Requested();
    return !cut_off_;
  }

  bool IsCutOff() const { return cut_off_; }

 private:
  const Stop* stop_;
  int64_t period_;
  int64_t left_ = 0;  // the first call polls
  bool cut_off_ = false;
};

// Lets work go on for some units after an interruption, so that what is nearly done is not lost.
// Deadlines and memory limits do not end it.
class GraceWork {
 public:
  // The Stop may be nullptr; otherwise it must outlive this object.
  GraceWork(const Stop* stop, int64_t units) : stop_(stop), left_(units) {}

  // Counts work that was done. Returns false once the units are used up.
  bool Continues(int64_t units = 1) {
    if (stop_ == nullptr) return true;
    uncounted_ += units;
    if (uncounted_ < kPeriod) return left_ > 0;
    if (stop_->IsInterrupted()) left_ -= uncounted_;
    uncounted_ = 0;
    return left_ > 0;
  }

  bool IsCutOff() const { return left_ <= 0; }

 private:
  static constexpr int64_t kPeriod = 2'048;
  const Stop* stop_;
  int64_t left_;
  int64_t uncounted_ = 0;
};

}  // namespace tessera::base
