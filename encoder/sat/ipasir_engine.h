// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "tessera/base/stop.h"
#include "tessera/encoder/formulation/backend.h"
#include "tessera/encoder/sat/integer_encoding.h"
#include "tessera/problem/engine.h"

// IPASIR, the C interface of incremental SAT solvers (Balyo, Biere, Iser and Sinz, "SAT Race 2015",
// Artificial Intelligence 241, 2016), as libraries export it. A solver is in one of three states:
// INPUT, SAT after solve returned 10, UNSAT after it returned 20; ipasir_val may be called in SAT
// only, ipasir_failed in UNSAT only, and ipasir_add and ipasir_assume lead back to INPUT.
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
void ipasir_set_learn(void* solver, void* state, int max_length,
                      void (*learn)(void* state, int* clause));
}
namespace tessera::encoder::sat {

// The SAT solver of the IPASIR library that the program is linked with. IPASIR has no call for
// preferences.
class IpasirSolver : public formulation::ClauseSink, public formulation::Model {
 public:
  // `limit` as in ClauseSink.
  explicit IpasirSolver(int64_t limit);

  formulation::Literal NewVariable() override { return formulation::Literal(++variables_); }

  // Budget units are clauses that the library reports as learned. The terminate callback asks the
  // library to stop, so it may exceed the budget by the clauses learned between two callbacks. With
  // a library that reports nothing, every budget but 0 has no effect.
  formulation::Answer Decide(std::span<const formulation::Literal> assumptions,
                             const base::Budget& budget, const base::Stop& stop);

  // Returns false if the library leaves the value open, if the last Decide was not satisfiable, or
  // if anything was added since.
  bool IsTrue(formulation::Literal literal) const override;

 protected:
  void Store(std::span<const formulation::Literal> clause) override;

 private:
  struct Release {
    void operator()(void* solver) const;
  };

  std::unique_ptr<void, Release> solver_;
  bool satisfied_ = false;
  int32_t variables_ = 0;
  int32_t greatest_reported_ = 0;  // the greatest variable that the library has seen
};

struct IpasirOptions {
  IntegerEncoding encoding = IntegerEncoding::kByMagnitude;
};

// The engine "ipasir": the formulation of "cadical", decided by the IPASIR library that the build
// names (TESSERA_IPASIR). Supports the same Problems as "cadical". Budget units as in IpasirSolver.
// It is as deterministic as the library; therefore no default lane uses it.
class IpasirEngine : public problem::Engine {
 public:
  IpasirEngine() = default;
  explicit IpasirEngine(const IpasirOptions& options) : options_(options) {}

  std::string_view Name() const override { return "ipasir"; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;

  // The name and version that the library reports.
  static std::string_view Signature();

 private:
  IpasirOptions options_;
};

}  // namespace tessera::encoder::sat
