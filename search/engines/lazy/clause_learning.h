#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/search/engines/lazy/decisions.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::lazy {

// Ordinary clauses over bound and order literals, with two watched literals each (Moskewicz et al.
// 2001).
//
// A watch stands in the list of the view whose rise falsifies its literal, together with the least
// bound that does:
//
//     clause  x >= 5  or  p  or  -y >= -7          watches:  -x: at -4      -p: at 0
//     the change  -x: -9 -> -3  crosses -4, so this clause is looked at; -x: -9 -> -6 passes it by
//
// Learned clauses carry their glue (the number of levels among their literals, Audemard and Simon
// 2009), and the question under which they were learned (solver.h). Clauses are added, dropped and
// compacted at the root only, where none is a reason that anybody will ask for.
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

  // Adds a clause of at least two literals and watches the first two. For a learned one the first
  // literal is the one it implies and the second is falsified last. Returns its index.
  int Add(std::span<const BoundLiteral> literals, int glue, int question);

  // Visits the clauses that the change falsifies a watch of. False on a conflict.
  bool Propagate(const Change& change);

  std::span<const BoundLiteral> LiteralsOf(int clause) const {
    const Clause& header = clauses_[static_cast<size_t>(clause)];
    return {literals_.data() + header.first, static_cast<size_t>(header.size)};
  }
  int32_t ProofOf(int clause) const { return clauses_[static_cast<size_t>(clause)].proof; }
  void SetProof(int clause, int32_t proof) { clauses_[static_cast<size_t>(clause)].proof = proof; }
  void MarkUsed(int clause) { clauses_[static_cast<size_t>(clause)].used = true; }
  int Count() const { return static_cast<int>(clauses_.size()); }

  // At the root: drops what is satisfied there, and the worse half of the learned clauses of glue
  // above 2 that took no part in a conflict since the last reduction. False when a clause is
  // falsified.
  bool Reduce();

  // At the root of another question: keeps the learned clauses whose question says so, and watches
  // all afresh. False when a clause is falsified.
  bool Keep(const std::vector<bool>& questions);

 private:
  struct Watch {
    int32_t clause = 0;
    Bound threshold = 0;
    BoundLiteral blocker;  // another literal of the clause; while true, the clause needs no look
  };

  bool Visit(Watch& watch, BoundLiteral falsified, bool& moved);
  void AddWatch(int clause, BoundLiteral watched, BoundLiteral blocker);
  bool Rebuild(const std::vector<bool>& kept);
  bool Restore(const Clause& clause, std::span<const BoundLiteral> literals);

  Trail& trail_;
  std::vector<Clause> clauses_;
  std::vector<BoundLiteral> literals_;
  std::vector<std::vector<Watch>> watches_;  // by view
  int learned_ = 0;
};

// What a conflict teaches: a clause whose first literal is false only because of the conflict's
// level.
struct Lesson {
  std::vector<BoundLiteral> clause;  // the second literal, if any, is false since `level`
  int level = 0;                     // to return to, where the first literal follows
  int glue = 0;
  // Where a proof is kept: the changes whose reasons, one after the other, lead from the clause's
  // negation to the conflict, each with the bound that was needed of it. Ascending.
  struct Step {
    int change = 0;
    Bound needed = 0;
  };
  std::vector<Step> derivation;
};

// First-UIP learning (Marques-Silva and Sakallah 1996; Zhang et al. 2001) over bounds.
//
// The conflict is a set of true literals "view >= bound". Walking the trail backwards, the change
// behind each literal of the last level is replaced by its reason until one is left. What is
// carried for a change is not the bound that it set but the least bound *needed*; shiftable reasons
// then ask less of their own literals:
//
//     change    y: 0 -> 40  because p, x >= 30       needed: y >= 36       asks p, x >= 26
//
// Afterwards literals that follow from others of the clause are dropped (Sörensson and Biere 2009),
// and of two bounds on one view only the stronger stays.
class ConflictAnalysis {
 public:
  ConflictAnalysis(const Trail& trail, ClauseDatabase& clauses, Decisions& decisions,
                   bool minimize);

  // The level of the latest literal of the conflict; the trail must stand there before Learn.
  int LevelOf(const std::vector<BoundLiteral>& conflict) const;
  // Needs a conflict of level >= 1. The lesson lives until the next call.
  const Lesson& Learn(const std::vector<BoundLiteral>& conflict);
  // Lessons tell their derivation from here on.
  void KeepDerivations() { keeps_derivations_ = true; }

 private:
  void Need(BoundLiteral literal);
  void Resolve(int change, Bound needed, std::vector<BoundLiteral>& out) const;
  int FindFirstUniqueImplication();
  void Minimize();
  bool Follows(int change, Bound needed, int depth);
  void Compose(int asserting);
  void NoteDerivation();
  void NoteFollowing(int change);
  void Clear();

  const Trail& trail_;
  ClauseDatabase& clauses_;
  Decisions& decisions_;
  bool minimize_;
  bool keeps_derivations_ = false;
  int level_ = 0;
  int open_ = 0;                 // needed changes of the last level, not yet resolved
  std::vector<Bound> needed_;    // by change, where needed
  std::vector<char> is_needed_;  // by change
  std::vector<int> touched_;     // changes that are needed
  std::vector<int> earlier_;     // those of earlier levels
  std::vector<int> strongest_;   // by view: the latest change in the clause, or -1
  std::vector<char> has_level_;  // levels of the clause
  struct Known {
    Bound follows = 0;
    Bound stands = 0;
    bool has_follows = false;
    bool has_stands = false;
    bool is_noted = false;  // in the derivation
  };
  std::vector<Known> known_;  // by change: what Follows found
  std::vector<int> known_changes_;
  std::vector<int> resolved_;  // changes of the last level whose reasons were taken
  std::vector<int> dropped_;   // changes that Minimize took out of the clause
  std::vector<std::vector<BoundLiteral>> buffers_;  // with split K
  Lesson lesson_;
};

}  // namespace tessera::search::engines::lazy
