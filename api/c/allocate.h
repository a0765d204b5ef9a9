// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_C_ALLOCATE_H_
#define TESSERA_C_ALLOCATE_H_

/* Addresses for buffers, without a network. Part of <tessera/c/tessera.h>. */
#include <stddef.h>
#include <stdint.h>
#include <tessera/c/call.h>

#ifdef __cplusplus
extern "C" {
#endif

TESSERA_API tessera_status tessera_problem_load(const char* path, tessera_problem** problem,
                                                tessera_error** error);
/* `text` is CSV or JSON. */
TESSERA_API tessera_status tessera_problem_parse(const char* text, size_t size,
                                                 tessera_problem** problem, tessera_error** error);
/* As the two before, from a format of another tool (docs/convert.md): "csv", "json", "trace",
   "dsa-solver", "executorch" or "tvm"; NULL: the text tells CSV and JSON apart. `lifetimes` of a
   CSV are "half-open" (also NULL), "inclusive" or "exclusive". */
TESSERA_API tessera_status tessera_problem_load_as(const char* path, const char* format,
                                                   const char* lifetimes, tessera_problem** problem,
                                                   tessera_error** error);
TESSERA_API tessera_status tessera_problem_parse_as(const char* text, size_t size,
                                                    const char* format, const char* lifetimes,
                                                    tessera_problem** problem,
                                                    tessera_error** error);
/* `count` buffers of sizes[i] bytes that live in the steps [lower[i], upper[i]). `alignments` may
   be NULL: 1 byte each. */
TESSERA_API tessera_status tessera_problem_new(size_t count, const int64_t* lower,
                                               const int64_t* upper, const int64_t* sizes,
                                               const int64_t* alignments, tessera_problem** problem,
                                               tessera_error** error);
/* A copy whose memory of that name has `capacity` bytes. */
TESSERA_API tessera_status tessera_problem_with_capacity(const tessera_problem* problem,
                                                         const char* memory, int64_t capacity,
                                                         tessera_problem** changed,
                                                         tessera_error** error);
/* The problem in one of these formats, or as "tflite-micro". The text is read back and compared.
   tessera_text_free frees it. */
TESSERA_API tessera_status tessera_problem_render(const tessera_problem* problem,
                                                  const char* format, const char* lifetimes,
                                                  char** text, tessera_error** error);
/* Figures of each memory, as `tessera stats --format json`. tessera_text_free frees the text. */
TESSERA_API tessera_status tessera_problem_statistics(const tessera_problem* problem, char** json,
                                                      tessera_error** error);

typedef struct tessera_list_parameter {
  size_t size; /* sizeof(tessera_list_parameter), in each element of an array */
  const char* name;
  int64_t value;
} tessera_list_parameter;

/* Set all to 0, then `size`: 0 and NULL mean the default of each field. */
typedef struct tessera_list_request {
  size_t size;        /* sizeof(tessera_list_request) */
  const char* family; /* "perfect", "random", .. (docs/generate.md) */
  int64_t buffers;    /* 0: 100 */
  uint64_t seed;      /* 0: 1 */
  double fixed_share; /* 0 to 1: of the offsets, fixed to those of a known solution */
  int64_t separated;  /* pairs that must not share addresses */
  int64_t penalties;  /* pairs for which sharing addresses costs 1 */
  int32_t values;     /* not 0: each buffer has a value */
  const tessera_list_parameter* parameters; /* of the family */
  size_t parameter_count;
} tessera_list_request;

/* Draws a problem of a family. Equal requests give equal problems. */
TESSERA_API tessera_status tessera_problem_generate(const tessera_list_request* request,
                                                    tessera_problem** problem,
                                                    tessera_error** error);
/* Offsets in bytes; both ends are included. */
typedef struct tessera_offset_range {
  int64_t least;
  int64_t greatest;
} tessera_offset_range;

typedef enum tessera_judgement {
  TESSERA_KEPT = 0,   /* by all offsets in the ranges */
  TESSERA_BROKEN = 1, /* by all offsets in the ranges */
  TESSERA_OPEN = 2    /* neither is known; only allowed if some range has several offsets */
} tessera_judgement;

/* A restriction on offsets (docs/library.md). Set all to 0, then `size`. */
typedef struct tessera_offset_constraint {
  size_t size;                /* sizeof(tessera_offset_constraint) */
  const char* name;           /* for messages */
  const char* version;        /* of the callback: part of the keys of caches */
  const char* const* buffers; /* the ids of those that it judges, each once */
  size_t buffer_count;
  int64_t unit; /* offsets that round down to the same multiple are judged alike; 0: 1 */
  /* receives `user` and a range for each of the buffers, from any thread. It must be pure, and
     valid as long as a problem has the constraint. */
  tessera_judgement (*judge)(void* user, const tessera_offset_range* at, size_t count);
  void* user;
} tessera_offset_constraint;

/* A copy with one more constraint, which tessera_allocate keeps. */
TESSERA_API tessera_status tessera_problem_with_constraint(
    const tessera_problem* problem, const tessera_offset_constraint* constraint,
    tessera_problem** changed, tessera_error** error);
TESSERA_API size_t tessera_problem_buffer_count(const tessera_problem* problem);
TESSERA_API void tessera_problem_free(tessera_problem* problem);

/* A report of long work. Texts are valid during the call. */
typedef struct tessera_progress {
  size_t size;       /* set by the library: sizeof(tessera_progress) */
  const char* line;  /* for people */
  const char* phase; /* what is counted: "intervals", "pairs", "peak", .. */
  int64_t done;      /* of the phase */
  int64_t total;     /* 0: not known */
  double incumbent;  /* the score of the best answer so far; NaN: none */
  /* proven: no answer has a lower score, for the network in the form that is searched at that time;
     NaN: not known */
  double bound;
} tessera_progress;

typedef struct tessera_memory_weight {
  size_t size; /* sizeof(tessera_memory_weight), in each element of an array */
  const char* memory;
  double weight;
} tessera_memory_weight;

/* Set all to 0, then `size`: 0 and NULL mean the default of each field. */
typedef struct tessera_allocate_options {
  size_t size;      /* sizeof(tessera_allocate_options) */
  int64_t capacity; /* bytes; 0: that of the problem */
  int32_t minimize; /* not 0: the least peak, which is also sought if no capacity is stated */
  int32_t threads;
  uint64_t seed;
  int64_t budget;       /* of work; 0: the default */
  double timeout_s;     /* of wall clock; 0: none */
  int64_t memory_limit; /* bytes that the process holds; 0: three quarters of what it may hold */
  const tessera_canceller* canceller;
  /* receives `user` and the progress, from any thread, one at a time */
  void (*progress)(void* user, const tessera_progress* progress);
  void* user;
  const char* engine;     /* this engine alone */
  int32_t no_explanation; /* not 0: infeasible answers are not explained */
  int32_t certify;        /* not 0: a proof that nothing fits, or nothing below the least peak */
  /* which peaks are minimised where there are several memories: weights above 0, or one entry
     {.., "relative", 1}, each peak over its lower bound; none: with `minimize` the sum of all */
  const tessera_memory_weight* peaks;
  size_t peak_count;
  double gap_percent; /* a peak this much above the lower bound is low enough */
} tessera_allocate_options;

/* The peak of one of several memories. */
typedef struct tessera_memory_peak {
  size_t size; /* set by the caller: sizeof(tessera_memory_peak) */
  const char* memory;
  int64_t peak;        /* bytes */
  int64_t lower_bound; /* bytes; no placement has a lower peak */
} tessera_memory_peak;

/* Returns the best allocation that is found, or why there is none, which is not an error. `options`
   may be NULL. */
TESSERA_API tessera_status tessera_allocate(const tessera_problem* problem,
                                            const tessera_allocate_options* options,
                                            tessera_allocation** allocation, tessera_error** error);
TESSERA_API tessera_outcome tessera_allocation_outcome(const tessera_allocation* allocation);
TESSERA_API const char* tessera_allocation_reason(const tessera_allocation* allocation);
TESSERA_API const char* tessera_allocation_engine(const tessera_allocation* allocation);
/* For an infeasible answer: the few conditions that collide and what would help, in lines. */
TESSERA_API const char* tessera_allocation_explanation(const tessera_allocation* allocation);
/* NULL if there is none. It belongs to the allocation. */
TESSERA_API const tessera_certificate* tessera_allocation_certificate(
    const tessera_allocation* allocation);
TESSERA_API int tessera_allocation_stopped(const tessera_allocation* allocation);
/* Bytes, in the order of the buffers; NULL if nothing was found. */
TESSERA_API const int64_t* tessera_allocation_offsets(const tessera_allocation* allocation);
TESSERA_API int64_t tessera_allocation_peak(const tessera_allocation* allocation);
TESSERA_API int64_t tessera_allocation_lower_bound(const tessera_allocation* allocation);
/* If peaks of several memories were minimised: the number of memories, each peak, their weighted
   sum, and a lower bound of this sum; otherwise 0. tessera_allocation_memory returns 1, or 0 if
   `index` is too large. */
TESSERA_API size_t tessera_allocation_memory_count(const tessera_allocation* allocation);
TESSERA_API int tessera_allocation_memory(const tessera_allocation* allocation, size_t index,
                                          tessera_memory_peak* peak);
TESSERA_API double tessera_allocation_score(const tessera_allocation* allocation);
TESSERA_API double tessera_allocation_score_bound(const tessera_allocation* allocation);
/* The allocation as "json", "csv" or "svg". tessera_text_free frees the text. */
TESSERA_API tessera_status tessera_allocation_render(const tessera_allocation* allocation,
                                                     const char* format, char** text,
                                                     tessera_error** error);
TESSERA_API void tessera_allocation_free(tessera_allocation* allocation);

/* --- the buffers of greatest value that fit (docs/choose.md) */

/* Set all to 0, then `size`: 0 and NULL mean the default of each field. */
typedef struct tessera_choose_options {
  size_t size;      /* sizeof(tessera_choose_options) */
  int64_t capacity; /* bytes; 0: that of the problem */
  int32_t threads;
  uint64_t seed;
  int64_t budget;
  double timeout_s;
  int64_t memory_limit;
  const tessera_canceller* canceller;
  void (*progress)(void* user, const tessera_progress* progress);
  void* user;
} tessera_choose_options;

typedef enum tessera_chosen {
  TESSERA_PLACED = 0,
  TESSERA_FALLBACK = 1, /* its fallback is placed */
  TESSERA_LEFT_OUT = 2
} tessera_chosen;

/* `options` may be NULL. */
TESSERA_API tessera_status tessera_choose(const tessera_problem* problem,
                                          const tessera_choose_options* options,
                                          tessera_choice** choice, tessera_error** error);
TESSERA_API tessera_outcome tessera_choice_outcome(const tessera_choice* choice);
TESSERA_API const char* tessera_choice_reason(const tessera_choice* choice);
TESSERA_API int64_t tessera_choice_value(const tessera_choice* choice);
TESSERA_API int64_t tessera_choice_bound(const tessera_choice* choice); /* none is worth more */
/* Returns 1, or 0 if `buffer` is too large or there is no choice. `offset` is in bytes. */
TESSERA_API int tessera_choice_of(const tessera_choice* choice, size_t buffer,
                                  tessera_chosen* chosen, int64_t* offset);
TESSERA_API int tessera_choice_stopped(const tessera_choice* choice);
TESSERA_API const char* tessera_choice_json(const tessera_choice* choice);
TESSERA_API void tessera_choice_free(tessera_choice* choice);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_ALLOCATE_H_ */
