#pragma once

#include <string>

#include "tessera/plan/plan.h"
#include "tessera/plan/violation.h"

// A digest of what a plan is made from. Of plan.json, some entries are given: what was asked (network, profile, objective, demands,
// seed, how the search was run, the program's version), and what was chosen where several choices are right (the partition,
// addresses and modes). All others follow from these, and a check computes them again. What is given follows from nothing: so the file
// also states a digest of it, which shows that it was changed since. A plan whose digest was changed too is the plan of another
// question, and is checked against that question; no claim rests on the digest. Hence no cryptographic hash: 64 bits of FNV-1a
// (Fowler, Noll, Vo) over the canonical text.
namespace tessera::plan {

// "fnv1a-" and 16 hexadecimal digits. Of a plan as its file has it: indices are in range.
std::string DigestOf(const Plan& plan);

// Whether the digest that the plan states is that of what it is made from.
void CheckDigest(const Plan& plan, Findings& findings);

}  // namespace tessera::plan
