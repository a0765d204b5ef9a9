// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/c/handles.h"

// NOLINTBEGIN(cppcoreguidelines-owning-memory)
namespace tessera::api::c {
namespace {

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

OffsetConstraint Translate(const tessera_offset_constraint& given) {
  const tessera_offset_constraint known = Complete(given);
  OffsetConstraint constraint;
  constraint.name = TextOf(known.name);
  constraint.version = TextOf(known.version);
  for (size_t i = 0; i < known.buffer_count; ++i)
    constraint.buffers.emplace_back(TextOf(known.buffers[i]));
  if (known.unit != 0) constraint.unit = known.unit;
  if (known.judge == nullptr) return constraint;
  constraint.judge = [judge = known.judge, user = known.user](const std::vector<OffsetRange>& at) {
    std::vector<tessera_offset_range> ranges;
    ranges.reserve(at.size());
    for (const OffsetRange& range : at) ranges.push_back({range.least, range.greatest});
    return static_cast<Judgement>(judge(user, ranges.data(), ranges.size()));
  };
  return constraint;
}

ListFormat FormatOf(const char* format, const char* lifetimes) {
  return {TextOf(format), TextOf(lifetimes)};
}

ListRequest Translate(const tessera_list_request& given) {
  const tessera_list_request known = Complete(given);
  ListRequest request;
  request.family = TextOf(known.family);
  if (known.buffers != 0) request.buffers = known.buffers;
  if (known.seed != 0) request.seed = known.seed;
  request.fixed_share = known.fixed_share;
  request.separated = known.separated;
  request.penalties = known.penalties;
  request.values = known.values != 0;
  for (const tessera_list_parameter& each : Complete(known.parameters, known.parameter_count))
    request.parameters.emplace_back(TextOf(each.name), each.value);
  return request;
}

ChooseOptions Translate(const tessera_choose_options& given) {
  const tessera_choose_options known = Complete(given);
  ChooseOptions options;
  if (known.capacity != 0) options.capacity = known.capacity;
  TranslateSearch(known, options);
  return options;
}

}  // namespace

AllocateOptions Translate(const tessera_allocate_options& given) {
  const tessera_allocate_options known = Complete(given);
  AllocateOptions options;
  if (known.capacity != 0) options.capacity = known.capacity;
  options.minimize = known.minimize != 0;
  if (known.engine != nullptr) options.engine = known.engine;
  options.explain = known.no_explanation == 0;
  options.certify = known.certify != 0;
  for (const tessera_memory_weight& each : Complete(known.peaks, known.peak_count))
    options.peaks.emplace_back(TextOf(each.memory), each.weight);
  options.gap_percent = known.gap_percent;
  TranslateSearch(known, options);
  return options;
}

tessera_status GiveAllocation(Result<AllocateAnswer> made, tessera_allocation** allocation,
                              tessera_error** error) {
  if (!made) return Fail(made.Error(), error);
  auto handle = std::make_unique<tessera_allocation>();
  handle->value = *std::move(made);
  handle->explanation = Joined(handle->value.explanation);
  if (handle->value.certificate)
    handle->certificate.reset(new tessera_certificate{*handle->value.certificate});
  *allocation = handle.release();
  return TESSERA_OK;
}

}  // namespace tessera::api::c

using namespace tessera;
using namespace tessera::api::c;

