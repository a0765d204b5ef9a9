// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/canonical/canonical.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/structure.h"
#include "tessera/search/allocate/composites.h"
#include "tessera/search/allocate/conflict_model.h"
#include "tessera/search/allocate/engine_session.h"
#include "tessera/search/engines/canonical/search_tree.h"

namespace tessera::search::engines::canonical {

using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

constexpr int64_t kFirstLimitPerBuffer = 3;
// The rounds of one seed option. In later rounds, seeds would coincide with those of the next seed
// option.
constexpr uint64_t kRoundsOfSeed = 1'000'000;

// Each half of a round contains every order once.
std::vector<CanonicalStrategy> StrategiesOf(const CanonicalOptions& options) {
  std::vector<CanonicalStrategy> strategies(std::begin(kCanonicalStrategies),
                                            std::end(kCanonicalStrategies));
  if (options.both_directions) return strategies;
  strategies.resize(strategies.size() / 2);
  for (CanonicalStrategy& strategy : strategies) strategy.direction = Direction::kForwards;
  return strategies;
}

// The state of the restarts for one capacity, so that another call continues instead of repeating
// them.
struct Restarts {
  uint64_t round = 0;
  size_t strategy = 0;
};

// Runs rounds of all orders, whose lengths follow Luby's sequence: the probability of finishing
// falls off so slowly that many short searches are better than a long one, but no fixed length
// suits all Problems. For any seed, only the first round is unperturbed, because the plain orders
// are the best known.
TreeOutcome SearchWithRestarts(const Problem& problem, const allocate::ConflictModel& model,
                               CanonicalTree& tree, const CanonicalOptions& options,
                               Restarts& restarts, int64_t budget, const base::Stop& stop) {
  const std::vector<CanonicalStrategy> strategies = StrategiesOf(options);
  while (true) {
    const int64_t limit =
        kFirstLimitPerBuffer * model.Count() * base::Luby(static_cast<int64_t>(restarts.round) + 1);
    const uint64_t shake = restarts.round == 0 ? 0 : options.seed * kRoundsOfSeed + restarts.round;
    while (restarts.strategy < strategies.size()) {
      const CanonicalStrategy& strategy = strategies[restarts.strategy++];
      const int64_t left = budget - tree.Statistics().nodes;
      const std::vector<int> ranks = RankBuffers(problem, model, strategy, shake);
      const TreeOutcome outcome =
          tree.Search(ranks, strategy.direction, std::min(limit, left), stop);
      if (outcome != TreeOutcome::kLimit || left <= limit) return outcome;
    }
    restarts.strategy = 0;
    ++restarts.round;
  }
}

class CanonicalSession final : public allocate::PerMemorySession {
 public:
  CanonicalSession(const Problem& problem, const Ladder* ladder, const CanonicalOptions& options)
      : allocate::PerMemorySession("canonical", allocate::BankSupport::kNone, problem, ladder),
        options_(options) {}

 private:
  void Reopen() override {
    restarts_.clear();
    models_.clear();
    models_.resize(Sized().memories.size());
  }

  bool SolveMemory(size_t memory, problem::Bytes capacity, const base::Budget& budget,
                   const base::Stop& stop, Result& result) override {
    const std::string& name = Sized().memories[memory].name;
    std::optional<allocate::ConflictModel>& model = models_[memory];
    if (!model) {
      if (const auto oversize = allocate::FindOversize(Sized(), static_cast<int>(memory), stop)) {
        result.status = Status::kUnknown;
        result.reason = "canonical search does not support " + *oversize;
        return false;
      }
      model = allocate::BuildModel(Sized(), static_cast<int>(memory), stop);
      if (!model) {
        result.status = Status::kUnknown;
        result.reason = "canonical search was stopped";
        return false;
      }
    }
    CanonicalTree tree(*model, capacity, options_);
    const int64_t left = budget.units - result.statistics.nodes;
    const TreeOutcome outcome = SearchWithRestarts(Sized(), *model, tree, options_,
                                                   restarts_[{memory, capacity}], left, stop);
    Accumulate(result.statistics, tree.Statistics());
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
                            : "canonical search exhausted every placement in memory '" + name +
                                  "' of " + std::to_string(capacity) + " bytes";
        return false;
      case TreeOutcome::kLimit:
        result.status = Status::kUnknown;
        result.reason =
            "canonical search reached its limit of " + std::to_string(budget.units) + " nodes";
        return false;
      case TreeOutcome::kStopped:
        result.status = Status::kUnknown;
        result.reason = "canonical search was stopped";
        return false;
    }
    return false;
  }

  CanonicalOptions options_;
  // For the current sizes, by memory.
  std::vector<std::optional<allocate::ConflictModel>> models_;
  // For the current sizes, by memory and capacity.
  std::map<std::pair<size_t, problem::Bytes>, Restarts> restarts_;
};

}  // namespace

std::unique_ptr<problem::Session> CanonicalEngine::Open(const Problem& problem,
                                                        const Ladder* ladder) const {
  return allocate::OpenContracted(
      Name(), problem, ladder,
      [this](const Problem& contracted,
             const Ladder* candidates) -> std::unique_ptr<problem::Session> {
        if (allocate::HasFixedDistances(contracted))
          return OpenCompositeSearch(contracted, candidates, options_.seed);
        return std::make_unique<CanonicalSession>(contracted, candidates, options_);
      });
}

}  // namespace tessera::search::engines::canonical
