// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <tessera/tessera.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tessera/explore/analyses.h"
#include "tessera/explore/tables.h"
#include "tessera/explore/variants.h"

// The idea: each tried value has one of three verdicts: a plan within the limits was found, it is
// proven that there is none, or neither. Two bisections look for the ends of the open interval:
//
//     proven insufficient        open            a plan was found
//     x x x x x x x x x x x x | ? ? ? ? ? | o o o o o o o o o o o o
//                             ^           ^
//                  largest proven         smallest found
//
// The assumption that more is better only guides the bisections. Each end was proven or found at
// that very value, so the interval is right even if the assumption fails. Cost: two plans for each
// bit of the range.
//
// If the last value does not suffice, one in the middle may, as for the size of requests: small
// ones are too many, and large ones end in half a burst. So the range is halved again and again
// until a value suffices, or all are proven insufficient; only then is the claim made that none
// suffices. Most values need no plan for that: bounds prove it, or an end that is at least as good.
namespace tessera::explore {
namespace {

// Limits for the values between ends that do not suffice: so many are examined, and so many
// planned.
constexpr size_t kMostBetween = 1024;
constexpr size_t kMostPlansBetween = 16;
constexpr size_t kBatch = 64;

enum class Sufficiency { kOpen, kInsufficient, kSufficient };

struct Trial {
  Sufficiency verdict = Sufficiency::kOpen;
  std::string reason;
  std::string id;
  Planner::Figures metrics;
};

// The ends for one network, as multiples of the step.
struct Ends {
  std::optional<int64_t> insufficient;
  std::optional<int64_t> found;
};

class Bisection {
 public:
  Bisection(const Spec& spec, const Store& store, const std::string& path,
            const RunOptions& options)
      : spec_(spec), options_(options), path_(path), variants_(spec, store, options) {}

  base::Expected<std::optional<Json>> Run() {
    Json document = {{"format", "tessera-least"},
                     {"version", 1},
                     {"made_by", Version()},
                     {"path", path_},
                     {"profiles", Json::array()}};
    for (const BaseProfile& base : spec_.space.Bases()) {
      auto json = RunOn(base);
      if (!json || !*json) return json;
      document["profiles"].push_back(**std::move(json));
    }
    return std::optional(std::move(document));
  }

 private:
  base::Expected<std::optional<Json>> RunOn(const BaseProfile& base) {
    base::Expected<ValueRange> range = ValueRange::Find(spec_.space, base, path_);
    if (!range) return base::Unexpected(range.error());
    range_ = *std::move(range);
    trials_.clear();
    Json json = {{"profile", base.name},
                 {"from", range_->Least()},
                 {"to", range_->Most()},
                 {"step", range_->Step()},
                 {"networks", Json::array()}};
    std::vector<Ends> all;
    for (size_t network = 0; network < spec_.networks.size(); ++network) {
      const auto ends = FindEnds(network);
      if (!ends) return base::Unexpected(ends.error());
      if (!*ends) return std::optional<Json>();
      all.push_back(**ends);
      json["networks"].push_back(NetworkJson(network, **ends));
    }
    auto set = SetJson(all);
    if (!set || !*set) return set;
    json["set"] = **std::move(set);
    return std::optional(std::move(json));
  }

  // nullptr if the call was cancelled.
  base::Expected<const Trial*> Try(size_t network, int64_t index) {
    const auto key = std::pair(network, index);
    if (const auto known = trials_.find(key); known != trials_.end()) return &known->second;
    if (auto fault = variants_.Load({range_->ProfileWith(index)})) return base::Unexpected(*fault);
    Trial trial;
    if (const std::string* fault = variants_.FaultOf(0)) {
      trial.reason = *fault;
      return &trials_.emplace(key, std::move(trial)).first->second;
    }
    const auto bounds = variants_.FindBounds();
    if (!bounds) return base::Unexpected(bounds.error());
    const std::string& none = (*bounds)[network].none;
    if (!none.empty()) {
      trial = {Sufficiency::kInsufficient, none, "", {}};
    } else {
      const auto& limits = spec_.networks[network].limits;
      const std::string metric = limits.empty() ? spec_.metrics.front() : limits.front().first;
      const auto standings = variants_.Ask({{{network, 0}, metric}});
      if (!standings) return base::Unexpected(standings.error());
      if (!*standings) return nullptr;
      const Standing& standing = (*standings)->front();
      trial = {standing.HasPlan()        ? Sufficiency::kSufficient
               : standing.IsInfeasible() ? Sufficiency::kInsufficient
                                         : Sufficiency::kOpen,
               standing.reason, standing.id, standing.metrics};
    }
    if (options_.progress) {
      const std::string line =
          fmt::format("{}: {} tried", spec_.networks[network].name, range_->At(index));
      options_.progress({.line = line, .phase = "sizes"});
    }
    return &trials_.emplace(key, std::move(trial)).first->second;
  }

