// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/relax.h"

#include <fmt/format.h>
#include <tessera/tessera.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/explore/objectives.h"
#include "tessera/explore/restrictions.h"
#include "tessera/explore/variants.h"

// The least change is found by deletion, as for minimal unsatisfiable sets: all restrictions are
// dropped, then restored one after another if the networks keep a plan. The rest is minimal: if any
// one restriction of it is restored, some network has no plan, or none was found. Cost: a plan of
// each network for each restriction.
namespace tessera::explore {
namespace {

class Deletion {
 public:
  Deletion(const Spec& spec, const Store& store, const RunOptions& options, const Json& profile,
           const std::vector<Restriction>& restrictions)
      : spec_(spec),
        variants_(spec, store, options),
        profile_(profile),
        restrictions_(restrictions) {}

  base::Expected<std::optional<Json>> Run() {
    std::vector<size_t> dropped;
    for (size_t i = 0; i < restrictions_.size(); ++i) dropped.push_back(i);
    auto fare = OutcomeOf(Without(dropped));
    if (!fare) return base::Unexpected(fare.error());
    if (!*fare) return std::optional<Json>();
    Json json = {{"outcome", (*fare)->word}, {"network", (*fare)->network}};
    if ((*fare)->word != "sufficient") return std::optional(std::move(json));
    json["dropped"] = Json::array();
    for (size_t i = 0; i < dropped.size();) {
      std::vector<size_t> fewer = dropped;
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
      fare = OutcomeOf(Without(fewer));
      if (!fare) return base::Unexpected(fare.error());
      if (!*fare) return std::optional<Json>();
      if ((*fare)->word == "sufficient") {
        dropped = std::move(fewer);
        continue;
      }
      json["dropped"].push_back({{"what", restrictions_[dropped[i]].what},
                                 {"kept_back", (*fare)->word},
                                 {"network", (*fare)->network}});
      ++i;
    }
    json["profile"] = Without(dropped);
    return std::optional(std::move(json));
  }

 private:
  Json Without(const std::vector<size_t>& dropped) const {
    Json profile = profile_;
    for (const size_t i : dropped) restrictions_[i].drop(profile);
    return profile;
  }

  // The outcome for the set: "sufficient", "infeasible" or "open". nullopt if cancelled.
  struct SetOutcome {
    std::string word;
    std::string network;
  };
  base::Expected<std::optional<SetOutcome>> OutcomeOf(const Json& profile) {
    if (auto fault = variants_.Load({profile})) return base::Unexpected(*fault);
    if (variants_.FaultOf(0) != nullptr) return SetOutcome{"open", ""};
    const auto bounds = variants_.FindBounds();
    if (!bounds) return base::Unexpected(bounds.error());
    std::vector<Question> questions;
    for (size_t network = 0; network < spec_.networks.size(); ++network) {
      if (!(*bounds)[network].none.empty())
        return SetOutcome{"infeasible", spec_.networks[network].name};
      questions.push_back({{network, 0}, spec_.metrics.front()});
    }
    const auto found = variants_.Ask(questions);
    if (!found) return base::Unexpected(found.error());
    if (!*found) return std::optional<SetOutcome>();
    SetOutcome fare{"sufficient", ""};
    for (size_t network = 0; network < spec_.networks.size(); ++network) {
      const Standing& standing = (**found)[network];
      if (standing.IsInfeasible()) return SetOutcome{"infeasible", spec_.networks[network].name};
      if (!standing.HasPlan()) fare = {"open", spec_.networks[network].name};
    }
    return std::optional(std::move(fare));
  }

  const Spec& spec_;
  Variants variants_;
  const Json& profile_;
  const std::vector<Restriction>& restrictions_;
};

// The idea: each restriction and each mode is dropped alone, and the networks are planned again.
// Three things settle an effect without a plan, or better than one:
//
//     a lower bound of the changed profile meets the value of the base    proven: no gain
//     the plan of the base, evaluated on the changed profile              a value that is reached
//     an argument that the changed profile has no plan                    proven: needed
//
// So each gain is that of checked plans, "none" is claimed only if a bound or an optimal plan
// proves it, and everything else is called open.

struct Variation {
  std::string kind;
  std::string what;
  bool is_mode = false;
};

class Relaxer {
 public:
  Relaxer(const Spec& spec, const Store& store, const RunOptions& options)
      : spec_(spec), store_(store), options_(options), variants_(spec, store, options) {}

