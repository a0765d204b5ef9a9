#pragma once

#include "tessera/base/stop.h"

namespace tessera::cli {

// While one of these lives, the first SIGINT or SIGTERM asks `stop` to stop, so that the best answer so far
// can still be written; the second ends the process as usual. At most one lives at a time.
class InterruptGuard {
 public:
  explicit InterruptGuard(base::Stop& stop);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Whether a signal came since the guard was made.
  static bool Interrupted();
};

// Where no guard lives, SIGINT and SIGTERM end the process with the exit code of an interrupt. For
// the begin of the process.
void EndOnInterrupt();

}  // namespace tessera::cli
