// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/problem/tile_candidates.h"
#include "tessera/search/allocate/contraction.h"

// Determines which candidates of a ladder fit. Candidates differ only in sizes, so an answer for
// one often holds for others.
namespace tessera::search::tiling {

// Engines in the order in which they are tried; they must outlive the search. The first one that
// places the candidate, or returns kInfeasible or kInvalid, decides. If the list is empty, only
// bounds decide.
using Engines = std::vector<const problem::Engine*>;

struct CandidateSearchOptions {
  base::Budget budget;  // for each candidate and engine
  // Whether the answer for a candidate is used for those that it dominates or that dominate it.
  bool infer = true;
};

// The knowledge about one candidate.
struct CandidateAnswer {
  bool asked = false;  // decided, tried without result, or implied by another answer
  problem::Status status = problem::Status::kUnknown;  // kOptimal: the peak meets the bound
  problem::Bytes lower_bound = 0;                      // of the peak; known without solving
  std::optional<problem::Bytes> peak;
  std::optional<problem::Allocation> allocation;
  // the engine that answered; "bound" for a load beyond the capacity
  std::string engine;
  std::string reason;                // why it is infeasible or unknown, in the user's terms
  std::optional<size_t> implied_by;  // the candidate that this answer follows from
};

// Whether the candidate has a placement.
bool Fits(const CandidateAnswer& answer);
// Whether the answer is final: the candidate fits or is proven infeasible.
bool IsProven(const CandidateAnswer& answer);

// Decides candidates on demand and stores the answers. Engine sessions stay open from one candidate
// to the next. The problem, the ladder and the engines must outlive this object. Not thread-safe.
class CandidateSearch {
 public:
  // Problem and ladder must be well formed (problem/well_formed.h). Computes the bounds, until
  // `stop` if it is set; solves nothing.
  CandidateSearch(const problem::Problem& problem, const problem::Ladder& ladder, Engines engines,
                  CandidateSearchOptions options, const base::Stop* stop = nullptr);
  CandidateSearch(CandidateSearch&&) noexcept;
  CandidateSearch& operator=(CandidateSearch&&) noexcept;
  CandidateSearch(const CandidateSearch&) = delete;
  CandidateSearch& operator=(const CandidateSearch&) = delete;
  ~CandidateSearch();

  size_t Size() const { return answers_.size(); }

  // Returns the current knowledge; solves nothing.
  const CandidateAnswer& Known(size_t candidate) const { return answers_[candidate]; }

  // Decides the candidate within memories[0].capacity, unless it is decided already. A candidate
  // that a limit cut off is tried again on the next call.
  const CandidateAnswer& Decide(size_t candidate, const base::Stop& stop);

  // Decides all candidates with few solves; see candidate_search.cc.
  void DecideAll(const base::Stop& stop);

  // Returns the number of queries to engines.
  int64_t Solves() const { return solves_; }

  // Returns the first invalid allocation that an engine returned: an error of the program. It
  // counts as no answer.
  const std::optional<base::Diagnostic>& Fault() const { return fault_; }

  // Moves the outcomes out of the search.
  std::vector<CandidateAnswer> TakeAnswers() && { return std::move(answers_); }

 private:
  void Contract();
  void FindBounds(const base::Stop* stop);
  void RefuseAll(const std::string& reason);
  void Ask(size_t candidate, const base::Stop& stop);
  void Settle(size_t candidate, problem::Result result, std::string_view engine);
  bool Check(size_t candidate, const problem::Result& result, std::string_view engine);
  void Spread(size_t candidate);
  const problem::Problem& Formulated() const {
    return contraction_ ? contraction_->problem : folded_ ? *folded_ : *problem_;
  }
  const problem::Ladder& FormulatedLadder() const {
    return contraction_ ? contraction_->ladder : *ladder_;
  }
  problem::Bytes PeakAt(size_t candidate, const problem::Allocation& allocation) const;

  const problem::Problem* problem_;
  const problem::Ladder* ladder_;
  Engines engines_;
  CandidateSearchOptions options_;
  bool may_infer_;
  // The Problem with fewer rules, if it has any (problem/tile_candidates.h).
  std::unique_ptr<const problem::Problem> folded_;
  // The Problem given to the engines instead, if any; sessions refer to it.
  std::unique_ptr<const allocate::Contraction> contraction_;
  // Parallel to engines_, opened on first use.
  std::vector<std::unique_ptr<problem::Session>> sessions_;
  std::vector<CandidateAnswer> answers_;  // parallel to the candidates
  int64_t solves_ = 0;
  std::optional<base::Diagnostic> fault_;
};

// The outcome for a whole ladder.
struct CandidateOutcome {
  std::vector<CandidateAnswer> candidates;  // parallel to Ladder::candidates
  std::optional<size_t> largest;            // the last candidate that fits
  // Every larger candidate is proven infeasible; if none fits, every candidate is.
  bool largest_proven = false;
  int64_t solves = 0;
  std::optional<base::Diagnostic> fault;  // see CandidateSearch::Fault
};

// Decides every candidate. Problem and ladder must be well formed (problem/well_formed.h).
CandidateOutcome SearchCandidates(const problem::Problem& problem, const problem::Ladder& ladder,
                                  const Engines& engines, const CandidateSearchOptions& options,
                                  const base::Stop& stop);

}  // namespace tessera::search::tiling
