#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/lowered_program.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::lowering {

// The plan as jobs for engines and links (docs/plan-format.md, Lowering). The jobs follow from the
// plan alone. Refused, with a reason, if the plan cannot be lowered: elements of four bits, tensors
// without an address, programs that are too long. Cost: the program's transfers and operators, each
// as long as the rows of bytes that it touches.
base::Expected<Program> Lower(const Plan& plan);

// The differences between two lowerings, in words: for each subgraph the first job, work or class
// that differs.
std::vector<std::string> FindDifferences(const Program& found, const Program& expected);

// The executing checker of a plan's lowering: an interpreter without steps.

struct Report {
  std::string obstacle;               // why nothing could be run; empty if it ran
  std::vector<std::string> findings;  // the first findings
  int64_t found = 0;                  // the number of all findings
  int64_t jobs = 0;                   // runs
};

// Runs every job for every tile and round on memories whose bytes are tagged with their contents.
// `seed` draws the order among those that `depends_on` permits. Also checks whether another order
// could give a different result. Keeps at most `most` findings. The plan has a lowering that
// ReadProgram accepts or Lower made. Memory: 16 bytes for each byte in use on or off chip.
Report Interpret(const Plan& plan, uint64_t seed, size_t most = 100);

}  // namespace tessera::plan::lowering
