#include "tessera/search/allocate/canonical.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/search/allocate/canonical_model.h"
#include "tessera/search/allocate/canonical_order.h"
#include "tessera/search/allocate/canonical_tree.h"
#include "tessera/search/allocate/constraints.h"
#include "tessera/search/allocate/contracted_session.h"
#include "tessera/search/allocate/sections.h"

namespace tessera::search {

using problem::Allocation;
using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Statistics;
using problem::Status;

namespace {

constexpr size_t kMostBuffers = 8192;
constexpr int64_t kFirstLimitPerBuffer = 3;

// Each half of a round holds every order once.
std::vector<CanonicalStrategy> StrategiesOf(const CanonicalOptions& options) {
  std::vector<CanonicalStrategy> strategies(std::begin(kCanonicalStrategies), std::end(kCanonicalStrategies));
  if (options.both_directions) return strategies;
  strategies.resize(strategies.size() / 2);
  for (CanonicalStrategy& strategy : strategies) strategy.direction = Direction::kForwards;
  return strategies;
}

// Where the restarts for one capacity stand, so that another call goes on instead of repeating them.
struct Restarts {
  uint64_t round = 0;
  size_t strategy = 0;
  int64_t limit = 0;  // nodes of one search in this round
};

// Rounds of all orders; a round's limit is 1.3 times the last one's. Only the first round is unshaken, whatever
// the seed: it is the best that is known.
TreeOutcome SearchWithRestarts(const Problem& problem, const CanonicalModel& model, CanonicalTree& tree,
                               const CanonicalOptions& options, Restarts& restarts, int64_t budget,
                               const base::Stop& stop) {
  const std::vector<CanonicalStrategy> strategies = StrategiesOf(options);
  if (restarts.round == 0) restarts.limit = kFirstLimitPerBuffer * model.Count();
  while (true) {
    const uint64_t shake = restarts.round == 0 ? 0 : options.seed * 1000 + restarts.round + 1;
    for (; restarts.strategy < strategies.size(); ++restarts.strategy) {
      const int64_t left = budget - tree.Statistics().nodes;
      const CanonicalStrategy& strategy = strategies[restarts.strategy];
      const std::vector<int> ranks = RankBuffers(problem, model, strategy, shake);
      const TreeOutcome outcome =
          tree.Search(ranks, strategy.direction, std::min(restarts.limit, left), stop);
      if (outcome == TreeOutcome::kLimit && left > restarts.limit) continue;
      ++restarts.strategy;
      return outcome;
    }
    restarts.strategy = 0;
    restarts.limit += restarts.limit * 3 / 10 + 1;
    ++restarts.round;
  }
}

void Add(Statistics& sum, const Statistics& part) {
  sum.nodes += part.nodes;
  sum.backtracks += part.backtracks;
  sum.conflicts += part.conflicts;
}

class CanonicalSession final : public problem::Session {
 public:
  CanonicalSession(const Problem& problem, const Ladder* ladder, const CanonicalOptions& options)
      : problem_(problem), ladder_(ladder), options_(options) {}

  Result Solve(size_t rung, Bytes capacity, const base::Budget& budget, const base::Stop& stop) override {
    Result result;
    result.engine = "canonical";
    if (const auto unsupported = FindUnsupported(problem_, BankSupport::kNone)) {
      result.status = Status::kUnsupported;
      result.reason = "canonical search cannot honour " + *unsupported;
      return result;
    }
    if (ladder_ != nullptr && rung >= ladder_->rungs.size()) {
      result.status = Status::kInvalid;
      result.reason = "the ladder has no rung " + std::to_string(rung);
      return result;
    }
    if (stop.Requested()) {
      result.reason = "stopped before the search began";
      return result;
    }
    OpenRung(rung);
    result.status = Status::kFeasible;
    result.allocation = Start();
    for (size_t memory = 0; memory < problem_.memories.size(); ++memory) {
      if (!SolveMemory(memory, memory == 0 ? capacity : problem_.memories[memory].capacity, budget, stop,
                       result))
        break;
    }
    if (result.status != Status::kFeasible) result.allocation.reset();
    if (result.allocation) result.peak = PeakOf(*sized_, *result.allocation);
    return result;
  }

 private:
  void OpenRung(size_t rung) {
    if (sized_ != nullptr && rung == rung_) return;
    rung_ = rung;
    if (ladder_ != nullptr) at_rung_ = AtRung(problem_, ladder_->rungs[rung]);
    sized_ = at_rung_ ? &*at_rung_ : &problem_;
    restarts_.clear();
    models_.clear();
    models_.resize(problem_.memories.size());
  }

  // Fixed offsets in place, and modes that never matter at rest.
  Allocation Start() const {
    Allocation allocation;
    for (const problem::Buffer& buffer : sized_->buffers)
      allocation.offsets.push_back(buffer.offset.value_or(0));
    allocation.modes = ConstantModes(*sized_);
    return allocation;
  }

  // Whether to go on with the next memory.
  bool SolveMemory(size_t memory, Bytes capacity, const base::Budget& budget, const base::Stop& stop,
                   Result& result) {
    const std::string& name = sized_->memories[memory].name;
    std::optional<CanonicalModel>& model = models_[memory];
    if (!model) {
      if (BuffersOf(*sized_, static_cast<int>(memory)).size() > kMostBuffers) {
        result.status = Status::kUnknown;
        result.reason = "canonical search takes at most " + std::to_string(kMostBuffers) +
                        " buffers in memory '" + name + "'";
        return false;
      }
      model = BuildModel(*sized_, static_cast<int>(memory));
    }
    CanonicalTree tree(*model, capacity, options_);
    const int64_t left = budget.units - result.statistics.nodes;
    const TreeOutcome outcome =
        SearchWithRestarts(*sized_, *model, tree, options_, restarts_[{memory, capacity}], left, stop);
    Add(result.statistics, tree.Statistics());
    switch (outcome) {
      case TreeOutcome::kPlaced:
        for (int i = 0; i < model->Count(); ++i) {
          const auto at = static_cast<size_t>(i);
          result.allocation->offsets[static_cast<size_t>(model->buffers[at])] = tree.Offsets()[at];
        }
        return true;
      case TreeOutcome::kExhausted:
        result.status = Status::kInfeasible;
        result.reason = !model->contradiction.empty()
                            ? model->contradiction
                            : "canonical search exhausted every placement in memory '" + name + "' of " +
                                  std::to_string(capacity) + " bytes";
        return false;
      case TreeOutcome::kLimit:
        result.status = Status::kUnknown;
        result.reason = "canonical search reached its limit of " + std::to_string(budget.units) + " nodes";
        return false;
      case TreeOutcome::kStopped:
        result.status = Status::kUnknown;
        result.reason = "canonical search was stopped";
        return false;
    }
    return false;
  }

  const Problem& problem_;
  const Ladder* ladder_;
  CanonicalOptions options_;
  size_t rung_ = 0;
  std::optional<Problem> at_rung_;                         // none without a ladder
  const Problem* sized_ = nullptr;                         // with the sizes of the rung last asked for
  std::vector<std::optional<CanonicalModel>> models_;      // of the rung last asked for
  std::map<std::pair<size_t, Bytes>, Restarts> restarts_;  // by memory and capacity, of that rung
};

}  // namespace

std::unique_ptr<problem::Session> CanonicalEngine::Open(const Problem& problem, const Ladder* ladder) const {
  return OpenContracted(Name(), problem, ladder, [this](const Problem& contracted, const Ladder* rungs) {
    return std::make_unique<CanonicalSession>(contracted, rungs, options_);
  });
}

}  // namespace tessera::search
