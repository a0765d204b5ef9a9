// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/problem/problem.h"

// The checker of certificates: decides whether a text proves that the Problem has no placement
// within the capacity.
//
// A proof is a list of clauses. Each clause is a disjunction of statements that holds in every
// placement, and the last clause is empty. To prove a clause, its negation is assumed. Then axioms
// (axiom_checker.h) and earlier clauses are applied in the order in which they are listed (reverse
// unit propagation with hints, as in Cruz-Filipe et al. 2017, LRAT):
//
//     clause 9 : b2,5              assume the opposite: b5,2
//     stack 5 : b2,5 x5<8 x2>=40   b5,2 holds and x5 >= 8 is known, so all literals but one are
//                                  false: x2 >= 40
//     use 7                        all of its literals are false: a contradiction, so clause 9
//                                  holds
//
// The checker never searches. It reads each line once, in time linear in its literals. It uses the
// Problem and no solver, and it shares no code with any solver, so a fault of an engine cannot make
// it accept a wrong proof. A clause of one literal holds from then on and need not be listed.
namespace tessera::problem::proof {

struct ProofCheck {
  bool accepted = false;
  size_t line = 0;     // of the first flaw, counted from 1; 0 if no line is at fault
  std::string flaw;    // why the proof is refused
  size_t clauses = 0;  // proven
};

// Checks whether `text` proves that no placement of `problem` exists when memories[0] has
// `capacity` bytes. The Problem is well formed. Never throws. Cost: linear in the text, except for
// stacks (axiom_checker.h), and memory for the clauses.
ProofCheck CheckProof(const Problem& problem, Bytes capacity, std::string_view text);

}  // namespace tessera::problem::proof
