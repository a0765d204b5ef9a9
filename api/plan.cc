#include <tessera/plan.h>
#include <tessera/tessera.h>

#include <algorithm>
#include <array>

#include "tessera/api/content.h"
#include "tessera/api/parts/plan_check.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/problem/draw/pictures.h"
#include "tessera/report/chrome_trace.h"
#include "tessera/report/html_report.h"
#include "tessera/report/plan_text.h"
#include "tessera/search/cost/timeline.h"

namespace tessera::api {
namespace {

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

Result<CheckReport> CheckContent(const Plan::Content& content, const CheckOptions& options) {
  // The form in the file, which states a digest.
  const base::Expected<plan::Plan> plan =
      plan::files::ReadPlanJson(plan::files::WritePlanJson(content.plan), "plan");
  if (!plan) return AsError(CallStatus::kInternal, plan.error());
  CallStop stop(options);
  const parts::PlanVerdict verdict = parts::CheckPlan(*plan,
                                                      {.execute = options.execute,
                                                       .search = options.search,
                                                       .threads = std::max(options.threads, 1),
                                                       .around = {}},
                                                      stop.Get());
  CheckReport report;
  report.findings = verdict.violations;
  if (!report.findings.empty()) return report;
  report.open = verdict.cut_off.empty() ? verdict.obstacle : "cut off " + verdict.cut_off;
  report.accepted = report.open.empty();
  return report;
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Plan::Plan(std::shared_ptr<const Content> content) noexcept : content_(std::move(content)) {}

Result<Plan> Plan::Load(const std::string& path) {
  return api::LoadFrom(path, [&](const std::string& text) { return api::Read(text, path); });
}

Result<Plan> Plan::Parse(std::string_view json, const std::string& name) {
  return api::Guarded([&] { return api::Read(json, name); });
}

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

Result<Done> Plan::Save(const std::string& path) const {
  return api::SaveTo(path,
                     [&](std::string_view format) { return api::RenderAs(format, *content_); });
}

Result<CheckReport> Check(const Plan& plan, const CheckOptions& options) {
  return api::Guarded([&] { return api::CheckContent(plan.Get(), options); });
}

const char* NameOf(Outcome outcome) noexcept {
  constexpr std::array<const char*, 5> kNames = {"optimal", "feasible", "infeasible", "unknown",
                                                 "unsupported"};
  return kNames[static_cast<size_t>(outcome)];
}

Canceller::Canceller() : content_(std::make_shared<Content>()) {}
void Canceller::Cancel() const noexcept { content_->stop.Request(); }
bool Canceller::IsCancelled() const noexcept { return content_->stop.Requested(); }

const char* Version() noexcept { return TESSERA_VERSION; }

}  // namespace v0
}  // namespace tessera
