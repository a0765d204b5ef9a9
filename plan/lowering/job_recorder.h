#pragma once

#include <map>
#include <string>
#include <vector>

#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/instruction.h"
#include "tessera/plan/lowered_program.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::lowering {

using execute::RunIndex;

// One run of a job, with the numbers of its tile and round.
struct JobRun {
  int job = 0;
  RunIndex turn;
  std::vector<FixedRegion> regions;
};

// Turns instructions of the executing checker, which name places and boxes, into runs of jobs,
// which name addresses and strides. Instructions without effect leave no trace. The plan and the
// contents outlive it.
class Recorder {
 public:
  Recorder(const Plan& plan, const execute::Contents& contents, int subgraph);

  void Record(const execute::StartTransfer& transfer);
  void Record(const execute::Copy& copy);
  void Record(const execute::Compute& compute);

  // Before a step of an operator, or of none (-1), the tile memory goes over to `mode`; as often as
  // a tile comes by, so often does its job have rounds.
  void SetMode(int mode, Before before, int op, int64_t tile, int phase);

  const std::vector<Job>& Jobs() const { return jobs_; }
  const std::vector<JobRun>& JobRuns() const {
    return job_runs_;
  }  // in the order in which they may be done one by one
  const std::string& Refusal() const {
    return refusal_;
  }  // why something cannot be said; empty if all can

 private:
  // What a place adds to a job: the operand, and the region in it.
  struct Found {
    Operand operand;
    FixedRegion region;
  };

  int JobFor(const Job& like);
  void Add(Job like, const RunIndex& turn, std::vector<Found> found);
  void AddMoves(Job like, const RunIndex& turn, const std::vector<execute::Move>& moves);
  int ResultOf(int sums) const;
  Found Find(const execute::Place& place, const execute::Box& box, const RunIndex& turn);
  void FindAtHome(const execute::Place& place, const execute::Box& box, Found& found, Spot& spot);
  static void AddWrittenPads(const execute::Place& place, const execute::Box& box,
                             FixedRegion& region);
  void AddOperands(const execute::Compute& compute, const RunIndex& turn,
                   std::vector<Found>& found);
  bool WritesSomething(const Found& found) const;
  void Refuse(const std::string& why) {
    if (refusal_.empty()) refusal_ = why;
  }

  const Plan& plan_;
  const execute::Contents& contents_;
  std::map<std::string, size_t> buffers_;  // of the subgraph, and whole ones
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

// For each job run, those that it must wait for, none of which waits for another of them: data that
// it reads, bytes that are still in use, a mode that it needs. Job runs stand in an order in which
// they may be done one by one. Cost: runs of bytes touched, and what Precedence takes.
std::vector<std::vector<Dependency>> FindDependencies(const Plan& plan,
                                                      const std::vector<Job>& jobs,
                                                      const std::vector<JobRun>& job_runs);

// The spot of an operand for that phase and slot: of several, the one that is for it.
const Spot* FindSpot(const Operand& operand, int phase, int slot);

// Whether all waits are for job runs that stand before those that wait, so that they can be kept.
bool LookBack(const std::vector<JobRun>& job_runs, const std::vector<Job>& jobs);

// Drops waits without which every job run still comes after all that it depends on: what a job must
// await for one tile, and so awaits for all, may make another wait needless. Reuse goes before
// data. All of them look back. Cost: waits times job runs; where that is too much, nothing is
// dropped.
void DropImpliedWaits(const std::vector<JobRun>& job_runs,
                      const std::vector<std::vector<Dependency>>& dependencies,
                      std::vector<Job>& jobs);

// From runs to rules: what runs of a job have in common is said once.

// Classes of the tiles of `loops`, and what runs once, from all job runs. Cost: numbers of all
// regions times loops.
void FoldTiles(const std::vector<JobRun>& job_runs, Lowered& lowered);

// Waits of the jobs: whatever one run waits for, all of its job's do, for as many tiles before.
// Where there is no such tile or run, nobody waits. This asks for no less than the dependencies do,
// and never for what comes later.
void FoldWaits(const std::vector<JobRun>& job_runs,
               const std::vector<std::vector<Dependency>>& dependencies, std::vector<Job>& jobs);

}  // namespace tessera::plan::lowering
