// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/formulation/encoded_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/formulation/meaning.h"
#include "tessera/encoder/formulation/refinements.h"
#include "tessera/problem/validator.h"

namespace tessera::encoder::formulation {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;

// Returns why the heaviest step alone does not fit, or nullopt. A solver would have to prove the
// pigeonhole principle for it.
std::optional<std::string> Overload(const Problem& problem, const std::vector<Bytes>& loads,
                                    Bytes capacity) {
  for (size_t m = 0; m < loads.size(); ++m) {
    const Bytes available = m == 0 ? capacity : problem.memories[m].capacity;
    if (loads[m] > available) {
      return fmt::format("buffers that live together need {} bytes of memory '{}', which has {}",
                         loads[m], problem.memories[m].name, available);
    }
  }
  return std::nullopt;
}

// The share of the memory limit for one engine, because several may be open.
int64_t ShareOf(const base::Stop& stop) { return stop.MemoryLimit() / 6; }

size_t MostPairs(const base::Stop& stop) {
  constexpr int64_t kBytesPerPair = 400;  // in the lists, as a variable and as two constraints
  return static_cast<size_t>(
      std::min<int64_t>(ShareOf(stop) / kBytesPerPair, static_cast<int64_t>(kPairLimit)));
}

Magnitude MagnitudeOf(const FormulationInput& question, const base::Stop& stop) {
  Magnitude magnitude = Addresses::Measure(question);
  magnitude.memory = ShareOf(stop);
  return magnitude;
}

}  // namespace

EncodedSession::Encoding::Encoding(FormulationInput asked, BackendFactory& open_backend,
                                   const Constraints& constraints, const base::Stop& stop)
    : question(std::move(asked)),
      backend(open_backend(MagnitudeOf(question, stop))),
      formulation(question, *backend, constraints) {
  backend->Clauses().ObeyStop(&stop);
  formulation.Write();
}

EncodedSession::EncodedSession(std::string engine, const Problem& problem,
                               const problem::Ladder* ladder, BackendFactory open_backend,
                               Constraints constraints, const Refinements& refinements)
    : engine_(std::move(engine)),
      problem_(problem),
      ladder_(ladder),
      open_backend_(std::move(open_backend)),
      constraints_(std::move(constraints)),
      // The refinements cannot take an external constraint into account.
      refinements_(constraints_.empty() ? refinements : Refinements::None()) {}

TopicCounts EncodedSession::Counts() const {
  return encoding_ ? encoding_->backend->Clauses().Counts() : TopicCounts{};
}

std::string EncodedSession::Describe() const {
  if (!encoding_) return {};
  const ClauseSink& sink = encoding_->backend->Clauses();
  int64_t variables = 0;
  int64_t clauses = 0;
  std::string topics;
  for (size_t topic = 0; topic < kTopicCount; ++topic) {
    const int64_t made = sink.Variables()[topic];
    const int64_t written = sink.Counts()[topic];
    if (made == 0 && written == 0) continue;
    variables += made;
    clauses += written;
    topics += fmt::format("{}{} {} and {}", topics.empty() ? "" : ", ",
                          NameOf(static_cast<Topic>(topic)), made, written);
  }
  return fmt::format("{} variables, {} clauses ({})", variables, clauses, topics);
}

Result EncodedSession::Solve(size_t candidate, Bytes capacity, const base::Budget& budget,
                             const base::Stop& stop) {
  Result result;
  result.engine = engine_;
  if (ladder_ != nullptr && candidate >= ladder_->candidates.size()) {
    result.status = Status::kInvalid;
    result.reason = fmt::format("there are {} candidates; candidate {} was asked for",
                                ladder_->candidates.size(), candidate);
    return result;
  }
  try {
    const Problem sized = SizedFor(candidate);
    const std::vector<Bytes> loads = LoadOf(sized);
    const Bytes load = loads.empty() ? 0 : loads.front();
    if (const std::optional<std::string> overload = Overload(sized, loads, capacity)) {
      result.status = Status::kInfeasible;
      result.reason = *overload;
    } else {
      result = Decide(sized, candidate, std::max<Bytes>(capacity, 0), std::nullopt, budget, stop);
      result.engine = engine_;
    }
    const bool refuted =
        result.status == Status::kInfeasible && capacity >= 0 && capacity < base::kMaxTotal;
    result.lower_bound = refuted ? std::max(load, capacity + 1) : load;
  } catch (const TooLittleMemory& fault) {
    stop.NoteDeclined();
    result.reason = fault.what();
  } catch (const std::exception& fault) {
    result.status = Status::kUnknown;
    result.allocation.reset();
    result.reason = fmt::format("{} gave up: {}", engine_, fault.what());
    encoding_.reset();
  }
  LeaveAtEnd(stop);
  return result;
}

// The libraries take up to a second to free the formulas of some thousand buffers.
void EncodedSession::LeaveAtEnd(const base::Stop& stop) {
  if (encoding_ && stop.HasEndedProcess()) base::LeaveReachable(encoding_.release());
}

Problem EncodedSession::SizedFor(size_t candidate) const {
  return ladder_ == nullptr ? problem_ : AtCandidate(problem_, ladder_->candidates[candidate]);
}

