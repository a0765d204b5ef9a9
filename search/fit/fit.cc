// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/fit/fit.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>

#include "tessera/search/cost/simulator.h"
#include "tessera/search/fit/least_squares.h"

namespace tessera::search::fit {
namespace {

using hw_profiles::Engine;
using hw_profiles::Port;
using hw_profiles::Profile;

constexpr double kMostFactor = 16;

int64_t LeastStart(const Engine& engine) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const hw_profiles::Throughput& each : engine.throughputs)
    least = std::min(least, each.start_cycles);
  return least;
}

void AddStart(const Profile& profile, size_t index, std::vector<Constant>& constants) {
  const Engine& engine = profile.engines[index];
  if (engine.throughputs.empty()) return;
  const auto set = [index](Profile& changed, double value) {
    Engine& its = changed.engines[index];
    const int64_t by = std::llround(value) - LeastStart(its);
    for (hw_profiles::Throughput& each : its.throughputs) each.start_cycles += by;
  };
  int64_t most = 0;
  for (const hw_profiles::Throughput& each : engine.throughputs)
    most = std::max(most, each.start_cycles);
  const int64_t least = LeastStart(engine);
  constants.push_back({.name = "engines." + engine.name + ".operators.*.start_cycles",
                       .value = static_cast<double>(least),
                       .range = {0, hw_profiles::kCycles.most - static_cast<double>(most - least)},
                       .set = set});
}

void AddPort(const Profile& profile, size_t index, std::vector<Constant>& constants) {
  const Port& port = profile.memories[index].port;
  const std::string before = "memories." + profile.memories[index].name + ".port.";
  const auto add_latency = [&](const char* key, int64_t Port::*latency) {
    constants.push_back({.name = before + key,
                         .value = static_cast<double>(port.*latency),
                         .range = hw_profiles::kCycles,
                         .set = [index, latency](Profile& changed, double value) {
                           changed.memories[index].port.*latency = std::llround(value);
                         }});
  };
  add_latency("read_latency_cycles", &Port::read_latency_cycles);
  add_latency("write_latency_cycles", &Port::write_latency_cycles);
  const double ratio = port.write_bytes_per_cycle / port.read_bytes_per_cycle;
  const hw_profiles::FieldRange allowed = hw_profiles::kBandwidths;
  const double here = port.read_bytes_per_cycle;
  constants.push_back(
      {.name = before + "bytes_per_cycle",
       .value = here,
       .is_rate = true,
       .range = {std::max({here / kMostFactor, allowed.least, allowed.least / ratio}),
                 std::min({here * kMostFactor, allowed.most, allowed.most / ratio})},
       .set = [index, ratio](Profile& changed, double value) {
         changed.memories[index].port.read_bytes_per_cycle = value;
         changed.memories[index].port.write_bytes_per_cycle = std::clamp(
             value * ratio, hw_profiles::kBandwidths.least, hw_profiles::kBandwidths.most);
       }});
}

}  // namespace

std::vector<Constant> ConstantsOf(const Profile& profile) {
  std::vector<Constant> constants;
  for (size_t i = 0; i < profile.engines.size(); ++i) AddStart(profile, i, constants);
  for (size_t i = 0; i < profile.memories.size(); ++i) AddPort(profile, i, constants);
  return constants;
}

// The simulator predicts the cycles of each measurement from the profile's constants. The fit
// changes the constants, not the predictions, so that its result also holds for tiles that were not
// measured.
//
// The units are logarithms for rates and hundreds of cycles for cycles, so that steps in all
// directions have about the same size. Before the fit, the derivatives of all predictions by each
// constant show which constants the measurements can identify: a constant whose derivatives are
// zero has no effect, and one whose derivatives are nearly a combination of others cannot be
// distinguished from these. Of several such constants, the one that adds least is left out first.
//
// Five more fits leave out every fifth measurement each, and then predict the measurements that
// they have not seen. Which ones are left out depends only on the position in the file.

namespace {

using hw_profiles::Profile;

constexpr double kCyclesOfAUnit = 100;
constexpr double kStepOfARate = 0.02;
constexpr double kStepOfCycles = 0.1;
constexpr double kLeastOwnShare = 0.05;
constexpr double kNearLimit = 1e-9;
constexpr int kRounds = 20;
constexpr size_t kFolds = 5;
static_assert(kLeastHeldOut >= 2 * kFolds);

class Predictions {
 public:
  Predictions(const Profile& profile, const std::vector<Measurement>& measurements,
              const base::Stop& stop)
      : profile_(profile), measurements_(measurements), stop_(stop) {
    for (const Measurement& each : measurements)
      tilings_.push_back(graph::tiling::Tile(*each.network, each.interval, each.tile));
  }

