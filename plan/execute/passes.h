#pragma once

#include "tessera/plan/execute/actions.h"
#include "tessera/plan/execute/walk.h"

// The passes of one subgraph over its tiles 0 .. tiles - 1, at steps [begin, end) of the plan.
namespace tessera::plan::execute {

struct Stretch {
  problem::Step begin = 0;
  problem::Step end = 0;
};

// Each transfer has steps of its own: one pass, run for every tile.
void UnrollSerialized(Walk& walk, Actions& actions, Stretch steps, int64_t tiles);

// Transfers overlap compute: up to three passes, two in turn from four tiles on.
void UnrollDoubleBuffered(Walk& walk, Actions& actions, Stretch steps, int64_t tiles);

// A step at which an operator's engine copies rows: before it computes in `pass` those that come
// back, else those put aside for the pass after.
void CopyRows(Walk& walk, Actions& actions, problem::Step step, Stretch pass, int64_t tile,
              int next_phase);

}  // namespace tessera::plan::execute
