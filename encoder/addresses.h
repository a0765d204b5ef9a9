#pragma once

#include <map>
#include <optional>
#include <vector>

#include "tessera/encoder/backend.h"
#include "tessera/encoder/demands.h"
#include "tessera/encoder/refinements.h"
#include "tessera/problem/ladder.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder {

// The Problem and what is known about it, for the two halves of its formulation.
struct Question {
  const problem::Problem& problem;
  const problem::Ladder* ladder;  // may be null
  const Demands& demands;
  problem::Bytes ceiling;  // no capacity of memories[0] asked about exceeds it; >= 0
  Refinements refinements = Refinements::None();
  std::vector<std::vector<problem::Bytes>> positions =
      {};  // normal ones (normal_positions.h), or no list at all

  const problem::Buffer& BufferAt(size_t index) const { return problem.buffers[index]; }
  const problem::Memory& MemoryOf(size_t buffer) const;
  problem::Bytes CapacityOf(size_t memory) const {
    return memory == 0 ? ceiling : problem.memories[memory].capacity;
  }
  problem::Bytes GranuleOf(size_t buffer) const;
};

// The half of a formulation that is about addresses: offsets, ends, and everything that compares them. See
// addresses.cc.
class Addresses {
 public:
  Addresses(const Question& question, ClauseSink& clauses, IntegerSink& integers);

  // The values that the offset may have, in granules; nullopt when there is none.
  static std::optional<Domain> DomainOf(const Question& question, size_t buffer);

  static Magnitude Measure(const Question& question);

  // Says all that holds on every rung, but for banks that depend on modes. Ends early when the sink is full.
  void Write();

  // Kept apart from Write because it speaks of banks: the sets of touched banks are equal, or disjoint.
  void WriteBankRelation(const problem::Relation& relation);

  // The literal "some byte of the buffer lies in this bank", for indices of a buffer and of a bank of its
  // memory.
  Literal Touches(size_t buffer, size_t bank);

  // Bytes [offset, end), counted in granules of the buffer's memory.
  Integer OffsetOf(size_t buffer) const { return places_[buffer].offset; }
  Term EndOf(size_t buffer) const { return places_[buffer].end; }

  // The literal "the first buffer lies below the second" of two that must share no byte, adjacent ones
  // included; nullopt of others.
  std::optional<Literal> Below(size_t first, size_t second) const;

  // If `guard` holds, then so many granules around the buffer lie inside its memory, whatever its capacity.
  // A guard that is not kTrue must be expected before the first capacity is selected.
  void ExpectGuard(size_t buffer);
  void Guard(Literal guard, size_t buffer, problem::Bytes before, problem::Bytes after);

  // The assumption under which buffers have the sizes of `rung`; kTrue without a ladder. The first use of a
  // rung adds clauses of Topic::kSizes and no others.
  Literal SelectRung(size_t rung);

  // The assumption under which memories[0] has `capacity` bytes, 0 <= capacity <= ceiling. The first use adds
  // clauses of Topic::kCapacity and no others.
  Literal SelectCapacity(problem::Bytes capacity);

  // The offset in the backend's last model, in bytes.
  problem::Bytes PlacedAt(size_t buffer) const;

 private:
  struct Place {
    Integer offset;
    Term end;
    Term top;  // what the capacity bounds: the end, or above it the end of a guard
    // Then `end` is an integer of its own, bound to the offset by the rung selected.
    bool sized_by_rung = false;
    bool exact_end = false;  // then the end may not lie above offset and size either
  };

  void WriteDisjoint();
  void PreferOrder(Literal below, const problem::Buffer& first, const problem::Buffer& second);
  void WriteBuffer(size_t buffer);
  Integer NewEnd(Integer offset, size_t buffer, const Domain& domain);
  void WriteForbidden(size_t buffer);
  void WriteRelation(const problem::Relation& relation);

  const Question& question_;
  ClauseSink& clauses_;
  IntegerSink& integers_;
  std::vector<Place> places_;
  std::vector<std::vector<std::optional<Literal>>> touches_;
  std::map<std::pair<int, int>, Literal> below_;
  std::map<size_t, Literal> rungs_;
  std::map<problem::Bytes, Literal> capacities_;  // by capacity in granules
};

}  // namespace tessera::encoder
