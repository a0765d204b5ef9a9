// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <tessera/allocate.h>
#include <tessera/constraint.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/api/parts/allocation.h"
#include "tessera/base/diagnostic.h"
#include "tessera/encoder/formulation/constraint.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/problem/validator.h"

// A constraint of the caller judges boxes of offsets: kept, broken, or open. The formula of the
// engine "cadical" gets one clause for each broken box that is not part of a larger one:
//
//     offset b                        open: halved along its longest side
//        +-------+-------+
//        | open  | broken|            broken: not (a in [..] and b in [..])
//        +---+---+-------+
//        | k | b | kept  |            kept: no clause
//        +---+---+-------+---> offset a
//
// Points are never open, so the halving ends, and the clauses allow exactly the kept points. Other
// engines do not support the constraint and never place such a problem. Their proofs still hold,
// because the constraint only removes placements: their lower bound of the peak, and that nothing
// fits. Cost: one call of the callback for each box.
namespace tessera::api {
namespace {

using encoder::formulation::Integer;
using encoder::formulation::Literal;
using encoder::formulation::Variables;
using problem::Bytes;

constexpr std::int64_t kMostBoxes = 400'000;

// A side for each buffer, in units of the granularity of its memory.
using Box = std::vector<OffsetRange>;

class CallerConstraint final : public encoder::formulation::Constraint {
 public:
  CallerConstraint(std::shared_ptr<const OffsetConstraint> given, const problem::Problem& problem)
      : given_(std::move(given)) {
    for (const std::string& id : given_->buffers) {
      const auto at = std::ranges::find(problem.buffers, id, &problem::Buffer::id);
      buffers_.push_back(static_cast<size_t>(at - problem.buffers.begin()));
    }
  }

  std::string Name() const override { return given_->name; }

  Bytes UnitOf(const problem::Problem& /*problem*/, size_t /*memory*/) const override {
    return given_->unit;
  }

  void Write(Variables& variables) const override;

  std::string FindViolation(const problem::Problem& /*problem*/,
                            const problem::Allocation& allocation) const override {
    std::vector<OffsetRange> point;
    for (const size_t buffer : buffers_)
      point.push_back({allocation.offsets[buffer], allocation.offsets[buffer]});
    if (Judge(point) == Judgement::kKept) return {};
    std::vector<std::string> places;
    for (size_t i = 0; i < buffers_.size(); ++i)
      places.push_back(fmt::format("'{}' at {}", given_->buffers[i], point[i].least));
    return fmt::format("{} break '{}'", fmt::join(places, ", "), given_->name);
  }

  // Throws the kept fault. An engine turns an exception into an unknown answer, so faults wait
  // here.
  void ThrowFault() const {
    if (fault_) std::rethrow_exception(fault_);
  }

 private:
  Judgement Judge(const std::vector<OffsetRange>& ranges) const {
    try {
      return Asked(ranges);
    } catch (...) {
      fault_ = std::current_exception();
      throw;
    }
  }

  Judgement Asked(const std::vector<OffsetRange>& ranges) const {
    Judgement judgement = Judgement::kOpen;
    std::string what = "its callback threw";
    try {
      judgement = given_->judge(ranges);
      what.clear();
    } catch (const std::exception& exception) {
      what = exception.what();
    } catch (...) {
    }
    if (!what.empty())
      throw std::runtime_error(fmt::format("the constraint '{}': {}", given_->name, what));
    const bool is_point = std::ranges::all_of(
        ranges, [](const auto& range) { return range.least == range.greatest; });
    if (judgement < Judgement::kOpen || (judgement == Judgement::kOpen && !is_point))
      return judgement;
    base::Diagnostic fault;
    fault.message = fmt::format("the constraint '{}' judges single offsets neither kept nor broken",
                                given_->name);
    fault.expected = "kKept or kBroken";
    throw base::InputFault(std::move(fault));
  }

  void Visit(const Box& box, const std::vector<Bytes>& granularities, Variables& variables,
             std::vector<Box>& open) const {
    std::vector<Literal> outside;
    std::vector<OffsetRange> ranges;
    size_t longest = 0;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const auto& [least, greatest] = box[i];
      const Integer offset = variables.OffsetOf(buffers_[i]);
      outside.push_back(~variables.Integers().AtLeast({offset}, least));
      if (outside.back() == encoder::formulation::kTrue) return;
      outside.push_back(variables.Integers().AtLeast({offset}, greatest + 1));
      if (outside.back() == encoder::formulation::kTrue) return;
      ranges.push_back({least * granularities[i], greatest * granularities[i]});
      const OffsetRange& most = box[longest];
      if (greatest - least > most.greatest - most.least) longest = i;
    }
    const Judgement judgement = Judge(ranges);
    if (judgement == Judgement::kKept) return;
    if (judgement == Judgement::kBroken) return variables.Clauses().Add(outside);
    const OffsetRange& side = box[longest];
    const std::int64_t middle = side.least + (side.greatest - side.least) / 2;
    open.push_back(box);
    open.back()[longest].least = middle + 1;
    open.push_back(box);
    open.back()[longest].greatest = middle;
  }

