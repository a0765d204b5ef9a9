// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/c/handles.h"

// NOLINTBEGIN(cppcoreguidelines-owning-memory)
namespace tessera::api::c {
namespace {

std::vector<MetricValue> ValuesOf(const tessera_metric_value* values, size_t count) {
  std::vector<MetricValue> list;
  for (const tessera_metric_value& each : Complete(values, count))
    list.emplace_back(TextOf(each.metric), each.value);
  return list;
}

EvaluateOptions Translate(const tessera_evaluate_options& given) {
  const tessera_evaluate_options known = Complete(given);
  EvaluateOptions options;
  options.move = known.move != 0;
  options.profile = known.profile != nullptr ? &known.profile->value : nullptr;
  options.costs = TextOf(known.costs);
  TranslateSearch(known, options);
  return options;
}

}  // namespace

PlanOptions Translate(const tessera_plan_options& given) {
  const tessera_plan_options known = Complete(given);
  PlanOptions options;
  options.minimize = ValuesOf(known.minimize, known.minimize_count);
  options.limits = ValuesOf(known.limits, known.limit_count);
  if (known.max_operators != 0) options.max_operators = known.max_operators;
  options.keep_order = known.keep_order != 0;
  options.keep_boundaries = known.no_boundaries == 0;
  options.transfers = known.per_subgraph != 0 ? Transfers::kPerSubgraph : Transfers::kProgram;
  options.off_chip = static_cast<OffChip>(known.off_chip);
  options.explain = known.explain != 0;
  options.certify = known.certify != 0;
  options.sensitivity = known.sensitivity != 0;
  options.lowering = known.lowering != 0;
  if (known.constraints != nullptr) options.constraints = known.constraints;
  options.previous = known.previous != nullptr ? &known.previous->value : nullptr;
  TranslateSearch(known, options);
  return options;
}

tessera_status GiveAnswer(Result<PlanAnswer> made, tessera_answer** answer, tessera_error** error) {
  if (!made) return Fail(made.Error(), error);
  auto handle = std::make_unique<tessera_answer>();
  handle->value = *std::move(made);
  handle->explanation = Joined(handle->value.explanation);
  if (handle->value.plan) handle->plan.reset(new tessera_plan{*handle->value.plan});
  if (handle->value.certificate)
    handle->certificate.reset(new tessera_certificate{*handle->value.certificate});
  *answer = handle.release();
  return TESSERA_OK;
}

}  // namespace tessera::api::c

using namespace tessera;
using namespace tessera::api::c;