  // Returns the first index of (low, high] with the verdict of `high`. Returns nullopt if the call
  // was cancelled.
  base::Expected<std::optional<int64_t>> Bisect(size_t network, int64_t low, int64_t high,
                                                Sufficiency sought, bool downwards) {
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      const base::Expected<const Trial*> trial = Try(network, middle);
      if (!trial) return base::Unexpected(trial.error());
      if (*trial == nullptr) return std::optional<int64_t>();
      const bool is_sought = (*trial)->verdict == sought;
      (is_sought == downwards ? high : low) = middle;
    }
    return std::optional(downwards ? high : low);
  }

  // Returns the greatest value below `top` that was tried and is proven insufficient.
  std::optional<int64_t> GreatestInsufficient(size_t network, int64_t top) const {
    std::optional<int64_t> greatest;
    for (const auto& [key, trial] : trials_) {
      if (key.first == network && key.second < top && trial.verdict == Sufficiency::kInsufficient)
        greatest = key.second;
    }
    return greatest;
  }

  base::Expected<std::optional<Ends>> FindEnds(size_t network) {
    Ends ends;
    const base::Expected<const Trial*> first = Try(network, 0);
    const base::Expected<const Trial*> last =
        first && *first != nullptr ? Try(network, range_->Last()) : first;
    if (!last) return base::Unexpected(last.error());
    if (*last == nullptr) return std::optional<Ends>();
    int64_t low = 0;
    if ((*first)->verdict == Sufficiency::kSufficient) {
      ends.found = 0;
      return std::optional(ends);
    }
    if ((*last)->verdict == Sufficiency::kSufficient) {
      ends.found = range_->Last();
    } else {
      const auto between = SearchBetween(network);
      if (!between) return base::Unexpected(between.error());
      if (variants_.IsCancelled()) return std::optional<Ends>();
      ends.found = *between;
      low = GreatestInsufficient(network, ends.found.value_or(0)).value_or(0);
    }
    if (ends.found) {
      const auto found = Bisect(network, low, *ends.found, Sufficiency::kSufficient, true);
      if (!found) return base::Unexpected(found.error());
      if (!*found) return std::optional<Ends>();
      ends.found = **found;
    }
    const int64_t top = ends.found.value_or(range_->Last());
    // The bounds proven so far are a better start.
    ends.insufficient = GreatestInsufficient(network, ends.found.value_or(range_->Last() + 1));
    if (!ends.insufficient || *ends.insufficient == range_->Last()) return std::optional(ends);
    const auto proven = Bisect(network, *ends.insufficient, top, Sufficiency::kInsufficient, false);
    if (!proven) return base::Unexpected(proven.error());
    if (!*proven) return std::optional<Ends>();
    ends.insufficient = **proven;
    return std::optional(ends);
  }

  // Returns a value that suffices although the first and the last one do not; nullopt if none was
  // found.
  base::Expected<std::optional<int64_t>> SearchBetween(size_t network) {
    const std::vector<int64_t> order = range_->Between(kMostBetween);
    size_t plans = 0;
    for (size_t begin = 0; begin < order.size(); begin += kBatch) {
      const size_t end = std::min(order.size(), begin + kBatch);
      const auto undecided = Rule(network, {order.begin() + static_cast<ptrdiff_t>(begin),
                                            order.begin() + static_cast<ptrdiff_t>(end)});
      if (!undecided) return base::Unexpected(undecided.error());
      for (const int64_t index : *undecided) {
        if (plans++ >= kMostPlansBetween) break;
        const base::Expected<const Trial*> trial = Try(network, index);
        if (!trial) return base::Unexpected(trial.error());
        if (*trial == nullptr) return std::optional<int64_t>();
        if ((*trial)->verdict == Sufficiency::kSufficient) return std::optional(index);
      }
    }
    return std::optional<int64_t>();
  }

  // Proves values insufficient without plans, if it can, and returns the others.
  base::Expected<std::vector<int64_t>> Rule(size_t network, const std::vector<int64_t>& indices) {
    std::vector<int64_t> all = indices;
    for (const int64_t end : {int64_t{0}, range_->Last()}) {
      if (trials_.at({network, end}).verdict == Sufficiency::kInsufficient) all.push_back(end);
    }
    std::vector<Json> profiles;
    profiles.reserve(all.size());
    for (const int64_t index : all) profiles.push_back(range_->ProfileWith(index));
    if (auto fault = variants_.Load(profiles)) return base::Unexpected(*fault);
    const auto bounds = variants_.FindBounds();
    if (!bounds) return base::Unexpected(bounds.error());
    std::vector<int64_t> undecided;
    for (size_t i = 0; i < indices.size() && !variants_.IsCancelled(); ++i) {
      std::string reason = (*bounds)[i * spec_.networks.size() + network].none;
      for (size_t end = indices.size(); end < all.size() && reason.empty(); ++end) {
        if (variants_.FaultOf(i) == nullptr && variants_.IsAtLeastAsGood(network, end, i))
          reason = fmt::format("{} is at least as good and does not suffice", range_->At(all[end]));
      }
      if (reason.empty()) {
        undecided.push_back(indices[i]);
      } else {
        trials_[{network, indices[i]}] = {Sufficiency::kInsufficient, std::move(reason), "", {}};
      }
    }
    return undecided;
  }

