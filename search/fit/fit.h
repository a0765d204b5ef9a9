// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/fit/measurements.h"

namespace tessera::search::fit {

// The outcome for one constant.
enum class Outcome : uint8_t {
  kFitted,
  kAtLimit,  // fitted, but the measurements ask for more than it may change, or a profile may state
  kNoEffect,    // no measurement depends on it
  kNotTried,    // a stop came first
  kIndistinct,  // what it does to the measurements, other constants do as well
};

struct FittedConstant {
  std::string name;
  double before = 0;
  double after = 0;  // as before, unless it was fitted or is at its limit
  Outcome outcome = Outcome::kFitted;
  std::string alike = {};  // with kIndistinct: the constant that does most nearly the same
};

// How far cycles are from measurements, as a share: 0.05 means 5 % more or less.
struct Error {
  double median = 0;
  double most_of_ten = 0;  // 90 % of the measurements are at most so far off
};

// The measurements from which some are left out.
inline constexpr size_t kLeastHeldOut = 10;

struct Fit {
  hw_profiles::Profile profile;
  std::vector<FittedConstant> constants;
  // nullopt where a stop came first
  std::optional<Error> before;
  std::optional<Error> after;
  // of measurements that their fit did not see, where all of these fits ended: each fifth in turn
  // is left out; nullopt too where there are fewer than kLeastHeldOut measurements
  std::optional<Error> held_out;
  bool is_complete = true;  // a stop did not end it
};

// Fits the constants of the profile (ConstantsOf) to measurements: the least sum of squares of the
// logarithms of cycles / measured. A constant that the measurements cannot identify keeps its
// value. Nothing is fitted for single measurements. Cost: about a hundred simulations of each.
Fit FitConstants(const hw_profiles::Profile& profile, const std::vector<Measurement>& measurements,
                 const base::Stop& stop);

}  // namespace tessera::search::fit
