// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/instruction.h"
#include "tessera/plan/lowered_program.h"
#include "tessera/plan/lowering/byte_layout.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::lowering {

using execute::RunIndex;

// One run of a job, with the numbers of its tile and round.
struct JobRun {
  int job = 0;
  RunIndex turn;
  std::vector<FixedRegion> regions;
};

// The index of each buffer of the plan's Problem.
using BuffersById = std::map<std::string, size_t>;
BuffersById FindBuffers(const Plan& plan);

// Converts instructions, which name places and boxes, into runs of jobs, which name addresses and
// strides, in cells (execute::Contents). Instructions without effect are dropped.
// The arguments of the constructor must outlive it.
class Recorder {
 public:
  Recorder(const Plan& plan, const execute::Contents& contents, const BuffersById& buffers);

  void Record(const execute::StartTransfer& transfer);
  void Record(const execute::Copy& copy);
  void Record(const execute::Compute& compute);

  // The tile memory switches to `mode` before a step of an operator, or of none (-1). The job of
  // the switch has one round for each time that a tile reaches this step.
  void SetMode(int mode, Before before, int op, int64_t tile, int phase);

  const std::vector<Job>& Jobs() const { return jobs_; }
  // In an order in which they may be executed one by one.
  const std::vector<JobRun>& JobRuns() const { return job_runs_; }

  // The run of the last Record; nullopt if it had no effect. It is not kept.
  std::optional<JobRun> TakeLast();

  // Whether the tensor has an address at home in the plan.
  bool IsAtHome(int tensor) { return AtHome(tensor).has_value(); }

  // Why a recorded instruction cannot be lowered; empty if all can.
  const std::string& Refusal() const { return refusal_; }

 private:
  // The part of a job that a place determines: the operand, and the region in it.
  struct Found {
    Operand operand;
    FixedRegion region;
  };

  int JobFor(const Job& like);
  void Add(Job like, const RunIndex& turn, std::vector<Found> found);
  void AddMoves(Job like, const RunIndex& turn, const std::vector<execute::Move>& moves);
  int ResultOf(int sums) const;
  Found Find(const execute::Place& place, const plan::Box& box, const RunIndex& turn);
  const std::optional<HomeLocation>& AtHome(int tensor);
  void FindAtHome(const execute::Place& place, const plan::Box& box, Found& found, Spot& spot);
  static void AddWrittenPads(const execute::Place& place, const plan::Box& box,
                             FixedRegion& region);
  void AddOperands(const execute::Compute& compute, const RunIndex& turn,
                   std::vector<Found>& found);
  bool WritesSomething(const Found& found) const;
  void Refuse(const std::string& why) {
    if (refusal_.empty()) refusal_ = why;
  }

  const Plan& plan_;
  const execute::Contents& contents_;
  const BuffersById& buffers_;
  std::map<int, std::optional<HomeLocation>> homes_;  // by tensor
  std::vector<Job> jobs_;
  std::vector<JobRun> job_runs_;
  std::map<std::pair<int, int64_t>, int64_t> switches_;  // by job and tile
  std::string refusal_;
};

// One job run waits for another, by their numbers.
struct Dependency {
  int before = 0;
  Cause cause = Cause::kData;
};

// Returns for each job run the job runs for which it must wait, without those that another one
// implies. The causes are data that it reads, bytes that are still in use, and a mode that it
// needs. Job runs are in an order in which they may be executed one by one. After the stop, the
// rest is missing. Cost: runs of bytes touched, plus the cost of EventOrder.
std::vector<std::vector<Dependency>> FindDependencies(const Plan& plan,
                                                      const std::vector<Job>& jobs,
                                                      const std::vector<JobRun>& job_runs,
                                                      const base::Stop& stop);

// The slots between which the rounds of the operand alternate: round r uses slot r mod SlotsOf.
int64_t SlotsOf(const Operand& operand);

// The spot of an operand for that phase and slot, if there are several.
const Spot* FindSpot(const Operand& operand, int phase, int slot);

// Whether all waits refer to job runs that come before the waiting ones, so that they can be
// satisfied.
bool LookBack(const std::vector<JobRun>& job_runs, const std::vector<Job>& jobs);

// Drops waits without which every job run still comes after all its dependencies. A job waits in
// the same way for all tiles, so a wait that one tile needs may make another wait redundant. Reuse
// waits are dropped before data waits. All waits must look back. Cost: waits times job runs; if
// that is too much, nothing is dropped. After the stop, nothing more is dropped.
void DropImpliedWaits(const std::vector<JobRun>& job_runs,
                      const std::vector<std::vector<Dependency>>& dependencies,
                      std::vector<Job>& jobs, const base::Stop& stop);

// Folding: common properties of the runs of a job are stated once.

// Derives the classes of the tiles of `loops`, and the work that runs once, from all job runs.
// Cost: numbers of all regions times loops.
void FoldTiles(const std::vector<JobRun>& job_runs, Lowered& lowered);

// Sets the waits of the jobs. If one run of a job waits for another job, all its runs wait for that
// job, at the same distance in tiles. If there is no such tile or run, the wait has no effect. The
// waits imply all dependencies and never refer to later runs.
void FoldWaits(const std::vector<JobRun>& job_runs,
               const std::vector<std::vector<Dependency>>& dependencies, std::vector<Job>& jobs);

}  // namespace tessera::plan::lowering
