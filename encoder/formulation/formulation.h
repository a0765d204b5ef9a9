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
#include "tessera/problem/tile_candidates.h"

namespace tessera::encoder::formulation {

// The Problem and what is known about it, for the two halves of its formulation.
struct FormulationInput {
  const problem::Problem& problem;
  const problem::Ladder* ladder;  // may be null
  const AddressConstraints& address_constraints;
  problem::Bytes ceiling;  // no capacity of memories[0] asked about exceeds it; >= 0
  Refinements refinements = Refinements::None();
  std::vector<std::vector<problem::Bytes>> positions =
      {};  // normal ones (normal_positions.h), or no list at all

  const problem::Buffer& BufferAt(size_t index) const { return problem.buffers[index]; }
  const problem::Memory& MemoryOf(size_t buffer) const;
  problem::Bytes CapacityOf(size_t memory) const {
    return memory == 0 ? ceiling : problem.memories[memory].capacity;
  }
  problem::Bytes GranularityOf(size_t buffer) const;
};

// The half of a formulation that is about addresses: offsets, ends, and everything that compares
// them. See addresses.cc.
class Addresses {
 public:
  Addresses(const FormulationInput& question, ClauseSink& clauses, IntegerSink& integers);

  // The values that the offset may have, in units of the granularity; nullopt when there is none.
  static std::optional<Domain> DomainOf(const FormulationInput& question, size_t buffer);

  static Magnitude Measure(const FormulationInput& question);

  // Says all that holds on every candidate, but for banks that depend on modes. Ends early when the
  // sink is full.
  void Write();

  // Kept apart from Write because it speaks of banks: the sets of touched banks are equal, or
  // disjoint.
  void WriteBankRelation(const problem::Relation& relation);

  // The literal "some byte of the buffer lies in this bank", for indices of a buffer and of a bank
  // of its memory.
  Literal Touches(size_t buffer, size_t bank);

  // Bytes [offset, end), counted in units of the granularity of the buffer's memory.
  Integer OffsetOf(size_t buffer) const { return places_[buffer].offset; }
  Term EndOf(size_t buffer) const { return places_[buffer].end; }

  // The literal "the first buffer lies below the second" of two that must share no byte, adjacent
  // ones included; nullopt of others.
  std::optional<Literal> Below(size_t first, size_t second) const;

  // If `guard` holds, then so many units around the buffer lie inside its memory, whatever its
  // capacity. A guard that is not kTrue must be expected before the first capacity is selected.
  void ExpectGuard(size_t buffer);
  void Guard(Literal guard, size_t buffer, problem::Bytes before, problem::Bytes after);

  // The assumption under which buffers have the sizes of `candidate`; kTrue without a ladder. The
  // first use of a candidate adds clauses of Topic::kSizes and no others.
  Literal SelectCandidate(size_t candidate);

  // The assumption under which memories[0] has `capacity` bytes, 0 <= capacity <= ceiling. The
  // first use adds clauses of Topic::kCapacity and no others.
  Literal SelectCapacity(problem::Bytes capacity);

  // The offset in the backend's last model, in bytes.
  problem::Bytes PlacedAt(size_t buffer) const;

 private:
  struct Place {
    Integer offset;
    Term end;
    Term top;  // what the capacity bounds: the end, or above it the end of a guard
    // Then `end` is an integer of its own, bound to the offset by the candidate selected.
    bool sized_by_candidate = false;
    bool exact_end = false;  // then the end may not lie above offset and size either
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

// Adds what follows anyway for buffers that lie inside one bank: each lies in one, and those that
// live at once in a bank are together no larger than the bank. See bank_sums.cc.
void WriteBankSums(const FormulationInput& question, Addresses& addresses, ClauseSink& clauses);

// The half of a formulation that is about time: the mode of each memory at each step, which
// accesses it permits in the banks that a buffer touches, and how many buffers a bank serves at
// once. Sizes do not occur in it. Cost: modes squared for each step and succession; modes * banks
// for each buffer and step with something to forbid.
class Schedules {
 public:
  Schedules(const FormulationInput& question, Addresses& addresses, ClauseSink& clauses);

  // Says everything. Ends early when the sink is full.
  void Write();

  // The literal "this memory is in this mode at this step of the horizon", counted from its start.
  Literal ModeAt(size_t memory, size_t step, size_t mode) const {
    return modes_[memory][step][mode];
  }

