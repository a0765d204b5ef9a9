#pragma once

#include <vector>

#include "tessera/encoder/addresses.h"

namespace tessera::encoder {

// The part of a formulation that says what the problem's rules ask. See rules.cc.
class Rules {
 public:
  Rules(const Question& question, Addresses& addresses, ClauseSink& clauses, IntegerSink& integers);

  // Says what holds on every rung. Ends early when the sink is full.
  void Write();

  // Says what a rung alone asks: that its rule is about a size, or that its requirement depends on one.
  // `selected` is the assumption of the rung.
  void WriteForRung(size_t rung, Literal selected);

 private:
  void WriteFor(const problem::Rule& rule, Literal guard, std::optional<size_t> rung);
  void WriteForBuffer(const problem::Rule& rule, Literal guard, size_t buffer, problem::Bytes size);
  void WriteForPair(const problem::Rule& rule, Literal guard, size_t first, size_t second);
  void WriteResidue(Literal guard, size_t buffer, problem::Bytes multiple, problem::Bytes residue);
  void WriteDifference(Literal guard, size_t first, size_t second, problem::Bytes multiple,
                       problem::Bytes residue);
  void WriteBanks(Literal guard, size_t buffer, const std::vector<int>& banks);
  void WriteBankRelation(Literal guard, problem::RelationKind kind, size_t first, size_t second);
  void WriteGuard(Literal guard, size_t buffer, problem::Bytes before, problem::Bytes after);
  void WriteCommonDelta(const problem::Rule& rule, Literal guard, size_t first, size_t second);

  // The buffer's offset modulo so many granules.
  Integer RemainderOf(size_t buffer, int64_t modulus);

  problem::Bytes Granules(size_t buffer, problem::Bytes bytes) const;

  const Question& question_;
  Addresses& addresses_;
  ClauseSink& clauses_;
  IntegerSink& integers_;
  Topic topic_ = Topic::kRules;                     // of what is being said
  std::map<const problem::Rule*, Integer> deltas_;  // of common deltas, above the least
};

}  // namespace tessera::encoder
