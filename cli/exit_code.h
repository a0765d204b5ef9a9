#pragma once

namespace tessera::cli {

// What a finished command tells the shell. Each outcome has a code of its own, so that a script
// need not read the text.
enum class ExitCode : int {
  kAnswer = 0,        // found and verified
  kUsage = 2,         // the command line makes no sense
  kBadInput = 3,      // a file does; nothing was written
  kUnsupported = 4,   // a constraint that no engine can honour
  kCheckRefused = 5,  // `check` found a violation
  kLimit = 10,        // a budget or time limit was reached without an answer
  kInfeasible = 20,   // proven impossible
  kInternal = 70,     // an answer failed its own verification
  kCannotWrite = 74,
  kInterrupted = 130,  // by a signal; what was found until then has been written
};

}  // namespace tessera::cli
