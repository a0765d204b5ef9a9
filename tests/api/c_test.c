// SPDX-License-Identifier: Apache-2.0

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera/c/tessera.h>

/* The C interface from C: c_test NETWORK PROFILE. */

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

static int lines = 0;

static void count_line(void* user, const tessera_progress* progress) {
  EXPECT(user == &lines);
  EXPECT(progress->size == sizeof *progress);
  EXPECT(strlen(progress->line) > 0 && strlen(progress->phase) > 0);
  ++lines;
}

static void test_errors(void) {
  tessera_network* network = NULL;
  tessera_profile* profile = NULL;
  tessera_error* error = NULL;
  static const char text[] = "schema: 1\noperatorz: []\n";
  EXPECT(tessera_network_parse(text, strlen(text), "mine.yaml", NULL, &network, &error) ==
         TESSERA_BAD_INPUT);
  EXPECT(network == NULL && error != NULL);
  EXPECT(strcmp(tessera_error_file(error), "mine.yaml") == 0);
  EXPECT(tessera_error_line(error) == 2 && tessera_error_column(error) == 1);
  EXPECT(strlen(tessera_error_message(error)) > 0 && strlen(tessera_error_hint(error)) > 0);
  EXPECT(strstr(tessera_error_text(error), tessera_error_message(error)) != NULL);
  tessera_error_free(error);
  EXPECT(tessera_profile_load("/no/such/file", &profile, NULL) == TESSERA_BAD_INPUT);
  EXPECT(profile == NULL);
}

static void test_plan(const tessera_plan* plan) {
  tessera_plan* again = NULL;
  tessera_buffer buffer = {sizeof(tessera_buffer), NULL, -1, -1};
  char* json = NULL;
  char* findings = NULL;
  double latency = 0;
  int accepted = 0;
  EXPECT(tessera_plan_metric(plan, "latency", &latency) == 1);
  EXPECT(latency == tessera_plan_score(plan) && latency >= tessera_plan_bound(plan));
  EXPECT(tessera_plan_metric(plan, "beauty", &latency) == 0);
  EXPECT(tessera_plan_subgraph_count(plan) > 0);
  EXPECT(tessera_plan_buffer(plan, 0, &buffer) == 1);
  EXPECT(buffer.name != NULL && buffer.offset >= 0 && buffer.size > 0);
  EXPECT(tessera_plan_buffer(plan, tessera_plan_buffer_count(plan), &buffer) == 0);
  EXPECT(tessera_plan_render(plan, "json", &json, NULL) == TESSERA_OK);
  EXPECT(tessera_plan_parse(json, strlen(json), &again, NULL) == TESSERA_OK);
  EXPECT(tessera_plan_score(again) == tessera_plan_score(plan));
  EXPECT(tessera_plan_check(again, &accepted, &findings, NULL) == TESSERA_OK);
  EXPECT(accepted == 1 && strlen(findings) == 0);
  EXPECT(tessera_plan_save(plan, "/no/such/folder/plan.json", NULL) == TESSERA_BAD_INPUT);
  tessera_text_free(findings);
  tessera_text_free(json);
  tessera_plan_free(again);
}

