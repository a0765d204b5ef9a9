#include "tessera/encoder/encoded_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "tessera/base/checked.h"

namespace tessera::encoder {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;

// Why the heaviest step alone does not fit, or nullopt. A solver would have to prove the pigeonhole principle
// for it.
std::optional<std::string> Overload(const Problem& problem, const std::vector<Bytes>& loads, Bytes capacity) {
  for (size_t m = 0; m < loads.size(); ++m) {
    const Bytes available = m == 0 ? capacity : problem.memories[m].capacity;
    if (loads[m] > available) {
      return fmt::format("buffers that live together need {} bytes of memory '{}', which has {}", loads[m],
                         problem.memories[m].name, available);
    }
  }
  return std::nullopt;
}

}  // namespace

EncodedSession::Opened::Opened(const Question& asked, BackendFactory& open_backend)
    : question(asked), backend(open_backend(Addresses::Measure(question))), formulation(question, *backend) {
  formulation.Write();
}

EncodedSession::EncodedSession(std::string engine, const Problem& problem, const problem::Ladder* ladder,
                               BackendFactory open_backend)
    : engine_(std::move(engine)),
      problem_(problem),
      ladder_(ladder),
      open_backend_(std::move(open_backend)) {}

TopicCounts EncodedSession::Counts() const {
  return opened_ ? opened_->backend->Clauses().Counts() : TopicCounts{};
}

Result EncodedSession::Solve(size_t rung, Bytes capacity, const base::Budget& budget,
                             const base::Stop& stop) {
  Result result;
  result.engine = engine_;
  if (ladder_ != nullptr && rung >= ladder_->rungs.size()) {
    result.status = Status::kInvalid;
    result.reason =
        fmt::format("the ladder has {} rungs; rung {} was asked for", ladder_->rungs.size(), rung);
    return result;
  }
  if (!problem_.rules.empty()) {
    result.status = Status::kUnsupported;
    result.reason = problem::Describe(problem_.rules.front());
    return result;
  }
  try {
    const Problem sized = ladder_ == nullptr ? problem_ : AtRung(problem_, ladder_->rungs[rung]);
    const std::vector<Bytes> loads = LoadOf(sized);
    const Bytes load = loads.empty() ? 0 : loads.front();
    if (const std::optional<std::string> overload = Overload(sized, loads, capacity)) {
      result.status = Status::kInfeasible;
      result.reason = *overload;
    } else {
      result = Decide(sized, rung, std::max<Bytes>(capacity, 0), budget, stop);
      result.engine = engine_;
    }
    const bool refuted = result.status == Status::kInfeasible && capacity >= 0 && capacity < base::kMaxTotal;
    result.lower_bound = refuted ? std::max(load, capacity + 1) : load;
  } catch (const std::exception& fault) {
    result.status = Status::kUnknown;
    result.allocation.reset();
    result.reason = fmt::format("{} gave up: {}", engine_, fault.what());
    opened_.reset();
  }
  return result;
}

void EncodedSession::OpenFor(Bytes capacity) {
  if (opened_ && opened_->question.ceiling >= capacity) return;
  opened_.reset();
  opened_ = std::make_unique<Opened>(Question{problem_, ladder_, *demands_, capacity}, open_backend_);
}

Result EncodedSession::Decide(const Problem& sized, size_t rung, Bytes capacity, const base::Budget& budget,
                              const base::Stop& stop) {
  Result result;
  if (stop.Requested()) {
    result.reason = "stopped before the work began";
    return result;
  }
  if (!demands_) demands_ = Analyse(problem_, ladder_);
  if (const std::optional<std::string> reason = TooLarge(problem_, *demands_)) {
    result.reason = *reason;
    return result;
  }
  OpenFor(capacity);
  Backend& backend = *opened_->backend;
  const std::array assumptions = {opened_->formulation.SelectRung(rung),
                                  opened_->formulation.SelectCapacity(capacity)};
  if (backend.Clauses().Full()) {
    result.reason = "the formula has more clauses than the encoder writes down";
    return result;
  }
  const Answer answer = backend.Decide(assumptions, budget, stop);
  result.statistics.conflicts = answer.conflicts;
  result.reason = answer.reason;
  if (answer.verdict == Verdict::kUnsatisfiable) {
    result.status = Status::kInfeasible;
    result.reason =
        fmt::format("no placement and no schedule satisfies every constraint within {} bytes", capacity);
  }
  if (answer.verdict == Verdict::kSatisfiable) {
    result.status = Status::kFeasible;
    result.allocation = opened_->formulation.Decode();
    result.peak = problem::PeakOf(sized, *result.allocation);
  }
  return result;
}

}  // namespace tessera::encoder
