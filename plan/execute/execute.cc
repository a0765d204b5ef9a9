#include "tessera/plan/execute/execute.h"

#include <algorithm>

#include "tessera/plan/execute/machine.h"
#include "tessera/plan/execute/obstacle.h"
#include "tessera/plan/execute/program.h"

// Three parts that know little of each other:
//
//     plan --- Unroll ---> instructions --- Machine ---> findings
//              steps, buffers,  places and      cells and tags; asks the judge (reads.h)
//              offsets, modes   boxes           what each operator must find
//
// plan::Validate shows that the Problem is the right one and the placement a solution of it. This
// shows that the placement works, and shares neither the validator's derivations nor the planner's:
// a rule that both have wrong is found here.
namespace tessera::plan::execute {

Report Execute(const Plan& plan, size_t most) {
  Report report;
  report.obstacle = FindObstacle(plan);
  if (!report.obstacle.empty()) return report;
  const Contents contents(plan.network, plan.profile.table_bytes_per_channel);
  problem::Memory memory = hw_profiles::AsProblemMemory(
      plan.profile.memories[static_cast<size_t>(plan.profile.tile_memory)]);
  memory.capacity = std::min(memory.capacity, EndOfBuffers(plan));  // no cells where no buffer lies
  Machine machine(plan.network, contents, memory, most);
  Unroll(plan, contents, [&](const Instruction& instruction) { machine.Run(instruction); });
  for (const Subgraph& subgraph : plan.subgraphs) report.tally.tiles += subgraph.tiles;
  report.found = machine.Found();
  const int64_t tiles = report.tally.tiles;
  report.tally = machine.Totals();
  report.tally.tiles = tiles;
  report.findings = machine.TakeFindings();
  return report;
}

}  // namespace tessera::plan::execute
