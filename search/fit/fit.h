// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/fit/measurements.h"

namespace tessera::search::fit {

// A number of a profile that measurements may correct.
struct Constant {
  std::string name;  // as a path in the file: "memories.dram.port.read_latency_cycles"
  double value = 0;
  // A rate changes by factors; other constants are whole numbers of cycles.
  bool is_rate = false;
  // The allowed values: those that a profile may state; for a rate, also at least a sixteenth and
  // at most sixteen times the stated one.
  hw_profiles::FieldRange range = {};
  std::function<void(hw_profiles::Profile&, double)> set;
};

// Returns the start-up of each engine, and the latencies and the bytes per cycle of each memory.
// The start-up of an engine is that of the operator kind with the least; the others keep their
// distance from it. Bytes per cycle are those of reads; writes keep their ratio to them.
std::vector<Constant> ConstantsOf(const hw_profiles::Profile& profile);

// The outcome for one constant.
enum class Outcome : uint8_t {
  kFitted,
  kAtLimit,     // fitted, but the measurements ask for a value outside of Constant::range
  kNoEffect,    // no measurement depends on it
  kNotTried,    // a stop came first
  kIndistinct,  // other constants have nearly the same effect on the measurements
};

struct FittedConstant {
  std::string name;
  double before = 0;
  double after = 0;  // as before, unless it was fitted or is at its limit
  Outcome outcome = Outcome::kFitted;
  std::string alike = {};  // with kIndistinct: the constant with the most similar effect
};

// The distances of predicted cycles from measured ones, as shares: 0.05 means 5 % more or less.
struct Error {
  double median = 0;
  double most_of_ten = 0;  // 90 % of the measurements are at most this far off
};

// The least number of measurements for which Fit::held_out is computed.
inline constexpr size_t kLeastHeldOut = 10;

struct Fit {
  hw_profiles::Profile profile;
  std::vector<FittedConstant> constants;
  // The errors with the original and with the fitted constants; nullopt if a stop came first.
  std::optional<Error> before;
  std::optional<Error> after;
  // The error on measurements that a fit has not seen: five further fits leave out a fifth of the
  // measurements each. nullopt if a stop ended one of these fits, or if there are fewer than
  // kLeastHeldOut measurements.
  std::optional<Error> held_out;
  bool is_complete = true;  // a stop did not end it
};

// Fits the constants of the profile (ConstantsOf) to measurements: minimises the sum of squares of
// log(cycles / measured). A constant that the measurements cannot identify keeps its value. No
// parameter belongs to a single measurement. Cost: about a hundred simulations of each measurement.
Fit FitConstants(const hw_profiles::Profile& profile, const std::vector<Measurement>& measurements,
                 const base::Stop& stop);

}  // namespace tessera::search::fit
