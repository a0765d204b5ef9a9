// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::base {

// Returns the bytes of memory that the process holds now; 0 if the system does not report them.
// Cost: one read of a small file.
int64_t ResidentBytes();

// Returns freed memory to the system, as far as the allocator can. Without this call it may stay
// resident. Cost: at most some milliseconds for a gigabyte.
void ReturnFreeMemory();

// Bytes of memory that the process may hold: the minimum of the machine's memory, the limits of its
// control groups and the limits of the process.
int64_t UsableBytes();

// Bytes that the process may still map; the greatest number if its address space has no limit.
int64_t FreeAddressSpace();

// Returns a number of threads, at least one and at most `wanted`, whose stacks leave three quarters
// of the usable memory to the work. They could use up a limited address space.
int UsableThreads(int wanted);

// Calls `work` up to `count` times, at the same time if it can, and returns when all of these calls
// have ended. `work` does not throw.
using Executor = std::function<void(int count, const std::function<void()>& work)>;

// How many threads may work at once, including the calling one, and what provides them.
struct Threads {
  Threads(int most = 1, const Executor* provider = nullptr)  // NOLINT(google-explicit-constructor)
      : count(std::max(most, 1)), executor(provider) {}

  // Returns at most `most` of these threads.
  Threads AtMost(size_t most) const {
    return {most < static_cast<size_t>(count) ? static_cast<int>(most) : count, executor};
  }

  int count;                 // 1 or more
  const Executor* executor;  // must outlive the work; nullptr: threads are made
};

// Runs `work` on up to so many threads, including the calling thread, and returns when all are
// done. If the system or the executor provides fewer threads, fewer run; `work` must therefore take
// its parts from a shared list. If some threads throw, one of the exceptions is rethrown after all
// threads have ended.
template <typename Work>
void RunOnThreads(Threads threads, const Work& work) {
  std::exception_ptr failure;
  std::mutex mutex;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  if (threads.executor != nullptr && threads.count > 1) {
    (*threads.executor)(threads.count, guarded);
    guarded();  // what the executor left
  } else {
    std::vector<std::jthread> others;
    try {
      others.reserve(threads.count > 1 ? static_cast<size_t>(threads.count) - 1 : 0);
      for (int i = 1; i < threads.count; ++i) others.emplace_back(guarded);
    } catch (const std::exception&) {
      // The system has no more threads, or no memory for them. The threads that run do all of the
      // work.
    }
    guarded();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera::base
