// SPDX-License-Identifier: Apache-2.0

#include "tessera/report/chrome_trace.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tessera/base/json_document.h"
#include "tessera/report/text_table.h"

namespace tessera::report {
namespace {

using Json = nlohmann::ordered_json;
using plan::Activity;
using plan::ActivityKind;

// Viewers stay quick with some hundred thousand events.
constexpr int64_t kMostSteps = 100'000;
constexpr int64_t kTilesTraced = 12;
constexpr int kSubgraphTrack = 0;  // engines and links follow

constexpr std::array<std::string_view, 8> kCategories = {"compute", "load",   "store", "constants",
                                                         "slices",  "direct", "copy",  "prefetch"};

int64_t CountSteps(const plan::Plan& plan) {
  int64_t steps = 0;
  for (const plan::Subgraph& subgraph : plan.subgraphs)
    steps += subgraph.tiles * (subgraph.interval.last - subgraph.interval.first + 1);
  return steps;
}

std::string NameOf(const plan::Plan& plan, const Activity& activity) {
  std::string op =
      activity.op < 0 ? "" : plan.network.operators[static_cast<size_t>(activity.op)].id;
  const std::string tensor =
      activity.tensor < 0 ? "" : plan.network.tensors[static_cast<size_t>(activity.tensor)].id;
  switch (activity.kind) {
    case ActivityKind::kCompute:
      return op;
    case ActivityKind::kLoad:
      return "load " + tensor;
    case ActivityKind::kStore:
      return "store " + tensor;
    case ActivityKind::kConstants:
      return "resident constants";
    case ActivityKind::kSlices:
      return "weights of " + op;
    case ActivityKind::kDirect:
      return "direct access";
    case ActivityKind::kCopy:
      return "copy kept rows";
    case ActivityKind::kPrefetch:
      return "constants of the next subgraph";
  }
  return "";
}

std::string SubgraphName(const plan::Plan& plan, size_t index) {
  return fmt::format("{}: {}", index, NameOfInterval(plan.network, plan.subgraphs[index].interval));
}

class TraceWriter {
 public:
  TraceWriter(const plan::Plan& plan, const plan::TimelineSource& timeline_of)
      : plan_(plan), timeline_of_(timeline_of) {}

  std::string Write() {
    const int64_t most = CountSteps(plan_) <= kMostSteps ? plan::kAllTiles : kTilesTraced;
    NameTrack(kSubgraphTrack, "subgraphs");
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) AddSubgraph(i, most);
    return fmt::format(
        "{{\"displayTimeUnit\": \"ns\", \"otherData\": {},\n\"traceEvents\": [\n{}\n]}}\n",
        Text({{"network", plan_.network.name},
              {"profile", plan_.profile.name},
              {"unit", "1 us is 1 cycle"},
              {"latency_cycles", plan_.totals.latency_cycles}}),
        fmt::join(events_, ",\n"));
  }

 private:
  static std::string Text(const Json& value) { return base::WriteJsonLine(value); }

  void NameTrack(int track, const std::string& name) {
    events_.push_back(Text({{"name", "thread_name"},
                            {"ph", "M"},
                            {"pid", 0},
                            {"tid", track},
                            {"args", {{"name", name}}}}));
  }

  void AddSpan(std::string_view name, std::string_view category, int track, int64_t begin,
               int64_t end, Json details) {
    events_.push_back(Text({{"name", name},
                            {"cat", category},
                            {"ph", "X"},
                            {"ts", start_ + begin},
                            {"dur", end - begin},
                            {"pid", 0},
                            {"tid", track},
                            {"args", std::move(details)}}));
  }

  void AddSubgraph(size_t index, int64_t most_tiles) {
    const plan::SubgraphTimeline timeline = timeline_of_(plan_, index, most_tiles);
    if (index == 0) NameTracks(timeline);
    AddSpan(SubgraphName(plan_, index), "subgraph", kSubgraphTrack, 0, timeline.cycles,
            {{"tiles", plan_.subgraphs[index].tiles},
             {"bound_by", plan_.subgraphs[index].metrics.bound_by}});
    for (const plan::Omission& omission : timeline.omissions) {
      AddSpan(fmt::format("tiles {} to {}, not shown", omission.first,
                          omission.first + omission.count - 1),
              "omission", kSubgraphTrack, omission.begin, omission.end, Json::object());
    }
    for (const Activity& activity : timeline.activities) {
      Json details = {{"tile", activity.tile}};
      if (activity.bytes > 0) details["bytes"] = activity.bytes;
      AddSpan(NameOf(plan_, activity), kCategories[static_cast<size_t>(activity.kind)],
              1 + activity.track, activity.begin, activity.end, std::move(details));
    }
    start_ += timeline.cycles;
  }

  void NameTracks(const plan::SubgraphTimeline& timeline) {
    for (size_t track = 0; track < timeline.tracks.size(); ++track) {
      const plan::TrackFlow flow = timeline.tracks[track].flow;
      const char* way = flow == plan::TrackFlow::kIn    ? " in"
                        : flow == plan::TrackFlow::kOut ? " out"
                                                        : "";
      NameTrack(1 + static_cast<int>(track), timeline.tracks[track].name + way);
    }
  }

  const plan::Plan& plan_;
  const plan::TimelineSource& timeline_of_;
  int64_t start_ = 0;  // of the subgraph at hand
  std::vector<std::string> events_;
};

}  // namespace

std::string WriteTrace(const plan::Plan& plan, const plan::TimelineSource& timeline_of) {
  return TraceWriter(plan, timeline_of).Write();
}

}  // namespace tessera::report
