#include "tessera/search/allocate/contracted_session.h"

#include <string>
#include <utility>

#include "tessera/search/allocate/contraction.h"

namespace tessera::search {

using problem::Ladder;
using problem::Problem;
using problem::Result;

namespace {

class ContractedSession final : public problem::Session {
 public:
  ContractedSession(std::string_view engine, Contraction contraction, bool has_ladder,
                    const SessionOpener& open)
      : engine_(engine),
        contraction_(std::move(contraction)),
        inner_(open(contraction_.problem, has_ladder ? &contraction_.ladder : nullptr)) {}

  Result Solve(size_t rung, problem::Bytes capacity, const base::Budget& budget,
               const base::Stop& stop) override {
    if (!contraction_.contradiction.empty()) {
      Result result;
      result.engine = engine_;
      result.status = problem::Status::kInfeasible;
      result.reason = contraction_.contradiction;
      return result;
    }
    Result result = inner_->Solve(rung, capacity, budget, stop);
    if (result.allocation) result.allocation = Expand(contraction_, *result.allocation);
    return result;
  }

  std::string Describe() const override { return inner_->Describe(); }

 private:
  std::string engine_;
  Contraction contraction_;  // before inner_, which refers to it
  std::unique_ptr<problem::Session> inner_;
};

}  // namespace

std::unique_ptr<problem::Session> OpenContracted(std::string_view engine, const Problem& problem,
                                                 const Ladder* ladder, const SessionOpener& open) {
  auto contraction = ContractColocated(problem, ladder);
  if (!contraction) return open(problem, ladder);
  return std::make_unique<ContractedSession>(engine, *std::move(contraction), ladder != nullptr, open);
}

}  // namespace tessera::search
