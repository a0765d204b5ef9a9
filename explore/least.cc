#include "tessera/explore/least.h"

#include <fmt/format.h>
#include <tessera/tessera.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "tessera/explore/tables.h"
#include "tessera/explore/variants.h"

// The idea. Each value that is tried is one of three: a plan within the limits was found, it is
// proven that there is none, or neither. Two bisections look for the ends of the interval between:
//
//     proven insufficient        open            a plan was found
//     x x x x x x x x x x x x | ? ? ? ? ? | o o o o o o o o o o o o
//                             ^           ^
//                  largest proven         smallest found
//
// That more is better only guides the bisections. Each end is what was proven or found at that very
// value, so the interval holds whether or not it is so. Cost: two plans for each bit of the range.
namespace tessera::explore {
namespace {

enum class Verdict { kOpen, kInsufficient, kSufficient };

struct Trial {
  Verdict verdict = Verdict::kOpen;
  std::string reason;
  std::string id;
  Planner::Figures metrics;
};

struct Range {
  int64_t least = 0;
  int64_t most = 0;
  int64_t step = 1;
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
  base::Expected<Range> RangeOf(const BaseProfile& base) const {
    const std::optional<double> stated = NumberAt(base.document, path_);
    base::Diagnostic fault;
    fault.file = base.file;
    fault.message = "the profile '" + base.name + "' has no one whole number at '" + path_ + "'";
    fault.expected = "keys of the profile with dots between them, as memories.sram.capacity_bytes";
    if (!stated || std::floor(*stated) != *stated || *stated < 1) return base::Unexpected(fault);
    Range range{0, static_cast<int64_t>(*stated), 1};
    const size_t dot = path_.rfind('.');
    if (path_.starts_with("memories.") && path_.ends_with(".capacity_bytes")) {
      const std::string memory = path_.substr(0, dot);
      const auto alignment = NumberAt(base.document, memory + ".alignment_bytes");
      const auto banks = NumberAt(base.document, memory + ".banks");
      range.step = static_cast<int64_t>(alignment.value_or(1) * banks.value_or(1));
    }
    for (const Axis& axis : spec_.space.Axes()) {
      if (axis.path != path_) continue;
      std::vector<double> values;
      for (const Json& value : axis.values) {
        if (value.is_number()) values.push_back(value.get<double>());
      }
      if (values.empty()) continue;
      range.least = static_cast<int64_t>(*std::min_element(values.begin(), values.end()));
      range.most = static_cast<int64_t>(*std::max_element(values.begin(), values.end()));
    }
    range.least = std::max(range.step, range.least);
    return range;
  }

