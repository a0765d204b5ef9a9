#pragma once

#include <ctime>

namespace tessera::bench {

// Milliseconds of processor time that the calling thread has used: on a busy machine a steadier
// measure than the clock on the wall.
inline double CpuMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace tessera::bench
