// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tessera/plan/files/json_sections.h"
#include "tessera/plan/lowered_program.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::files {
namespace {

using Json = nlohmann::ordered_json;

class Writer {
 public:
  Writer(const Plan& plan, const Lowered& lowered) : plan_(plan), lowered_(lowered) {}

  Json Run() const {
    Json json = Json::object();
    json["loops"] = Json::array();
    for (const Loop& loop : lowered_.loops) {
      json["loops"].push_back({{"axis", loop.axis},
                               {"extent", loop.extent},
                               {"tile", loop.tile},
                               {"trips", loop.trips}});
    }
    json["phases"] = lowered_.phases;
    json["jobs"] = Json::array();
    for (size_t i = 0; i < lowered_.jobs.size(); ++i) json["jobs"].push_back(ToJson(i));
    if (!lowered_.once.empty()) json["once"] = ToJson(lowered_.once);
    json["classes"] = Json::array();
    for (const TileClass& tiles : lowered_.classes) json["classes"].push_back(ToJson(tiles));
    return json;
  }

 private:
  const std::string& TensorId(int tensor) const {
    return plan_.network.tensors[static_cast<size_t>(tensor)].id;
  }

  Json ToJson(size_t index) const {
    const Job& job = lowered_.jobs[index];
    Json json = Json::object();
    json["id"] = index;
    json["does"] = WordFor(job.does, kDoesNames);
    if (job.does == Does::kMode) json["before"] = WordFor(job.before, kBeforeNames);
    if (job.tensor >= 0) json["tensor"] = TensorId(job.tensor);
    if (job.op >= 0) json["operator"] = plan_.network.operators[static_cast<size_t>(job.op)].id;
    if (!job.modes.empty()) json["modes"] = ModesToJson(job.modes);
    if (!job.on.empty()) json["on"] = job.on;
    if (job.once) json["once"] = true;
    if (job.gives_way) json["gives_way"] = true;
    if (job.rounds > 1) json["rounds"] = job.rounds;
    if (!job.operands.empty()) json["operands"] = Json::array();
    for (const Operand& operand : job.operands) json["operands"].push_back(ToJson(operand));
    if (!job.waits.empty()) json["depends_on"] = Json::array();
    for (const Wait& wait : job.waits) json["depends_on"].push_back(ToJson(job, wait));
    return json;
  }

  Json ModesToJson(const std::vector<int>& modes) const {
    const auto& known =
        plan_.profile.memories[static_cast<size_t>(plan_.profile.tile_memory)].modes;
    Json json = Json::array();
    for (const int mode : modes)
      json.push_back(mode < 0 ? Json() : Json(known[static_cast<size_t>(mode)].name));
    return json;
  }

  Json ToJson(const Operand& operand) const {
    Json json = Json::object();
    json["as"] = WordFor(operand.part, kPartNames);
    if (operand.position != 0) json["index"] = operand.position;
    if (operand.tensor >= 0) json["tensor"] = TensorId(operand.tensor);
    if (operand.table && operand.part != Part::kTable) json["table"] = true;
    json["memory"] = plan_.profile.memories[static_cast<size_t>(operand.memory)].name;
    json["at"] = Json::array();
    for (const Spot& spot : operand.spots) json["at"].push_back(ToJson(spot));
    json["strides"] = operand.strides;
    if (operand.rolling_buffer_rows > 0) json["rolling_buffer_rows"] = operand.rolling_buffer_rows;
    if (operand.stored_pads) json["stored_pads"] = true;
    if (operand.padded_around) json["padded_around"] = true;
    return json;
  }

  static Json ToJson(const Spot& spot) {
    Json json = Json::object();
    if (spot.phase != 0) json["phase"] = spot.phase;
    if (spot.slot != 0) json["slot"] = spot.slot;
    if (!spot.buffer.empty()) json["buffer"] = spot.buffer;
    json["address"] = spot.address;
    return json;
  }

  Json ToJson(const Job& job, const Wait& wait) const {
    Json json = Json::object();
    json["job"] = wait.job;
    if (wait.tiles != 0) json["tiles"] = wait.tiles;
    if (wait.first_round != 0 || wait.end_round != job.rounds)
      json["rounds"] = {wait.first_round, wait.end_round};
    if (wait.rounds_back) {
      json["rounds_back"] = *wait.rounds_back;
    } else if (wait.until_round != lowered_.jobs[static_cast<size_t>(wait.job)].rounds) {
      json["until_round"] = wait.until_round;
    }
    json["for"] = WordFor(wait.cause, kCauseNames);
    return json;
  }

  Json ToJson(const TileClass& tiles) const {
    Json json = Json::object();
    json["name"] = NameOf(tiles, lowered_.loops);
    json["trips"] = Json::array();
    for (const Trips& trips : tiles.trips) json["trips"].push_back({trips.begin, trips.end});
    json["tiles"] = CountOf(tiles);
    json["phases"] = PhasesOf(tiles, lowered_);
    json["work"] = ToJson(tiles.work);
    return json;
  }

  static Json ToJson(const std::vector<Work>& list) {
    Json json = Json::array();
    for (const Work& work : list) {
      Json entry = Json::object();
      entry["job"] = work.job;
      if (work.first_round != 0 || work.end_round != 1)
        entry["rounds"] = {work.first_round, work.end_round};
      if (!work.regions.empty()) entry["regions"] = Json::array();
      for (const Region& region : work.regions) entry["regions"].push_back(ToJson(region));
      json.push_back(std::move(entry));
    }
    return json;
  }

  static Json ToJson(const Region& region) {
    Json json = Json::object();
    json["operand"] = region.operand;
    if (region.fills) json["fills"] = true;
    const auto add = [&json](const char* key, const std::vector<Affine>& numbers) {
      if (numbers.empty()) return;
      json[key] = Json::array();
      for (const Affine& number : numbers) json[key].push_back(ToJson(number));
    };
    add("begin", region.begin);
    add("extent", region.extent);
    json["offset"] = ToJson(region.offset);
    if (region.turn != Affine{}) json["turn"] = ToJson(region.turn);
    add("pad_low", region.pad_low);
    add("pad_high", region.pad_high);
    return json;
  }

  // base, or [base, steps], or {"base", "steps", "round"}
  static Json ToJson(const Affine& number) {
    if (number.per_round != 0) {
      Json json = {{"base", number.base}};
      if (!number.steps.empty()) json["steps"] = number.steps;
      json["round"] = number.per_round;
      return json;
    }
    if (number.steps.empty()) return number.base;
    Json json = {number.base};
    for (const int64_t step : number.steps) json.push_back(step);
    return json;
  }

  const Plan& plan_;
  const Lowered& lowered_;
};

}  // namespace

Json ToJson(const Plan& plan) {
  Json json = Json::array();
  for (const Lowered& lowered : plan.lowering->subgraphs)
    json.push_back(Writer(plan, lowered).Run());
  return json;
}

}  // namespace tessera::plan::files
