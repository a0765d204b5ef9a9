// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <ctime>

namespace tessera::bench {

// Milliseconds of processor time that the calling thread has used. On a busy machine this measure
// is steadier than the wall clock.
inline double CpuMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Seconds of processor time that all threads of the process have used.
inline double ProcessSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace tessera::bench
