#include <tessera/c/tessera.h>
#include <tessera/tessera.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

// The C interface: handles around the values of the C++ interface, which throws nothing. C callers
// own what they are given, until they free it. NOLINTBEGIN(cppcoreguidelines-owning-memory)
struct tessera_error {
  tessera::Error value;
};
struct tessera_network {
  tessera::Network value;
};
struct tessera_profile {
  tessera::Profile value;
};
struct tessera_plan {
  tessera::Plan value;
};
struct tessera_answer {
  tessera::PlanAnswer value;
  std::unique_ptr<tessera_plan> plan;  // a handle of value.plan
};
struct tessera_canceller {
  tessera::Canceller value;
};
struct tessera_problem {
  tessera::Problem value;
};
struct tessera_allocation {
  tessera::AllocateAnswer value;
};

namespace tessera::api::c {
namespace {

static_assert(static_cast<int>(CallStatus::kInternal) == TESSERA_INTERNAL);
static_assert(static_cast<int>(Outcome::kUnsupported) == TESSERA_NO_SUPPORT);

tessera_status Fail(const Error& fault, tessera_error** error) {
  const auto status = static_cast<tessera_status>(fault.status);
  if (error != nullptr) *error = new (std::nothrow) tessera_error{fault};
  return status;
}

// Calls `work`, which may throw only for lack of memory: the callers' texts are copied into values.
template <typename Work>
tessera_status Guarded(tessera_error** error, const Work& work) {
  if (error != nullptr) *error = nullptr;
  try {
    return work();
  } catch (...) {
    return TESSERA_STOPPED;
  }
}

// A new handle of the value of a result.
template <typename Handle, typename Value>
tessera_status Give(Result<Value> result, Handle** handle, tessera_error** error) {
  if (!result) return Fail(result.Error(), error);
  *handle = new Handle{*std::move(result)};
  return TESSERA_OK;
}

char* Copy(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

ImportOptions ImportWith(const tessera_profile* profile) {
  ImportOptions options;
  options.profile = profile != nullptr ? &profile->value : nullptr;
  return options;
}

std::vector<MetricValue> ValuesOf(const tessera_metric_value* values, size_t count) {
  std::vector<MetricValue> list;
  for (size_t i = 0; i < count; ++i) list.emplace_back(values[i].metric, values[i].value);
  return list;
}

// What an older caller does not know is 0.
template <typename Options>
Options Complete(const Options& given) {
  Options known = {};
  std::memcpy(&known, &given, std::min(given.size, sizeof known));
  return known;
}

// What the options of all searches have in common.
template <typename Given>
void TranslateSearch(const Given& known, SearchOptions& options) {
  options.seed = known.seed;
  if (known.budget != 0) options.budget = known.budget;
  if (known.timeout_s != 0) options.timeout_s = known.timeout_s;
  if (known.memory_limit != 0) options.memory_limit = known.memory_limit;
  if (known.threads != 0) options.threads = known.threads;
  if (known.canceller != nullptr) options.canceller = known.canceller->value;
}

AllocateOptions Translate(const tessera_allocate_options& given) {
  const tessera_allocate_options known = Complete(given);
  AllocateOptions options;
  if (known.capacity != 0) options.capacity = known.capacity;
  options.minimize = known.minimize != 0;
  TranslateSearch(known, options);
  return options;
}

PlanOptions Translate(const tessera_plan_options& given) {
  const tessera_plan_options known = Complete(given);
  PlanOptions options;
  options.minimize = ValuesOf(known.minimize, known.minimize_count);
  options.limits = ValuesOf(known.limits, known.limit_count);
  if (known.max_operators != 0) options.max_operators = known.max_operators;
  options.keep_order = known.keep_order != 0;
  options.keep_boundaries = known.no_boundaries == 0;
  options.prefetch = known.prefetch != 0;
  if (known.constraints != nullptr) options.constraints = known.constraints;
  options.previous = known.previous != nullptr ? &known.previous->value : nullptr;
  TranslateSearch(known, options);
  if (known.progress != nullptr) {
    options.progress = [known](std::string_view line) {
      known.progress(known.user, std::string(line).c_str());
    };
  }
  return options;
}

tessera_status MakeAnswer(const tessera_network& network, const tessera_profile& profile,
                          const tessera_plan_options* given, tessera_answer** answer,
                          tessera_error** error) {
  const PlanOptions options = given != nullptr ? Translate(*given) : PlanOptions();
  Result<PlanAnswer> made = MakePlan(network.value, profile.value, options);
  if (!made) return Fail(made.Error(), error);
  auto handle = std::make_unique<tessera_answer>();
  handle->value = *std::move(made);
  if (handle->value.plan) handle->plan.reset(new tessera_plan{*handle->value.plan});
  *answer = handle.release();
  return TESSERA_OK;
}

tessera_status CheckPlan(const tessera_plan& plan, int* accepted, char** findings,
                         tessera_error** error) {
  const Result<CheckReport> report = Check(plan.value);
  if (!report) return Fail(report.Error(), error);
  *accepted = report->accepted ? 1 : 0;
  if (findings == nullptr) return TESSERA_OK;
  std::string lines;
  for (const std::string& finding : report->findings) lines += finding + '\n';
  if (!report->open.empty()) lines += report->open + '\n';
  *findings = Copy(lines);
  return TESSERA_OK;
}

// Buffers without names are numbered from 0.
std::vector<Buffer> BuffersOf(size_t count, const int64_t* lower, const int64_t* upper,
                              const int64_t* sizes, const int64_t* alignments) {
  std::vector<Buffer> buffers(count);
  for (size_t i = 0; i < count; ++i) {
    buffers[i].id = std::to_string(i);
    buffers[i].size = sizes[i];
    buffers[i].steps = {{lower[i], upper[i]}};
    if (alignments != nullptr) buffers[i].alignment = alignments[i];
  }
  return buffers;
}

tessera_status RenderTo(char** text, const Result<std::string>& rendered, tessera_error** error) {
  if (!rendered) return Fail(rendered.Error(), error);
  *text = Copy(*rendered);
  return TESSERA_OK;
}

}  // namespace
}  // namespace tessera::api::c

using namespace tessera;
using namespace tessera::api::c;

extern "C" {

const char* tessera_version() { return Version(); }

const char* tessera_error_text(const tessera_error* error) { return error->value.text.c_str(); }
const char* tessera_error_message(const tessera_error* error) {
  return error->value.message.c_str();
}
const char* tessera_error_file(const tessera_error* error) { return error->value.file.c_str(); }
int tessera_error_line(const tessera_error* error) { return error->value.line; }
int tessera_error_column(const tessera_error* error) { return error->value.column; }
const char* tessera_error_hint(const tessera_error* error) { return error->value.hint.c_str(); }
void tessera_error_free(tessera_error* error) { delete error; }

void tessera_text_free(char* text) { std::free(text); }

tessera_status tessera_profile_load(const char* path, tessera_profile** profile,
                                    tessera_error** error) {
  *profile = nullptr;
  return Guarded(error, [&] { return Give(Profile::Load(path), profile, error); });
}

tessera_status tessera_profile_parse(const char* yaml, size_t size, tessera_profile** profile,
                                     tessera_error** error) {
  *profile = nullptr;
  return Guarded(error, [&] { return Give(Profile::Parse({yaml, size}), profile, error); });
}

tessera_status tessera_profile_with(const tessera_profile* profile, const char* path,
                                    const char* value, tessera_profile** changed,
                                    tessera_error** error) {
  *changed = nullptr;
  return Guarded(error, [&] { return Give(profile->value.With(path, value), changed, error); });
}

const char* tessera_profile_json(const tessera_profile* profile) {
  return profile->value.Json().c_str();
}
void tessera_profile_free(tessera_profile* profile) { delete profile; }

tessera_status tessera_network_load(const char* path, const tessera_profile* profile,
                                    tessera_network** network, tessera_error** error) {
  *network = nullptr;
  return Guarded(error,
                 [&] { return Give(Network::Load(path, ImportWith(profile)), network, error); });
}

tessera_status tessera_network_parse(const void* bytes, size_t size, const char* name,
                                     const tessera_profile* profile, tessera_network** network,
                                     tessera_error** error) {
  *network = nullptr;
  const std::string_view view(static_cast<const char*>(bytes), size);
  return Guarded(
      error, [&] { return Give(Network::Parse(view, name, ImportWith(profile)), network, error); });
}

size_t tessera_network_operator_count(const tessera_network* network) {
  return network->value.OperatorCount();
}
void tessera_network_free(tessera_network* network) { delete network; }

tessera_canceller* tessera_canceller_new() {
  try {
    return new tessera_canceller();
  } catch (...) {
    return nullptr;
  }
}
void tessera_canceller_cancel(const tessera_canceller* canceller) { canceller->value.Cancel(); }
void tessera_canceller_free(tessera_canceller* canceller) { delete canceller; }

tessera_status tessera_make_plan(const tessera_network* network, const tessera_profile* profile,
                                 const tessera_plan_options* options, tessera_answer** answer,
                                 tessera_error** error) {
  *answer = nullptr;
  return Guarded(error, [&] { return MakeAnswer(*network, *profile, options, answer, error); });
}

tessera_outcome tessera_answer_outcome(const tessera_answer* answer) {
  return static_cast<tessera_outcome>(answer->value.outcome);
}
const char* tessera_answer_reason(const tessera_answer* answer) {
  return answer->value.reason.c_str();
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

tessera_status tessera_plan_check(const tessera_plan* plan, int* accepted, char** findings,
                                  tessera_error** error) {
  *accepted = 0;
  if (findings != nullptr) *findings = nullptr;
  return Guarded(error, [&] { return CheckPlan(*plan, accepted, findings, error); });
}

void tessera_plan_free(tessera_plan* plan) { delete plan; }

tessera_status tessera_problem_load(const char* path, tessera_problem** problem,
                                    tessera_error** error) {
  *problem = nullptr;
  return Guarded(error, [&] { return Give(Problem::Load(path), problem, error); });
}

tessera_status tessera_problem_parse(const char* text, size_t size, tessera_problem** problem,
                                     tessera_error** error) {
  *problem = nullptr;
  return Guarded(error, [&] { return Give(Problem::Parse({text, size}), problem, error); });
}

tessera_status tessera_problem_new(size_t count, const int64_t* lower, const int64_t* upper,
                                   const int64_t* sizes, const int64_t* alignments,
                                   tessera_problem** problem, tessera_error** error) {
  *problem = nullptr;
  return Guarded(error, [&] {
    return Give(Problem::Make(BuffersOf(count, lower, upper, sizes, alignments)), problem, error);
  });
}

size_t tessera_problem_buffer_count(const tessera_problem* problem) {
  return problem->value.BufferCount();
}
void tessera_problem_free(tessera_problem* problem) { delete problem; }

tessera_status tessera_allocate(const tessera_problem* problem,
                                const tessera_allocate_options* options,
                                tessera_allocation** allocation, tessera_error** error) {
  *allocation = nullptr;
  return Guarded(error, [&] {
    const AllocateOptions known = options != nullptr ? Translate(*options) : AllocateOptions();
    return Give(Allocate(problem->value, known), allocation, error);
  });
}

tessera_outcome tessera_allocation_outcome(const tessera_allocation* allocation) {
  return static_cast<tessera_outcome>(allocation->value.outcome);
}
const char* tessera_allocation_reason(const tessera_allocation* allocation) {
  return allocation->value.reason.c_str();
}
int tessera_allocation_stopped(const tessera_allocation* allocation) {
  return allocation->value.stopped ? 1 : 0;
}
const int64_t* tessera_allocation_offsets(const tessera_allocation* allocation) {
  return allocation->value.allocation ? allocation->value.allocation->Offsets().data() : nullptr;
}
int64_t tessera_allocation_peak(const tessera_allocation* allocation) {
  return allocation->value.allocation ? allocation->value.allocation->Peak() : 0;
}
int64_t tessera_allocation_lower_bound(const tessera_allocation* allocation) {
  return allocation->value.lower_bound;
}

tessera_status tessera_allocation_render(const tessera_allocation* allocation, const char* format,
                                         char** text, tessera_error** error) {
  *text = nullptr;
  return Guarded(error, [&] {
    if (allocation->value.allocation)
      return RenderTo(text, allocation->value.allocation->Render(format), error);
    Error none;
    none.status = CallStatus::kBadInput;
    none.message = none.text = "the answer has no allocation";
    return Fail(none, error);
  });
}

void tessera_allocation_free(tessera_allocation* allocation) { delete allocation; }

}  // extern "C"

// NOLINTEND(cppcoreguidelines-owning-memory)