extern "C" {

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

tessera_status tessera_problem_load_as(const char* path, const char* format, const char* lifetimes,
                                       tessera_problem** problem, tessera_error** error) {
  *problem = nullptr;
  return Guarded(error, [&] {
    return Give(Problem::Load(path, FormatOf(format, lifetimes)), problem, error);
  });
}

tessera_status tessera_problem_parse_as(const char* text, size_t size, const char* format,
                                        const char* lifetimes, tessera_problem** problem,
                                        tessera_error** error) {
  *problem = nullptr;
  return Guarded(error, [&] {
    return Give(Problem::Parse({text, size}, "problem", FormatOf(format, lifetimes)), problem,
                error);
  });
}

tessera_status tessera_problem_render(const tessera_problem* problem, const char* format,
                                      const char* lifetimes, char** text, tessera_error** error) {
  *text = nullptr;
  return Guarded(error, [&] {
    const Result<WrittenList> written = WriteList(problem->value, FormatOf(format, lifetimes));
    if (!written) return Fail(written.Error(), error);
    *text = Copy(written->text);
    return TESSERA_OK;
  });
}

tessera_status tessera_problem_statistics(const tessera_problem* problem, char** json,
                                          tessera_error** error) {
  *json = nullptr;
  return Guarded(error, [&] {
    const Result<Statistics> found = StatisticsOf(problem->value);
    if (!found) return Fail(found.Error(), error);
    *json = Copy(found->json);
    return TESSERA_OK;
  });
}

tessera_status tessera_problem_generate(const tessera_list_request* request,
                                        tessera_problem** problem, tessera_error** error) {
  *problem = nullptr;
  return Guarded(error, [&] {
    Result<GeneratedList> made = GenerateList(Translate(*request));
    if (!made) return Fail(made.Error(), error);
    return Give(Result<Problem>(std::move(made->problem)), problem, error);
  });
}

tessera_status tessera_problem_new(size_t count, const int64_t* lower, const int64_t* upper,
                                   const int64_t* sizes, const int64_t* alignments,
                                   tessera_problem** problem, tessera_error** error) {
  *problem = nullptr;
  return Guarded(error, [&] {
    return Give(Problem::Make(BuffersOf(count, lower, upper, sizes, alignments)), problem, error);
  });
}

tessera_status tessera_problem_with_constraint(const tessera_problem* problem,
                                               const tessera_offset_constraint* constraint,
                                               tessera_problem** changed, tessera_error** error) {
  *changed = nullptr;
  return Guarded(error,
                 [&] { return Give(problem->value.With(Translate(*constraint)), changed, error); });
}

tessera_status tessera_problem_with_capacity(const tessera_problem* problem, const char* memory,
                                             int64_t capacity, tessera_problem** changed,
                                             tessera_error** error) {
  *changed = nullptr;
  return Guarded(error, [&] {
    return Give(problem->value.WithCapacities({{memory, capacity}}), changed, error);
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
    return GiveAllocation(Allocate(problem->value, known), allocation, error);
  });
}

tessera_outcome tessera_allocation_outcome(const tessera_allocation* allocation) {
  return static_cast<tessera_outcome>(allocation->value.outcome);
}
const char* tessera_allocation_reason(const tessera_allocation* allocation) {
  return allocation->value.reason.c_str();
}
const char* tessera_allocation_engine(const tessera_allocation* allocation) {
  return allocation->value.engine.c_str();
}
const char* tessera_allocation_explanation(const tessera_allocation* allocation) {
  return allocation->explanation.c_str();
}
const tessera_certificate* tessera_allocation_certificate(const tessera_allocation* allocation) {
  return allocation->certificate.get();
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

size_t tessera_allocation_memory_count(const tessera_allocation* allocation) {
  return allocation->value.peaks.size();
}
int tessera_allocation_memory(const tessera_allocation* allocation, size_t index,
                              tessera_memory_peak* peak) {
  if (index >= allocation->value.peaks.size()) return 0;
  const MemoryPeak& each = allocation->value.peaks[index];
  const tessera_memory_peak known = {peak->size, each.memory.c_str(), each.peak, each.lower_bound};
  std::memcpy(peak, &known, std::min(known.size, sizeof known));
  return 1;
}
double tessera_allocation_score(const tessera_allocation* allocation) {
  return allocation->value.score;
}
double tessera_allocation_score_bound(const tessera_allocation* allocation) {
  return allocation->value.score_bound;
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

tessera_status tessera_choose(const tessera_problem* problem, const tessera_choose_options* options,
                              tessera_choice** choice, tessera_error** error) {
  *choice = nullptr;
  return Guarded(error, [&] {
    const ChooseOptions known = options != nullptr ? Translate(*options) : ChooseOptions();
    return Give(Choose(problem->value, known), choice, error);
  });
}

tessera_outcome tessera_choice_outcome(const tessera_choice* choice) {
  return static_cast<tessera_outcome>(choice->value.outcome);
}
const char* tessera_choice_reason(const tessera_choice* choice) {
  return choice->value.reason.c_str();
}
int64_t tessera_choice_value(const tessera_choice* choice) { return choice->value.value; }
int64_t tessera_choice_bound(const tessera_choice* choice) { return choice->value.bound; }

int tessera_choice_of(const tessera_choice* choice, size_t buffer, tessera_chosen* chosen,
                      int64_t* offset) {
  if (buffer >= choice->value.chosen.size()) return 0;
  *chosen = static_cast<tessera_chosen>(choice->value.chosen[buffer]);
  *offset = choice->value.offsets[buffer];
  return 1;
}

int tessera_choice_stopped(const tessera_choice* choice) { return choice->value.stopped ? 1 : 0; }
const char* tessera_choice_json(const tessera_choice* choice) { return choice->value.json.c_str(); }
void tessera_choice_free(tessera_choice* choice) { delete choice; }

}  // extern "C"

// NOLINTEND(cppcoreguidelines-owning-memory)
