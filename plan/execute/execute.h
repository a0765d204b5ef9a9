#pragma once

#include <string>
#include <vector>

#include "tessera/plan/execute/finding.h"
#include "tessera/plan/execute/ledger.h"
#include "tessera/plan/plan.h"

// The executing checker: runs a plan, byte by byte.
namespace tessera::plan::execute {

struct Report {
  std::string obstacle;           // why nothing could be run; empty if it was
  std::vector<Finding> findings;  // in order of time, the first of them
  int64_t found = 0;              // all of them
  Tally tally;
};

// Runs the whole program on memories whose cells hold tags, every tile of every subgraph, transfer
// by transfer and operator by operator, and judges each operator by what it reads. Keeps at most
// `most` findings. Memory: 14 bytes for each byte of the tile memory and a bit for each element
// that leaves it. Cost: linear in the bytes touched.
Report Execute(const Plan& plan, size_t most = 100);

}  // namespace tessera::plan::execute
