// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_C_TESSERA_H_
#define TESSERA_C_TESSERA_H_

/*
 * The C interface of Tessera (docs/library.md). C99.
 *
 *     tessera_network *network;
 *     tessera_profile *profile;
 *     tessera_answer *answer;
 *     if (tessera_network_load("net.yaml", NULL, &network, NULL) != TESSERA_OK) ...
 *     if (tessera_profile_load("npu.yaml", &profile, NULL) != TESSERA_OK) ...
 *     if (tessera_make_plan(network, profile, NULL, &answer, NULL) != TESSERA_OK) ...
 *     if (tessera_answer_plan(answer))
 *       tessera_plan_save(tessera_answer_plan(answer), "plan.json", NULL);
 *
 * A function that can fail returns a status. If it is not TESSERA_OK, outputs are set to NULL, and
 * `*error` is a new error where `error` is not NULL. Each kind of object has a function that frees
 * it and accepts NULL. Texts belong to the object that returns them, except where a comment says
 * that tessera_text_free frees them. Texts are in UTF-8 and end in a zero. Objects never change:
 * threads may share them. A pointer must not be NULL unless a comment allows it.
 */
#include <stddef.h>
#include <stdint.h>
#include <tessera/c/allocate.h>
#include <tessera/c/call.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0": of the library, which may differ from this header. */
TESSERA_API const char* tessera_version(void);

/* --- profiles */
TESSERA_API tessera_status tessera_profile_load(const char* path, tessera_profile** profile,
                                                tessera_error** error);
TESSERA_API tessera_status tessera_profile_parse(const char* yaml, size_t size,
                                                 tessera_profile** profile, tessera_error** error);
/* Makes a copy in which `value`, which is JSON, replaces the entry at `path`, a JSON pointer. */
TESSERA_API tessera_status tessera_profile_with(const tessera_profile* profile, const char* path,
                                                const char* value, tessera_profile** changed,
                                                tessera_error** error);
/* Fits constants of the profile to measured cycles (docs/costs.md): a CSV, and the networks that it
   names from its folder. `json`, which may be NULL, receives the constants and errors;
   tessera_text_free frees it. */
TESSERA_API tessera_status tessera_profile_fit(const tessera_profile* profile, const char* measured,
                                               tessera_profile** fitted, char** json,
                                               tessera_error** error);
TESSERA_API const char* tessera_profile_json(const tessera_profile* profile);
TESSERA_API void tessera_profile_free(tessera_profile* profile);

/* --- networks. `profile` may describe operators of imported files, and may be NULL. */
TESSERA_API tessera_status tessera_network_load(const char* path, const tessera_profile* profile,
                                                tessera_network** network, tessera_error** error);
/* `name` is for messages; its suffix determines the format: "net.onnx". */
TESSERA_API tessera_status tessera_network_parse(const void* bytes, size_t size, const char* name,
                                                 const tessera_profile* profile,
                                                 tessera_network** network, tessera_error** error);
/* Makes a copy in which the cycles and energy of tiles come from a table in CSV (docs/costs.md) of
   `size` bytes. `name` is for messages. */
TESSERA_API tessera_status tessera_network_with_costs(const tessera_network* network,
                                                      const char* csv, size_t size,
                                                      const char* name, tessera_network** changed,
                                                      tessera_error** error);
/* Makes a copy whose constants are stored in other numbers of bytes: CSV with tensor and bytes. */
TESSERA_API tessera_status tessera_network_with_sizes(const tessera_network* network,
                                                      const char* csv, size_t size,
                                                      const char* name, tessera_network** changed,
                                                      tessera_error** error);
TESSERA_API size_t tessera_network_operator_count(const tessera_network* network);
TESSERA_API void tessera_network_free(tessera_network* network);

/* --- plans */

typedef struct tessera_metric_value {
  size_t size; /* sizeof(tessera_metric_value), in each element of an array */
  const char* metric;
  double value;
} tessera_metric_value;

/* How tensors outside the tile memory share addresses (docs/off-chip.md). */
typedef enum tessera_off_chip {
  TESSERA_WHOLE = 0,     /* a tensor keeps its bytes from its producer to its last reader */
  TESSERA_PAPER = 1,     /* until no tile needs them; placed by the published method */
  TESSERA_TILE_AWARE = 2 /* the same, placed by the engines */
} tessera_off_chip;