Result EncodedSession::Minimise(size_t candidate, Bytes capacity, const base::Budget& budget,
                                const base::Stop& stop) {
  Result best = Solve(candidate, capacity, budget, stop);
  if (!best.allocation) return best;
  best.cost = problem::CostOf(SizedFor(candidate), *best.allocation);
  try {
    Improve(best, candidate, capacity, budget.units - best.statistics.conflicts, stop);
  } catch (const std::exception& fault) {
    best.reason = fmt::format("{} gave up: {}", engine_, fault.what());
    encoding_.reset();
  }
  LeaveAtEnd(stop);
  return best;
}

void EncodedSession::Improve(Result& best, size_t candidate, Bytes capacity, int64_t conflicts,
                             const base::Stop& stop) {
  const Problem sized = SizedFor(candidate);
  while (*best.cost > 0) {
    Result next = Decide(sized, candidate, capacity, *best.cost - 1, {conflicts}, stop);
    conflicts -= next.statistics.conflicts;
    best.statistics.conflicts += next.statistics.conflicts;
    if (next.status == Status::kInfeasible) {
      best.least_cost = *best.cost;
      return;
    }
    if (!next.allocation) {
      best.reason = next.reason;
      return;
    }
    const int64_t cost = problem::CostOf(sized, *next.allocation);
    if (cost >= *best.cost) {
      best.reason = fmt::format("the clauses take costs of {} for less than {}", cost, *best.cost);
      return;
    }
    best.allocation = std::move(next.allocation);
    best.peak = next.peak;
    best.cost = cost;
  }
}

// Validates the answer independently of the formulation.
void EncodedSession::Check(const Problem& sized, Bytes capacity, Result& result) const {
  std::string fault;
  for (const std::shared_ptr<const Constraint>& constraint : constraints_) {
    fault = constraint->FindViolation(sized, *result.allocation);
    if (fault.empty()) continue;
    fault = fmt::format("constraint '{}' refuses the answer that its clauses allow: {}",
                        constraint->Name(), fault);
    break;
  }
  const bool own_fault = !constraints_.empty() && fault.empty();
  if (own_fault) {
    const auto violations = problem::Validate(sized, *result.allocation, capacity, 1);
    if (!violations.empty()) fault = violations.front().message;
  }
  if (fault.empty()) return;
  result = {};
  result.reason = fault;
}

void EncodedSession::OpenFor(Bytes capacity, const base::Stop& stop) {
  if (encoding_ && encoding_->question.ceiling >= capacity) return;
  encoding_.reset();
  FormulationInput question{problem_, ladder_, *address_constraints_, capacity, refinements_};
  if (refinements_.positions) {
    std::vector<Bytes> ceilings;
    for (size_t m = 0; m < problem_.memories.size(); ++m)
      ceilings.push_back(question.CapacityOf(m));
    question.positions =
        FindNormalPositions(problem_, ladder_, *address_constraints_, ceilings, stop);
  }
  encoding_ = std::make_unique<Encoding>(std::move(question), open_backend_, constraints_, stop);
}

Result EncodedSession::Decide(const Problem& sized, size_t candidate, Bytes capacity,
                              std::optional<int64_t> most, const base::Budget& budget,
                              const base::Stop& stop) {
  Result result;
  if (stop.Requested()) {
    result.reason = "stopped before the work began";
    return result;
  }
  if (!address_constraints_) {
    AddressConstraints found = FindAddressConstraints(problem_, ladder_, MostPairs(stop), &stop);
    if (stop.Requested()) {
      result.reason = "stopped";
      return result;
    }
    address_constraints_ = std::move(found);
    for (const std::shared_ptr<const Constraint>& constraint : constraints_) {
      for (size_t m = 0; m < problem_.memories.size(); ++m) {
        address_constraints_->granularities[m] =
            std::gcd(address_constraints_->granularities[m], constraint->UnitOf(problem_, m));
      }
    }
  }
  if (const std::optional<std::string> reason = TooLarge(problem_, *address_constraints_)) {
    if (address_constraints_->too_many_pairs && MostPairs(stop) < kPairLimit) stop.NoteDeclined();
    result.reason = *reason;
    return result;
  }
  OpenFor(capacity, stop);
  Backend& backend = *encoding_->backend;
  backend.Clauses().ObeyStop(&stop);
  const std::array assumptions = {encoding_->formulation.SelectCandidate(candidate),
                                  encoding_->formulation.SelectCapacity(capacity),
                                  most ? encoding_->formulation.SelectCost(*most) : kTrue};
  backend.Clauses().ObeyStop(nullptr);
  if (backend.Clauses().Full()) {
    const bool stopped = stop.Requested();
    result.reason =
        stopped ? "stopped" : "the formula has more clauses than the encoder writes down";
    if (stopped) LeaveAtEnd(stop);
    if (stopped) encoding_.reset();  // it is incomplete
    return result;
  }
  const Answer answer = backend.Decide(assumptions, budget, stop);
  result.statistics.conflicts = answer.conflicts;
  result.reason = answer.reason;
  if (answer.verdict == Satisfiability::kUnsatisfiable) {
    result.status = Status::kInfeasible;
    result.reason = fmt::format(
        "no placement and no schedule satisfies every constraint within {} bytes", capacity);
  }
  if (answer.verdict == Satisfiability::kSatisfiable) {
    result.status = Status::kFeasible;
    result.allocation = encoding_->formulation.Decode();
    result.peak = problem::PeakOf(sized, *result.allocation);
    Check(sized, capacity, result);
  }
  return result;
}

}  // namespace tessera::encoder::formulation