  base::Expected<std::optional<Json>> Run() {
    Json document = {{"format", "tessera-relaxation"}, {"version", 1}, {"made_by", Version()}};
    document["minimized"] = spec_.metrics;
    for (const NetworkEntry& network : spec_.networks) document["networks"].push_back(network.name);
    for (const BaseProfile& base : spec_.space.Bases()) {
      auto one = RunOn(base);
      if (!one || !*one) return one;
      document["profiles"].push_back(**std::move(one));
    }
    return std::optional(std::move(document));
  }

 private:
  size_t Networks() const { return spec_.networks.size(); }

  void ReportProgress(const std::string& line) const {
    if (options_.progress) options_.progress({.line = line, .phase = "restrictions"});
  }

  base::Expected<std::optional<Json>> RunOn(const BaseProfile& base) {
    restrictions_ = RestrictionsOf(base.document);
    std::vector<Json> profiles = {base.document};
    variations_ = {{"", "", false}};
    for (const Restriction& restriction : restrictions_) {
      variations_.push_back({restriction.kind, restriction.what, false});
      restriction.drop(profiles.emplace_back(base.document));
    }
    for (const ModeOf& mode : ModesOf(base.document)) {
      variations_.push_back(
          {"mode", fmt::format("mode '{}' of '{}'", mode.mode, mode.memory), true});
      profiles.push_back(WithoutMode(base.document, mode));
    }
    if (auto fault = variants_.Load(profiles)) return base::Unexpected(*fault);
    auto bounds = variants_.FindBounds();
    if (!bounds) return base::Unexpected(bounds.error());
    bounds_ = *std::move(bounds);
    if (variants_.IsCancelled()) return std::optional<Json>();
    standings_.clear();
    plans_.clear();
    for (const bool is_base : {true, false}) {
      const auto asked = AskWhatIsOpen(is_base);
      if (!asked) return base::Unexpected(asked.error());
      if (!*asked) return std::optional<Json>();
    }
    Json json = {{"profile", base.name}, {"base", BaseJson()}, {"dropped", Json::array()}};
    if (const auto area = variants_.AreaOf(0)) json["area_mm2"] = *area;
    for (size_t variant = 1; variant < variations_.size(); ++variant)
      json["dropped"].push_back(VariationJson(variant));
    return AddSets(base, std::move(json));
  }

  // Plans the base, or the open pairs of the others. Returns true unless it was cancelled.
  base::Expected<bool> AskWhatIsOpen(bool is_base) {
    std::vector<Question> open;
    for (size_t variant = is_base ? 0 : 1; variant < (is_base ? 1 : variations_.size());
         ++variant) {
      for (size_t network = 0; network < Networks(); ++network) {
        for (const std::string& metric : spec_.metrics) {
          const Question question{{network, variant}, metric};
          const auto settled = Settle(question);
          if (!settled) return base::Unexpected(settled.error());
          if (!*settled) open.push_back(question);
        }
      }
    }
    ReportProgress(
        fmt::format("{} plans for {}", open.size(),
                    is_base ? "the profile" : "what a restriction or mode less changes"));
    const auto found = variants_.Ask(open);
    if (!found) return base::Unexpected(found.error());
    if (!*found) return false;
    for (size_t i = 0; i < open.size(); ++i) {
      Standing& standing = StandingOf(open[i]);
      standing = (**found)[i];
      standing.at_least = std::max(standing.at_least, BoundOf(open[i]));
      if (open[i].pair.point == 0) continue;
      if (const auto fault = ImproveByBase(open[i])) return base::Unexpected(*fault);
    }
    return !variants_.IsCancelled();
  }

