#pragma once

#include <vector>

#include "tessera/plan/lowering/record.h"

namespace tessera::plan::lowering {

// One deed waits for another, by their numbers.
struct Dependency {
  int before = 0;
  Cause cause = Cause::kData;
};

// For each deed, those that it must wait for, none of which waits for another of them: data that it reads, bytes that are still in
// use, a mode that it needs. Deeds stand in an order in which they may be done one by one. Cost: runs of bytes touched, and
// what Precedence takes.
std::vector<std::vector<Dependency>> FindDependencies(const Plan& plan, const std::vector<Job>& jobs,
                                                      const std::vector<Deed>& deeds);

// The spot of an operand for that parity and slot: of several, the one that is for it.
const Spot* FindSpot(const Operand& operand, int parity, int slot);

}  // namespace tessera::plan::lowering
