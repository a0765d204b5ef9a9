#include "tessera/encoder/lazy/lazy_prover.h"

#include <algorithm>
#include <optional>

#include "tessera/encoder/lazy/packing.h"
#include "tessera/encoder/lazy/proof_log.h"
#include "tessera/encoder/lazy/solver.h"
#include "tessera/encoder/lazy/support.h"
#include "tessera/problem/proof/log.h"

namespace tessera::encoder {

using problem::Bytes;
using problem::Problem;
using problem::proof::Attempt;

LazyProver::LazyProver(const LazyOptions& options) : options_(options) {
  options_.order_interchangeable = false;
  options_.break_mirror = false;
  options_.resting = false;
  options_.assume_capacity = false;
}

Attempt LazyProver::Prove(const Problem& problem, Bytes capacity, const base::Budget& budget,
                          const base::Stop& stop) const {
  Attempt attempt;
  if (const auto unsupported = lazy::FindUnsupported(problem, nullptr)) {
    attempt.reason = "the lazy engine does not honour " + *unsupported;
    return attempt;
  }
  const std::optional<lazy::Packing> loaded = lazy::MakePacking(problem, nullptr, stop);
  if (!loaded) {
    attempt.reason = "stopped";
    return attempt;
  }
  const lazy::Packing& packing = *loaded;
  lazy::Question question{lazy::SizesOf(packing, problem, nullptr, 0), {}};
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    const Bytes bytes = m == 0 ? capacity : problem.memories[m].capacity;
    question.ceilings.push_back(
        std::min(std::max<Bytes>(bytes, 0) / packing.granule, packing.HighestCeiling()));
  }
  problem::proof::Log log;
  base::Stop failure(std::nullopt, &stop);
  lazy::ProofLog proof(problem, packing, log, failure);
  lazy::Solver solver(packing, options_, std::move(question), &proof);
  const lazy::Solver::Verdict verdict = solver.Solve({}, budget, failure);
  attempt.statistics = solver.statistics();
  if (verdict == lazy::Solver::Verdict::kFeasible) {
    attempt.reason = "what a proof can speak of leaves a placement";
  } else if (proof.Failed()) {
    attempt.reason =
        log.Full() ? "the proof grows too large" : "a step of the lazy engine has no ground to name";
  } else if (verdict == lazy::Solver::Verdict::kInfeasible) {
    attempt.proof = log.Write();
  } else {
    attempt.reason = solver.GaveUp()    ? "bounds rise in too many steps"
                     : stop.Requested() ? "stopped"
                                        : "the budget of conflicts is spent";
  }
  return attempt;
}

}  // namespace tessera::encoder
