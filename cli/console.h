#pragma once

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/cli/exit_code.h"

namespace tessera::cli {

// Where a command talks: answers on stdout, everything else on stderr. On a terminal, progress is
// one line that rewrites itself and vanishes before anything else is printed; elsewhere it is
// silent. Safe from several threads.
class Console {
 public:
  Console();
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void Print(std::string_view text);     // to stdout, printable lines (base/text.h)
  void Note(std::string_view text);      // one line on stderr
  void Progress(std::string_view text);  // the state of long work, at most ten times a second

  // Reports bad input; for returning from a command.
  ExitCode Refuse(const base::Diagnostic& diagnostic);

  // Reports a fault of this program.
  ExitCode Fail(const base::Diagnostic& diagnostic);

  // The error that kept stdout from taking everything so far; 0 where there was none.
  int Flush();

 private:
  void Clear();

  std::mutex mutex_;
  bool terminal_ = false;
  bool line_shown_ = false;
  long long last_shown_ms_ = 0;
  int stdout_error_ = 0;  // the first
};

// While one of these lives, the first SIGINT or SIGTERM asks `stop` to stop, so that the best
// answer so far can still be written; the second ends the process as usual. At most one lives at a
// time.
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
