// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tessera/encoder/formulation/address_constraints.h"
#include "tessera/encoder/formulation/backend.h"
#include "tessera/encoder/formulation/constraint.h"
#include "tessera/encoder/formulation/refinements.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/problem/rule_definition.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::encoder::formulation {

// The Problem and the derived data that all parts of its formulation use.
struct FormulationInput {
  const problem::Problem& problem;
  const problem::Ladder* ladder;  // may be null
  const AddressConstraints& address_constraints;
  problem::Bytes ceiling;  // upper limit of all requested capacities of memories[0]; >= 0
  Refinements refinements = Refinements::None();
  // normal positions (refinements.h); empty if not computed
  std::vector<std::vector<problem::Bytes>> positions = {};

  const problem::Buffer& BufferAt(size_t index) const { return problem.buffers[index]; }
  const problem::Memory& MemoryOf(size_t buffer) const;
  problem::Bytes CapacityOf(size_t memory) const {
    return memory == 0 ? ceiling : problem.memories[memory].capacity;
  }
  problem::Bytes GranularityOf(size_t buffer) const;
};

// The part of a formulation that covers addresses: offsets, ends, and all comparisons of them. See
// addresses.cc.
class Addresses {
 public:
  Addresses(const FormulationInput& question, ClauseSink& clauses, IntegerSink& integers);

  // Returns the possible values of the offset, in units of the granularity; nullopt if there is
  // none.
  static std::optional<Domain> DomainOf(const FormulationInput& question, size_t buffer);

  static Magnitude Measure(const FormulationInput& question);

  // Writes everything that holds for every candidate, except banks that depend on modes. Ends early
  // if the sink is full.
  void Write();

  // Requires that the sets of touched banks are equal, or disjoint, if `guard` holds. Separate from
  // Write because it concerns banks.
  void WriteBankRelation(const problem::Relation& relation, Literal guard, Topic topic);

  // The literal "some byte of the buffer lies in this bank". Arguments: index of the buffer, and
  // index of a bank of its memory.
  Literal Touches(size_t buffer, size_t bank);

  // Bytes [offset, end), counted in units of the granularity of the buffer's memory.
  Integer OffsetOf(size_t buffer) const { return places_[buffer].offset; }
  Term EndOf(size_t buffer) const { return places_[buffer].end; }

  // The literal "the first buffer lies below the second", for two buffers that must share no byte,
  // adjacent ones included; nullopt for other pairs.
  std::optional<Literal> Below(size_t first, size_t second) const;

  // Guard requires, if `guard` holds, that `before` and `after` units around the buffer lie inside
  // its memory at any capacity. If `guard` is not kTrue, call ExpectGuard before the first capacity
  // is selected.
  void ExpectGuard(size_t buffer);
  void Guard(Literal guard, size_t buffer, problem::Bytes before, problem::Bytes after);

  // Returns the assumption that buffers have the sizes of `candidate`; kTrue without a ladder. The
  // first use of a candidate adds clauses of Topic::kSizes only.
  Literal SelectCandidate(size_t candidate);

  // Returns the assumption that memories[0] has `capacity` bytes, 0 <= capacity <= ceiling. The
  // first use adds clauses of Topic::kCapacity only.
  Literal SelectCapacity(problem::Bytes capacity);

  // The offset in the last model of the backend, in bytes.
  problem::Bytes PlacedAt(size_t buffer) const;

 private:
  struct Place {
    Integer offset;
    Term end;
    Term top;  // the term that the capacity bounds: the end, or the end of a guard above it
    // If true, `end` is a separate integer, bound to the offset by the selected candidate.
    bool sized_by_candidate = false;
    bool exact_end = false;  // if true, the end may not lie above offset + size either
  };

  void WriteDisjoint();
  void PreferOrder(Literal below, const problem::Buffer& first, const problem::Buffer& second);
  void WriteBuffer(size_t buffer);
  Integer NewEnd(Integer offset, size_t buffer, const Domain& domain);
  void WriteForbidden(size_t buffer);
  void WriteRelation(const problem::Relation& relation);

  const FormulationInput& question_;
  ClauseSink& clauses_;
  IntegerSink& integers_;
  std::vector<Place> places_;
  std::vector<std::vector<std::optional<Literal>>> touches_;
  std::map<std::pair<int, int>, Literal> below_;
  std::map<size_t, Literal> candidates_;
  std::map<problem::Bytes, Literal> capacities_;  // by capacity in units of the granularity
};

// Adds implied constraints for buffers that lie inside one bank: each lies in exactly one bank, and
// the buffers that live at the same time in a bank are together no larger than the bank. See
// formulation.cc.
void WriteBankSums(const FormulationInput& question, Addresses& addresses, ClauseSink& clauses);

// The part of a formulation that covers time: the mode of each memory at each step, the accesses
// that the mode permits in the banks that a buffer touches, and the number of buffers that a bank
// serves at the same time. It does not contain sizes. Cost: modes squared for each step and
// succession; modes * banks for each buffer and step with something to forbid.
class Schedules {
 public:
  Schedules(const FormulationInput& question, Addresses& addresses, ClauseSink& clauses);

  // Writes everything. Ends early if the sink is full.
  void Write();

  // The literal "this memory is in this mode at this step of the horizon". `step` is counted from
  // the start of the horizon.
  Literal ModeAt(size_t memory, size_t step, size_t mode) const {
    return modes_[memory][step][mode];
  }

  // One entry per memory. The entry of a memory without modes is empty.
  const std::vector<std::vector<std::vector<Literal>>>& Modes() const { return modes_; }

