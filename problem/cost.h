#pragma once

#include <cstdint>
#include <string>

namespace tessera::problem {

struct Problem;
struct Allocation;

enum class CostKind : uint8_t {
  kReuse,       // buffers `first` and `second` never live together, and yet share an address
  kModeSwitch,  // memory `memory` changes its mode from one step to one that may follow it
};

// What an answer should avoid and may do: a preference, never a constraint. Session::Solve pays it no heed;
// Session::Minimise keeps the total as low as it can.
struct Cost {
  std::string name;  // for people; may be empty
  CostKind kind = CostKind::kReuse;
  int64_t weight = 1;  // >= 0; for kModeSwitch of each switch
  int first = 0;       // kReuse: buffers of one memory
  int second = 0;
  int memory = 0;  // kModeSwitch: a memory with modes
  friend bool operator==(const Cost&, const Cost&) = default;
};

// The total of what the allocation does. Switches are counted once for each pair of steps that can follow one
// another (Successions), however often a loop turns. `allocation` has the shape that the problem asks for.
int64_t CostOf(const Problem& problem, const Allocation& allocation);

}  // namespace tessera::problem
