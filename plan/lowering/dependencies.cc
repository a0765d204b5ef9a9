// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <tuple>

#include "tessera/plan/lowering/byte_layout.h"
#include "tessera/plan/lowering/job_recorder.h"
#include "tessera/plan/lowering/memory_state.h"
#include "tessera/plan/lowering/run_order.h"

// Two job runs that touch a byte must keep their order if one of them writes it. Job runs are
// visited in a correct order. Every range of bytes records its last writer and the readers since
// then:
//
//     address    0 ........ 64 ...... 96 ....... 160
//     written by | load x #2 | conv #1 |  load w  |       a range is split where a job run
//     read by    |  conv #2  | store #1|  conv #2 |       touches part of it
//
// A reader waits for the writer (data). A writer waits for the writer and the readers (reuse). A
// wait that another wait implies is left out (EventOrder), so few waits remain.
//
// Modes: a job run that is not allowed in the previous mode of the tile memory waits for the
// switch. A switch waits for the previous job runs that the new mode does not allow, and for the
// previous switch. Job runs that both modes allow continue during the switch.
namespace tessera::plan::lowering {

namespace {

using problem::AccessKind;
using problem::AddressRange;

// The memory accesses of a job run.
struct Touch {
  int memory = 0;
  bool writes = false;
  bool reads_back = false;  // the bytes that it writes
  std::vector<AddressRange> bytes;
};

// The job runs that may still access a range of bytes.
struct AccessedRange {
  int64_t end = 0;
  int writer = -1;
  std::vector<int> readers;  // since the last write
};

class Bytes {
 public:
  // Splits ranges so that `range` consists of whole ones, and visits them.
  template <typename Visit>
  void ForEach(const AddressRange& range, const Visit& visit) {
    Cut(range.begin);
    Cut(range.end);
    int64_t at = range.begin;
    auto next = ranges_.lower_bound(range.begin);
    while (at < range.end) {
      if (next == ranges_.end() || next->first > at) {
        const int64_t end = next == ranges_.end() ? range.end : std::min(range.end, next->first);
        next = ranges_.emplace(at, AccessedRange{end, -1, {}}).first;
      }
      at = next->second.end;
      visit((next++)->second);
    }
  }

  // Replaces the entries of the range by one entry with this writer.
  void Overwrite(const AddressRange& range, int writer) {
    Cut(range.begin);
    Cut(range.end);
    ranges_.erase(ranges_.lower_bound(range.begin), ranges_.lower_bound(range.end));
    ranges_.emplace(range.begin, AccessedRange{range.end, writer, {}});
  }

 private:
  void Cut(int64_t at) {
    auto after = ranges_.upper_bound(at);
    if (after == ranges_.begin()) return;
    const auto around = std::prev(after);
    if (around->first == at || around->second.end <= at) return;
    AccessedRange upper = around->second;
    around->second.end = at;
    ranges_.emplace(at, std::move(upper));
  }

  std::map<int64_t, AccessedRange> ranges_;  // by begin
};

class DependencyFinder {
 public:
  DependencyFinder(const Plan& plan, const std::vector<Job>& jobs)
      : plan_(plan),
        jobs_(jobs),
        tile_memory_(hw_profiles::AsProblemMemory(
            plan.profile.memories[static_cast<size_t>(plan.profile.tile_memory)])),
        rules_(tile_memory_, 1) {
    for (const problem::Buffer& buffer : plan.problem.buffers)
      sizes_.emplace(buffer.id, buffer.size);
  }

  std::vector<Dependency> Add(const JobRun& job_run) {
    const int number = added_++;
    const Job& job = jobs_[static_cast<size_t>(job_run.job)];
    const std::vector<Touch> touches = TouchesOf(job, job_run);
    std::map<int, Cause> before;
    if (job.does == Does::kMode) {
      WaitForForbidden(ModeOf(job, job_run), before);
    } else {
      for (const Touch& touch : touches) Collect(touch, before);
      WaitForMode(job, touches, before);
    }
    std::vector<int> candidates;
    candidates.reserve(before.size());
    for (const auto& [other, cause] : before) candidates.push_back(other);
    const std::vector<int> latest = precedence_.LatestOf(std::move(candidates));
    precedence_.Add(latest);
    for (const Touch& touch : touches) Enter(touch, number);
    if (job.does == Does::kMode) {
      switches_.push_back({number, ModeOf(job, job_run)});
      std::erase_if(running_, [&](const Running& each) {
        return precedence_.Precedes(each.job_run, number);
      });
    } else if (MayBeForbidden(job, touches)) {
      running_.push_back({number, &job, touches});
    }
    std::vector<Dependency> dependencies;
    dependencies.reserve(latest.size());
    for (const int other : latest) dependencies.push_back({other, before.at(other)});
    return dependencies;
  }

 private:
  struct Switch {
    int job_run = 0;
    int mode = 0;
  };
  struct Running {
    int job_run = 0;
    const Job* job = nullptr;
    std::vector<Touch> touches;
  };