 private:
  // Accesses of one buffer, by step.
  using AccessesAt = std::map<problem::Step, std::vector<problem::Access>>;

  void WriteModes(size_t memory);
  void WriteTransitions(size_t memory);
  void WriteAccesses(size_t buffer);
  void WriteAccessesAt(size_t buffer, problem::Step step,
                       std::span<const problem::Access> accesses);
  void WritePorts(size_t memory);
  void WritePortsOf(size_t memory, size_t bank);

  const FormulationInput& question_;
  Addresses& addresses_;
  ClauseSink& clauses_;
  problem::Lifespan horizon_;
  std::vector<AccessesAt> accesses_;                      // by buffer
  std::vector<std::vector<std::vector<Literal>>> modes_;  // by memory, step, mode
};

// The part of a formulation that covers the rules of the problem. See rules.cc.
class Rules {
 public:
  Rules(const FormulationInput& question, Addresses& addresses, ClauseSink& clauses,
        IntegerSink& integers);

  // Writes everything that holds for every candidate. Ends early if the sink is full.
  void Write();

  // Writes the rules that hold for one candidate only: the rule selects by size, or its requirement
  // depends on one. `selected` is the assumption of the candidate.
  void WriteForCandidate(size_t candidate, Literal selected);

 private:
  void WriteFor(const problem::Rule& rule, Literal guard, std::optional<size_t> candidate);
  // Each writes one restriction on an item of `rule_`, which applies if `guard` holds.
  void Write(Literal guard, const problem::Remainder& remainder);
  void Write(Literal guard, const problem::Inside& inside);
  void Write(Literal guard, const problem::Margins& margins);
  void Write(Literal guard, const problem::BankClause& clause);
  void Write(Literal guard, const problem::OneBankSet& one);
  void Write(Literal guard, const problem::Relation& relation);
  void Write(Literal guard, const problem::ModularDistance& difference);
  void Write(Literal guard, const problem::FixedDistance& fixed);
  void Write(Literal guard, const problem::FlippedBits& flipped);
  void Write(Literal guard, const problem::CommonDistance& common);

  // The buffer's offset modulo `modulus` units.
  Integer RemainderOf(size_t buffer, int64_t modulus);

  problem::Bytes Granularities(size_t buffer, problem::Bytes bytes) const;

  const FormulationInput& question_;
  Addresses& addresses_;
  ClauseSink& clauses_;
  IntegerSink& integers_;
  const problem::Rule* rule_ = nullptr;             // the rule that is being written
  Topic topic_ = Topic::kRules;                     // its topic
  std::map<const problem::Rule*, Integer> deltas_;  // the common deltas, above the least one
};

// The greatest possible total of a problem's costs, counted in the greatest common divisor of their
// weights.
struct CostScale {
  int64_t unit = 1;
  int64_t most = 0;
};
CostScale ScaleOf(const problem::Problem& problem);

// The costs of the problem as a number that an assumption can bound. Nothing is written before the
// first bound. See costs.cc.
class Costs {
 public:
  Costs(const FormulationInput& question, Addresses& addresses, const Schedules& schedules,
        ClauseSink& clauses, IntegerSink& integers);

  // The assumption that the costs total at most `most`; most >= 0.
  Literal SelectAtMost(int64_t most);

 private:
  void Write();
  void AddReuse(const problem::Cost& cost);
  void AddSwitches(const problem::Cost& cost);
  void Count(Literal cause, int64_t weight);

  const FormulationInput& question_;
  Addresses& addresses_;
  const Schedules& schedules_;
  ClauseSink& clauses_;
  IntegerSink& integers_;
  CostScale scale_;
  std::optional<Term> total_;
  int64_t greatest_ = 0;  // of total_
};

// A Problem written once, to any backend. Candidates and capacities are assumptions only.
//
//     Problem, Ladder --> Constraints --> Addresses --.         clauses, bounds, differences
//                                                 +-- Formulation ------> ClauseSink, IntegerSink
//                             Schedules, Rules --'                          |            |
//                                                                        CaDiCaL        Z3
class Formulation {
 public:
  // `question` and `target` must outlive this object. `constraints` are written last; the
  // granularities of `question` divide their units. If a memory has modes, the horizon of the
  // problem has at most kStepLimit steps.
  Formulation(const FormulationInput& question, Target& target,
              const Constraints& constraints = {});

  // Writes everything that holds for every candidate and every capacity. Must be called once,
  // first.
  void Write();

  Literal SelectCandidate(size_t candidate);
  Literal SelectCapacity(problem::Bytes capacity) { return addresses_.SelectCapacity(capacity); }

  // The assumption that the costs of the problem total at most `most`; most >= 0.
  Literal SelectCost(int64_t most) { return costs_.SelectAtMost(most); }

  // Returns the last model of the target in terms of the Problem.
  problem::Allocation Decode() const;

 private:
  const FormulationInput& question_;
  Target& target_;
  Addresses addresses_;
  Schedules schedules_;
  Rules rules_;
  Costs costs_;
  Constraints constraints_;
  std::set<size_t> candidates_;  // the candidates whose rules are written
};

// A schedule has an entry for each step. Horizons with more steps than this are refused.
inline constexpr problem::Step kStepLimit = 2'000'000;

// Returns why the formula would be too large to write, or nullopt.
std::optional<std::string> TooLarge(const problem::Problem& problem,
                                    const AddressConstraints& address_constraints);

}  // namespace tessera::encoder::formulation
