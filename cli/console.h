// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/call.h>
#include <tessera/result.h>

#include <csignal>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/cli/exit_code.h"

namespace tessera::cli {

// The output of a command: answers on stdout, everything else on stderr. On a terminal, progress is
// one line that is rewritten, and is removed before anything else is printed; elsewhere progress is
// silent. Thread-safe.
class Console {
 public:
  Console();
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void Print(std::string_view text);     // to stdout, printable lines (base/text.h)
  void Note(std::string_view text);      // one line on stderr
  void Progress(std::string_view text);  // the state of long work, shown at most ten times a second

  // Report bad input; use as the return value of a command. An error of the library may also be one
  // of this program, or the end of the memory. `file` is named if the error names none.
  ExitCode Refuse(const base::Diagnostic& diagnostic);
  ExitCode Refuse(const Error& error, const std::string& file = "");

  // Reports an error of this program.
  ExitCode Fail(const base::Diagnostic& diagnostic);

  // The first error of writing to stdout so far; 0 if there was none.
  int Flush();

 private:
  void Clear();

  std::mutex mutex_;
  bool terminal_ = false;
  bool line_shown_ = false;
  long long last_shown_ms_ = 0;
  int stdout_error_ = 0;  // the first
};

// While a guard exists, the first SIGINT or SIGTERM requests a stop, so that the best answer so far
// can still be written; the second signal ends the process as usual. At most one guard may exist at
// a time.
class InterruptGuard {
 public:
  explicit InterruptGuard(base::Stop& stop);
  explicit InterruptGuard(const Canceller& canceller);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Whether a signal arrived since the guard was made.
  static bool Interrupted();

 private:
  static void Begin();
};

// While this object exists, SIGINT and SIGTERM wait.
class HeldInterrupts {
 public:
  HeldInterrupts();
  ~HeldInterrupts();
  HeldInterrupts(const HeldInterrupts&) = delete;
  HeldInterrupts& operator=(const HeldInterrupts&) = delete;

 private:
  sigset_t before_;
};

// If no guard exists, SIGINT and SIGTERM end the process with the exit code of an interrupt. To be
// called at the start of the process.
void EndOnInterrupt();

// The lines that such an end prints on stderr, from now on.
void SayOnInterrupt(std::string_view text);

}  // namespace tessera::cli