  Standing& StandingOf(const Question& question) {
    return standings_[{question.pair.point, question.pair.network, question.metric}];
  }

  double BoundOf(const Question& question) const {
    const Planner::Figures& metrics =
        bounds_[question.pair.point * Networks() + question.pair.network].metrics;
    const auto bound = metrics.find(question.metric);
    return bound == metrics.end() ? 0 : bound->second;
  }

  // Returns whether the known facts settle the pair, so that no plan is needed.
  base::Expected<bool> Settle(const Question& question) {
    Standing& standing = StandingOf(question);
    standing.at_least = BoundOf(question);
    if (const std::string* fault = variants_.FaultOf(question.pair.point)) {
      standing.outcome = "refused";
      standing.reason = *fault;
      return true;
    }
    const std::string& none =
        bounds_[question.pair.point * Networks() + question.pair.network].none;
    if (!none.empty()) {
      standing.outcome = "infeasible";
      standing.reason = none;
      return true;
    }
    if (question.pair.point == 0) return false;
    const Standing& before = StandingOf({{question.pair.network, 0}, question.metric});
    if (!before.HasPlan()) return false;
    // A plan of the base that loses nothing settles a mode. One whose value is a bound settles the
    // rest, because nothing can be better.
    const double value = Rounded(before.metrics.at(question.metric));
    const bool is_mode = variations_[question.pair.point].is_mode;
    if (!is_mode && Rounded(standing.at_least) < value) return false;
    if (const auto fault = ImproveByBase(question)) return base::Unexpected(*fault);
    return standing.HasPlan() && Rounded(standing.metrics.at(question.metric)) <= value;
  }

  // The plan of the base, evaluated on the changed profile, is one there too.
  std::optional<base::Diagnostic> ImproveByBase(const Question& question) {
    const Question asked{{question.pair.network, 0}, question.metric};
    const Standing& before = StandingOf(asked);
    Standing& standing = StandingOf(question);
    if (!before.HasPlan() || standing.IsInfeasible()) return std::nullopt;
    const double value = Rounded(before.metrics.at(question.metric));
    if (standing.HasPlan() && Rounded(standing.metrics.at(question.metric)) <= value)
      return std::nullopt;
    const auto key = std::pair(question.pair.network, question.metric);
    if (!plans_.contains(key)) {
      base::Expected<Plan> plan = variants_.PlanOf(asked);
      if (!plan) return plan.error();
      plans_.emplace(key, *std::move(plan));
    }
    const auto figures = variants_.Reevaluate(plans_.at(key), question.pair.point);
    if (!figures) return figures.error();
    const auto found = figures->find(question.metric);
    if (found == figures->end() ||
        (standing.HasPlan() && standing.metrics.at(question.metric) <= found->second))
      return std::nullopt;
    standing.outcome = "feasible";
    standing.metrics = *figures;
    standing.id.clear();
    return std::nullopt;
  }

  Json BaseJson() {
    Json list = Json::array();
    for (size_t network = 0; network < Networks(); ++network) {
      for (const std::string& metric : spec_.metrics) {
        const Standing& standing = StandingOf({{network, 0}, metric});
        Json item = {{"network", spec_.networks[network].name},
                     {"minimized", metric},
                     {"outcome", standing.outcome}};
        if (standing.HasPlan()) {
          item["value"] = AsJson(standing.metrics.at(metric));
          item["id"] = standing.id.substr(0, 12);
        } else {
          item["reason"] = standing.reason;
        }
        list.push_back(std::move(item));
      }
    }
    return list;
  }

  Json VariationJson(size_t variant) {
    const Variation& variation = variations_[variant];
    Json json = {{"kind", variation.kind}, {"what", variation.what}};
    if (const auto area = variants_.AreaOf(variant)) json["area_mm2"] = *area;
    for (size_t network = 0; network < Networks(); ++network) {
      for (const std::string& metric : spec_.metrics)
        json["effects"].push_back(EffectJson({{network, variant}, metric}));
    }
    return json;
  }

