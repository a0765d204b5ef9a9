#include "tessera/search/allocate/sized_session.h"

namespace tessera::search {

using problem::Result;
using problem::Status;

SizedSession::SizedSession(std::string_view engine, BankSupport banks, const problem::Problem& problem,
                           const problem::Ladder* ladder)
    : engine_(engine), banks_(banks), problem_(problem), ladder_(ladder) {}

Result SizedSession::Solve(size_t rung, problem::Bytes capacity, const base::Budget& budget,
                           const base::Stop& stop) {
  Result result;
  result.engine = engine_;
  if (const auto unsupported = FindUnsupported(problem_, banks_)) {
    result.status = Status::kUnsupported;
    result.reason = "the " + engine_ + " engine does not honour " + *unsupported;
  } else if (ladder_ != nullptr && rung >= ladder_->rungs.size()) {
    result.status = Status::kInvalid;
    result.reason = "the ladder has no rung " + std::to_string(rung);
  } else if (stop.Requested()) {
    result.reason = "the " + engine_ + " engine was stopped before it began";
  } else {
    OpenRung(rung);
    Answer(capacity, budget, stop, result);
  }
  return result;
}

void SizedSession::OpenRung(size_t rung) {
  if (sized_ != nullptr && rung == rung_) return;
  rung_ = rung;
  if (ladder_ != nullptr) at_rung_ = AtRung(problem_, ladder_->rungs[rung]);
  sized_ = at_rung_ ? &*at_rung_ : &problem_;
  Reopen();
}

}  // namespace tessera::search
