// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/formulation/formulation.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/search/engines/guided/backtrack_targets.h"
#include "tessera/search/engines/guided/candidates.h"
#include "tessera/search/engines/guided/constraint_target.h"
#include "tessera/search/engines/guided/guided.h"
#include "tessera/search/engines/guided/search_tree.h"
#include "tessera/search/engines/lazy/packing.h"

namespace tessera::search::engines::guided {

// The data that is the same for all capacities: a Problem with the sizes of one candidate, its
// packing, and, if it has any, its constraints that the packing does not contain.
struct Prepared {
  problem::Problem problem;
  lazy::Packing packing;
  std::optional<encoder::formulation::AddressConstraints> addresses;
};

// Returns nullptr after a stop.
std::unique_ptr<Prepared> Prepare(problem::Problem problem, const base::Stop& stop);

// A search under one capacity at a time. If the packing contains all constraints, lessons are kept
// for lower capacities.
class Search {
 public:
  // `prepared` and `options` must outlive this object. `policy` picks the points of major
  // backtracks.
  Search(const Prepared& prepared, const GuidedOptions& options, const Backtracking& policy,
         problem::Bytes capacity, const base::Stop& stop);

  // Returns whether the Problem has more constraints than fit into the propagation, or a stop came
  // while they were written.
  bool IsCutOff() const { return target_ && target_->Full(); }
  problem::Bytes Capacity() const { return capacity_; }
  bool MayAsk(problem::Bytes capacity) const {
    return capacity == capacity_ || (capacity < capacity_ && !target_);
  }

  // MayAsk must accept the capacity.
  SearchTree::PartOutcome Solve(problem::Bytes capacity, const base::Budget& budget,
                                const base::Stop& stop);
  // Returns the placement after kPlaced.
  problem::Allocation Placement();

  const SearchTree& tree() const { return *tree_; }

 private:
  inline static const lazy::LazyOptions kLazyRules = {};

  std::vector<Candidates> RecipesFor(const GuidedOptions& options);
  lazy::PackingQuery QueryFor(problem::Bytes capacity) const;
  bool Write(const base::Stop& stop);
  void OrderGroup(const std::vector<int>& group);

  const Prepared& prepared_;
  problem::Bytes capacity_;
  lazy::PackingQuery query_;
  lazy::Propagation propagation_;
  Blame blame_;
  BacktrackTargets targets_;
  std::optional<SearchTree> tree_;
  std::optional<encoder::formulation::FormulationInput> question_;
  std::optional<ConstraintTarget> target_;
  std::optional<encoder::formulation::Formulation> formulation_;
  bool consistent_ = false;
};

// One search, or two that take turns, one of them with the policy of backtracking. A policy helps
// some Problems and harms others, so each search insures against the weakness of the other:
//
//     dead ends of the search without    0 ....... 1000 ... 1100 ...... 1200 ......
//     dead ends of the search with                      0 ....... 100 ....... 200 ...
//
// So an answer never takes more than twice the dead ends of the search without the policy, and
// Problems that this search decides within the head start are unaffected. Turns depend only on
// counts of dead ends.
class Turns {
 public:
  // The arguments are those of Search.
  Turns(const Prepared& prepared, const GuidedOptions& options, problem::Bytes capacity,
        const base::Stop& stop);

  bool IsCutOff() const { return first_.IsCutOff(); }
  problem::Bytes Capacity() const { return first_.Capacity(); }
  bool MayAsk(problem::Bytes capacity) const { return first_.MayAsk(capacity); }

  SearchTree::PartOutcome Solve(problem::Bytes capacity, const base::Budget& budget,
                                const base::Stop& stop);
  problem::Allocation Placement() { return last_->Placement(); }
  const SearchTree& tree() const { return last_->tree(); }

  problem::Statistics statistics() const;  // sums over both searches

 private:
  int64_t TurnOfNext(problem::Bytes capacity, const base::Stop& stop);

  const Prepared& prepared_;
  const GuidedOptions& options_;
  Search first_;
  std::optional<Search> second_;
  Search* last_;
};

}  // namespace tessera::search::engines::guided