  static int ModeOf(const Job& job, const JobRun& job_run) {
    return job.modes[static_cast<size_t>(job_run.turn.phase)];
  }

  std::vector<Touch> TouchesOf(const Job& job, const JobRun& job_run) const {
    std::vector<Touch> touches;
    for (size_t i = 0; i < job_run.regions.size(); ++i) {
      const FixedRegion& region = job_run.regions[i];
      const Operand& operand = job.operands[region.operand];
      const Spot& spot = *FindSpot(operand, job_run.turn.phase, job_run.turn.slot);
      const FixedRegion& box = operand.part == Part::kTo ? job_run.regions[i - 1] : region;
      Touch touch;
      touch.memory = operand.memory;
      touch.writes = operand.part == Part::kOutput || operand.part == Part::kTo ||
                     operand.part == Part::kScratch || operand.part == Part::kPartialSums;
      touch.reads_back = operand.part == Part::kScratch;
      touch.bytes =
          region.fills
              ? std::vector<AddressRange>{{spot.address, spot.address + sizes_.at(spot.buffer)}}
              : BytesOf(plan_.network, job.op, operand, region, box, spot.address);
      touches.push_back(std::move(touch));
    }
    return touches;
  }

  void Collect(const Touch& touch, std::map<int, Cause>& before) {
    const auto wait = [&before](int other, Cause cause) {
      const auto [known, fresh] = before.emplace(other, cause);
      if (!fresh && cause == Cause::kData) known->second = cause;
    };
    for (const AddressRange& range : touch.bytes) {
      bytes_[touch.memory].ForEach(range, [&](const AccessedRange& accessed) {
        if (accessed.writer >= 0)
          wait(accessed.writer, touch.writes ? Cause::kReuse : Cause::kData);
        if (!touch.writes) return;
        for (const int reader : accessed.readers) wait(reader, Cause::kReuse);
      });
    }
  }

  void Enter(const Touch& touch, int number) {
    for (const AddressRange& range : touch.bytes) {
      Bytes& bytes = bytes_[touch.memory];
      if (touch.writes) {
        bytes.Overwrite(range, number);
        continue;
      }
      bytes.ForEach(range, [&](AccessedRange& accessed) {
        if (accessed.writer == number) return;  // in-place
        std::erase_if(accessed.readers,
                      [&](int reader) { return precedence_.Precedes(reader, number); });
        accessed.readers.push_back(number);
      });
    }
  }

  bool IsAllowed(const Job& job, const std::vector<Touch>& touches, int mode) const {
    for (const Touch& touch : touches) {
      if (touch.memory != plan_.profile.tile_memory) continue;
      for (const AddressRange& range : touch.bytes) {
        const auto banks = rules_.BanksAt(range.begin, range.end);
        const auto allows = [&](AccessKind kind) {
          return rules_.FirstForbidden(mode, banks, job.on, kind) < 0;
        };
        if (touch.writes && !allows(AccessKind::kWrite)) return false;
        if ((!touch.writes || touch.reads_back) && !allows(AccessKind::kRead)) return false;
      }
    }
    return true;
  }

  bool MayBeForbidden(const Job& job, const std::vector<Touch>& touches) const {
    for (size_t mode = 0; mode < tile_memory_.modes.size(); ++mode) {
      if (!IsAllowed(job, touches, static_cast<int>(mode))) return true;
    }
    return false;
  }

  void WaitForForbidden(int mode, std::map<int, Cause>& before) const {
    if (!switches_.empty()) before.emplace(switches_.back().job_run, Cause::kMode);
    for (const Running& each : running_) {
      if (!IsAllowed(*each.job, each.touches, mode)) before.emplace(each.job_run, Cause::kMode);
    }
  }

  // The latest switch from a mode that does not allow the job run. Before the first switch any mode
  // may be in force.
  void WaitForMode(const Job& job, const std::vector<Touch>& touches,
                   std::map<int, Cause>& before) const {
    for (size_t i = switches_.size(); i-- > 0;) {
      if (i > 0 && IsAllowed(job, touches, switches_[i - 1].mode)) continue;
      if (i > 0 || MayBeForbidden(job, touches)) before.emplace(switches_[i].job_run, Cause::kMode);
      return;
    }
  }