  // Returns log(cycles / measured) of the measurements with these numbers; empty after a stop.
  Vector Residuals(const Profile& profile, const std::vector<size_t>& numbers) const {
    std::map<const graph::Graph*, cost::Simulator> simulators;
    Vector residuals;
    for (const size_t number : numbers) {
      if (stop_.Requested()) return {};
      const Measurement& each = measurements_[number];
      const auto simulator =
          simulators.try_emplace(each.network.get(), *each.network, profile).first;
      const plan::Metrics metrics =
          simulator->second.Run(tilings_[number], each.policy, cost::Detail::kTotals);
      const auto cycles = static_cast<double>(std::max<int64_t>(1, metrics.latency_cycles));
      residuals.push_back(std::log(cycles / each.cycles));
    }
    return residuals;
  }

  const Profile& Start() const { return profile_; }

 private:
  const Profile& profile_;
  const std::vector<Measurement>& measurements_;
  const base::Stop& stop_;
  std::vector<graph::tiling::TiledSubgraph> tilings_;
};

// Converts between the fitted constants and points of the search.
class Space {
 public:
  Space(const Predictions& predictions, std::vector<Constant> constants)
      : predictions_(predictions), constants_(std::move(constants)) {
    for (const Constant& each : constants_) {
      start_.push_back(each.is_rate ? std::log(each.value) : each.value / kCyclesOfAUnit);
      steps_.push_back(each.is_rate ? kStepOfARate : kStepOfCycles);
    }
  }

  double ValueAt(const Vector& point, size_t i) const {
    const Constant& constant = constants_[i];
    const double value =
        constant.is_rate ? std::exp(point[i]) : std::round(point[i] * kCyclesOfAUnit);
    return std::clamp(value, constant.range.least, constant.range.most);
  }

  // Cycles have no lower limit here: 0 is a usual value.
  bool IsAtLimit(const Vector& point, size_t i) const {
    const hw_profiles::FieldRange range = constants_[i].range;
    const double value = ValueAt(point, i);
    const bool at_most = value >= range.most * (1 - kNearLimit);
    return at_most || (constants_[i].is_rate && value <= range.least * (1 + kNearLimit));
  }

  Profile ProfileAt(const Vector& point) const {
    Profile profile = predictions_.Start();
    for (size_t i = 0; i < constants_.size(); ++i) constants_[i].set(profile, ValueAt(point, i));
    return profile;
  }

  Columns Derivatives(const std::vector<size_t>& numbers) const {
    const auto residuals = ResidualsOf(numbers);
    const Vector here = residuals(start_);
    return here.empty() ? Columns() : DerivativesAt(residuals, start_, here, steps_);
  }

  Minimum Fit(const std::vector<size_t>& numbers) const {
    const auto clip = [this](Vector& point) {
      for (size_t i = 0; i < point.size(); ++i) {
        const auto [least, most] = constants_[i].range;
        point[i] = constants_[i].is_rate
                       ? std::clamp(point[i], std::log(least), std::log(most))
                       : std::clamp(point[i], least / kCyclesOfAUnit, most / kCyclesOfAUnit);
      }
    };
    return Minimise(ResidualsOf(numbers), start_, steps_, clip, kRounds);
  }

  const std::vector<Constant>& Constants() const { return constants_; }

 private:
  std::function<Vector(const Vector&)> ResidualsOf(const std::vector<size_t>& numbers) const {
    return [this, &numbers](const Vector& point) {
      return predictions_.Residuals(ProfileAt(point), numbers);
    };
  }

