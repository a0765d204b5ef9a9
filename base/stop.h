#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace tessera::base {

// How much work a search may do, counted in its own units (nodes, conflicts, evaluations), so that
// the same budget gives the same answer on every machine.
struct Budget {
  int64_t units = std::numeric_limits<int64_t>::max();
};

// Says when to give up before the budget is spent: on request (another thread, a signal handler),
// at a wall-clock deadline or at a memory limit. Asking is cheap enough for every few hundred
// nodes. An answer cut off by a Stop is `unknown`, never `infeasible`. A Stop is shared by
// reference and outlives the searches that watch it; it may name a parent whose stop it also obeys.
// A Stop that never told anybody to stop changed nothing: the work went as it would have gone
// without it, and can be repeated.
class Stop {
 public:
  using Clock = std::chrono::steady_clock;

  Stop() = default;
  explicit Stop(std::optional<Clock::time_point> deadline, const Stop* parent = nullptr)
      : deadline_(deadline), parent_(parent) {}

  // Requests itself when it is asked for the k-th time, 1 or more, and counts how often it is
  // asked. With it a test cuts off a search at each of its polls, one after the other, without a
  // clock.
  struct AtPoll {
    int64_t k = 1;
  };
  explicit Stop(AtPoll at) : request_at_(at.k) {}
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;
  ~Stop() = default;

  // From now on, what the process holds beyond so many bytes is a reason to stop too, for good.
  // Searches also build nothing that would need more. To be called before the Stop is shared.
  void LimitMemory(int64_t bytes) { memory_limit_ = bytes; }

  // Safe from any thread and from a signal handler.
  void Request() { requested_.store(true, std::memory_order_relaxed); }

  bool Requested() const;

  // How often a Stop made with AtPoll was asked, by those that have it as their parent too; 0 of
  // others.
  int64_t Polls() const { return polls_.load(std::memory_order_relaxed); }

  // Whether Requested() has answered true, or a deadline has passed that a Stop with this one as
  // its parent set itself.
  bool HasCutOff() const { return has_cut_off_.load(std::memory_order_relaxed); }

  // Whether it stopped at a memory limit.
  bool IsOutOfMemory() const;

  // The least of its own and its parents' memory limits; the greatest number where there is none.
  int64_t MemoryLimit() const;

  // The earliest of its own and its parents', if there is any.
  std::optional<Clock::time_point> Deadline() const;

  // When that share of the time from now until the deadline is over. `share`: 0 to 1.
  std::optional<Clock::time_point> Before(double share) const;

 private:
  void NoteCutOff() const { has_cut_off_.store(true, std::memory_order_relaxed); }
  bool ExceedsMemory() const;

  std::atomic<bool> requested_{false};
  mutable std::atomic<bool> has_cut_off_{false};
  mutable std::atomic<int64_t> polls_{0};
  std::optional<Clock::time_point> deadline_;
  std::optional<int64_t> memory_limit_;
  mutable std::atomic<bool> out_of_memory_{false};
  mutable std::atomic<int64_t> next_look_{0};  // at the memory, in ticks of the clock
  const Stop* parent_ = nullptr;
  int64_t request_at_ = 0;  // 0: polls are not counted
};

}  // namespace tessera::base