  Json EffectJson(const Question& question) {
    const Standing& before = StandingOf({{question.pair.network, 0}, question.metric});
    const Standing& after = StandingOf(question);
    const bool is_mode = variations_[question.pair.point].is_mode;
    Json json = {{"network", spec_.networks[question.pair.network].name},
                 {"minimized", question.metric}};
    if (before.HasPlan()) json["before"] = AsJson(before.metrics.at(question.metric));
    if (after.HasPlan()) json["after"] = AsJson(after.metrics.at(question.metric));
    if (!after.HasPlan()) {
      json["verdict"] = after.outcome == "refused"    ? "refused"
                        : !after.IsInfeasible()       ? "open"
                        : is_mode && before.HasPlan() ? "needed"
                                                      : "impossible";
      json["proven"] = after.IsInfeasible();
      json["reason"] = after.reason;
      return json;
    }
    if (!before.HasPlan()) {
      json["verdict"] = "makes a plan possible";
      json["proven"] = before.IsInfeasible();
      return json;
    }
    const double old = before.metrics.at(question.metric);
    const double now = after.metrics.at(question.metric);
    const bool is_gain = Rounded(now) < Rounded(old);
    const bool is_loss = Rounded(now) > Rounded(old);
    json["gain"] = AsJson(old - now);
    if (!is_mode) json["gain_at_most"] = AsJson(std::max(0.0, old - after.at_least));
    json["verdict"] = is_gain ? "gain" : is_loss ? "loss" : "none";
    // A checked plan proves that a mode can be removed without a loss. Only a bound proves that a
    // restriction costs nothing.
    const double least = Rounded(after.at_least);
    json["proven"] = is_gain   ? Rounded(before.at_least) > Rounded(now)
                     : is_loss ? least > Rounded(old)
                               : is_mode || least >= Rounded(old);
    return json;
  }

  base::Expected<std::optional<Json>> AddSets(const BaseProfile& base, Json json) {
    std::vector<ModeSearch::Planned> planned;
    std::set<size_t> without;
    for (size_t network = 0; network < Networks(); ++network) {
      for (const std::string& metric : spec_.metrics) {
        const Question question{{network, 0}, metric};
        if (!StandingOf(question).HasPlan()) {
          without.insert(network);
          continue;
        }
        base::Expected<Plan> plan = variants_.PlanOf(question);
        if (!plan) return base::Unexpected(plan.error());
        planned.push_back({network, metric, *std::move(plan)});
      }
    }
    if (without.empty() && !ModesOf(base.document).empty()) {
      ReportProgress("the fewest modes");
      auto modes = ModeSearch(spec_, store_, options_, base.document, std::move(planned)).Run();
      if (!modes || !*modes) return modes;
      json["modes"] = **std::move(modes);
    }
    if (!without.empty()) {
      ReportProgress("the least change with which all networks have a plan");
      auto sufficient = FindSufficient(spec_, store_, options_, base.document, restrictions_);
      if (!sufficient || !*sufficient) return sufficient;
      json["sufficient"] = **std::move(sufficient);
    }
    return std::optional(std::move(json));
  }

  const Spec& spec_;
  const Store& store_;
  const RunOptions& options_;
  Variants variants_;
  std::vector<Restriction> restrictions_;
  std::vector<Variation> variations_;  // the base first
  std::vector<Planner::Bounds> bounds_;
  std::map<std::tuple<size_t, size_t, std::string>, Standing> standings_;
  std::map<std::pair<size_t, std::string>, Plan> plans_;  // of the base
};

}  // namespace

base::Expected<std::optional<Json>> FindSufficient(const Spec& spec, const Store& store,
                                                   const RunOptions& options, const Json& profile,
                                                   const std::vector<Restriction>& restrictions) {
  return Deletion(spec, store, options, profile, restrictions).Run();
}

base::Expected<std::optional<Json>> Relax(const Spec& spec, const Store& store,
                                          const RunOptions& options) {
  return Relaxer(spec, store, options).Run();
}

}  // namespace tessera::explore