/* Set all to 0, then `size`: 0 and NULL mean the default of each field. */
typedef struct tessera_plan_options {
  size_t size;                          /* sizeof(tessera_plan_options) */
  const tessera_metric_value* minimize; /* weights; none: latency */
  size_t minimize_count;
  const tessera_metric_value* limits; /* greatest allowed values */
  size_t limit_count;
  int32_t max_operators;        /* in one subgraph */
  int32_t keep_order;           /* not 0: run operators in the order of the network */
  int32_t no_boundaries;        /* not 0: tensors do not stay on chip between subgraphs */
  int32_t per_subgraph;         /* not 0: constants arrive when their subgraph begins */
  const char* constraints;      /* YAML */
  const tessera_plan* previous; /* among equal plans, the one most like this is taken */
  uint64_t seed;
  int64_t budget;       /* of work; 0: none */
  double timeout_s;     /* of wall clock; 0: none */
  int64_t memory_limit; /* bytes that the process holds; 0: three quarters of what it may hold */
  int32_t threads;
  const tessera_canceller* canceller;
  /* receives `user` and the progress, from any thread, one at a time */
  void (*progress)(void* user, const tessera_progress* progress);
  void* user;
  int32_t explain;     /* not 0: without a plan, why, and what would help; up to 2 s more */
  int32_t certify;     /* not 0: a proof if there is no plan */
  int32_t off_chip;    /* a tessera_off_chip */
  int32_t sensitivity; /* not 0: notes say whether the choice survives other energies */
  int32_t lowering;    /* not 0: the plan has what a code generator needs */
} tessera_plan_options;

/* An answer without a plan is not an error. `options` may be NULL. */
TESSERA_API tessera_status tessera_make_plan(const tessera_network* network,
                                             const tessera_profile* profile,
                                             const tessera_plan_options* options,
                                             tessera_answer** answer, tessera_error** error);
TESSERA_API tessera_outcome tessera_answer_outcome(const tessera_answer* answer);
TESSERA_API const char* tessera_answer_reason(const tessera_answer* answer); /* of no plan */
TESSERA_API int tessera_answer_stopped(const tessera_answer* answer);        /* 1: it was cut off */
TESSERA_API const char* tessera_answer_explanation(const tessera_answer* answer); /* in lines */
/* NULL if there is none. Both belong to the answer. */
TESSERA_API const tessera_certificate* tessera_answer_certificate(const tessera_answer* answer);
TESSERA_API const tessera_plan* tessera_answer_plan(const tessera_answer* answer);
TESSERA_API void tessera_answer_free(tessera_answer* answer);

/* Plans of which none is better than another in latency, energy, off-chip bytes and peak, from at
   most `most_searches` searches (0: 24). Limits of the options hold for all; the options state no
   `minimize`, `sensitivity` and `lowering`. `options` may be NULL. */
TESSERA_API tessera_status tessera_find_front(const tessera_network* network,
                                              const tessera_profile* profile,
                                              const tessera_plan_options* options,
                                              int32_t most_searches, tessera_front** front,
                                              tessera_error** error);
TESSERA_API size_t tessera_front_count(const tessera_front* front);
/* By latency, ascending; NULL if `index` is too large. The plans belong to the front. */
TESSERA_API const tessera_plan* tessera_front_plan(const tessera_front* front, size_t index);
TESSERA_API int tessera_front_is_complete(const tessera_front* front);
TESSERA_API int tessera_front_stopped(const tessera_front* front); /* 1: it was cut off */
/* Without a plan: what is known, and why. */
TESSERA_API tessera_outcome tessera_front_outcome(const tessera_front* front);
TESSERA_API const char* tessera_front_reason(const tessera_front* front);
TESSERA_API const char* tessera_front_json(const tessera_front* front); /* empty without a plan */
TESSERA_API void tessera_front_free(tessera_front* front);

typedef struct tessera_buffer {
  size_t size_of_struct; /* set by the caller: sizeof(tessera_buffer) */
  const char* name;
  int64_t offset; /* bytes */
  int64_t size;   /* bytes */
} tessera_buffer;

TESSERA_API tessera_status tessera_plan_parse(const char* json, size_t size, tessera_plan** plan,
                                              tessera_error** error);
