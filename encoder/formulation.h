#pragma once

#include <optional>
#include <set>
#include <string>

#include "tessera/encoder/addresses.h"
#include "tessera/encoder/backend.h"
#include "tessera/encoder/constraint.h"
#include "tessera/encoder/costs.h"
#include "tessera/encoder/rules.h"
#include "tessera/encoder/schedules.h"
#include "tessera/problem/result.h"

namespace tessera::encoder {

// A Problem said once, to any backend, such that rungs and capacities are mere assumptions.
//
//     Problem, Ladder --> Demands --> Addresses --.         clauses, bounds, differences
//                                                 +-- Formulation ------> ClauseSink, IntegerSink
//                             Schedules, Rules --'                          |            |
//                                                                        CaDiCaL        Z3
class Formulation {
 public:
  // `question` and `target` outlive this. `constraints` are said last; the granules of `question` divide
  // their units. The problem's horizon has at most kStepLimit steps if a memory has
  // modes.
  Formulation(const Question& question, Target& target, const Constraints& constraints = {});

  // Says all that holds on every rung and at every capacity. To be called once, first.
  void Write();

  Literal SelectRung(size_t rung);
  Literal SelectCapacity(problem::Bytes capacity) { return addresses_.SelectCapacity(capacity); }

  // The assumption under which the problem's costs total at most `most`; most >= 0.
  Literal SelectCost(int64_t most) { return costs_.SelectAtMost(most); }

  // The target's last model in the Problem's own terms.
  problem::Allocation Decode() const;

 private:
  const Question& question_;
  Target& target_;
  Addresses addresses_;
  Schedules schedules_;
  Rules rules_;
  Costs costs_;
  Constraints constraints_;
  std::set<size_t> rungs_;  // of which the rules have spoken
};

// A schedule has an entry for each step; more of them than this are refused.
inline constexpr problem::Step kStepLimit = 2'000'000;

// Why the formula would be too large to write down, or nullopt.
std::optional<std::string> TooLarge(const problem::Problem& problem, const Demands& demands);

}  // namespace tessera::encoder
