// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <exception>
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

// Runs `work` on up to `threads` threads, including the calling thread, and returns when all are
// done. If the system provides fewer threads, fewer run; `work` must therefore take its parts from
// a shared list. If some threads throw, one of the exceptions is rethrown after all threads have
// ended.
template <typename Work>
void RunOnThreads(int threads, const Work& work) {
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
  {
    std::vector<std::jthread> others;
    try {
      others.reserve(threads > 1 ? static_cast<size_t>(threads) - 1 : 0);
      for (int i = 1; i < threads; ++i) others.emplace_back(guarded);
    } catch (const std::exception&) {
      // The system has no more threads, or no memory for them. The threads that run do all of the
      // work.
    }
    guarded();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera::base
