#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/problem/problem.h"

// The checker of certificates: does this text prove that the Problem has no placement within this
// capacity?
//
// A proof is a list of clauses, each a disjunction of statements that holds in every placement, and
// the last one is empty. To prove a clause, its negation is assumed; then axioms (axiom checker.h)
// and earlier clauses are applied in the order in which they are listed (reverse unit propagation
// with hints, as in Cruz-Filipe et al. 2017, LRAT):
//
//     clause 9 : b2,5              assume the opposite: b5,2
//     stack 5 : b2,5 x5<8 x2>=40   b5,2 holds and x5 >= 8 is known, so all but one are false: x2 >= 40
//     use 7                        all of its literals are false: a contradiction, so clause 9 holds
//
// The checker never searches: it reads each line once, in time linear in its literals. It knows the
// Problem and no solver, and shares no code with any: a fault of an engine cannot make it accept. A
// clause of one literal holds from then on without being used.
namespace tessera::problem::proof {

struct ProofCheck {
  bool accepted = false;
  size_t line = 0;     // of the first flaw, counted from 1; 0 when none is to blame
  std::string flaw;    // why the proof is refused
  size_t clauses = 0;  // proven
};

// Whether `text` proves that no placement of `problem` exists when memories[0] has `capacity`
// bytes. The Problem is well formed. Never throws. Cost: linear in the text, but for stacks (axiom
// checker.h); memory for the clauses.
ProofCheck CheckProof(const Problem& problem, Bytes capacity, std::string_view text);

}  // namespace tessera::problem::proof