/* 12 bytes suffice for three buffers of which two live at a time. */
static void test_allocate(void) {
  const int64_t lower[] = {0, 1, 4}, upper[] = {3, 9, 9}, sizes[] = {8, 4, 8};
  const int64_t alignments[] = {1, 1, 4};
  tessera_problem* problem = NULL;
  tessera_allocation* allocation = NULL;
  tessera_error* error = NULL;
  tessera_allocate_options options;
  char* json = NULL;
  EXPECT(tessera_problem_new(3, lower, upper, sizes, alignments, &problem, NULL) == TESSERA_OK);
  EXPECT(tessera_problem_buffer_count(problem) == 3);
  EXPECT(tessera_allocate(problem, NULL, &allocation, NULL) == TESSERA_OK);
  EXPECT(tessera_allocation_outcome(allocation) == TESSERA_OPTIMAL);
  EXPECT(tessera_allocation_peak(allocation) == 12);
  EXPECT(tessera_allocation_lower_bound(allocation) == 12);
  EXPECT(tessera_allocation_offsets(allocation)[2] % 4 == 0);
  EXPECT(tessera_allocation_stopped(allocation) == 0);
  EXPECT(tessera_allocation_render(allocation, "json", &json, NULL) == TESSERA_OK);
  EXPECT(strstr(json, "offsets") != NULL);
  tessera_text_free(json);
  tessera_allocation_free(allocation);

  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.capacity = 11;
  EXPECT(tessera_allocate(problem, &options, &allocation, NULL) == TESSERA_OK);
  EXPECT(tessera_allocation_outcome(allocation) == TESSERA_INFEASIBLE);
  EXPECT(tessera_allocation_offsets(allocation) == NULL);
  EXPECT(strlen(tessera_allocation_reason(allocation)) > 0);
  EXPECT(tessera_allocation_render(allocation, "json", &json, &error) == TESSERA_BAD_INPUT);
  EXPECT(json == NULL && strlen(tessera_error_text(error)) > 0);
  tessera_error_free(error);
  tessera_allocation_free(allocation);
  tessera_problem_free(problem);

  EXPECT(tessera_problem_parse("id,lower\n", 9, &problem, NULL) == TESSERA_BAD_INPUT);
  EXPECT(problem == NULL);
  EXPECT(tessera_problem_load("/no/such/file.csv", &problem, NULL) == TESSERA_BAD_INPUT);
}

/* 160 bytes are needed in sram, 60 in tcm. */
static void test_lists(const char* profile_path, const tessera_plan* plan) {
  const tessera_list_parameter alive = {sizeof alive, "alive", 5};
  const tessera_list_parameter wrong = {sizeof wrong, "alife", 5};
  tessera_list_request request;
  tessera_problem* problem = NULL;
  tessera_problem* again = NULL;
  tessera_profile* profile = NULL;
  tessera_profile* fitted = NULL;
  tessera_error* error = NULL;
  char* text = NULL;
  memset(&request, 0, sizeof request);
  request.size = sizeof request;
  request.family = "random";
  request.buffers = 20;
  request.parameters = &alive;
  request.parameter_count = 1;
  EXPECT(tessera_problem_generate(&request, &problem, NULL) == TESSERA_OK);
  EXPECT(tessera_problem_buffer_count(problem) == 20);
  EXPECT(tessera_problem_statistics(problem, &text, NULL) == TESSERA_OK);
  EXPECT(strstr(text, "\"buffers\": 20") != NULL);
  tessera_text_free(text);
  EXPECT(tessera_problem_render(problem, "executorch", NULL, &text, NULL) == TESSERA_OK);
  EXPECT(tessera_problem_parse_as(text, strlen(text), "executorch", NULL, &again, NULL) ==
         TESSERA_OK);
  EXPECT(tessera_problem_buffer_count(again) == 20);
  tessera_text_free(text);
  tessera_problem_free(again);
  EXPECT(tessera_problem_render(problem, "onnx", NULL, &text, &error) == TESSERA_BAD_INPUT);
  EXPECT(text == NULL && strstr(tessera_error_text(error), "executorch") != NULL);
  tessera_error_free(error);
  EXPECT(tessera_problem_load_as("/nowhere", "trace", NULL, &again, NULL) == TESSERA_BAD_INPUT);
  request.parameters = &wrong;
  EXPECT(tessera_problem_generate(&request, &again, NULL) == TESSERA_BAD_INPUT && again == NULL);
  tessera_problem_free(problem);

  EXPECT(tessera_plan_difference(plan, plan, &text, NULL) == TESSERA_OK);
  EXPECT(strstr(text, "\"same\": true") != NULL);
  tessera_text_free(text);
  EXPECT(tessera_profile_load(profile_path, &profile, NULL) == TESSERA_OK);
  EXPECT(tessera_profile_fit(profile, "/nowhere", &fitted, &text, NULL) == TESSERA_BAD_INPUT);
  EXPECT(fitted == NULL && text == NULL);
  tessera_profile_free(profile);
}

