#include "tessera/plan/lowering/implied_waits.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "tessera/plan/lowering/precedence.h"

namespace tessera::plan::lowering {
namespace {

constexpr size_t kMostWork = size_t{1} << 21;

// Deeds and the waits of their jobs, tile by tile.
class Unfolded {
 public:
  Unfolded(const std::vector<Deed>& deeds, const std::vector<Job>& jobs) : jobs_(jobs) {
    for (size_t i = 0; i < deeds.size(); ++i)
      numbers_.emplace(std::tuple(deeds[i].job, deeds[i].turn.tile, deeds[i].turn.round),
                       static_cast<int>(i));
  }

  std::vector<int> AwaitedBy(const Deed& deed) const {
    std::vector<int> awaited;
    for (const Wait& wait : jobs_[static_cast<size_t>(deed.job)].waits) {
      if (deed.turn.round < wait.first_round || deed.turn.round >= wait.end_round) continue;
      const bool once = jobs_[static_cast<size_t>(wait.job)].once;
      const int64_t tile = once ? -1 : deed.turn.tile - wait.tiles;
      const int64_t back = deed.turn.round - wait.rounds_back.value_or(0);
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
  std::map<std::tuple<int, int64_t, int64_t>, int> numbers_;  // of deeds
};

class Dropping {
 public:
  Dropping(const std::vector<Deed>& deeds, const std::vector<std::vector<Dependency>>& dependencies,
           std::vector<Job>& jobs)
      : deeds_(deeds), dependencies_(dependencies), jobs_(jobs), unfolded_(deeds, jobs) {}

  void Run() {
    size_t count = 0;
    for (const Job& job : jobs_) count += job.waits.size();
    if (count * deeds_.size() > kMostWork) return;
    for (const Cause cause : {Cause::kReuse, Cause::kMode, Cause::kData}) {
      for (Job& job : jobs_) {
        for (size_t i = job.waits.size(); i-- > 0;) {
          if (job.waits[i].cause != cause) continue;
          const Wait wait = job.waits[i];
          job.waits.erase(job.waits.begin() + static_cast<std::ptrdiff_t>(i));
          if (!IsEnough()) job.waits.insert(job.waits.begin() + static_cast<std::ptrdiff_t>(i), wait);
        }
      }
    }
  }

 private:
  bool IsEnough() const {
    Precedence order;
    for (size_t i = 0; i < deeds_.size(); ++i) {
      const int deed = order.Add(unfolded_.AwaitedBy(deeds_[i]));
      for (const Dependency& dependency : dependencies_[i]) {
        if (!order.Precedes(dependency.before, deed)) return false;
      }
    }
    return true;
  }

  const std::vector<Deed>& deeds_;
  const std::vector<std::vector<Dependency>>& dependencies_;
  std::vector<Job>& jobs_;
  Unfolded unfolded_;
};

}  // namespace

bool LookBack(const std::vector<Deed>& deeds, const std::vector<Job>& jobs) {
  const Unfolded unfolded(deeds, jobs);
  for (size_t i = 0; i < deeds.size(); ++i) {
    const std::vector<int> awaited = unfolded.AwaitedBy(deeds[i]);
    const auto comes_later = [i](int other) { return static_cast<size_t>(other) >= i; };
    if (std::any_of(awaited.begin(), awaited.end(), comes_later)) return false;
  }
  return true;
}

void DropImpliedWaits(const std::vector<Deed>& deeds,
                      const std::vector<std::vector<Dependency>>& dependencies, std::vector<Job>& jobs) {
  Dropping(deeds, dependencies, jobs).Run();
}

}  // namespace tessera::plan::lowering
