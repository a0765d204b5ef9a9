#pragma once

#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/tiling/candidate_search.h"

// Whether a plan may claim what only a search can tell: its status, its baseline, and which tiles
// are the largest.
//
// A search is deterministic, and a plan records all that decides what it answers (plan::Run). So
// the check of these claims is to run the search again and to compare: an answer that is called
// optimal, and is not, is one that the search does not give. What the claims rest on is then the
// search itself, as prices rest on the simulation (pricing.h): this finds claims that were changed
// or are out of date, not a fault of the search. Where no search was run, or one was cut off, there
// is nothing to run again, and no more may be claimed than follows from the lower bound and the
// whole output (run_record.h). Cost: that of the search; where there is none to run again, that of
// the baseline.
namespace tessera::search::partition::analysis {

struct ReproduceOptions {
  tiling::Engines engines;  // those that the plan records, in its order
  const base::Stop* stop = nullptr;
  int threads = 1;  // changes the time taken, never the verdict
};

struct Reproduction {
  bool finished = false;  // false: the stop came first, and nothing is said
  std::vector<plan::verify::Violation> violations;
};

// Of a plan that plan::Validate and FindMispriced accept.
Reproduction Reproduce(const plan::Plan& plan, const ReproduceOptions& options);

}  // namespace tessera::search::partition::analysis
