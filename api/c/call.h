// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_C_CALL_H_
#define TESSERA_C_CALL_H_

/* What calls of the C interface have in common: their status, errors, and how they are cancelled.
 * Part of <tessera/c/tessera.h>. */
#include <stddef.h>
#include <stdint.h>
#include <tessera/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The outcome of a call. More values may follow. */
typedef enum tessera_status {
  TESSERA_OK = 0,
  TESSERA_BAD_INPUT = 1,   /* an argument or a file is wrong; the error says where */
  TESSERA_UNSUPPORTED = 2, /* valid, but not in this build or beyond what it can express */
  TESSERA_STOPPED = 3,     /* the end of memory came first */
  TESSERA_INTERNAL = 4     /* an error of the library */
} tessera_status;

/* What is known about the question. Unknown is never infeasible. More values may follow. */
typedef enum tessera_outcome {
  TESSERA_OPTIMAL = 0,    /* a plan, and a proof that no plan has a better score */
  TESSERA_FEASIBLE = 1,   /* a plan */
  TESSERA_INFEASIBLE = 2, /* proven: there is no plan */
  TESSERA_UNKNOWN = 3,    /* a limit came first */
  TESSERA_NO_SUPPORT = 4  /* the profile cannot run the network */
} tessera_outcome;

typedef struct tessera_error tessera_error;
typedef struct tessera_network tessera_network;
typedef struct tessera_profile tessera_profile;
typedef struct tessera_plan tessera_plan;
typedef struct tessera_answer tessera_answer;
typedef struct tessera_canceller tessera_canceller;
typedef struct tessera_problem tessera_problem;
typedef struct tessera_allocation tessera_allocation;
typedef struct tessera_tiles tessera_tiles;
typedef struct tessera_certificate tessera_certificate;
typedef struct tessera_session tessera_session;
typedef struct tessera_front tessera_front;
typedef struct tessera_choice tessera_choice;

/* --- errors. Texts are empty and numbers are 0 if nothing is known. */
TESSERA_API const char* tessera_error_text(const tessera_error* error); /* all of it, in lines */
TESSERA_API const char* tessera_error_message(const tessera_error* error);
TESSERA_API const char* tessera_error_file(const tessera_error* error);
TESSERA_API int tessera_error_line(const tessera_error* error);
TESSERA_API int tessera_error_column(const tessera_error* error);
TESSERA_API const char* tessera_error_hint(const tessera_error* error);
TESSERA_API void tessera_error_free(tessera_error* error);

TESSERA_API void tessera_text_free(char* text);

/* --- cancelling: from any thread; a call that is cancelled returns its best answer so far. */
TESSERA_API tessera_canceller* tessera_canceller_new(void); /* NULL: out of memory */
TESSERA_API void tessera_canceller_cancel(const tessera_canceller* canceller);
TESSERA_API void tessera_canceller_free(tessera_canceller* canceller);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_CALL_H_ */
