// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/sufficient.h"

#include <string>
#include <utility>

#include "tessera/explore/variants.h"

// Deletion, as for minimal unsatisfiable sets: all restrictions are dropped, then restored one
// after another if the networks keep a plan. The rest is minimal: if any one restriction of it is
// restored, some network has no plan, or none was found. Cost: a plan of each network for each
// restriction.
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

}  // namespace

base::Expected<std::optional<Json>> FindSufficient(const Spec& spec, const Store& store,
                                                   const RunOptions& options, const Json& profile,
                                                   const std::vector<Restriction>& restrictions) {
  return Deletion(spec, store, options, profile, restrictions).Run();
}

}  // namespace tessera::explore
