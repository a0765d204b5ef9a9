// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/boxing/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>

// Theorem 16 boxes small jobs round by round until the ratio r of the greatest to the least height
// is so small that one application to all jobs completes the boxing:
//
//     while (log2 r)^2 >= 1 / epsilon:
//       mu = epsilon / (log2 r)^2,  H = ceil(mu^5 h_max / (log2 r)^2)
//       jobs of height at most mu H go into boxes of height H
//     mu* = epsilon / (log2 r)^2;   all jobs go into boxes of height h_max / mu*
//
// A round boxes something only if h_min <= mu H, and the rounded heights fit into H only if mu is
// at most the golden ratio less one. idealloc derives the range of epsilon in which both hold, and
// shows that the range is empty unless r > 2216.53; if r is less, a dummy job lifts it to that
// value. Epsilon is calibrated: of 100 values in the range, the one with the least r* is used.
namespace tessera::search::engines::boxing {

namespace {

constexpr double kMostError = 0.6180339887498949;  // (sqrt(5) - 1) / 2
constexpr double kLeastRatio = 2216.53;
constexpr int kCalibrations = 100;
constexpr double kMostBytes = 1e18;

double SquaredLog(double ratio) {
  const double log = std::log2(ratio);
  return log * log;
}

double Ratio(Bytes most, Bytes least) {
  return static_cast<double>(most) / static_cast<double>(least);
}

Bytes RoundedUp(double value) {
  return static_cast<Bytes>(std::ceil(std::clamp(value, 1.0, kMostBytes)));
}

// Adds the rounds of small jobs for this epsilon.
void AddRounds(std::span<const Bytes> heights, Bytes most, double epsilon,
               const BoxingOptions& options, BoxingSchedule& schedule) {
  Bytes least = std::min(heights.front(), most);
  size_t left = 0;  // heights before it are boxed
  for (;;) {
    const double log = SquaredLog(Ratio(most, least));
    if (log < 1 / epsilon) break;
    double error = epsilon / log;
    if (options.latent_invariants) error = std::min(error, kMostError);
    const Bytes height = RoundedUp(std::pow(error, 5) * static_cast<double>(most) / log);
    const auto boxed = static_cast<Bytes>(error * static_cast<double>(height));
    size_t end = left;
    while (end < heights.size() && heights[end] <= boxed) ++end;
    const Bytes rest = end < heights.size() ? heights[end] : most;
    const Bytes next = std::min(height, rest);
    if (boxed < least || next <= least) break;  // nothing would change
    schedule.small.push_back({error, height, boxed});
    left = end;
    least = next;
  }
  schedule.last_ratio = Ratio(most, least);
}

BoxingSchedule ScheduleFor(std::span<const Bytes> heights, Bytes most, double epsilon,
                           const BoxingOptions& options) {
  BoxingSchedule schedule;
  AddRounds(heights, most, epsilon, options, schedule);
  const double log = SquaredLog(schedule.last_ratio);
  double error = epsilon;
  if (options.latent_invariants) error = log > 0 ? std::min(epsilon / log, kMostError) : kMostError;
  error = std::max(error, 1e-3);
  schedule.last = {error, std::max(most, RoundedUp(static_cast<double>(most) / error)),
                   std::numeric_limits<Bytes>::max()};
  return schedule;
}

}  // namespace

BoxingSchedule MakeSchedule(std::span<const Bytes> heights, Bytes load,
                            const BoxingOptions& options) {
  const Bytes least = heights.front();
  Bytes most = heights.back();
  Bytes dummy = 0;
  if (options.dummy_job && Ratio(most, least) <= kLeastRatio)
    most = dummy = RoundedUp(kLeastRatio * static_cast<double>(least));
  const double log = SquaredLog(Ratio(most, least));
  BoxingSchedule best;
  if (!options.latent_invariants) {
    const double epsilon = std::pow(Ratio(most, std::max(load, most)), 1.0 / 7);
    best = ScheduleFor(heights, most, epsilon, options);
  } else {
    const double high = kMostError * log;
    const double low = std::min(high, std::pow(std::pow(log, 7) / Ratio(most, least), 1.0 / 6));
    double epsilon = std::max(low, 1e-9);
    best = ScheduleFor(heights, most, epsilon, options);
    for (int i = 1; i < kCalibrations && options.calibration; ++i) {
      epsilon += (high - epsilon) / kCalibrations;
      BoxingSchedule tried = ScheduleFor(heights, most, epsilon, options);
      if (tried.last_ratio < best.last_ratio) best = std::move(tried);
    }
  }
  best.dummy = dummy;
  return best;
}

}  // namespace tessera::search::engines::boxing