  // Nothing lies below the first value.
  static bool IsExact(std::optional<int64_t> found, std::optional<int64_t> insufficient) {
    return found && (*found == 0 || (insufficient && *found == *insufficient + 1));
  }

  // If a greater value proved not to be better, a value is the least one only if all below it are
  // proven insufficient.
  bool IsTrusted(size_t network, int64_t found) const {
    int64_t below = 0;
    bool is_better = true;
    for (const auto& [key, trial] : trials_) {
      if (key.first != network || trial.verdict != Sufficiency::kInsufficient) continue;
      below += key.second < found ? 1 : 0;
      is_better = is_better && key.second < found;
    }
    return is_better || below == found;
  }

  // Returns whether each value of the range is proven insufficient for some network.
  bool DoesNoneSuffice() const {
    std::set<int64_t> proven;
    for (const auto& [key, trial] : trials_) {
      if (trial.verdict == Sufficiency::kInsufficient) proven.insert(key.second);
    }
    return static_cast<int64_t>(proven.size()) == range_->Last() + 1;
  }

  Json NetworkJson(size_t network, const Ends& ends) {
    const NetworkEntry& entry = spec_.networks[network];
    Json json = {{"network", entry.name},
                 {"limits",
                  AsJson(std::map<std::string, double>{entry.limits.begin(), entry.limits.end()})}};
    if (ends.insufficient) {
      json["insufficient"] = range_->At(*ends.insufficient);
      json["reason"] = trials_.at({network, *ends.insufficient}).reason;
    }
    if (ends.found) {
      const Trial& trial = trials_.at({network, *ends.found});
      json["found"] = range_->At(*ends.found);
      json["id"] = trial.id.substr(0, 12);
      json["metrics"] = AsJson(trial.metrics);
    }
    json["exact"] = IsExact(ends.found, ends.insufficient) && IsTrusted(network, *ends.found);
    return json;
  }

  // The set needs at least the value of its most demanding network. Trials show whether all
  // networks have plans with it.
  base::Expected<std::optional<Json>> SetJson(const std::vector<Ends>& all) {
    Json json = Json::object();
    std::optional<int64_t> insufficient;
    int64_t found = 0;
    bool is_found = true;
    for (const Ends& ends : all) {
      insufficient = std::max(insufficient, ends.insufficient);  // none is less than any
      found = std::max(found, ends.found.value_or(0));
      is_found = is_found && ends.found.has_value();
    }
    for (size_t network = 0; network < all.size() && is_found; ++network) {
      const base::Expected<const Trial*> trial = Try(network, found);
      if (!trial) return base::Unexpected(trial.error());
      if (*trial == nullptr) return std::optional<Json>();
      is_found = (*trial)->verdict == Sufficiency::kSufficient;
    }
    if (insufficient) json["insufficient"] = range_->At(*insufficient);
    if (is_found) json["found"] = range_->At(found);
    bool is_exact = is_found && IsExact(found, insufficient);
    for (size_t network = 0; network < all.size() && is_exact; ++network)
      is_exact = IsTrusted(network, *all[network].found);
    json["exact"] = is_exact;
    json["none_suffices"] = !is_found && DoesNoneSuffice();
    return std::optional(std::move(json));
  }

  const Spec& spec_;
  const RunOptions& options_;
  const std::string& path_;
  Variants variants_;
  std::optional<ValueRange> range_;                     // of the profile at hand
  std::map<std::pair<size_t, int64_t>, Trial> trials_;  // by network and index
};

}  // namespace

base::Expected<std::optional<Json>> FindLeast(const Spec& spec, const Store& store,
                                              const std::string& path, const RunOptions& options) {
  return Bisection(spec, store, path, options).Run();
}

std::string DescribeLeast(const Json& document) {
  std::string text;
  for (const Json& profile : document.at("profiles")) {
    text += fmt::format("{} of {}, from {} to {} in steps of {}\n",
                        document.at("path").get<std::string>(),
                        profile.at("profile").get<std::string>(), profile.at("from").dump(),
                        profile.at("to").dump(), profile.at("step").dump());
    std::vector<std::vector<std::string>> rows = {
        {"network", "proven insufficient", "found sufficient", "exact", "id"}};
    const auto add = [&](const std::string& name, const Json& item) {
      rows.push_back({name, Short(item.value("insufficient", Json("-"))),
                      Short(item.value("found", Json("-"))),
                      item.at("exact").get<bool>() ? "yes" : "no", item.value("id", "")});
    };
    for (const Json& network : profile.at("networks")) add(network.at("network"), network);
    if (profile.at("networks").size() > 1) add("all of them", profile.at("set"));
    text += AlignedTable(rows);
    const Json& set = profile.at("set");
    if (set.value("none_suffices", false)) {
      text += "no value of the range suffices, proven\n";
    } else if (!set.contains("found")) {
      text += "no value that suffices was found; it is not proven of all of them\n";
    }
  }
  return text;
}

}  // namespace tessera::explore
