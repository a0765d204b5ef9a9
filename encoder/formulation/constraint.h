#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/encoder/formulation/backend.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

// The extension point for restrictions that neither a Problem nor its rules can say: a constraint
// written in C++. It adds clauses over the variables of the formulation, whichever solver listens,
// and has a check of its own that every answer must pass.
//
//     class FirstLine : public Constraint {                     // this buffer starts in the first 64 bytes
//       std::string Name() const override { return "first line"; }
//       void Write(Variables& variables) const override {
//         variables.Clauses().Add({~variables.Integers().AtLeast({variables.OffsetOf(0)},
//                                                                64 / variables.GranularityOf(0))});
//       }
//       ...
//
// examples/programs/custom_constraint.cc is a whole one.
namespace tessera::encoder::formulation {

// What a constraint sees of a formulation. Addresses are counted in units of the granularity of the
// buffer's memory. Sizes are those of the candidate that is asked about, whichever it is: EndOf
// follows it.
class Variables {
 public:
  Variables() = default;
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  virtual ~Variables() = default;

  virtual const problem::Problem& Problem() const = 0;

  // The bytes of the granularity of a memory.
  virtual problem::Bytes GranularityOf(size_t memory) const = 0;

  // The buffer occupies [offset, end).
  virtual Integer OffsetOf(size_t buffer) const = 0;
  virtual Term EndOf(size_t buffer) const = 0;

  // "The first buffer lies below the second", of two that must share no byte; nullopt of others.
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

  // A unit such that rounding all offsets in this memory down to multiples of it breaks nothing
  // here; granularities divide it. With 1, addresses are counted in bytes and nothing needs to be
  // known.
  virtual problem::Bytes UnitOf(const problem::Problem& /*problem*/, size_t /*memory*/) const {
    return 1;
  }

  // Says what must hold. Called once for each formulation, after everything else has been said.
  virtual void Write(Variables& variables) const = 0;

  // What is wrong with an answer, in words; empty when it keeps the constraint. `problem` has the
  // sizes of the candidate. Should share nothing with Write.
  virtual std::string FindViolation(const problem::Problem& problem,
                                    const problem::Allocation& allocation) const = 0;
};

using Constraints = std::vector<std::shared_ptr<const Constraint>>;

}  // namespace tessera::encoder::formulation