  std::shared_ptr<const OffsetConstraint> given_;
  std::vector<size_t> buffers_;
  mutable std::exception_ptr fault_;  // of a session, which one thread uses
};

void CallerConstraint::Write(Variables& variables) const {
  Box all;
  std::vector<Bytes> granularities;
  for (const size_t buffer : buffers_) {
    const Integer offset = variables.OffsetOf(buffer);
    std::int64_t above = 1;  // than all values of the offset
    while (variables.Integers().AtLeast({offset}, above) != encoder::formulation::kFalse)
      above *= 2;
    all.push_back({0, above - 1});
    const auto memory = static_cast<size_t>(variables.Problem().buffers[buffer].memory);
    granularities.push_back(variables.GranularityOf(memory));
  }
  std::vector<Box> open = {std::move(all)};
  for (std::int64_t boxes = 0; !open.empty() && !variables.Clauses().Full(); ++boxes) {
    if (boxes == kMostBoxes)
      throw std::runtime_error(
          fmt::format("the constraint '{}' leaves more than {} ranges open", given_->name, boxes));
    const Box box = std::move(open.back());
    open.pop_back();
    Visit(box, granularities, variables, open);
  }
}

// The work of one call.
class Placing {
 public:
  Placing(const Problem::Content& content, const AllocateOptions& given, const base::Stop& stop)
      : problem_(content.document.problem), given_(given), stop_(stop) {
    for (const auto& constraint : content.constraints)
      constraints_.push_back(std::make_shared<CallerConstraint>(constraint, problem_));
  }

  // Solves the problem without the constraints. Every proof about it holds with them too.
  base::Expected<parts::AllocationAnswer> FindRelaxed() const {
    parts::AllocationCall call;
    call.capacity = given_.capacity;
    call.minimize = given_.minimize;
    call.budget = given_.budget;
    call.threads = ThreadsOf(given_);
    call.explains = given_.explain;
    call.progress = OneAtATime(given_);
    return parts::FindAllocation(problem_, EnginesOf(given_), call, stop_);
  }

  // Finds a placement within that many bytes of the first memory; without a number, within any.
  problem::Result Find(std::optional<Bytes> capacity, Bytes lower_bound) {
    const encoder::formulation::Constraints constraints(constraints_.begin(), constraints_.end());
    session_ = encoder::sat::SatEngine({.seed = given_.seed, .constraints = constraints})
                   .Open(problem_, nullptr);
    problem::Result best = capacity ? Ask(*capacity) : FindRoom(lower_bound);
    best.lower_bound = std::max(best.lower_bound, lower_bound);
    if (best.allocation && (given_.minimize || !capacity)) Lower(best);
    return best;
  }

 private:
  problem::Result Ask(Bytes capacity) {
    problem::Result result =
        session_->Solve(0, capacity, base::Budget{given_.budget.value_or(kBudget)}, stop_);
    for (const auto& constraint : constraints_) constraint->ThrowFault();
    if (result.allocation) result.peak = problem::PeakOf(problem_, *result.allocation);
    return result;
  }

  // Doubles the capacity, since constraints may need more room than the lower bound.
  problem::Result FindRoom(Bytes lower_bound) {
    Bytes capacity = std::max<Bytes>(1, lower_bound);
    problem::Result result = Ask(capacity);
    for (int i = 0; i < kDoublings && result.status == problem::Status::kInfeasible; ++i) {
      capacity *= 2;
      result = Ask(capacity);
    }
    if (result.status == problem::Status::kInfeasible) {
      result.status = problem::Status::kUnknown;
      result.reason = fmt::format("nothing fits into {} bytes, and more were not tried", capacity);
    }
    return result;
  }

  // Lowers the peak by bisection between the lower bound and the best peak.
  void Lower(problem::Result& best) {
    while (best.lower_bound < *best.peak) {
      const Bytes capacity = best.lower_bound + (*best.peak - 1 - best.lower_bound) / 2;
      problem::Result lower = Ask(capacity);
      if (lower.allocation) {
        lower.lower_bound = best.lower_bound;
        best = std::move(lower);
      } else if (lower.status == problem::Status::kInfeasible) {
        best.lower_bound = capacity + 1;
      } else {
        best.reason = lower.reason;
        return;
      }
    }
    best.status = problem::Status::kOptimal;
  }

