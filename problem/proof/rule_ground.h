#pragma once

#include "tessera/problem/proof/facts.h"
#include "tessera/problem/rule.h"

namespace tessera::problem::proof {

// Where a buffer may begin: from least to greatest, both included.
struct Range {
  Bytes least = 0;
  Bytes greatest = 0;
};

// Whether the buffer can keep what the rule asks of each of its buffers, beginning at a multiple of its stride in
// the range. For kOffset, kWindow, kNoCrossing, kNaturalAlignment and kGuard (inside the memory, clear of what is
// reserved); true for other kinds, and where more than 2^16 offsets would have to be tried.
bool CanKeep(const Facts& facts, const Requirement& wanted, int buffer, Range range);

// The same for what a rule asks of a pair: kDifference, kDistance and kXorDistance; true for other kinds, and where
// neither analysis nor trying 2^16 offsets decides it.
bool CanKeep(const Facts& facts, const Requirement& wanted, int first, Range first_range, int second,
             Range second_range);

// Bytes that guards keep free between the two when `below` lies below `above`: 0 unless they live together and may
// not share addresses.
Bytes GuardBetween(const Facts& facts, const std::vector<Guard>& guards, int below, int above);

}  // namespace tessera::problem::proof
