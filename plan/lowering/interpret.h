#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/plan/plan.h"

// The executing checker of a plan's lowering: an interpreter that knows no steps.
namespace tessera::plan::lowering {

struct Report {
  std::string obstacle;               // why nothing could be run; empty if it was
  std::vector<std::string> findings;  // the first of them
  int64_t found = 0;                  // all of them
  int64_t jobs = 0;                   // runs
};

// Runs every job for every tile and round on memories whose bytes know what they hold, in an order that is drawn by `seed` among
// those that `depends_on` permits, and looks whether another order could have made a difference. Keeps at most `most` findings.
// The plan has a lowering that ReadProgram accepts, or that Lower made. Memory: 16 bytes for each byte in use on or off chip.
Report Interpret(const Plan& plan, uint64_t seed, size_t most = 100);

}  // namespace tessera::plan::lowering