  // One per memory: the modes of a memory without modes are an empty list.
  const std::vector<std::vector<std::vector<Literal>>>& Modes() const { return modes_; }

 private:
  // Accesses of one buffer at one step.
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

// The part of a formulation that says what the problem's rules ask. See rules.cc.
class Rules {
 public:
  Rules(const FormulationInput& question, Addresses& addresses, ClauseSink& clauses,
        IntegerSink& integers);

  // Says what holds on every candidate. Ends early when the sink is full.
  void Write();

  // Says what a candidate alone asks: that its rule is about a size, or that its requirement
  // depends on one. `selected` is the assumption of the candidate.
  void WriteForCandidate(size_t candidate, Literal selected);

 private:
  void WriteFor(const problem::Rule& rule, Literal guard, std::optional<size_t> candidate);
  void WriteForBuffer(const problem::Rule& rule, Literal guard, size_t buffer, problem::Bytes size);
  void WriteForPair(const problem::Rule& rule, Literal guard, size_t first, size_t second);
  void WriteResidue(Literal guard, size_t buffer, problem::Bytes multiple, problem::Bytes residue);
  void WriteDifference(Literal guard, size_t first, size_t second, problem::Bytes multiple,
                       problem::Bytes residue);
  void WriteBanks(Literal guard, size_t buffer, const std::vector<int>& banks);
  void WriteBankRelation(Literal guard, problem::RelationKind kind, size_t first, size_t second);
  void WriteGuard(Literal guard, size_t buffer, problem::Bytes before, problem::Bytes after);
  void WriteCommonDelta(const problem::Rule& rule, Literal guard, size_t first, size_t second);

  // The buffer's offset modulo so many units.
  Integer RemainderOf(size_t buffer, int64_t modulus);

  problem::Bytes Granularities(size_t buffer, problem::Bytes bytes) const;

  const FormulationInput& question_;
  Addresses& addresses_;
  ClauseSink& clauses_;
  IntegerSink& integers_;
  Topic topic_ = Topic::kRules;                     // of what is being said
  std::map<const problem::Rule*, Integer> deltas_;  // of common deltas, above the least
};

// The greatest total of a problem's costs, counted in the greatest common divisor of their weights.
struct CostScale {
  int64_t unit = 1;
  int64_t most = 0;
};
CostScale ScaleOf(const problem::Problem& problem);

// The problem's costs as a number that an assumption can bound. Nothing is said before the first
// bound. See costs.cc.
class Costs {
 public:
  Costs(const FormulationInput& question, Addresses& addresses, const Schedules& schedules,
        ClauseSink& clauses, IntegerSink& integers);

  // The assumption under which the costs total at most `most`; most >= 0.
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

// A Problem said once, to any backend, such that candidates and capacities are mere assumptions.
//
//     Problem, Ladder --> Constraints --> Addresses --.         clauses, bounds, differences
//                                                 +-- Formulation ------> ClauseSink, IntegerSink
//                             Schedules, Rules --'                          |            |
//                                                                        CaDiCaL        Z3
class Formulation {
 public:
  // `question` and `target` outlive this. `constraints` are said last; the granularities of
  // `question` divide their units. The problem's horizon has at most kStepLimit steps if a memory
  // has modes.
  Formulation(const FormulationInput& question, Target& target,
              const Constraints& constraints = {});

  // Says all that holds on every candidate and at every capacity. To be called once, first.
  void Write();

  Literal SelectCandidate(size_t candidate);
  Literal SelectCapacity(problem::Bytes capacity) { return addresses_.SelectCapacity(capacity); }

  // The assumption under which the problem's costs total at most `most`; most >= 0.
  Literal SelectCost(int64_t most) { return costs_.SelectAtMost(most); }

  // The target's last model in the Problem's own terms.
  problem::Allocation Decode() const;

 private:
  const FormulationInput& question_;
  Target& target_;
  Addresses addresses_;
  Schedules schedules_;
  Rules rules_;
  Costs costs_;
  Constraints constraints_;
  std::set<size_t> candidates_;  // of which the rules have spoken
};

// A schedule has an entry for each step; more of them than this are refused.
inline constexpr problem::Step kStepLimit = 2'000'000;

// Why the formula would be too large to write down, or nullopt.
std::optional<std::string> TooLarge(const problem::Problem& problem,
                                    const AddressConstraints& address_constraints);

}  // namespace tessera::encoder::formulation
