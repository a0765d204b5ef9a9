#pragma once

#include <cstdint>
#include <optional>

#include "tessera/encoder/addresses.h"
#include "tessera/encoder/schedules.h"

namespace tessera::encoder {

// The greatest total of a problem's costs, counted in the greatest common divisor of their weights.
struct CostScale {
  int64_t unit = 1;
  int64_t most = 0;
};
CostScale ScaleOf(const problem::Problem& problem);

// The problem's costs as a number that an assumption can bound. Nothing is said before the first bound. See
// costs.cc.
class Costs {
 public:
  Costs(const Question& question, Addresses& addresses, const Schedules& schedules, ClauseSink& clauses,
        IntegerSink& integers);

  // The assumption under which the costs total at most `most`; most >= 0.
  Literal SelectAtMost(int64_t most);

 private:
  void Write();
  void AddReuse(const problem::Cost& cost);
  void AddSwitches(const problem::Cost& cost);
  void Count(Literal cause, int64_t weight);

  const Question& question_;
  Addresses& addresses_;
  const Schedules& schedules_;
  ClauseSink& clauses_;
  IntegerSink& integers_;
  CostScale scale_;
  std::optional<Term> total_;
  int64_t greatest_ = 0;  // of total_
};

}  // namespace tessera::encoder
