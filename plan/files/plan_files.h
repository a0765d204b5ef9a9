#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/validator.h"

namespace tessera::plan::files {

// Reads plan.json, version 1. Refuses syntax errors (line and column), keys that nobody knows,
// missing or wrong values, ids that the embedded network or profile do not have, and derived
// entries ("first_step", "banks") that contradict the rest (JSON pointer). What the plan says is
// not judged; plan::Validate does that. Buffers come whole ones first, then subgraph by subgraph.
// `file` is for messages.
base::Expected<Plan> ReadPlanJson(std::string_view text, std::string file);

// The plan as plan.json, version 1 (docs/plan-format.md), ending in a newline. The same plan gives
// the same bytes; `time_ms` is for standard output only, where bytes need not repeat. The plan has
// one memory, an offset for each buffer and its buffers' and steps' indices are in range. Buffers
// are written whole ones first, then those of each subgraph, each in their order.
std::string WritePlanJson(const Plan& plan, std::optional<double> time_ms = std::nullopt);

// The entries of plan.json that are for people alone: nothing follows from them, and `tessera
// check` holds them against nothing. It recomputes every other entry, or holds it against the
// digest (digest.h).

// JSON pointers, with * for any index, and a pattern for the user's own keys.
inline constexpr std::array<std::string_view, 4> kExempt = {
    "/time_ms",                            // of the run that printed it
    "/notes",                              // in words
    "/subgraphs/*/rejected_alternatives",  // what else was looked at
    "x-*",                                 // the user's own keys, wherever they stand
};

// A digest of what a plan is made from. Of plan.json, some entries are given: what was asked
// (network, profile, objective, constraints, seed, how the search was run, the program's version),
// and what was chosen where several choices are right (the partition, addresses and modes). All
// others follow from these, and a check computes them again. What is given follows from nothing: so
// the file also states a digest of it, which shows that it was changed since. A plan whose digest
// was changed too is the plan of another question, and is checked against that question; no claim
// rests on the digest. Hence no cryptographic hash: 64 bits of FNV-1a (Fowler, Noll, Vo) over the
// canonical text.

// "fnv1a-" and 16 hexadecimal digits. Of a plan as its file has it: indices are in range.
std::string DigestOf(const Plan& plan);

// Whether the digest that the plan states is that of what it is made from.
void CheckDigest(const Plan& plan, verify::Findings& findings);

// A header for C99 and C++ with what a hand-written runtime needs of the plan: for each buffer and
// each tensor at home macros with its offset and size, and constant tables of subgraphs, steps with
// their modes, buffers and tensors. Names are made valid and unique; the same plan gives the same
// bytes.
std::string WriteHeader(const Plan& plan);

// What sets two plans of one network apart.

// Operators between two neighbouring cuts that both plans make, where the plans do not agree.
struct Stretch {
  graph::Interval interval;
  std::vector<size_t> first;  // the subgraphs of the first plan that cover it, and of the second
  std::vector<size_t> second;
  Metrics first_costs;  // theirs together
  Metrics second_costs;
};

// A buffer or tensor that both plans have, at another place or of another size.
struct Shift {
  std::string id;  // in the first plan
  std::string memory;
  problem::Bytes first_offset = 0;
  problem::Bytes second_offset = 0;
  problem::Bytes first_size = 0;
  problem::Bytes second_size = 0;
};

struct Difference {
  std::vector<std::string>
      circumstances;  // of "network", "profile", "objective", "constraints", "seed", those that differ
  // Whether both have the same operators in the same order; without that what follows is empty.
  bool comparable = true;
  bool reordered = false;  // both have the same operators in different orders
  std::vector<std::string>
      kept_by_first;  // boundary tensors that stay on chip in the first plan alone, and in the second alone
  std::vector<std::string> kept_by_second;
  std::vector<Stretch> stretches;  // in program order
  std::vector<Shift> shifts;       // whole buffers, then by stretch; then by home
};

// Cost: linear in the plans, but for sorting buffers.
Difference FindDifference(const Plan& first, const Plan& second);

}  // namespace tessera::plan::files
