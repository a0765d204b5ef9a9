#include "tessera/search/allocate/engine_queries.h"

#include <string>
#include <utility>

#include "tessera/problem/validator.h"
#include "tessera/search/allocate/portfolio.h"

namespace tessera::search::allocate {

std::function<problem::Result(const problem::Problem&, problem::Bytes, const base::Budget&)>
MakeDecider(std::span<const problem::Engine* const> engines, const base::Stop& stop) {
  return [engines, &stop](const problem::Problem& problem, problem::Bytes capacity,
                          const base::Budget& budget) {
    AllocateOptions options;
    options.capacity = capacity;
    options.budget = budget;
    options.stop = &stop;
    base::Expected<problem::Result> result = Allocate(problem, nullptr, 0, engines, options);
    if (result) return *std::move(result);
    problem::Result fault;
    fault.reason = result.error().message;
    return fault;
  };
}

using problem::Result;
using problem::Status;

namespace {

void AppendReason(std::string& reason, const std::string& more) {
  if (!reason.empty() && !more.empty()) reason += "; ";
  reason += more;
}

// Takes over the engine's answer if it is cheaper, and its proven bound.
void Take(Result& best, Result found) {
  best.statistics.conflicts += found.statistics.conflicts;
  if (found.status == Status::kUnknown || !found.cost)
    return AppendReason(best.reason, found.reason);
  best.least_cost = found.least_cost;
  if (*found.cost < *best.cost) {
    best.allocation = std::move(found.allocation);
    best.peak = found.peak;
    best.cost = found.cost;
    best.engine = std::move(found.engine);
    if (best.status == Status::kOptimal && *best.peak > best.lower_bound)
      best.status = Status::kFeasible;
  }
  if (*best.cost > best.least_cost)
    AppendReason(best.reason, "a cheaper placement is not ruled out");
}

}  // namespace

base::Expected<Result> FindCheapest(const problem::Problem& problem, Result placed,
                                    problem::Bytes capacity,
                                    std::span<const problem::Engine* const> engines,
                                    const base::Budget& budget, const base::Stop& stop) {
  if (problem.costs.empty() || !placed.allocation) return placed;
  placed.cost = CostOf(problem, *placed.allocation);
  for (const problem::Engine* engine : engines) {
    Result found = engine->Open(problem, nullptr)->Minimise(0, capacity, budget, stop);
    if (found.status == Status::kUnsupported) continue;
    if (found.status == Status::kInfeasible) {
      base::Diagnostic fault;
      fault.message = found.engine + " calls a problem infeasible of which a placement is known";
      return base::Unexpected(fault);
    }
    if (found.allocation) {
      const auto violations = problem::Validate(problem, *found.allocation, capacity, 1);
      if (!violations.empty()) {
        base::Diagnostic fault;
        fault.message =
            found.engine + " returned a wrong allocation: " + violations.front().message;
        return base::Unexpected(fault);
      }
    }
    Take(placed, std::move(found));
    return placed;
  }
  AppendReason(placed.reason, "no engine asked minimises costs");
  return placed;
}

}  // namespace tessera::search::allocate
