// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_FIT_H_
#define TESSERA_FIT_H_

#include <tessera/call.h>
#include <tessera/network.h>
#include <tessera/profile.h>
#include <tessera/result.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Constants of a profile from measured cycles (docs/costs.md):
//
//     auto measured = tessera::Measurements::Load("measured.csv", profile);
//     auto fit = tessera::FitProfile(profile, *measured);
//     if (fit) use(fit->profile);
namespace tessera {
inline namespace v0 {

// Subgraphs, their tiles, and the cycles that they took. CSV with the columns network, operators
// (ID or FIRST..LAST), rows (of a tile; empty: all), weights (a policy; empty: resident) and
// cycles. Immutable and thread-safe; copies share the content.
class TESSERA_API Measurements {
 public:
  // Reads a file; "-" is standard input. Networks are files, found from the folder of this file.
  static Result<Measurements> Load(const std::string& path, const Profile& profile);

  // As Load, from a text that names networks of this list. `name` is for messages.
  static Result<Measurements> Parse(std::string_view csv, const Profile& profile,
                                    const std::vector<std::pair<std::string, Network>>& networks,
                                    const std::string& name = "measured.csv");

  std::size_t Count() const noexcept;
  const std::vector<std::string>& NetworkFiles() const noexcept;  // that Load read, as paths

  struct Content;
  explicit Measurements(std::shared_ptr<const Content> content) noexcept;
  const Content& Get() const noexcept { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

enum class FitOutcome : std::uint8_t {
  kFitted,
  kAtLimit,     // fitted, but the measurements ask for a value that no profile may state
  kNoEffect,    // no measurement depends on it
  kNotTried,    // a limit came first
  kIndistinct,  // other constants explain the same
};

// "fitted", "at_limit", ...
TESSERA_API const char* NameOf(FitOutcome outcome) noexcept;

struct FittedConstant {
  std::string name = {};  // a path in the profile: "memories.dram.port.read_latency_cycles"
  double before = 0;
  double after = 0;  // as before, unless the outcome is kFitted or kAtLimit
  FitOutcome outcome = FitOutcome::kFitted;
  std::string alike = {};  // kIndistinct: the constant with the most similar effect
};

// How far predicted cycles are from measured ones, as shares: 0.05 is 5 % more or less.
struct FitError {
  double median = 0;
  double nine_of_ten = 0;  // 90 % of the measurements are at most this far off
};

struct ProfileFit {
  Profile profile;  // with the fitted constants, and with their error if that is known
  std::vector<FittedConstant> constants = {};
  // Of the given and of the fitted constants; not set: a limit came first.
  std::optional<FitError> before = {};
  std::optional<FitError> after = {};
  // Of measurements that their fit has not seen. Not set: there are fewer than 10 measurements, or
  // a limit came first.
  std::optional<FitError> held_out = {};
  bool stopped = false;   // a limit cut it off: these are the best constants so far
  std::string text = {};  // as `tessera profile fit` prints it
  std::string json = {};  // the same with --format json
};

// Fits the start-up of each engine, and the latencies and bytes per cycle of each memory. A
// constant that the measurements cannot identify keeps its value. Descriptions of operators for
// imported files (`ops`) are not a part of the fitted profile.
TESSERA_API Result<ProfileFit> FitProfile(const Profile& profile, const Measurements& measured,
                                          const CallOptions& options = {});

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_FIT_H_
