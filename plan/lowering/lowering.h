// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/plan/lowered_program.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::lowering {

// Returns the plan as jobs for engines and links (docs/plan-format.md, Lowering). The jobs follow
// from the plan alone. Refuses, with a reason, plans with elements of four bits, plans with tensors
// without an address, and programs that are too long. Also fails after the stop. Cost: the
// program's transfers and operators, each as long as the rows of bytes that it touches.
base::Expected<Program> Lower(const Plan& plan, const base::Stop& stop = base::Stop());

// The differences between two lowerings, in words: for each subgraph the first job, work or class
// that differs.
std::vector<std::string> FindDifferences(const Program& found, const Program& expected);

// The accesses of the plan's lowering to memories other than the tile memory that the profile does
// not allow, in words: an engine that cannot read or write there, a memory that cannot be written.
std::vector<std::string> FindForbidden(const Plan& plan);

// The faults of a plan or a lowering that is run.
enum class FindingKind : uint8_t {
  kUnwritten,    // read before it was written
  kStale,        // a cell that still holds another part of the tensor: another tile's, slice's
  kOverwritten,  // a cell that holds something else by now
  kArriving,     // touched while another run may still be writing it
  kMoving,       // overwritten while another run may still be reading it
  kInPlace,      // a result in the place of operands that are still to be read
  kLost,         // a cell without defined contents: its bank was off, or no buffer lived there
  kOutside,      // beyond the buffer, the memory, or where the memory may be used
  kForbidden,    // an access that the mode, the memory or a lifespan does not allow
  kIncomplete,   // a result that is not complete when it is needed
  kControl,      // a step that cannot follow, or that lacks what it moves or computes
  kMalformed,    // a job that does not name what its operator touches, or has no valid order
};

std::string_view NameOf(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::kControl;
  std::string message;
};

// The amount of work that was executed.
struct Tally {
  int64_t tiles = 0;      // over all subgraphs
  int64_t steps = 0;      // each as often as it was executed
  int64_t operators = 0;  // runs of one
  int64_t transfers = 0;
  int64_t bytes_moved = 0;    // by transfers
  int64_t cells_checked = 0;  // of every read
  int64_t jobs = 0;           // runs of a lowering's jobs
};

struct Report {
  std::string obstacle;           // why nothing could be run; empty if it ran
  bool is_cut_off = false;        // by a stop: the rest was not checked
  std::vector<Finding> findings;  // the first findings
  int64_t found = 0;              // the number of all findings
  Tally tally;
};

// The executing checker: a plan runs on memories whose cells are tagged with their contents
// (performer.h), until the stop. Execute and Interpret run it in two different orders. Both keep
// the first 100 findings. Memory: 16 bytes for each cell that is touched, on or off chip, except
// for constants at home. Cost: linear in the cells touched.

// Runs the plan in its own steps, every tile of every subgraph, transfer by transfer and operator
// by operator.
Report Execute(const Plan& plan, const base::Stop& stop = base::Stop());

// Runs every job of the plan's lowering for every tile and round. `seed` selects one of the orders
// that `depends_on` permits. Also checks whether another order could have a different result. The
// plan has a lowering that ReadProgram accepts or Lower made.
Report Interpret(const Plan& plan, uint64_t seed, const base::Stop& stop = base::Stop());

}  // namespace tessera::plan::lowering
