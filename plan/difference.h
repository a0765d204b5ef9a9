#pragma once

#include <string>
#include <vector>

#include "tessera/plan/plan.h"

// What sets two plans of one network apart.
namespace tessera::plan {

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
      circumstances;  // of "network", "profile", "objective", "demands", "seed", those that differ
  // Whether both have the same operators in the same order; without that what follows is empty.
  bool comparable = true;
  bool reordered = false;  // both have the same operators in different orders
  std::vector<std::string>
      kept_by_first;  // borders that stay on chip in the first plan alone, and in the second alone
  std::vector<std::string> kept_by_second;
  std::vector<Stretch> stretches;  // in program order
  std::vector<Shift> shifts;       // whole buffers, then by stretch; then by home
};

// Cost: linear in the plans, but for sorting buffers.
Difference FindDifference(const Plan& first, const Plan& second);

}  // namespace tessera::plan
