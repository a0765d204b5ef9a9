// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/instruction.h"
#include "tessera/plan/execute/places.h"
#include "tessera/plan/lowering/job_recorder.h"
#include "tessera/plan/lowering/lowering.h"
#include "tessera/plan/lowering/memory_state.h"
#include "tessera/plan/lowering/performer.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::lowering {

inline constexpr size_t kMostFindings = 100;  // that a report keeps

// Returns the cells of each memory that a plan uses.
std::vector<int64_t> SizesOf(const Plan& plan, const execute::Contents& contents);

// Returns why the plan cannot be executed, in words; empty if it can.
std::string FindObstacle(const Plan& plan, const execute::Contents& contents);

// Runs the instructions of a plan. The arguments must outlive it.
class Execution : private Listener {
 public:
  // Keeps the first kMostFindings findings and counts the others.
  Execution(const Plan& plan, const execute::Contents& contents, const base::Stop& stop);

  // Returns false when the stop was requested.
  bool Run(const execute::Instruction& instruction);

  Report TakeReport();

 private:
  // A run, and its position in the program.
  struct Actor {
    int64_t step = -1;  // -1: before the program
    int64_t tile = -1;
    int op = -1;
    int link = -1;  // of a transfer
  };

  void Do(const execute::EnterStep& enter);
  void Do(const execute::Provide& provide);
  void Do(const execute::Forget& forget);
  void Do(const execute::StartTransfer& start);
  void Do(const execute::FinishTransfer& finish);
  void Do(const execute::Compute& compute);
  void Do(const execute::Copy& copy);
  void Do(const execute::Expect& expect);
  void Do(const execute::Refusal& refusal);

  int Begin(int op, const std::string& link);
  void Perform(int run);
  void Switch(int mode);
  void Lose(const problem::AddressRange& cells);

  bool MayTouch(const execute::Place& place, const plan::Box& box, problem::AccessKind kind);
  bool IsThere(const execute::Place& place, const plan::Box& box);
  std::vector<execute::Move> AbleMoves(const std::vector<execute::Move>& moves);

  void ReportFault(FindingKind kind, const std::string& fault) override;
  std::string NameOf(int32_t run) const override;

  const Plan& plan_;
  const execute::Contents& contents_;
  const base::Stop& stop_;
  const std::vector<verify::Users> users_;
  const execute::Places places_;
  const WholeTensors whole_;
  const BuffersById buffers_;
  TaggedMemories memories_;
  Performer performer_;
  Modes modes_;
  TimeOrder order_;
  std::optional<Recorder> recorder_;
  int subgraph_ = 0;
  execute::EnterStep at_;
  bool entered_ = false;
  std::optional<int> mode_;           // of the last switch
  int64_t time_ = 0;                  // instructions so far
  std::map<int64_t, int> under_way_;  // transfers by number: their runs
  Actor actor_;                       // the run that acts now
  std::vector<Actor> actors_;         // of all runs
  std::vector<std::string> links_;
  Report report_;
};

}  // namespace tessera::plan::lowering
