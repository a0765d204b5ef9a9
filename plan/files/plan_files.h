// SPDX-License-Identifier: Apache-2.0

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

// Reads plan.json, version 1. Refuses syntax errors (line and column), unknown keys, missing or
// wrong values, ids that are not in the embedded network or profile, and derived entries
// ("first_step", "banks") that contradict the rest (JSON pointer). It does not check the plan
// itself; plan::verify::Validate does that. In the returned plan, whole buffers come first,
// followed by those of each subgraph in turn. `file` is used in messages only.
base::Expected<Plan> ReadPlanJson(std::string_view text, std::string file);

// Returns the plan as plan.json, version 1 (docs/plan-format.md), with a newline at the end. The
// same plan always has the same bytes. `time_ms` is for standard output only, where bytes may
// differ between runs. The plan has one memory and an offset for each buffer, and the indices of
// its buffers and steps are in range. Whole buffers are written first, then those of each subgraph,
// each in their order.
std::string WritePlanJson(const Plan& plan, std::optional<double> time_ms = std::nullopt);

// The entries of plan.json that are for people only: nothing is derived from them, and `tessera
// check` does not compare them. It recomputes every other entry or compares it with the digest
// (below).

// JSON pointers, with * for any index, and a pattern for the user's own keys.
inline constexpr std::array<std::string_view, 4> kExempt = {
    "/time_ms",                            // of the run that printed it
    "/notes",                              // text
    "/subgraphs/*/rejected_alternatives",  // alternatives that the search examined
    "x-*",                                 // the user's own keys, at any place
};

// A digest of the inputs and choices of a plan. Some entries of plan.json are independent: the
// inputs (network, profile, objective, constraints, seed, settings of the search, the program's
// version), and the choices where several are correct (the partition, addresses and modes). All
// other entries follow from these, and a check computes them again. The independent entries follow
// from nothing. Therefore the file also states their digest, which reveals later changes. If the
// digest was changed too, the plan answers another question and is checked against that question.
// No claim depends on the digest, so it need not be a cryptographic hash: it is 64 bits of FNV-1a
// (Fowler, Noll, Vo) over the canonical text.

// "fnv1a-" and 16 hexadecimal digits. The plan is as read from its file: indices are in range.
std::string DigestOf(const Plan& plan);

// Checks that the stated digest is the digest of the plan's independent entries.
void CheckDigest(const Plan& plan, verify::Findings& findings);

// A header for C99 and C++ with the data that a hand-written runtime needs: macros with the offset
// and size of each buffer and each tensor at home, and constant tables of subgraphs, steps with
// their modes, buffers and tensors. Names are made valid and unique. The same plan always has the
// same bytes.
std::string WriteHeader(const Plan& plan);

// The differences between two plans of one network.

// Operators between two consecutive shared cuts, for which the plans differ.
struct DifferingPart {
  graph::Interval interval;
  std::vector<size_t> first;  // the subgraphs of the first plan that cover it, and of the second
  std::vector<size_t> second;
  Metrics first_costs;  // their total
  Metrics second_costs;
};

// A buffer or tensor of both plans with different addresses or sizes.
struct Shift {
  std::string id;  // in the first plan
  std::string memory;
  problem::Bytes first_offset = 0;
  problem::Bytes second_offset = 0;
  problem::Bytes first_size = 0;
  problem::Bytes second_size = 0;
};

struct Difference {
  // those of "network", "profile", "objective", "constraints", "seed" that differ
  std::vector<std::string> circumstances;
  // Whether both plans have the same operators in the same order. If not, the fields below are
  // empty.
  bool comparable = true;
  bool reordered = false;  // both have the same operators in different orders
  // boundary tensors that stay on chip only in the first plan, and only in the second
  std::vector<std::string> kept_by_first;
  std::vector<std::string> kept_by_second;
  std::vector<DifferingPart> parts;  // in program order
  std::vector<Shift> shifts;         // whole buffers, then by part; then by home
};

// Cost: linear in the plans, except for sorting buffers.
Difference FindDifference(const Plan& first, const Plan& second);

}  // namespace tessera::plan::files