static void test_choices(const tessera_network* network, const tessera_profile* profile) {
  static const char list[] = "id,lower,upper,size,value\na,0,4,2,\nb,0,4,4,5\nc,0,4,4,4\n";
  const tessera_metric_value one_byte = {sizeof one_byte, "peak", 1};
  tessera_choose_options choose;
  tessera_plan_options plan;
  tessera_problem* problem = NULL;
  tessera_choice* choice = NULL;
  tessera_front* front = NULL;
  tessera_chosen chosen;
  int64_t offset;
  memset(&choose, 0, sizeof choose);
  choose.size = sizeof choose;
  choose.capacity = 6;
  EXPECT(tessera_problem_parse(list, strlen(list), &problem, NULL) == TESSERA_OK);
  EXPECT(tessera_choose(problem, &choose, &choice, NULL) == TESSERA_OK);
  EXPECT(tessera_choice_outcome(choice) == TESSERA_OPTIMAL);
  EXPECT(tessera_choice_value(choice) == 5 && tessera_choice_bound(choice) == 5);
  EXPECT(tessera_choice_of(choice, 1, &chosen, &offset) == 1 && chosen == TESSERA_PLACED);
  EXPECT(tessera_choice_of(choice, 2, &chosen, &offset) == 1 && chosen == TESSERA_LEFT_OUT);
  EXPECT(tessera_choice_of(choice, 3, &chosen, &offset) == 0);
  EXPECT(tessera_choice_stopped(choice) == 0 && tessera_choice_reason(choice) != NULL);
  EXPECT(strstr(tessera_choice_json(choice), "tessera-choice") != NULL);
  tessera_choice_free(choice);
  EXPECT(tessera_choose(problem, NULL, &choice, NULL) == TESSERA_BAD_INPUT && choice == NULL);
  tessera_problem_free(problem);

  EXPECT(tessera_find_front(network, profile, NULL, 4, &front, NULL) == TESSERA_OK);
  EXPECT(tessera_front_count(front) > 0 && tessera_front_outcome(front) == TESSERA_FEASIBLE);
  EXPECT(tessera_plan_score(tessera_front_plan(front, 0)) > 0);
  EXPECT(tessera_front_plan(front, tessera_front_count(front)) == NULL);
  EXPECT(strstr(tessera_front_json(front), "tessera-front") != NULL);
  EXPECT(tessera_front_stopped(front) == 0);
  tessera_front_free(front);
  memset(&plan, 0, sizeof plan);
  plan.size = sizeof plan;
  plan.limits = &one_byte;
  plan.limit_count = 1;
  EXPECT(tessera_find_front(network, profile, &plan, 4, &front, NULL) == TESSERA_OK);
  EXPECT(tessera_front_count(front) == 0 && tessera_front_outcome(front) == TESSERA_INFEASIBLE);
  EXPECT(strlen(tessera_front_reason(front)) > 0 && tessera_front_is_complete(front) == 0);
  tessera_front_free(front);
  plan.off_chip = 7;
  EXPECT(tessera_find_front(network, profile, &plan, 4, &front, NULL) == TESSERA_BAD_INPUT);
}

/* `user` is the least distance of two offsets. */
static tessera_judgement judge_distance(void* user, const tessera_offset_range* at, size_t count) {
  const int64_t least = *(const int64_t*)user;
  EXPECT(count == 2);
  if (at[1].least - at[0].greatest >= least || at[0].least - at[1].greatest >= least)
    return TESSERA_KEPT;
  if (at[1].greatest - at[0].least < least && at[0].greatest - at[1].least < least)
    return TESSERA_BROKEN;
  return TESSERA_OPEN;
}

