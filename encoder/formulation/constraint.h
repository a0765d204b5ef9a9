// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/encoder/formulation/backend.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

// The extension point for restrictions that neither a Problem nor its rules can express: a
// constraint written in C++. It adds clauses over the variables of the formulation, for any solver,
// and has a separate check that every answer must pass.
//
//     // This buffer starts in the first 64 bytes.
//     class FirstLine : public Constraint {
//       std::string Name() const override { return "first line"; }
//       void Write(Variables& variables) const override {
//         const int64_t line = 64 / variables.GranularityOf(0);
//         variables.Clauses().Add({~variables.Integers().AtLeast({variables.OffsetOf(0)}, line)});
//       }
//       ...
//
// examples/programs/custom_constraint.cc is a complete example.
namespace tessera::encoder::formulation {

// The view of a formulation that a constraint receives. Addresses are counted in units of the
// granularity of the buffer's memory. Sizes are those of the candidate in question; EndOf follows
// the candidate.
class Variables {
 public:
  Variables() = default;
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  virtual ~Variables() = default;

  virtual const problem::Problem& Problem() const = 0;

  // The granularity of a memory in bytes.
  virtual problem::Bytes GranularityOf(size_t memory) const = 0;

  // The buffer occupies [offset, end).
  virtual Integer OffsetOf(size_t buffer) const = 0;
  virtual Term EndOf(size_t buffer) const = 0;

  // "The first buffer lies below the second", for two buffers that must share no byte; nullopt for
  // other pairs.
  virtual std::optional<Literal> Below(size_t first, size_t second) const = 0;

  // "Some byte of the buffer lies in this bank of its memory."
  virtual Literal Touches(size_t buffer, size_t bank) = 0;

  // "The memory is in this mode at this step", for a memory with modes and a step of the horizon.
  virtual Literal ModeAt(size_t memory, problem::Step step, size_t mode) const = 0;

  virtual ClauseSink& Clauses() = 0;
  virtual IntegerSink& Integers() = 0;
};

class Constraint {
 public:
  Constraint() = default;
  Constraint(const Constraint&) = delete;
  Constraint& operator=(const Constraint&) = delete;
  virtual ~Constraint() = default;

  // For messages.
  virtual std::string Name() const = 0;

  // A unit such that rounding all offsets in this memory down to multiples of it does not violate
  // the constraint. Granularities divide it. With 1, addresses are counted in bytes, which is
  // always valid.
  virtual problem::Bytes UnitOf(const problem::Problem& /*problem*/, size_t /*memory*/) const {
    return 1;
  }

  // Adds the constraint. Called once for each formulation, after everything else is written.
  virtual void Write(Variables& variables) const = 0;

  // Describes how an answer violates the constraint; empty if it does not. `problem` has the sizes
  // of the candidate. The check should share no code with Write.
  virtual std::string FindViolation(const problem::Problem& problem,
                                    const problem::Allocation& allocation) const = 0;
};

using Constraints = std::vector<std::shared_ptr<const Constraint>>;

}  // namespace tessera::encoder::formulation