TESSERA_API double tessera_plan_score(const tessera_plan* plan);
TESSERA_API double tessera_plan_bound(const tessera_plan* plan); /* no plan has a lower score */
/* Returns 1 and the value, or 0 if there is no such metric. */
TESSERA_API int tessera_plan_metric(const tessera_plan* plan, const char* metric, double* value);
TESSERA_API size_t tessera_plan_subgraph_count(const tessera_plan* plan);
TESSERA_API size_t tessera_plan_buffer_count(const tessera_plan* plan);
/* Returns 1, or 0 if `index` is too large. */
TESSERA_API int tessera_plan_buffer(const tessera_plan* plan, size_t index, tessera_buffer* buffer);
/* The plan as "json", "html", "svg", "h", "trace", "csv" (its tiles) or "txt". tessera_text_free
 * frees the text. */
TESSERA_API tessera_status tessera_plan_render(const tessera_plan* plan, const char* format,
                                               char** text, tessera_error** error);
/* Writes a file in the format of its suffix. */
TESSERA_API tessera_status tessera_plan_save(const tessera_plan* plan, const char* path,
                                             tessera_error** error);
/* The changes from one plan to another, and what they cost, as JSON. tessera_text_free frees it. */
TESSERA_API tessera_status tessera_plan_difference(const tessera_plan* first,
                                                   const tessera_plan* second, char** json,
                                                   tessera_error** error);
/* Checks everything that the plan states, and sets `*accepted` to 1 if all of it is right. If
   `findings` is not NULL, `*findings` lists what is wrong or open, in lines; tessera_text_free
   frees it. */
TESSERA_API tessera_status tessera_plan_check(const tessera_plan* plan, int* accepted,
                                              char** findings, tessera_error** error);
/* As tessera_plan_check, but runs the plan on memories that record what each byte contains, and
   makes no search. */
TESSERA_API tessera_status tessera_plan_execute(const tessera_plan* plan, int* accepted,
                                                char** findings, tessera_error** error);

/* Set all to 0, then `size`: 0 and NULL mean the default of each field. */
typedef struct tessera_evaluate_options {
  size_t size;  /* sizeof(tessera_evaluate_options) */
  int32_t move; /* not 0: addresses in the text are tried first, but may change */
  int32_t threads;
  uint64_t seed;
  int64_t budget;
  double timeout_s;
  int64_t memory_limit;
  const tessera_canceller* canceller;
  void (*progress)(void* user, const tessera_progress* progress);
  void* user;
  const tessera_profile* profile; /* instead of that of the plan */
  const char* costs;              /* CSV of measured tiles (docs/costs.md) */
} tessera_evaluate_options;

/* Completes, prices and checks an edited plan in JSON. Without a plan, the reason of the answer
   says what is wrong. `options` may be NULL. */
TESSERA_API tessera_status tessera_evaluate(const char* json, size_t size,
                                            const tessera_evaluate_options* options,
                                            tessera_answer** answer, tessera_error** error);
TESSERA_API void tessera_plan_free(tessera_plan* plan); /* of tessera_plan_parse only */

/* --- tiles of some operators */

/* Set all to 0, then `size`: 0 and NULL mean the default of each field. */
typedef struct tessera_tile_options {
  size_t size;           /* sizeof(tessera_tile_options) */
  const char* operators; /* "conv1..conv3", "0..2"; NULL: all */
  const char* tile;      /* "7x56": consider only this tile */
  int32_t all;           /* not 0: every shape that was considered */
  int32_t no_explanation;
  int32_t threads;
  uint64_t seed;
  int64_t budget;
  double timeout_s;
  int64_t memory_limit;
  const tessera_canceller* canceller;
  void (*progress)(void* user, const tessera_progress* progress);
  void* user;
} tessera_tile_options;

typedef struct tessera_tile {
  size_t size;             /* set by the caller: sizeof(tessera_tile) */
  const char* shape;       /* "1x24x7x56" */
  const char* policy;      /* "resident, in place" */
  tessera_outcome outcome; /* TESSERA_FEASIBLE or TESSERA_OPTIMAL: it fits */
  int32_t is_corner;       /* 1: no known shape that contains it fits */
  int32_t is_proven_corner;
  int64_t tiles;
  int64_t lower_bound; /* bytes */
  int64_t peak;        /* bytes; from here on 0 where nothing is known */
  int64_t latency_cycles;
  double energy_pj;
  int64_t off_chip_bytes;
} tessera_tile;

