#include "tessera/plan/execute/passes.h"

#include <fmt/core.h>

namespace tessera::plan::execute {

using problem::Step;

void CopyRows(Walk& walk, Actions& actions, Step step, Stretch pass, int64_t tile, int next_phase) {
  const StepUse& use = walk.At(step);
  bool computes_later = false;
  for (Step later = step + 1; later < pass.end; ++later) {
    const StepUse& other = walk.At(later);
    computes_later = computes_later || (other.kind == StepKind::kCompute && other.op == use.op);
  }
  if (!(computes_later ? actions.Restores(use.op) : actions.Saves(use.op))) {
    walk.Run(Complaint{fmt::format("step {} copies rows where none are kept", step)});
  }
  const Copy copy = computes_later ? actions.Restore(use.op, tile, use.phase, step)
                                   : actions.Save(use.op, tile, use.phase, next_phase, step);
  if (!copy.moves.empty()) walk.Run(copy);
}

}  // namespace tessera::plan::execute