  static constexpr std::int64_t kBudget = 20'000'000;  // conflicts of each question
  static constexpr int kDoublings = 8;

  const problem::Problem& problem_;
  const AllocateOptions& given_;
  const base::Stop& stop_;
  std::vector<std::shared_ptr<const CallerConstraint>> constraints_;
  std::unique_ptr<problem::Session> session_;
};

std::optional<Error> FindUnfit(const Problem& problem, const AllocateOptions& options) {
  if (!options.engine.empty() && options.engine != "cadical")
    return AsUnsupported("the engine '" + options.engine + "' knows no constraints of the caller");
  if (!problem.Get().document.problem.costs.empty())
    return AsUnsupported("costs of a problem with constraints of the caller");
  const bool has_several = problem.Get().document.problem.memories.size() > 1;
  if (!options.peaks.empty() || (options.minimize && has_several))
    return AsUnsupported("peaks of several memories under constraints of the caller");
  return std::nullopt;
}

}  // namespace

std::string FindBroken(const Problem::Content& content, const problem::Allocation& allocation) {
  for (const auto& constraint : content.constraints) {
    std::string broken = CallerConstraint(constraint, content.document.problem)
                             .FindViolation(content.document.problem, allocation);
    if (!broken.empty()) return broken;
  }
  return {};
}

Result<AllocateAnswer> PlaceConstrained(const Problem& problem, const AllocateOptions& options) {
  const Problem::Content& content = problem.Get();
  const problem::Problem& asked = content.document.problem;
  if (auto error = FindUnfit(problem, options)) return *std::move(error);
  const CallStop stop(options);
  Placing placing(content, options, stop.Get());
  base::Expected<parts::AllocationAnswer> relaxed = placing.FindRelaxed();
  if (!relaxed) return AsError(CallStatus::kInternal, relaxed.error());
  problem::Result result = std::move(relaxed->result);
  if (result.status != problem::Status::kInfeasible)
    result = placing.Find(relaxed->capacity, result.lower_bound);
  AllocateAnswer answer;
  answer.outcome = OutcomeOf(result.status);
  answer.lower_bound = result.lower_bound;
  answer.engine = result.engine;
  answer.reason = result.reason;
  if (result.explanation) {
    answer.explanation = problem::Sentences(asked, *result.explanation,
                                            relaxed->capacity.value_or(asked.memories[0].capacity));
  }
  if (options.certify) answer.no_certificate = "certificates know no constraints of the caller";
  answer.stopped = stop.Get().HasCutOff();
  answer.out_of_memory = RanOutOfMemory(stop.Get());
  if (!result.allocation) return answer;
  const Bytes capacity = relaxed->capacity.value_or(base::kMaxTotal);
  const auto violations = problem::Validate(asked, *result.allocation, capacity, 1);
  const std::string broken = FindBroken(content, *result.allocation);
  if (!violations.empty() || !broken.empty())
    throw std::logic_error("the placement that was found fails its own check: " +
                           (broken.empty() ? violations.front().message : broken));
  problem::files::AllocationDocument document;
  document.result = std::move(result);
  document.capacity = relaxed->capacity;
  document.seed = static_cast<int64_t>(options.seed);
  answer.allocation = AsAllocation(problem, std::move(document), answer.lower_bound);
  return answer;
}

}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<Problem> Problem::With(const OffsetConstraint& constraint) const {
  return api::Guarded([&]() -> Result<Problem> {
    if (constraint.name.empty() || constraint.version.empty() || !constraint.judge)
      return api::BadArgument("a constraint lacks its name, its version or its callback",
                              "all three");
    if (constraint.unit < 1) return api::BadArgument("the unit is below 1", "1 byte or more");
    std::vector<std::string> ids = constraint.buffers;
    std::ranges::sort(ids);
    if (ids.empty() || std::ranges::adjacent_find(ids) != ids.end())
      return api::BadArgument("the constraint '" + constraint.name + "' has " +
                                  (ids.empty() ? "no buffers" : "a buffer twice"),
                              "each of its buffers once");
    for (const std::string& id : ids) {
      const auto& buffers = content_->document.problem.buffers;
      if (std::ranges::find(buffers, id, &problem::Buffer::id) == buffers.end())
        return api::BadArgument("the problem has no buffer '" + id + "'", "the id of a buffer");
    }
    auto constraints = content_->constraints;
    constraints.push_back(std::make_shared<const OffsetConstraint>(constraint));
    return api::AsProblem(content_->document, std::move(constraints));
  });
}

}  // namespace v0
}  // namespace tessera
