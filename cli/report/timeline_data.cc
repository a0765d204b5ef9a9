#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tessera/cli/report/data.h"
#include "tessera/search/simulate/timeline.h"

namespace tessera::cli::report {
namespace {

using Json = nlohmann::ordered_json;

// Enough to see how a loop begins, goes on and ends.
constexpr int64_t kTilesShown = 6;

constexpr std::array<std::string_view, 4> kFlows = {"compute", "in", "out", "both"};
constexpr std::array<std::string_view, 8> kActivities = {"compute", "load",   "store", "constants",
                                                         "slices",  "direct", "copy",  "prefetch"};

Json AsData(const search::Activity& activity) {
  return {activity.begin, activity.end, activity.track,  kActivities[static_cast<size_t>(activity.kind)],
          activity.tile,  activity.op,  activity.tensor, activity.bytes};
}

Json AsData(const search::SubgraphTimeline& timeline) {
  Json data;
  data["cycles"] = timeline.cycles;
  data["busy"] = timeline.busy;
  data["activities"] = Json::array();
  for (const search::Activity& activity : timeline.activities) data["activities"].push_back(AsData(activity));
  data["omissions"] = Json::array();
  for (const search::Omission& omission : timeline.omissions) {
    data["omissions"].push_back({{"first", omission.first},
                                 {"count", omission.count},
                                 {"begin", omission.begin},
                                 {"end", omission.end}});
  }
  return data;
}

}  // namespace

void AddTimelines(const plan::Plan& plan, Json& data) {
  data["tracks"] = Json::array();
  data["timelines"] = Json::array();
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    const search::SubgraphTimeline timeline = search::TimelineOf(plan, i, kTilesShown);
    if (i == 0) {
      for (const search::Track& track : timeline.tracks)
        data["tracks"].push_back({{"name", track.name}, {"flow", kFlows[static_cast<size_t>(track.flow)]}});
    }
    data["timelines"].push_back(AsData(timeline));
  }
}

}  // namespace tessera::cli::report
