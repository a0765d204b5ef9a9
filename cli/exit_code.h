// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace tessera::cli {

// The exit codes of a command. Each outcome has its own code, so that a script need not parse the
// text.
enum class ExitCode : int {
  kAnswer = 0,        // found and verified
  kUsage = 2,         // invalid command line
  kBadInput = 3,      // invalid file; nothing was written
  kUnsupported = 4,   // a constraint that no engine supports
  kCheckRefused = 5,  // `check` found a violation
  kLimit = 10,        // a budget or time limit was reached without an answer
  kIncomplete = 11,   // an answer, but a part of the question failed or was not answered yet
  kInfeasible = 20,   // proven impossible
  kInternal = 70,     // an answer failed its own verification
  kCannotWrite = 74,
  kInterrupted = 130,  // by a signal; results found before it have been written
};

}  // namespace tessera::cli
