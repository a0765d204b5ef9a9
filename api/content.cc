#include "tessera/api/content.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>

#include "tessera/api/parts/engine_set.h"
#include "tessera/base/process.h"
#include "tessera/plan/metrics.h"
#include "tessera/report/text_table.h"

namespace tessera::api {
namespace {

std::optional<base::Stop::Clock::time_point> DeadlineOf(const CallOptions& options) {
  if (!options.timeout_s) return std::nullopt;
  // A year serves as infinity and cannot overflow the clock. A number that is none ends at once.
  constexpr double kYear = 365.0 * 24 * 3600;
  const double seconds = *options.timeout_s > 0 ? std::min(*options.timeout_s, kYear) : 0.0;
  return base::Stop::Clock::now() + std::chrono::duration_cast<base::Stop::Clock::duration>(
                                        std::chrono::duration<double>(seconds));
}

std::vector<PlanMetric> MetricsOf(const plan::Plan& plan) {
  std::vector<PlanMetric> metrics;
  metrics.reserve(plan::kMetrics.size());
  for (const plan::Metric& metric : plan::kMetrics) {
    metrics.push_back({std::string(metric.name), std::string(metric.unit),
                       plan::ValueOf(plan.totals, metric),
                       plan::LowerBoundOf(plan.lower_bounds, metric, plan.objective.limits)});
  }
  return metrics;
}

std::vector<PlanSubgraph> SubgraphsOf(const plan::Plan& plan) {
  std::vector<PlanSubgraph> subgraphs;
  for (const plan::Subgraph& subgraph : plan.subgraphs) {
    PlanSubgraph& shown = subgraphs.emplace_back();
    for (int op = subgraph.interval.first; op <= subgraph.interval.last; ++op)
      shown.operators.push_back(plan.network.operators[static_cast<size_t>(op)].id);
    shown.tile = subgraph.tile;
    shown.tiles = subgraph.tiles;
    shown.policy = report::PolicyText(subgraph);
    shown.latency_cycles = subgraph.metrics.latency_cycles;
  }
  return subgraphs;
}

std::vector<PlanBuffer> BuffersOf(const plan::Plan& plan) {
  std::vector<PlanBuffer> buffers;
  for (size_t i = 0; i < plan.problem.buffers.size(); ++i) {
    const problem::Buffer& buffer = plan.problem.buffers[i];
    PlanBuffer& shown = buffers.emplace_back();
    shown.name = buffer.id;
    shown.offset = plan.allocation.offsets[i];
    shown.size = buffer.size;
    for (const problem::Lifespan& lifespan : buffer.lifespans)
      shown.steps.emplace_back(lifespan.lower, lifespan.upper);
  }
  return buffers;
}

}  // namespace

Error AsError(CallStatus status, const base::Diagnostic& diagnostic) {
  return {status,
          diagnostic.message,
          diagnostic.file,
          diagnostic.line,
          diagnostic.column,
          diagnostic.pointer,
          diagnostic.expected,
          diagnostic.found,
          diagnostic.hint,
          base::Format(diagnostic)};
}

Error BadArgument(std::string message, std::string expected) {
  base::Diagnostic fault;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  return BadInput(fault);
}

CallStop::CallStop(const CallOptions& options)
    : canceller_(options.canceller),
      own_(DeadlineOf(options), canceller_ ? &canceller_->Get().stop : nullptr) {
  own_.LimitMemory(options.memory_limit.value_or(base::UsableBytes() / 4 * 3));
}

Plan AsPlan(plan::Plan plan, double time_ms) {
  auto content = std::make_shared<Plan::Content>(Plan::Content());
  content->plan = std::move(plan);
  content->time_ms = time_ms;
  content->metrics = MetricsOf(content->plan);
  content->subgraphs = SubgraphsOf(content->plan);
  content->buffers = BuffersOf(content->plan);
  content->proof = plan::DescribeProof(content->plan);
  return Plan(std::move(content));
}

Outcome OutcomeOf(problem::Status status) {
  switch (status) {
    case problem::Status::kOptimal:
      return Outcome::kOptimal;
    case problem::Status::kFeasible:
      return Outcome::kFeasible;
    case problem::Status::kInfeasible:
      return Outcome::kInfeasible;
    case problem::Status::kInvalid:
    case problem::Status::kUnsupported:
      return Outcome::kUnsupported;
    case problem::Status::kUnknown:
      break;
  }
  return Outcome::kUnknown;
}

std::optional<Error> FindBadOption(const SearchOptions& options) {
  if (options.threads < 1) return BadArgument("threads are below 1", "at least one thread");
  if (options.budget && *options.budget < 0)
    return BadArgument("the budget is negative", "0 or more");
  const std::vector<std::string> engines =
      options.engine.empty() ? std::vector<std::string>() : std::vector{options.engine};
  const std::string unknown = parts::EngineSet::FindUnknown(engines, options.switched_off);
  if (!unknown.empty())
    return BadArgument("this library has no " + unknown, "a name of `tessera plan --help`");
  return std::nullopt;
}

std::function<void(std::string_view)> OneLineAtATime(const CallOptions& options) {
  if (!options.progress) return {};
  return [&options, mutex = std::make_shared<std::mutex>()](std::string_view line) {
    const std::lock_guard lock(*mutex);
    options.progress(line);
  };
}

}  // namespace tessera::api
