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

// All families of instances by name (families.h), with variations (variations.h).
namespace tessera::problem::generate {

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