static void test_constraint(void) {
  static const char list[] = "id,lower,upper,size\na,0,4,4\nb,6,9,4\n";
  static const char* const both[] = {"a", "b"};
  int64_t distance = 10;
  tessera_offset_constraint constraint;
  tessera_problem* problem = NULL;
  tessera_problem* apart = NULL;
  tessera_allocation* allocation = NULL;
  memset(&constraint, 0, sizeof constraint);
  constraint.size = sizeof constraint;
  constraint.name = "ten bytes apart";
  constraint.version = "1";
  constraint.buffers = both;
  constraint.buffer_count = 2;
  EXPECT(tessera_problem_parse(list, strlen(list), &problem, NULL) == TESSERA_OK);
  EXPECT(tessera_problem_with_constraint(problem, &constraint, &apart, NULL) == TESSERA_BAD_INPUT);
  constraint.judge = judge_distance;
  constraint.user = &distance;
  EXPECT(tessera_problem_with_constraint(problem, &constraint, &apart, NULL) == TESSERA_OK);
  EXPECT(tessera_allocate(apart, NULL, &allocation, NULL) == TESSERA_OK);
  EXPECT(tessera_allocation_outcome(allocation) == TESSERA_OPTIMAL);
  EXPECT(tessera_allocation_peak(allocation) == 14);
  tessera_allocation_free(allocation);
  tessera_problem_free(apart);
  tessera_problem_free(problem);
}

static void test_memories(void) {
  static const char text[] =
      "{\"format\": \"tessera-problem\", \"version\": 1,"
      "\"memories\": [{\"name\": \"sram\", \"capacity\": 999}, {\"name\": \"tcm\", \"capacity\": "
      "999}],"
      "\"buffers\": ["
      "{\"id\": \"a\", \"size\": 100, \"lifespans\": [[0, 4]], \"memory\": \"sram\"},"
      "{\"id\": \"b\", \"size\": 60, \"lifespans\": [[2, 6]], \"memory\": \"sram\"},"
      "{\"id\": \"c\", \"size\": 50, \"lifespans\": [[0, 4]], \"memory\": \"tcm\"},"
      "{\"id\": \"d\", \"size\": 60, \"lifespans\": [[5, 6]], \"memory\": \"tcm\"}]}";
  const tessera_memory_weight weights[] = {{sizeof *weights, "sram", 2},
                                           {sizeof *weights, "tcm", 1}};
  tessera_memory_peak peak = {sizeof(tessera_memory_peak), NULL, 0, 0};
  tessera_problem* problem = NULL;
  tessera_problem* small = NULL;
  tessera_allocation* allocation = NULL;
  tessera_error* error = NULL;
  tessera_allocate_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.peaks = weights;
  options.peak_count = 2;
  EXPECT(tessera_problem_parse(text, strlen(text), &problem, NULL) == TESSERA_OK);
  EXPECT(tessera_allocate(problem, &options, &allocation, NULL) == TESSERA_OK);
  EXPECT(tessera_allocation_memory_count(allocation) == 2);
  EXPECT(tessera_allocation_memory(allocation, 1, &peak) == 1);
  EXPECT(strcmp(peak.memory, "tcm") == 0 && peak.peak == 60 && peak.lower_bound == 60);
  EXPECT(tessera_allocation_memory(allocation, 2, &peak) == 0);
  EXPECT(tessera_allocation_score(allocation) == 380);
  EXPECT(tessera_allocation_score_bound(allocation) == 380);
  tessera_allocation_free(allocation);
  EXPECT(tessera_problem_with_capacity(problem, "tcm", 59, &small, NULL) == TESSERA_OK);
  EXPECT(tessera_allocate(small, NULL, &allocation, NULL) == TESSERA_OK);
  EXPECT(tessera_allocation_outcome(allocation) == TESSERA_INFEASIBLE);
  EXPECT(tessera_allocation_memory_count(allocation) == 0);
  tessera_allocation_free(allocation);
  tessera_problem_free(small);
  EXPECT(tessera_problem_with_capacity(problem, "tcn", 1, &small, &error) == TESSERA_BAD_INPUT);
  EXPECT(small == NULL && strstr(tessera_error_hint(error), "tcm") != NULL);
  tessera_error_free(error);
  tessera_problem_free(problem);
}