  const Plan& plan_;
  const std::vector<Job>& jobs_;
  problem::Memory tile_memory_;
  AccessRules rules_;
  std::map<std::string, int64_t> sizes_;  // of buffers
  std::map<int, Bytes> bytes_;            // by memory
  EventOrder precedence_;
  std::vector<Switch> switches_;
  std::vector<Running> running_;  // job runs for which a later switch may have to wait
  int added_ = 0;
};

}  // namespace

int64_t SlotsOf(const Operand& operand) {
  int64_t slots = 1;
  for (const Spot& spot : operand.spots) slots = std::max<int64_t>(slots, spot.slot + 1);
  return slots;
}

const Spot* FindSpot(const Operand& operand, int phase, int slot) {
  const bool phases = std::any_of(operand.spots.begin(), operand.spots.end(),
                                  [](const Spot& spot) { return spot.phase > 0; });
  const bool slots = std::any_of(operand.spots.begin(), operand.spots.end(),
                                 [](const Spot& spot) { return spot.slot > 0; });
  for (const Spot& spot : operand.spots) {
    if ((!phases || spot.phase == phase) && (!slots || spot.slot == slot)) return &spot;
  }
  return nullptr;
}

std::vector<std::vector<Dependency>> FindDependencies(const Plan& plan,
                                                      const std::vector<Job>& jobs,
                                                      const std::vector<JobRun>& job_runs,
                                                      const base::Stop& stop) {
  DependencyFinder finder(plan, jobs);
  std::vector<std::vector<Dependency>> dependencies;
  dependencies.reserve(job_runs.size());
  for (const JobRun& job_run : job_runs) {
    if (stop.Requested()) break;
    dependencies.push_back(finder.Add(job_run));
  }
  return dependencies;
}

namespace {

constexpr size_t kMostWork = size_t{1} << 21;

// Job runs and the waits of their jobs, tile by tile.
class Unfolded {
 public:
  Unfolded(const std::vector<JobRun>& job_runs, const std::vector<Job>& jobs) : jobs_(jobs) {
    for (size_t i = 0; i < job_runs.size(); ++i)
      numbers_.emplace(std::tuple(job_runs[i].job, job_runs[i].turn.tile, job_runs[i].turn.round),
                       static_cast<int>(i));
  }

  std::vector<int> AwaitedBy(const JobRun& job_run) const {
    std::vector<int> awaited;
    for (const Wait& wait : jobs_[static_cast<size_t>(job_run.job)].waits) {
      if (job_run.turn.round < wait.first_round || job_run.turn.round >= wait.end_round) continue;
      const bool once = jobs_[static_cast<size_t>(wait.job)].once;
      const int64_t tile = once ? -1 : job_run.turn.tile - wait.tiles;
      const int64_t back = job_run.turn.round - wait.rounds_back.value_or(0);
      const int64_t first = wait.rounds_back ? back : 0;
      const int64_t end = wait.rounds_back ? back + 1 : wait.until_round;
      for (int64_t round = first; round < end; ++round) {
        const auto other = numbers_.find(std::tuple(wait.job, tile, round));
        if (other != numbers_.end()) awaited.push_back(other->second);
      }
    }
    return awaited;
  }

 private:
  const std::vector<Job>& jobs_;
  std::map<std::tuple<int, int64_t, int64_t>, int> numbers_;  // of job runs
};

class Dropping {
 public:
  Dropping(const std::vector<JobRun>& job_runs,
           const std::vector<std::vector<Dependency>>& dependencies, std::vector<Job>& jobs,
           const base::Stop& stop)
      : job_runs_(job_runs),
        dependencies_(dependencies),
        jobs_(jobs),
        stop_(stop),
        unfolded_(job_runs, jobs) {}

  void Run() {
    size_t count = 0;
    for (const Job& job : jobs_) count += job.waits.size();
    if (count * job_runs_.size() > kMostWork) return;
    for (const Cause cause : {Cause::kReuse, Cause::kMode, Cause::kData}) {
      for (Job& job : jobs_) {
        for (size_t i = job.waits.size(); i-- > 0;) {
          if (stop_.Requested()) return;
          if (job.waits[i].cause != cause) continue;
          const Wait wait = job.waits[i];
          job.waits.erase(job.waits.begin() + static_cast<std::ptrdiff_t>(i));
          if (!IsEnough())
            job.waits.insert(job.waits.begin() + static_cast<std::ptrdiff_t>(i), wait);
        }
      }
    }
  }

 private:
  bool IsEnough() const {
    EventOrder order;
    for (size_t i = 0; i < job_runs_.size(); ++i) {
      const int job_run = order.Add(unfolded_.AwaitedBy(job_runs_[i]));
      for (const Dependency& dependency : dependencies_[i]) {
        if (!order.Precedes(dependency.before, job_run)) return false;
      }
    }
    return true;
  }

  const std::vector<JobRun>& job_runs_;
  const std::vector<std::vector<Dependency>>& dependencies_;
  std::vector<Job>& jobs_;
  const base::Stop& stop_;
  Unfolded unfolded_;
};

}  // namespace

bool LookBack(const std::vector<JobRun>& job_runs, const std::vector<Job>& jobs) {
  const Unfolded unfolded(job_runs, jobs);
  for (size_t i = 0; i < job_runs.size(); ++i) {
    const std::vector<int> awaited = unfolded.AwaitedBy(job_runs[i]);
    const auto comes_later = [i](int other) { return static_cast<size_t>(other) >= i; };
    if (std::any_of(awaited.begin(), awaited.end(), comes_later)) return false;
  }
  return true;
}

void DropImpliedWaits(const std::vector<JobRun>& job_runs,
                      const std::vector<std::vector<Dependency>>& dependencies,
                      std::vector<Job>& jobs, const base::Stop& stop) {
  Dropping(job_runs, dependencies, jobs, stop).Run();
}

}  // namespace tessera::plan::lowering
