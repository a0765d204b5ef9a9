// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/plan/verify/passes.h"
#include "tessera/plan/verify/program_trace.h"

namespace tessera::plan::verify {

// The events of a running program. At each moment one of its steps is executed, and buffers are
// touched. A buffer holds values, which are distinguished by number. Each value stays from the
// first moment that touches it to the last.
class MomentLog {
 public:
  // Begins a moment that executes this step.
  void RunStep(problem::Step step) { moments_.push_back(step); }

  // The latest moment. Requires that RunStep has been called.
  size_t Now() const { return moments_.size() - 1; }

  void Touch(const BufferUse& use, int64_t value, const std::string& engine,
             problem::AccessKind kind);

  // Keeps the value at that moment although nothing touches it.
  void Hold(const BufferUse& use, int64_t value, size_t moment);

  // Returns the lifespans and accesses of every buffer on the program's `steps` steps. Cost: the
  // number of moments at which values stay.
  std::map<BufferUse, ObservedUse> Fold(size_t steps) const;

 private:
  struct Stay {
    size_t first = 0;
    size_t last = 0;
  };
  struct Record {
    std::set<std::tuple<problem::Step, std::string, problem::AccessKind>> accesses;
    std::map<int64_t, Stay> stays;  // by value
  };
  std::vector<problem::Lifespan> LifespansOf(const Record& record, size_t steps) const;

  std::vector<problem::Step> moments_;
  std::map<BufferUse, Record> records_;
};

// Records which buffers a program touches. A buffer holds one value for each tile or, for streamed
// operands, for each slice of each tile. A rolling buffer holds one value for all tiles, and so
// does a resident or whole buffer.
class Touches : public PassVisitor {
 public:
  // Begins a subgraph. `carried` are the later subgraphs whose constants arrive while it runs. Both
  // must outlive its run.
  void EnterSubgraph(const SubgraphResidency& here, std::span<const SubgraphResidency> carried);

  void Enter(problem::Step step, int64_t tile) override;
  int64_t Begin(const Transfer& transfer) override;
  void End(int64_t transfer) override { under_way_.erase(transfer); }
  int64_t RoundsOf(int op) override;
  void Compute(int op, const RunIndex& run, problem::Step step) override;
  void MayCompute(int op, const RunIndex& run) override;
  void Restore(int op, const RunIndex& run, problem::Step step) override;
  void Save(int op, const RunIndex& run, int next_phase, problem::Step step) override;
  void Refuse(const std::string& /*why*/) override {}

  // HoldFromTheFirst keeps the whole buffer from the first moment on, HoldToTheLast up to the
  // latest moment, although nothing touches it then.
  void HoldFromTheFirst(int tensor) { log_.Hold(WholeOf(tensor), 0, 0); }
  void HoldToTheLast(int tensor) { log_.Hold(WholeOf(tensor), 0, log_.Now()); }

  // All recorded uses, on the program's `steps` steps.
  std::map<BufferUse, ObservedUse> Fold(size_t steps) const { return log_.Fold(steps); }

 private:
  struct Touch {
    BufferUse use;
    int64_t value = 0;
    std::string engine;
    problem::AccessKind kind = problem::AccessKind::kRead;
  };

  static BufferUse WholeOf(int tensor) { return {BufferKind::kWhole, -1, tensor, -1, 0, 0}; }
  int64_t ValueOf(int tensor, int64_t tile) const;
  Touch TouchOf(const Transfer& transfer) const;
  void Log(const Touch& touch) { log_.Touch(touch.use, touch.value, touch.engine, touch.kind); }
  void WorkIn(const BufferUse& workspace, int64_t tile, const std::string& engine);
  void TouchOperand(int op, int tensor, const RunIndex& run, const std::string& engine,
                    problem::AccessKind kind);

  const SubgraphResidency* here_ = nullptr;
  std::span<const SubgraphResidency> carried_;
  MomentLog log_;
  int64_t transfers_ = 0;
  std::map<int64_t, Touch> under_way_;  // by transfer
};

}  // namespace tessera::plan::verify
