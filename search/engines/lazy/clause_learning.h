// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::lazy {

// Ordinary clauses over bound and order literals, with two watched literals each (Moskewicz et al.
// 2001).
//
// Each watch is in the list of the view whose rise falsifies its literal, with the least bound that
// does so:
//
//     clause  x >= 5  or  p  or  -y >= -7          watches:  -x: at -4      -p: at 0
//     the change  -x: -9 -> -3  crosses -4: the clause is visited;  -x: -9 -> -6 skips it
//
// Learned clauses store their glue (the number of levels among their literals, Audemard and Simon
// 2009), and the query under which they were learned (solver.h). Clauses are added, dropped and
// compacted only at the root, where no clause is a reason that is still needed.
class ClauseDatabase {
 public:
  struct Clause {
    int32_t first = 0;  // of its literals
    int32_t size = 0;
    int32_t glue = 0;      // 0: a given clause, never dropped
    int32_t question = 0;  // of learned clauses
    bool used = false;     // since the last reduction
    int32_t proof = -1;    // its index in the proof, if a proof is recorded
  };

  explicit ClauseDatabase(Trail& trail) : trail_(trail) {}

  // Adds a clause of at least two literals, watches the first two, and returns its index. In a
  // learned clause the first literal is the implied one, and the second is the one that was
  // falsified last.
  int Add(std::span<const BoundLiteral> literals, int glue, int question);

  // Visits the clauses in which the change falsifies a watched literal. Returns false on a
  // conflict.
  bool Propagate(const Change& change);

  std::span<const BoundLiteral> LiteralsOf(int clause) const {
    const Clause& header = clauses_[static_cast<size_t>(clause)];
    return {literals_.data() + header.first, static_cast<size_t>(header.size)};
  }
  int32_t ProofOf(int clause) const { return clauses_[static_cast<size_t>(clause)].proof; }
  void SetProof(int clause, int32_t proof) { clauses_[static_cast<size_t>(clause)].proof = proof; }
  void MarkUsed(int clause) { clauses_[static_cast<size_t>(clause)].used = true; }
  int Count() const { return static_cast<int>(clauses_.size()); }

  // Drops satisfied clauses, and the worse half of the learned clauses with a glue above 2 that
  // took no part in a conflict since the last reduction. Must be called at the root. Returns false
  // if a clause is falsified.
  bool Reduce();

  // Keeps the learned clauses of the queries marked true, and watches all clauses again. Must be
  // called at the root of another query. Returns false if a clause is falsified.
  bool Keep(const std::vector<bool>& questions);

 private:
  struct Watch {
    int32_t clause = 0;
    Bound threshold = 0;
    // another literal of the clause; while it is true, the clause need not be visited
    BoundLiteral blocker;
  };

  bool Visit(Watch& watch, BoundLiteral falsified, bool& moved);
  void GrowWatches();
  void AddWatch(int clause, BoundLiteral watched, BoundLiteral blocker);
  bool Rebuild(const std::vector<bool>& kept);
  bool Restore(const Clause& clause, std::span<const BoundLiteral> literals);

  Trail& trail_;
  std::vector<Clause> clauses_;
  std::vector<BoundLiteral> literals_;
  std::vector<std::vector<Watch>> watches_;  // by view
  int learned_ = 0;
};

// The result of conflict analysis: a clause whose first literal is false only because of the level
// of the conflict.
struct Lesson {
  std::vector<BoundLiteral> clause;  // the second literal, if any, is false since `level`
  int level = 0;                     // the level to return to; it implies the first literal
  int glue = 0;
  std::vector<int> involved;  // the integers whose changes took part in the conflict; may repeat
  // If a proof is recorded: the changes whose reasons, in sequence, lead from the negation of the
  // clause to the conflict, each with the bound that was needed of it. Ascending.
  struct Step {
    int change = 0;
    Bound needed = 0;
  };
  std::vector<Step> derivation;
};

// First-UIP learning (Marques-Silva and Sakallah 1996; Zhang et al. 2001) over bounds.
//
// The conflict is a set of true literals "view >= bound". The analysis walks the trail backwards.
// It replaces each literal of the last level by the reason of its change, until one is left. For a
// change it records not the bound that was set but the least bound *needed*; shiftable reasons then
// require less of their literals:
//
//     change  y: 0 -> 40  because p, x >= 30       needed: y >= 36       requires p, x >= 26
//
// Afterwards literals that follow from others of the clause are dropped (Sörensson and Biere 2009),
// and of two bounds on one view only the stronger stays.
class ConflictAnalysis {
 public:
  ConflictAnalysis(const Trail& trail, ClauseDatabase& clauses, bool minimize);

  // Returns the level of the latest literal of the conflict. The trail must be at this level before
  // Learn.
  int LevelOf(const std::vector<BoundLiteral>& conflict) const;
  // Derives the lesson of a conflict of a level >= 1. The result is valid until the next call.
  const Lesson& Learn(const std::vector<BoundLiteral>& conflict);
  // Makes future lessons contain their derivation.
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
  std::vector<Known> known_;  // by change: results of Follows
  std::vector<int> known_changes_;
  std::vector<int> resolved_;  // changes of the last level whose reasons were used
  std::vector<int> dropped_;   // changes that Minimize removed from the clause
  std::vector<std::vector<BoundLiteral>> buffers_;  // by depth of the recursion in Follows
  Lesson lesson_;
};

}  // namespace tessera::search::engines::lazy
