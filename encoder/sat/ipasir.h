#pragma once

// IPASIR, the C interface of incremental SAT solvers (Balyo, Biere, Iser and Sinz, "SAT Race 2015", Artificial
// Intelligence 241, 2016), as libraries export it. A solver is in one of three states: INPUT, SAT after solve
// gave 10, UNSAT after 20; ipasir_val may be asked in SAT only, ipasir_failed in UNSAT only, and ipasir_add and
// ipasir_assume lead back to INPUT.
extern "C" {
const char* ipasir_signature();
void* ipasir_init();
void ipasir_release(void* solver);
void ipasir_add(void* solver, int literal_or_zero);
void ipasir_assume(void* solver, int literal);
int ipasir_solve(void* solver);
int ipasir_val(void* solver, int literal);
int ipasir_failed(void* solver, int literal);
void ipasir_set_terminate(void* solver, void* state, int (*terminate)(void* state));
void ipasir_set_learn(void* solver, void* state, int max_length, void (*learn)(void* state, int* clause));
}
