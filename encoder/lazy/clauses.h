#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/encoder/lazy/trail.h"

namespace tessera::encoder::lazy {

// Ordinary clauses over bound and order literals, with two watched literals each (Moskewicz et al. 2001).
//
// A watch stands in the list of the view whose rise falsifies its literal, together with the least bound that
// does:
//
//     clause  x >= 5  or  p  or  -y >= -7          watches:  -x: at -4      -p: at 0
//     the change  -x: -9 -> -3  crosses -4, so this clause is looked at; -x: -9 -> -6 passes it by
//
// Learned clauses carry their glue (the number of levels among their literals, Audemard and Simon 2009), and
// the question under which they were learned (solver.h). Clauses are added, dropped and compacted at the root
// only, where none is a reason that anybody will ask for.
class ClauseDatabase {
 public:
  struct Clause {
    int32_t first = 0;  // of its literals
    int32_t size = 0;
    int32_t glue = 0;      // 0: given, never dropped
    int32_t question = 0;  // of learned clauses
    bool used = false;     // since the last reduction
    int32_t proof = -1;    // its place in the proof, where one is kept
  };

  explicit ClauseDatabase(Trail& trail) : trail_(trail) {}

  // Adds a clause of at least two literals and watches the first two. For a learned one the first literal is
  // the one it implies and the second is falsified last. Returns its index.
  int Add(std::span<const Literal> literals, int glue, int question);

  // Visits the clauses that the change falsifies a watch of. False on a conflict.
  bool Propagate(const Change& change);

  std::span<const Literal> LiteralsOf(int clause) const {
    const Clause& header = clauses_[static_cast<size_t>(clause)];
    return {literals_.data() + header.first, static_cast<size_t>(header.size)};
  }
  int32_t ProofOf(int clause) const { return clauses_[static_cast<size_t>(clause)].proof; }
  void SetProof(int clause, int32_t proof) { clauses_[static_cast<size_t>(clause)].proof = proof; }
  void MarkUsed(int clause) { clauses_[static_cast<size_t>(clause)].used = true; }
  int Count() const { return static_cast<int>(clauses_.size()); }

  // At the root: drops what is satisfied there, and the worse half of the learned clauses of glue above 2 that
  // took no part in a conflict since the last reduction. False when a clause is falsified.
  bool Reduce();

  // At the root of another question: keeps the learned clauses whose question says so, and watches all
  // afresh. False when a clause is falsified.
  bool Keep(const std::vector<bool>& questions);

 private:
  struct Watch {
    int32_t clause = 0;
    Bound threshold = 0;
    Literal blocker;  // another literal of the clause; while true, the clause needs no look
  };

  bool Visit(Watch& watch, Literal falsified, bool& moved);
  void AddWatch(int clause, Literal watched, Literal blocker);
  bool Rebuild(const std::vector<bool>& kept);
  bool Restore(const Clause& clause, std::span<const Literal> literals);

  Trail& trail_;
  std::vector<Clause> clauses_;
  std::vector<Literal> literals_;
  std::vector<std::vector<Watch>> watches_;  // by view
  int learned_ = 0;
};

}  // namespace tessera::encoder::lazy
