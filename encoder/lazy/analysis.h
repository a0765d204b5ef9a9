#pragma once

#include <vector>

#include "tessera/encoder/lazy/clauses.h"
#include "tessera/encoder/lazy/decisions.h"
#include "tessera/encoder/lazy/trail.h"

namespace tessera::encoder::lazy {

// What a conflict teaches: a clause whose first literal is false only because of the conflict's level.
struct Lesson {
  std::vector<Literal> clause;  // the second literal, if any, is false since `level`
  int level = 0;                // to return to, where the first literal follows
  int glue = 0;
  // Where a proof is kept: the changes whose reasons, one after the other, lead from the clause's negation to the
  // conflict, each with the bound that was needed of it. Ascending.
  struct Step {
    int change = 0;
    Bound needed = 0;
  };
  std::vector<Step> derivation;
};

// First-UIP learning (Marques-Silva and Sakallah 1996; Zhang et al. 2001) over bounds.
//
// The conflict is a set of true literals "view >= bound". Walking the trail backwards, the change behind each
// literal of the last level is replaced by its reason until one is left. What is carried for a change is not
// the bound that it set but the least bound *needed*; shiftable reasons then ask less of their own literals:
//
//     change    y: 0 -> 40  because p, x >= 30       needed: y >= 36       asks p, x >= 26
//
// Afterwards literals that follow from others of the clause are dropped (Sörensson and Biere 2009), and of two
// bounds on one view only the stronger stays.
class ConflictAnalysis {
 public:
  ConflictAnalysis(const Trail& trail, ClauseDatabase& clauses, Decisions& decisions, bool minimize);

  // The level of the latest literal of the conflict; the trail must stand there before Learn.
  int LevelOf(const std::vector<Literal>& conflict) const;
  // Needs a conflict of level >= 1. The lesson lives until the next call.
  const Lesson& Learn(const std::vector<Literal>& conflict);
  // Lessons tell their derivation from here on.
  void KeepDerivations() { keeps_derivations_ = true; }

 private:
  void Need(Literal literal);
  void Resolve(int change, Bound needed, std::vector<Literal>& out) const;
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
  std::vector<int> resolved_;                  // changes of the last level whose reasons were taken
  std::vector<int> dropped_;                   // changes that Minimize took out of the clause
  std::vector<std::vector<Literal>> buffers_;  // by depth
  Lesson lesson_;
};

}  // namespace tessera::encoder::lazy
