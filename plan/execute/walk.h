#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/instruction.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::execute {

// A way through the plan's steps, one after another, as instructions. Between two steps the buffers
// that do not live on are forgotten; a step that no loop of the plan leads to is entered all the
// same, and says so.
class Walk {
 public:
  Walk(const Plan& plan, const Contents& contents,
       const std::function<void(const Instruction&)>& run)
      : plan_(plan),
        contents_(contents),
        run_(run),
        first_scheduled_(problem::Horizon(plan.problem).lower) {}

  problem::Step Steps() const { return static_cast<problem::Step>(plan_.steps.size()); }
  const StepUse& At(problem::Step step) const { return plan_.steps[static_cast<size_t>(step)]; }

  void Enter(problem::Step step, int64_t tile);
  void Run(const Instruction& instruction) { run_(instruction); }

  // Transfers under way, by number.
  void Start(const StartTransfer& transfer, std::vector<int64_t>& under_way);
  void Finish(std::vector<int64_t>& under_way);

  // The step moves a tensor that it has nothing to do with.
  void Complain(problem::Step step, int tensor);

 private:
  bool MayFollow(problem::Step from, problem::Step to) const;
  problem::AddressRange CellsOf(size_t buffer) const;
  std::vector<problem::AddressRange> DyingBetween(problem::Step from, problem::Step to) const;

  const Plan& plan_;
  const Contents& contents_;
  const std::function<void(const Instruction&)>& run_;
  problem::Step first_scheduled_;  // a schedule of modes begins where the first buffer lives
  std::map<std::pair<problem::Step, problem::Step>, std::vector<problem::AddressRange>> dying_;
  problem::Step before_ = -1;
};

}  // namespace tessera::plan::execute
