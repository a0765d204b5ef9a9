#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::base {

// Bytes of memory that the process holds now; 0 where the system does not say. Cost: one read of a
// small file.
int64_t ResidentBytes();

// Bytes of memory that the process may hold: the least of what the machine has, what its control
// groups allow and what the limits of the process allow.
int64_t UsableBytes();

// Runs `work` on up to that many threads at once, this one among them, and returns when all are
// done. Where the system gives fewer threads, these do: so the work must take its parts from a
// shared list. If some throw, one of these exceptions goes on to the caller, after all have ended.
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
      // Neither thread nor memory for one is to be had: those that run will do.
    }
    guarded();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera::base