/* The tiles of a plan as measurements of its network: the least plan stays what it is. */
static void test_costs(const tessera_network* network, const tessera_profile* profile,
                       const tessera_plan* plan) {
  static const char kUnknown[] = "operator,tile,engine,cycles\nnowhere,1,npu,5\n";
  tessera_network* measured = NULL;
  tessera_error* error = NULL;
  tessera_answer* answer = NULL;
  char* tiles = NULL;
  EXPECT(tessera_plan_render(plan, "csv", &tiles, NULL) == TESSERA_OK);
  EXPECT(tessera_network_with_costs(network, tiles, strlen(tiles), "tiles.csv", &measured, NULL) ==
         TESSERA_OK);
  EXPECT(tessera_network_operator_count(measured) == tessera_network_operator_count(network));
  EXPECT(tessera_make_plan(measured, profile, NULL, &answer, NULL) == TESSERA_OK);
  EXPECT(tessera_plan_score(tessera_answer_plan(answer)) == tessera_plan_score(plan));
  tessera_answer_free(answer);
  tessera_network_free(measured);
  EXPECT(tessera_network_with_costs(network, kUnknown, strlen(kUnknown), "mine.csv", &measured,
                                    &error) == TESSERA_BAD_INPUT);
  EXPECT(measured == NULL && strcmp(tessera_error_file(error), "mine.csv") == 0);
  tessera_error_free(error);
  tessera_text_free(tiles);
}

int main(int argc, char** argv) {
  tessera_profile* profile = NULL;
  tessera_profile* small = NULL;
  tessera_network* network = NULL;
  tessera_answer* answer = NULL;
  tessera_canceller* canceller = tessera_canceller_new();
  tessera_error* error = NULL;
  tessera_plan_options options;
  const tessera_metric_value limit = {sizeof limit, "peak", 1};
  EXPECT(argc == 3);
  test_errors();
  test_allocate();
  test_memories();
  test_constraint();
  EXPECT(tessera_profile_load(argv[2], &profile, NULL) == TESSERA_OK);
  EXPECT(tessera_network_load(argv[1], profile, &network, NULL) == TESSERA_OK);
  EXPECT(tessera_network_operator_count(network) > 0);

  EXPECT(tessera_make_plan(network, profile, NULL, &answer, &error) == TESSERA_OK);
  EXPECT(error == NULL && tessera_answer_stopped(answer) == 0);
  EXPECT(tessera_answer_plan(answer) != NULL);
  test_plan(tessera_answer_plan(answer));
  test_lists(argv[2], tessera_answer_plan(answer));
  test_costs(network, profile, tessera_answer_plan(answer));
  test_choices(network, profile);

  /* An element without a size has no metric. */
  {
    tessera_metric_value nothing;
    memset(&nothing, 0, sizeof nothing);
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.minimize = &nothing;
    options.minimize_count = 1;
    EXPECT(tessera_make_plan(network, profile, &options, &answer, NULL) == TESSERA_BAD_INPUT);
  }

  /* A caller that knows the first fields only, with what follows undefined. */
  memset(&options, 0xff, sizeof options);
  options.size = offsetof(tessera_plan_options, max_operators);
  options.minimize = NULL;
  options.minimize_count = 0;
  options.limits = &limit;
  options.limit_count = 1;
  tessera_answer_free(answer);
  EXPECT(tessera_make_plan(network, profile, &options, &answer, NULL) == TESSERA_OK);
  EXPECT(tessera_answer_outcome(answer) == TESSERA_INFEASIBLE);
  EXPECT(tessera_answer_plan(answer) == NULL && strlen(tessera_answer_reason(answer)) > 0);
  tessera_answer_free(answer);

  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.canceller = canceller;
  options.progress = count_line;
  options.user = &lines;
  EXPECT(tessera_profile_with(profile, "/memories/sram/capacity_bytes", "131072", &small, NULL) ==
         TESSERA_OK);
  EXPECT(strstr(tessera_profile_json(small), "131072") != NULL);
  EXPECT(tessera_make_plan(network, small, &options, &answer, NULL) == TESSERA_OK);
  EXPECT(lines > 0 && tessera_answer_stopped(answer) == 0);
  tessera_answer_free(answer);
  tessera_canceller_cancel(canceller);
  EXPECT(tessera_make_plan(network, small, &options, &answer, NULL) == TESSERA_OK);
  EXPECT(tessera_answer_stopped(answer) == 1);

  tessera_answer_free(answer);
  tessera_canceller_free(canceller);
  tessera_profile_free(small);
  tessera_profile_free(profile);
  tessera_network_free(network);
  tessera_network_free(NULL);
  return 0;
}