  const Predictions& predictions_;
  std::vector<Constant> constants_;
  Vector start_;
  Vector steps_;
};

std::optional<Error> ErrorOf(const Vector& residuals) {
  if (residuals.empty()) return std::nullopt;
  Vector shares;
  for (const double residual : residuals) shares.push_back(std::exp(std::abs(residual)) - 1);
  std::sort(shares.begin(), shares.end());
  // Returns the least value that `of_ten` tenths of the shares do not exceed.
  const auto at = [&](size_t of_ten) { return shares[(of_ten * shares.size() + 9) / 10 - 1]; };
  return Error{at(5), at(9)};
}

// Returns the other column with the most similar direction.
size_t NearestTo(const Columns& columns, size_t column) {
  size_t nearest = column;
  double most = -1;
  for (size_t i = 0; i < columns.size(); ++i) {
    const double length = Dot(columns[i], columns[i]);
    if (i == column || length == 0) continue;
    const double cosine = std::abs(Dot(columns[i], columns[column])) / std::sqrt(length);
    if (cosine <= most) continue;
    most = cosine;
    nearest = i;
  }
  return nearest;
}

// Returns the constants that the measurements can identify. Notes the outcome of the others in
// `fitted`.
std::vector<Constant> Identified(std::vector<Constant> constants, Columns columns,
                                 std::vector<FittedConstant>& fitted) {
  const auto leave_out = [&](size_t i, Outcome outcome, std::string alike) {
    const auto entry = std::find_if(fitted.begin(), fitted.end(), [&](const FittedConstant& each) {
      return each.name == constants[i].name;
    });
    entry->outcome = outcome;
    entry->alike = std::move(alike);
    constants.erase(constants.begin() + static_cast<std::ptrdiff_t>(i));
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(i));
  };
  for (size_t i = constants.size(); i-- > 0;) {
    if (Dot(columns[i], columns[i]) == 0) leave_out(i, Outcome::kNoEffect, {});
  }
  while (constants.size() > 1) {
    size_t weakest = 0;
    double least = 2;
    for (size_t i = 0; i < constants.size(); ++i) {
      const double own = OwnShare(columns, i);
      if (own >= least) continue;
      least = own;
      weakest = i;
    }
    if (least >= kLeastOwnShare) break;
    leave_out(weakest, Outcome::kIndistinct, constants[NearestTo(columns, weakest)].name);
  }
  return constants;
}

}  // namespace

namespace {

// Returns nullopt if a stop ended some fold.
std::optional<Error> HeldOutError(const Predictions& predictions, const Space& space,
                                  size_t measurements) {
  Vector held_out;
  for (size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<size_t> seen;
    std::vector<size_t> unseen;
    for (size_t number = 0; number < measurements; ++number)
      (number % kFolds == fold ? unseen : seen).push_back(number);
    const Minimum fitted = space.Fit(seen);
    if (!fitted.is_complete) return std::nullopt;
    const Vector residuals = predictions.Residuals(space.ProfileAt(fitted.point), unseen);
    if (residuals.empty()) return std::nullopt;
    held_out.insert(held_out.end(), residuals.begin(), residuals.end());
  }
  return ErrorOf(held_out);
}

// Sets the profile and the constants of the fit to the values at the point.
void Adopt(const Space& space, const Vector& point, Fit& fit) {
  fit.profile = space.ProfileAt(point);
  for (size_t i = 0; i < space.Constants().size(); ++i) {
    for (FittedConstant& each : fit.constants) {
      if (each.name != space.Constants()[i].name) continue;
      each.after = space.ValueAt(point, i);
      if (space.IsAtLimit(point, i)) each.outcome = Outcome::kAtLimit;
    }
  }
}

}  // namespace

Fit FitConstants(const Profile& profile, const std::vector<Measurement>& measurements,
                 const base::Stop& stop) {
  Fit fit;
  fit.profile = profile;
  const Predictions predictions(profile, measurements, stop);
  std::vector<size_t> all(measurements.size());
  std::iota(all.begin(), all.end(), size_t{0});
  fit.before = ErrorOf(predictions.Residuals(profile, all));
  fit.after = fit.before;
  const Space whole(predictions, ConstantsOf(profile));
  for (const Constant& each : whole.Constants())
    fit.constants.push_back({.name = each.name, .before = each.value, .after = each.value});
  const Columns columns = whole.Derivatives(all);
  if (columns.empty()) {
    for (FittedConstant& each : fit.constants) each.outcome = Outcome::kNotTried;
    fit.is_complete = false;
    return fit;
  }
  const Space space(predictions, Identified(whole.Constants(), columns, fit.constants));
  const Minimum found = space.Fit(all);
  // Without residuals the point is the start.
  if (!found.residuals.empty()) {
    Adopt(space, found.point, fit);
    fit.after = ErrorOf(found.residuals);
  }
  fit.is_complete = found.is_complete;
  if (fit.is_complete && measurements.size() >= kLeastHeldOut) {
    fit.held_out = HeldOutError(predictions, space, measurements.size());
    fit.is_complete = fit.held_out.has_value();
  }
  return fit;
}

}  // namespace tessera::search::fit