extern "C" {

tessera_status tessera_make_plan(const tessera_network* network, const tessera_profile* profile,
                                 const tessera_plan_options* options, tessera_answer** answer,
                                 tessera_error** error) {
  *answer = nullptr;
  return Guarded(error, [&] {
    const PlanOptions known = options != nullptr ? Translate(*options) : PlanOptions();
    return GiveAnswer(MakePlan(network->value, profile->value, known), answer, error);
  });
}

tessera_status tessera_find_front(const tessera_network* network, const tessera_profile* profile,
                                  const tessera_plan_options* options, int32_t most_searches,
                                  tessera_front** front, tessera_error** error) {
  *front = nullptr;
  return Guarded(error, [&] {
    const PlanOptions known = options != nullptr ? Translate(*options) : PlanOptions();
    Result<FrontAnswer> found =
        most_searches == 0 ? FindFront(network->value, profile->value, known)
                           : FindFront(network->value, profile->value, known, most_searches);
    if (!found) return Fail(found.Error(), error);
    auto handle = std::make_unique<tessera_front>();
    handle->value = *std::move(found);
    for (const FrontPoint& point : handle->value.points) handle->plans.push_back({point.plan});
    *front = handle.release();
    return TESSERA_OK;
  });
}

size_t tessera_front_count(const tessera_front* front) { return front->plans.size(); }
const tessera_plan* tessera_front_plan(const tessera_front* front, size_t index) {
  return index < front->plans.size() ? &front->plans[index] : nullptr;
}
int tessera_front_is_complete(const tessera_front* front) { return front->value.complete ? 1 : 0; }
int tessera_front_stopped(const tessera_front* front) { return front->value.stopped ? 1 : 0; }
tessera_outcome tessera_front_outcome(const tessera_front* front) {
  return front->plans.empty() ? static_cast<tessera_outcome>(front->value.refusal.outcome)
                              : TESSERA_FEASIBLE;
}
const char* tessera_front_reason(const tessera_front* front) {
  return front->value.refusal.reason.c_str();
}
const char* tessera_front_json(const tessera_front* front) { return front->value.json.c_str(); }
void tessera_front_free(tessera_front* front) { delete front; }

tessera_outcome tessera_answer_outcome(const tessera_answer* answer) {
  return static_cast<tessera_outcome>(answer->value.outcome);
}
const char* tessera_answer_reason(const tessera_answer* answer) {
  return answer->value.reason.c_str();
}
const char* tessera_answer_explanation(const tessera_answer* answer) {
  return answer->explanation.c_str();
}
const tessera_certificate* tessera_answer_certificate(const tessera_answer* answer) {
  return answer->certificate.get();
}
int tessera_answer_stopped(const tessera_answer* answer) { return answer->value.stopped ? 1 : 0; }
const tessera_plan* tessera_answer_plan(const tessera_answer* answer) { return answer->plan.get(); }
void tessera_answer_free(tessera_answer* answer) { delete answer; }

tessera_status tessera_plan_parse(const char* json, size_t size, tessera_plan** plan,
                                  tessera_error** error) {
  *plan = nullptr;
  return Guarded(error, [&] { return Give(Plan::Parse({json, size}), plan, error); });
}

double tessera_plan_score(const tessera_plan* plan) { return plan->value.Score(); }
double tessera_plan_bound(const tessera_plan* plan) { return plan->value.Bound(); }

int tessera_plan_metric(const tessera_plan* plan, const char* metric, double* value) {
  const PlanMetric* found = plan->value.FindMetric(metric);
  if (found != nullptr) *value = found->value;
  return found != nullptr ? 1 : 0;
}

size_t tessera_plan_subgraph_count(const tessera_plan* plan) {
  return plan->value.Subgraphs().size();
}
size_t tessera_plan_buffer_count(const tessera_plan* plan) { return plan->value.Buffers().size(); }

int tessera_plan_buffer(const tessera_plan* plan, size_t index, tessera_buffer* buffer) {
  if (index >= plan->value.Buffers().size()) return 0;
  const PlanBuffer& from = plan->value.Buffers()[index];
  const tessera_buffer all = {buffer->size_of_struct, from.name.c_str(), from.offset, from.size};
  std::memcpy(buffer, &all, std::min(buffer->size_of_struct, sizeof all));
  return 1;
}

tessera_status tessera_plan_render(const tessera_plan* plan, const char* format, char** text,
                                   tessera_error** error) {
  *text = nullptr;
  return Guarded(error, [&] { return RenderTo(text, plan->value.Render(format), error); });
}

tessera_status tessera_plan_save(const tessera_plan* plan, const char* path,
                                 tessera_error** error) {
  return Guarded(error, [&] {
    const Result<Done> saved = plan->value.Save(path);
    return saved ? TESSERA_OK : Fail(saved.Error(), error);
  });
}

tessera_status tessera_plan_difference(const tessera_plan* first, const tessera_plan* second,
                                       char** json, tessera_error** error) {
  *json = nullptr;
  return Guarded(error, [&] {
    const Result<PlanDifference> difference = Difference(first->value, second->value);
    if (!difference) return Fail(difference.Error(), error);
    *json = Copy(difference->json);
    return TESSERA_OK;
  });
}

tessera_status tessera_plan_check(const tessera_plan* plan, int* accepted, char** findings,
                                  tessera_error** error) {
  *accepted = 0;
  if (findings != nullptr) *findings = nullptr;
  return Guarded(error, [&] {
    const Result<CheckReport> report = Check(plan->value);
    return report ? Give(*report, accepted, findings) : Fail(report.Error(), error);
  });
}

tessera_status tessera_plan_execute(const tessera_plan* plan, int* accepted, char** findings,
                                    tessera_error** error) {
  *accepted = 0;
  if (findings != nullptr) *findings = nullptr;
  return Guarded(error, [&] {
    const Result<ExecuteReport> report = Execute(plan->value);
    return report ? Give(*report, accepted, findings) : Fail(report.Error(), error);
  });
}

tessera_status tessera_evaluate(const char* json, size_t size,
                                const tessera_evaluate_options* given, tessera_answer** answer,
                                tessera_error** error) {
  *answer = nullptr;
  return Guarded(error, [&] {
    const Result<EvaluateAnswer> found =
        Evaluate({json, size}, given != nullptr ? Translate(*given) : EvaluateOptions());
    if (!found) return Fail(found.Error(), error);
    PlanAnswer shown;
    shown.outcome = found->outcome;
    shown.plan = found->plan;
    shown.reason = found->reason + Joined(found->findings);
    shown.explanation = found->explanation;
    shown.stopped = found->stopped;
    return GiveAnswer(std::move(shown), answer, error);
  });
}

void tessera_plan_free(tessera_plan* plan) { delete plan; }

}  // extern "C"

// NOLINTEND(cppcoreguidelines-owning-memory)
