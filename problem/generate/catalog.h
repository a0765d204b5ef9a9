// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

// Additions to an instance of plain buffers: penalties, values, fixed offsets and separated
// buffers. All are drawn from a seed. Fixed offsets and separations agree with a known solution,
// which therefore stays valid.
namespace tessera::problem::generate {

// Returns offsets by a first fit in the order of birth. The problem has one memory, and its buffers
// have one life each and no restrictions but alignments. Cost: O(n * buffers alive).
std::vector<Bytes> PlaceInOrderOfBirth(const Problem& problem);

// The highest end of a buffer in the first memory.
Bytes TopOf(const Problem& problem, const std::vector<Bytes>& offsets);

// Fixes each offset to that of the solution with a probability of `share_ppm` millionths.
void FixOffsets(Problem& problem, const std::vector<Bytes>& solution, int64_t share_ppm,
                uint64_t seed);

// Adds at most `count` costs of weight 1 on reuse between pairs that never live together. No pair
// is drawn twice, and drawing ends early when few new pairs are left.
void AddPenalties(Problem& problem, int count, uint64_t seed);

// Gives each buffer a value: its bytes times a number of accesses from 1 to 8, the traffic that it
// saves if it lies in a fast memory.
void AddValues(Problem& problem, uint64_t seed);

// Adds at most `count` relations `separate` between pairs that never live together and share no
// address in the solution. Pairs are drawn as in AddPenalties.
void SeparatePairs(Problem& problem, const std::vector<Bytes>& solution, int count, uint64_t seed);

// All families of instances by name (families.h), with variations.

// A number that some families accept. Steps and capacity are those of a packing; slack is in
// percent.
enum class Parameter : uint8_t { kAlive, kSteps, kCapacity, kBanks, kModes, kSlack };
inline constexpr size_t kParameters = 6;

// A parameter: its name, its default, and its least and greatest value.
struct ParameterTraits {
  std::string_view name;  // as an option without dashes
  int64_t otherwise;
  int64_t least;
  int64_t most;
  std::string_view meaning;
};
const ParameterTraits& TraitsOf(Parameter parameter);

struct Request {
  std::string family;
  int buffers = 100;
  std::vector<std::optional<int64_t>> parameters = std::vector<std::optional<int64_t>>(kParameters);
  uint64_t seed = 1;
  int64_t fixed_ppm = 0;  // of the offsets
  int penalties = 0;      // pairs
  int separated = 0;      // pairs
  bool values = false;    // of all buffers
};

struct FamilyTraits {
  std::string_view name;
  std::string_view meaning;
  std::vector<Parameter> parameters;
};
const std::vector<FamilyTraits>& Families();

// Returns the instance. With fixed offsets or separated buffers, its capacity is the top of the
// solution that they agree with: the packing of *perfect*, else a first fit in the order of birth.
// Refuses unknown families, parameters that the family does not have, values out of range,
// instances that are not well formed (their totals are too large), and fixed offsets or separated
// buffers for *banked*, for which no solution is known.
base::Expected<Problem> Generate(const Request& request);

// Returns a given problem with the variations of `request`. With fixed offsets or separated
// buffers, every buffer must state an offset: the stated offsets are the solution that the
// variations agree with, they are dropped first, and their top becomes the capacity. Ignores the
// number of buffers, the family and its parameters.
base::Expected<Problem> Vary(Problem problem, const Request& request);

}  // namespace tessera::problem::generate
