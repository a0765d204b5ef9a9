#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/lowered_program.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::lowering {

// The plan as jobs for engines and links (docs/plan-format.md, Lowering), which follow from it
// alone. Refused, in words, where it cannot be said: elements of four bits, tensors without an
// address, programs too long. Cost: that of the program's transfers and operators, each as long as
// the rows of bytes that it touches.
base::Expected<Program> Lower(const Plan& plan);

// Where one lowering says something else than another, in words: for each subgraph the first job,
// work or class.
std::vector<std::string> FindDifferences(const Program& found, const Program& expected);

// The executing checker of a plan's lowering: an interpreter that knows no steps.

struct Report {
  std::string obstacle;               // why nothing could be run; empty if it was
  std::vector<std::string> findings;  // the first of them
  int64_t found = 0;                  // all of them
  int64_t jobs = 0;                   // runs
};

// Runs every job for every tile and round on memories whose bytes know what they hold, in an order
// that is drawn by `seed` among those that `depends_on` permits, and looks whether another order
// could have made a difference. Keeps at most `most` findings. The plan has a lowering that
// ReadProgram accepts, or that Lower made. Memory: 16 bytes for each byte in use on or off chip.
Report Interpret(const Plan& plan, uint64_t seed, size_t most = 100);

}  // namespace tessera::plan::lowering
