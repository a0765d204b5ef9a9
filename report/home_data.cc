// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/home_tiles.h"
#include "tessera/report/html_report.h"

// The contents of the memories off chip over time. Tensors that share bytes tile by tile consist of
// chunks, ranges of bytes that are needed in the same slots. A page cannot show millions of them.
// So the address range of each tensor is cut into bands of equal size, as many as the page can
// show, and the chunks of one band become one, which lives as long as any of them:
//
//     chunks of x   [0, 64) until 3   [64, 96) until 4   | [96, 128) until 5
//     in two bands  [0, 96) until 4                      | [96, 128) until 5
//
// Constants and state live at all times; the page gets only their ranges.
namespace tessera::report {
namespace {

using Json = nlohmann::ordered_json;
using plan::verify::BytesAtHome;
using plan::verify::HomeBytes;
using problem::Bytes;
using Chunks = std::vector<HomeBytes>;

constexpr size_t kMostChunks = 6'000;  // of one memory

bool IsLasting(const graph::Tensor& tensor) { return tensor.constant || tensor.state; }

// Returns the greatest number of bands that leaves no more chunks than the page can show.
size_t BandsFor(const std::vector<const Chunks*>& tensors) {
  const auto remain = [&](size_t bands) {
    size_t count = 0;
    for (const Chunks* chunks : tensors) count += std::min(chunks->size(), bands);
    return count;
  };
  size_t least = 1, most = kMostChunks;
  while (least < most) {
    const size_t middle = (least + most + 1) / 2;
    if (remain(middle) <= kMostChunks)
      least = middle;
    else
      most = middle - 1;
  }
  return least;
}

Chunks InBands(const Chunks& chunks, Bytes size, size_t bands) {
  if (chunks.size() <= bands) return chunks;
  Chunks joined;
  int64_t last_band = -1;
  for (const HomeBytes& chunk : chunks) {
    const auto band = static_cast<int64_t>(static_cast<double>(chunk.bytes.begin) /
                                           static_cast<double>(size) * static_cast<double>(bands));
    if (band != last_band) {
      joined.push_back(chunk);
    } else {
      HomeBytes& all = joined.back();
      all.bytes.end = chunk.bytes.end;
      all.slots = {std::min(all.slots.lower, chunk.slots.lower),
                   std::max(all.slots.upper, chunk.slots.upper)};
    }
    last_band = band;
  }
  return joined;
}

Json AsData(const plan::Home& home, size_t buffer, const Chunks& chunks) {
  problem::Lifespan life = chunks.front().slots;
  Json list = Json::array();
  for (const HomeBytes& chunk : chunks) {
    life = {std::min(life.lower, chunk.slots.lower), std::max(life.upper, chunk.slots.upper)};
    list.push_back({chunk.bytes.begin, chunk.bytes.end, chunk.slots.lower, chunk.slots.upper});
  }
  return {{"tensor", home.tensors[buffer]},
          {"offset", home.allocation.offsets[buffer]},
          {"size", home.problem.buffers[buffer].size},
          {"life", {life.lower, life.upper}},
          {"chunks", std::move(list)}};
}

// Returns each buffer of the home, whole and for whole subgraphs.
std::map<int, Chunks> WholeTensors(const plan::Home& home) {
  std::map<int, Chunks> whole;
  for (size_t i = 0; i < home.tensors.size(); ++i) {
    const problem::Buffer& buffer = home.problem.buffers[i];
    for (const problem::Lifespan& life : buffer.lifespans)
      whole[home.tensors[i]].push_back({home.tensors[i], {0, buffer.size}, life});
  }
  return whole;
}

// Returns the ranges that constants and state occupy, ascending; ranges that touch are joined.
Json LastingRanges(const plan::Plan& plan, const plan::Home& home) {
  std::vector<problem::AddressRange> ranges;
  for (size_t i = 0; i < home.tensors.size(); ++i) {
    const Bytes begin = home.allocation.offsets[i];
    if (IsLasting(plan.network.tensors[static_cast<size_t>(home.tensors[i])]))
      ranges.push_back({begin, begin + home.problem.buffers[i].size});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<problem::AddressRange> joined;
  for (const problem::AddressRange& range : ranges) {
    if (joined.empty() || joined.back().end < range.begin)
      joined.push_back(range);
    else
      joined.back().end = std::max(joined.back().end, range.end);
  }
  Json list = Json::array();
  for (const problem::AddressRange& range : joined) list.push_back({range.begin, range.end});
  return list;
}

Json AsData(const plan::Plan& plan, const plan::Home& home,
            const std::optional<BytesAtHome>& by_tiles) {
  const problem::Memory& memory = home.problem.memories.front();
  const bool in_slots = home.by_tiles && by_tiles;
  Json data = {{"memory", memory.name},
               {"capacity", memory.capacity},
               {"peak", PeakOf(home)},
               {"by_tiles", home.by_tiles},
               {"unit", in_slots ? "slot" : "subgraph"}};
  if (home.by_tiles && home.lower_bound > 0) data["lower_bound"] = home.lower_bound;
  data["subgraphs"] = Json::array();
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    const auto number = static_cast<problem::Step>(i);
    const problem::Lifespan own =
        in_slots ? by_tiles->subgraphs[i] : problem::Lifespan{number, number + 1};
    data["subgraphs"].push_back({own.lower, own.upper});
  }
  std::map<int, Chunks> chunks = in_slots ? std::map<int, Chunks>() : WholeTensors(home);
  if (in_slots)
    for (const HomeBytes& each : by_tiles->list) chunks[each.tensor].push_back(each);
  std::vector<const Chunks*> drawn;
  size_t all_chunks = 0;
  for (const int tensor : home.tensors) {
    if (IsLasting(plan.network.tensors[static_cast<size_t>(tensor)])) continue;
    drawn.push_back(&chunks[tensor]);
    all_chunks += drawn.back()->size();
  }
  const size_t bands = BandsFor(drawn);
  data["lasting"] = LastingRanges(plan, home);
  data["all_chunks"] = all_chunks;
  data["tensors"] = Json::array();
  for (size_t i = 0; i < home.tensors.size(); ++i) {
    const Chunks& own = chunks[home.tensors[i]];
    if (IsLasting(plan.network.tensors[static_cast<size_t>(home.tensors[i])]) || own.empty())
      continue;
    data["tensors"].push_back(AsData(home, i, InBands(own, home.problem.buffers[i].size, bands)));
  }
  return data;
}

// Returns nullopt also for a plan from a file that is not a partition of its network.
std::optional<BytesAtHome> FindBytes(const plan::Plan& plan) {
  const bool any = std::any_of(plan.homes.begin(), plan.homes.end(),
                               [](const plan::Home& home) { return home.by_tiles; });
  if (!any) return std::nullopt;
  plan::verify::Findings findings(1);
  plan::verify::CheckPartition(plan, findings);
  if (!findings.Empty()) return std::nullopt;
  return plan::verify::FindHomeBytes(plan, plan::verify::Derive(plan));
}

}  // namespace

void AddHomes(const plan::Plan& plan, Json& data) {
  data["homes"] = Json::array();
  const std::optional<BytesAtHome> by_tiles = FindBytes(plan);
  for (const plan::Home& home : plan.homes) data["homes"].push_back(AsData(plan, home, by_tiles));
}

}  // namespace tessera::report
