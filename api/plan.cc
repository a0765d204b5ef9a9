// SPDX-License-Identifier: Apache-2.0

#include <tessera/plan.h>

#include <algorithm>

#include "tessera/api/content.h"
#include "tessera/api/parts/plan_check.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/metrics.h"
#include "tessera/problem/draw/pictures.h"
#include "tessera/report/chrome_trace.h"
#include "tessera/report/html_report.h"
#include "tessera/report/plan_text.h"
#include "tessera/report/text_table.h"
#include "tessera/search/cost/timeline.h"

namespace tessera::api {
namespace {

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
    shown.energy_pj = subgraph.metrics.energy_pj;
    shown.off_chip_bytes = subgraph.metrics.off_chip_bytes;
    shown.peak_bytes = subgraph.metrics.peak_bytes;
    shown.macs = subgraph.metrics.macs;
    shown.bound_by = subgraph.metrics.bound_by;
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

struct Format {
  std::string_view name;
  std::string (*write)(const Plan::Content& content);
};

constexpr Format kFormats[] = {
    {"json", [](const Plan::Content& of) { return plan::files::WritePlanJson(of.plan); }},
    {"html",
     [](const Plan::Content& of) {
       return report::WriteReport(of.plan, search::cost::PlannedTimeline);
     }},
    {"svg",
     [](const Plan::Content& of) {
       return problem::draw::WriteSvg(of.plan.problem, of.plan.allocation,
                                      of.plan.problem.memories[0].capacity);
     }},
    {"h", [](const Plan::Content& of) { return plan::files::WriteHeader(of.plan); }},
    {"trace",
     [](const Plan::Content& of) {
       return report::WriteTrace(of.plan, search::cost::PlannedTimeline);
     }},
    {"csv", [](const Plan::Content& of) { return report::TilesAsCsv(of.plan); }},
    {"txt", [](const Plan::Content& of) { return report::DescribePlan(of.plan, of.time_ms); }},
};

Result<std::string> RenderAs(std::string_view name, const Plan::Content& content) {
  std::string names;
  for (const Format& format : kFormats) {
    if (format.name == name) return format.write(content);
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  }
  base::Diagnostic fault;
  fault.message = "plans have no format '" + std::string(name) + "'";
  fault.expected = "one of " + names;
  return BadInput(fault);
}

Result<Plan> Read(std::string_view json, const std::string& name) {
  base::Expected<plan::Plan> plan = plan::files::ReadPlanJson(json, name);
  if (!plan) return BadInput(plan.error());
  return AsPlan(*std::move(plan), 0);
}

Result<parts::PlanVerdict> Judge(const Plan::Content& content, const CheckOptions& options) {
  // Reads the plan in its file format, which states a digest.
  const base::Expected<plan::Plan> plan =
      plan::files::ReadPlanJson(plan::files::WritePlanJson(content.plan), "plan");
  if (!plan) return AsError(CallStatus::kInternal, plan.error());
  CallStop stop(options);
  return parts::CheckPlan(*plan,
                          {.execute = options.execute,
                           .search = options.search,
                           .threads = {std::max(options.threads, 1), ThreadsOf(options).executor},
                           .around = {}},
                          stop.Get());
}

void Report(const parts::PlanVerdict& verdict, CheckReport& report) {
  report.findings = verdict.violations;
  if (!report.findings.empty()) return;
  report.open = verdict.cut_off.empty() ? verdict.obstacle : "cut off " + verdict.cut_off;
  report.accepted = report.open.empty();
}

Result<CheckReport> CheckContent(const Plan::Content& content, const CheckOptions& options) {
  const Result<parts::PlanVerdict> verdict = Judge(content, options);
  if (!verdict) return verdict.Error();
  CheckReport report;
  Report(*verdict, report);
  return report;
}

Result<ExecuteReport> Run(const Plan::Content& content, const CallOptions& given) {
  CheckOptions options;
  static_cast<CallOptions&>(options) = given;
  options.execute = true;
  options.search = false;
  const Result<parts::PlanVerdict> verdict = Judge(content, options);
  if (!verdict) return verdict.Error();
  ExecuteReport report;
  Report(*verdict, report);
  if (!verdict->execution) return report;
  const plan::lowering::Tally& tally = verdict->execution->tally;
  report.tiles = tally.tiles;
  report.steps = tally.steps;
  report.operators = tally.operators;
  report.transfers = tally.transfers;
  report.bytes_moved = tally.bytes_moved;
  report.cells_checked = tally.cells_checked;
  return report;
}

}  // namespace

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

}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Plan::Plan(std::shared_ptr<const Content> content) noexcept : content_(std::move(content)) {}

Result<std::vector<std::string>> MetricNames() {
  return api::Guarded([]() -> Result<std::vector<std::string>> {
    std::vector<std::string> names;
    names.reserve(std::size(plan::kMetrics));
    for (const plan::Metric& metric : plan::kMetrics) names.emplace_back(metric.name);
    return names;
  });
}

Result<Plan> Plan::Load(const std::string& path) {
  return api::LoadFrom(path, [&](const std::string& text) { return api::Read(text, path); });
}

Result<Plan> Plan::Parse(std::string_view json, const std::string& name) {
  return api::Guarded([&] { return api::Read(json, name); });
}

bool Plan::IsOptimal() const noexcept { return content_->plan.status == "optimal"; }
bool Plan::IsCutOff() const noexcept { return content_->plan.run.cut_off; }
double Plan::Score() const noexcept { return content_->plan.score; }
double Plan::Bound() const noexcept { return content_->plan.bound; }
const std::vector<PlanMetric>& Plan::Metrics() const noexcept { return content_->metrics; }
const std::vector<PlanSubgraph>& Plan::Subgraphs() const noexcept { return content_->subgraphs; }
const std::vector<PlanBuffer>& Plan::Buffers() const noexcept { return content_->buffers; }
const std::vector<std::string>& Plan::Notes() const noexcept { return content_->plan.notes; }
const std::vector<std::string>& Plan::Proof() const noexcept { return content_->proof; }

const PlanMetric* Plan::FindMetric(std::string_view name) const noexcept {
  for (const PlanMetric& metric : content_->metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

Result<std::string> Plan::Render(std::string_view format) const {
  return api::Guarded([&] { return api::RenderAs(format, *content_); });
}

Result<PlanDifference> Difference(const Plan& first, const Plan& second) {
  return api::Guarded([&]() -> Result<PlanDifference> {
    const plan::Plan& a = first.Get().plan;
    const plan::Plan& b = second.Get().plan;
    const plan::files::Difference difference = plan::files::FindDifference(a, b);
    return PlanDifference{report::DifferenceAsText(a, b, difference),
                          report::DifferenceAsJson(a, b, difference)};
  });
}

Result<Done> Plan::Save(const std::string& path) const {
  return api::SaveTo(path,
                     [&](std::string_view format) { return api::RenderAs(format, *content_); });
}

Result<CheckReport> Check(const Plan& plan, const CheckOptions& options) {
  return api::Guarded([&] { return api::CheckContent(plan.Get(), options); });
}

Result<ExecuteReport> Execute(const Plan& plan, const CallOptions& options) {
  return api::Guarded([&] { return api::Run(plan.Get(), options); });
}

}  // namespace v0
}  // namespace tessera