  base::Expected<std::optional<Json>> RunOn(const BaseProfile& base) {
    const base::Expected<Range> range = RangeOf(base);
    if (!range) return base::Unexpected(range.error());
    range_ = *range;
    base_ = &base;
    trials_.clear();
    Json json = {{"profile", base.name},
                 {"from", range_.least},
                 {"to", range_.most},
                 {"step", range_.step},
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

  // Values are counted in steps from the least one on.
  int64_t ValueAt(int64_t index) const { return range_.least + index * range_.step; }
  int64_t Last() const { return (range_.most - range_.least) / range_.step; }

  // nullptr if the call was cancelled.
  base::Expected<const Trial*> Try(size_t network, int64_t index) {
    const auto key = std::pair(network, index);
    if (const auto known = trials_.find(key); known != trials_.end()) return &known->second;
    Json profile = base_->document;
    SetEntries(profile, FindPlaces(profile, path_), ValueAt(index));
    if (auto fault = variants_.Load({profile})) return base::Unexpected(*fault);
    Trial trial;
    if (const std::string* fault = variants_.FaultOf(0)) {
      trial.reason = *fault;
      return &trials_.emplace(key, std::move(trial)).first->second;
    }
    const auto bounds = variants_.FindBounds();
    if (!bounds) return base::Unexpected(bounds.error());
    const std::string& none = (*bounds)[network].none;
    if (!none.empty()) {
      trial = {Verdict::kInsufficient, none, "", {}};
    } else {
      const auto& limits = spec_.networks[network].limits;
      const std::string metric = limits.empty() ? spec_.metrics.front() : limits.front().first;
      const auto standings = variants_.Ask({{{network, 0}, metric}});
      if (!standings) return base::Unexpected(standings.error());
      if (!*standings) return nullptr;
      const Standing& standing = (*standings)->front();
      trial = {standing.HasPlan()        ? Verdict::kSufficient
               : standing.IsInfeasible() ? Verdict::kInsufficient
                                         : Verdict::kOpen,
               standing.reason, standing.id, standing.metrics};
    }
    if (options_.progress)
      options_.progress(fmt::format("{}: {} tried", spec_.networks[network].name, ValueAt(index)));
    return &trials_.emplace(key, std::move(trial)).first->second;
  }

  // The first index of (low, high] with the verdict on its side of the bisection: `high` has it.
  // nullopt if the call was cancelled.
  base::Expected<std::optional<int64_t>> Bisect(size_t network, int64_t low, int64_t high,
                                                Verdict sought, bool downwards) {
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

  base::Expected<std::optional<Ends>> FindEnds(size_t network) {
    Ends ends;
    const base::Expected<const Trial*> first = Try(network, 0);
    const base::Expected<const Trial*> last =
        first && *first != nullptr ? Try(network, Last()) : first;
    if (!last) return base::Unexpected(last.error());
    if (*last == nullptr) return std::optional<Ends>();
    if ((*first)->verdict == Verdict::kSufficient) ends.found = 0;
    if ((*first)->verdict == Verdict::kInsufficient) ends.insufficient = 0;
    if ((*last)->verdict == Verdict::kInsufficient) ends.insufficient = Last();
    if (ends.found == 0 || ends.insufficient == Last()) return std::optional(ends);
    int64_t top = Last();
    if ((*last)->verdict == Verdict::kSufficient) {
      const auto found = Bisect(network, 0, Last(), Verdict::kSufficient, true);
      if (!found) return base::Unexpected(found.error());
      if (!*found) return std::optional<Ends>();
      ends.found = **found;
      top = **found;
    }
    if (ends.insufficient) {
      // What the first bisection proved is a better begin.
      for (const auto& [key, trial] : trials_) {
        if (key.first == network && key.second < top && trial.verdict == Verdict::kInsufficient)
          ends.insufficient = std::max(*ends.insufficient, key.second);
      }
      const auto proven = Bisect(network, *ends.insufficient, top, Verdict::kInsufficient, false);
      if (!proven) return base::Unexpected(proven.error());
      if (!*proven) return std::optional<Ends>();
      ends.insufficient = **proven;
    }
    return std::optional(ends);
  }

  Json NetworkJson(size_t network, const Ends& ends) {
    const NetworkEntry& entry = spec_.networks[network];
    Json json = {{"network", entry.name},
                 {"limits",
                  AsJson(std::map<std::string, double>{entry.limits.begin(), entry.limits.end()})}};
    if (ends.insufficient) {
      json["insufficient"] = ValueAt(*ends.insufficient);
      json["reason"] = trials_.at({network, *ends.insufficient}).reason;
    }
    if (ends.found) {
      const Trial& trial = trials_.at({network, *ends.found});
      json["found"] = ValueAt(*ends.found);
      json["id"] = trial.id.substr(0, 12);
      json["metrics"] = AsJson(trial.metrics);
    }
    json["exact"] = ends.found && ends.insufficient && *ends.found == *ends.insufficient + 1;
    return json;
  }

  // The set needs what its most demanding network needs; that all of them have plans with it is
  // found out.
  base::Expected<std::optional<Json>> SetJson(const std::vector<Ends>& all) {
    Json json = Json::object();
    int64_t insufficient = -1;
    int64_t found = 0;
    bool is_found = true;
    for (const Ends& ends : all) {
      insufficient = std::max(insufficient, ends.insufficient.value_or(-1));
      found = std::max(found, ends.found.value_or(0));
      is_found = is_found && ends.found.has_value();
    }
    for (size_t network = 0; network < all.size() && is_found; ++network) {
      const base::Expected<const Trial*> trial = Try(network, found);
      if (!trial) return base::Unexpected(trial.error());
      if (*trial == nullptr) return std::optional<Json>();
      is_found = (*trial)->verdict == Verdict::kSufficient;
    }
    if (insufficient >= 0) json["insufficient"] = ValueAt(insufficient);
    if (is_found) json["found"] = ValueAt(found);
    json["exact"] = is_found && insufficient >= 0 && found == insufficient + 1;
    return std::optional(std::move(json));
  }

  const Spec& spec_;
  const RunOptions& options_;
  const std::string& path_;
  Variants variants_;
  const BaseProfile* base_ = nullptr;
  Range range_;
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
  }
  return text;
}

}  // namespace tessera::explore