/* Finds the largest tiles that fit, or what is known about one. `options` may be NULL. */
TESSERA_API tessera_status tessera_find_tiles(const tessera_network* network,
                                              const tessera_profile* profile,
                                              const tessera_tile_options* options,
                                              tessera_tiles** tiles, tessera_error** error);
TESSERA_API tessera_outcome tessera_tiles_outcome(const tessera_tiles* tiles);
TESSERA_API const char* tessera_tiles_largest(const tessera_tiles* tiles); /* empty: none fits */
TESSERA_API int tessera_tiles_largest_is_proven(const tessera_tiles* tiles);
TESSERA_API const char* tessera_tiles_explanation(const tessera_tiles* tiles); /* in lines */
TESSERA_API int tessera_tiles_stopped(const tessera_tiles* tiles);
TESSERA_API size_t tessera_tiles_count(const tessera_tiles* tiles);
/* Returns 1, or 0 if `index` is too large. */
TESSERA_API int tessera_tiles_get(const tessera_tiles* tiles, size_t index, tessera_tile* tile);
TESSERA_API const char* tessera_tiles_json(const tessera_tiles* tiles);
TESSERA_API void tessera_tiles_free(tessera_tiles* tiles);

/* Makes a problem of the buffers of one tile. The texts may be NULL: all operators, the whole
   output, and the policy that the profile prefers. */
TESSERA_API tessera_status tessera_tile_problem(const tessera_network* network,
                                                const tessera_profile* profile,
                                                const char* operators, const char* tile,
                                                const char* policy, tessera_problem** problem,
                                                tessera_error** error);

/* --- formulas for solvers, and their answers */

/* Set all to 0, then `size`: 0 and NULL mean the default of each field. */
typedef struct tessera_formula_options {
  size_t size;           /* sizeof(tessera_formula_options) */
  const char* format;    /* "dimacs", "smtlib" or "text"; NULL: "dimacs" */
  int64_t capacity;      /* bytes; 0: that of the problem */
  const char* candidate; /* a tile candidate of the problem */
  const char* integers;  /* "order", "bits" or "auto" */
} tessera_formula_options;

/* tessera_text_free frees the formula. `options` may be NULL. */
TESSERA_API tessera_status tessera_encode(const tessera_problem* problem,
                                          const tessera_formula_options* options, char** formula,
                                          tessera_error** error);
/* Reads what a solver printed for a formula of tessera_encode, and checks it. */
TESSERA_API tessera_status tessera_decode(const tessera_problem* problem, const char* formula,
                                          const char* output, tessera_allocation** allocation,
                                          tessera_error** error);

/* --- the fewest bank modes with which these plans can still be placed: the answer as JSON, and the
   reduced profile, which may be NULL. tessera_text_free frees both. */
TESSERA_API tessera_status tessera_modes(const tessera_plan* const* plans, size_t count,
                                         char** json, char** reduced, tessera_error** error);

/* --- certificates: proofs that nothing fits, or that a network has no plan */
TESSERA_API tessera_status tessera_certificate_load(const char* folder,
                                                    tessera_certificate** certificate,
                                                    tessera_error** error);
TESSERA_API tessera_status tessera_certificate_save(const tessera_certificate* certificate,
                                                    const char* folder, tessera_error** error);
/* As tessera_plan_check, for a certificate. */
TESSERA_API tessera_status tessera_certificate_check(const tessera_certificate* certificate,
                                                     int* accepted, char** findings,
                                                     tessera_error** error);
/* Only for certificates of tessera_certificate_load. */
TESSERA_API void tessera_certificate_free(tessera_certificate* certificate);

/* --- sessions: calls that keep what they learn for later calls of any thread. The answers are
   those of the functions without a session. `most_bytes` limits what is kept; 0: 256 MiB. */
TESSERA_API tessera_status tessera_session_new(size_t most_bytes, tessera_session** session,
                                               tessera_error** error);
TESSERA_API tessera_status tessera_session_make_plan(
    const tessera_session* session, const tessera_network* network, const tessera_profile* profile,
    const tessera_plan_options* options, tessera_answer** answer, tessera_error** error);
TESSERA_API tessera_status tessera_session_allocate(const tessera_session* session,
                                                    const tessera_problem* problem,
                                                    const tessera_allocate_options* options,
                                                    tessera_allocation** allocation,
                                                    tessera_error** error);
TESSERA_API void tessera_session_free(tessera_session* session);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_TESSERA_H_ */
