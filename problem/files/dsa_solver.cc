// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/json_document.h"
#include "tessera/base/json_reader.h"
#include "tessera/problem/files/json_sections.h"
#include "tessera/problem/files/other_formats.h"
#include "tessera/problem/well_formed.h"

// Structured problems of dsa-solver, schema version 1. Pools are memories; a buffer must be allowed
// in one pool only. Objectives, metadata and the structure of pipelines do not restrict addresses
// and are dropped. Separations, exclusions and penalties of buffers in different pools hold in
// every placement, as these never share an address; they are dropped too, and counted. A colocation
// of such buffers cannot hold and is refused.
namespace tessera::problem::files {
namespace {

using base::Expected;
using base::IntegerRange;
using base::JsonObject;
using base::JsonReader;
using base::JsonValue;
using base::Presence;
using base::Unexpected;
using Json = nlohmann::ordered_json;

constexpr IntegerRange kIds = {0, base::kMaxTotal};
constexpr std::string_view kName = "dsa-solver";

class DsaReader {
 public:
  Problem Read(JsonObject& root) {
    const int64_t version = root.Integer("schema_version", {1, 1});
    static_cast<void>(version);
    for (const char* key : {"profile", "metadata", "relaxed_from", "relaxed_features"})
      static_cast<void>(root.Optional(key));
    problem_.name = root.String("instance", "");
    JsonObject body = root.Required("problem").Object();
    for (const char* key : {"objective", "pypto_structure"}) static_cast<void>(body.Optional(key));
    for (const JsonValue& pool : body.Items("pools")) ReadPool(pool);
    for (const JsonValue& buffer : body.Items("buffers")) ReadBuffer(buffer);
    ReadConstraints(body.Required("constraints"));
    if (const JsonValue model = body.Optional("cost_model")) ReadCosts(model);
    return std::move(problem_);
  }

  // Returns how many pairs were dropped, in words; empty if none was.
  std::string Dropped() const {
    std::string counts;
    for (const auto& [key, count] : dropped_)
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, key);
    if (counts.empty()) return "";
    return "dropped, because their buffers are in different pools: " + counts;
  }

 private:
  void ReadPool(const JsonValue& value) {
    JsonObject object = value.Object();
    Memory memory;
    memory.name = object.String("name", "");
    memory.capacity = base::kMaxTotal;
    if (const JsonValue capacity = object.Optional("capacity");
        capacity && capacity.Text() != "null")
      memory.capacity = capacity.Integer(kAddresses);
    for (const JsonValue& item : object.Items("reserved_ranges", Presence::kOptional)) {
      JsonObject range = item.Object();
      const Bytes begin = range.Integer("begin", kAddresses);
      memory.reserved.push_back({{begin, range.Integer("end", kAddresses)}, ""});
    }
    if (const JsonValue geometry = object.Optional("bank_geometry"))
      geometry.Refuse("a bank_geometry is not read", "pools without banks");
    const int64_t id = object.Integer("id", kIds);
    if (!pools_.emplace(id, static_cast<int>(problem_.memories.size())).second)
      object.Refuse(fmt::format("the pool {} is given twice", id));
    problem_.memories.push_back(std::move(memory));
  }

  void ReadBuffer(const JsonValue& value) {
    JsonObject object = value.Object();
    Buffer buffer;
    const int64_t id = object.Integer("id", kIds);
    buffer.id = std::to_string(id);
    buffer.name = object.String("name", "");
    buffer.size = object.Integer("size", kSizes);
    buffer.alignment = object.Integer("alignment", kSizes, 1);
    for (const JsonValue& item : object.Items("live_intervals")) {
      JsonObject life = item.Object();
      const Step lower = life.Integer("lower", kSteps);
      const Step upper = life.Integer("upper", kSteps);
      if (upper <= lower) life.Refuse("an interval ends before it begins", "upper above lower");
      buffer.lifespans.push_back({lower, upper});
    }
    Join(buffer.lifespans);
    const JsonValue allowed = object.Required("allowed_pools");
    const std::vector<JsonValue> pools = allowed.Items();
    if (pools.size() != 1) allowed.Refuse("a buffer with a choice of pools", "one pool");
    if (!pools.empty()) buffer.memory = Find(pools_, pools[0], "pool");
    numbers_.emplace(id, static_cast<int>(problem_.buffers.size()));
    problem_.buffers.push_back(std::move(buffer));
  }

  // Joins lives that touch or overlap.
  static void Join(std::vector<Lifespan>& lives) {
    problem::SortByBegin(lives);
    std::vector<Lifespan> joined;
    for (const Lifespan& life : lives) {
      if (!joined.empty() && joined.back().upper >= life.lower) {
        joined.back().upper = std::max(joined.back().upper, life.upper);
      } else {
        joined.push_back(life);
      }
    }
    lives = std::move(joined);
  }

  static int Find(const std::map<int64_t, int>& known, const JsonValue& value,
                  std::string_view what) {
    const int64_t id = value.Integer(kIds);
    const auto found = known.find(id);
    if (found != known.end()) return found->second;
    value.Refuse(fmt::format("there is no {} {}", what, id));
    return 0;
  }

  void ReadPairs(JsonObject& object, std::string_view key, RelationKind kind) {
    for (const JsonValue& item : object.Items(key, Presence::kOptional)) {
      JsonObject pair = item.Object();
      const int first = Find(numbers_, pair.Required("first"), "buffer");
      const int second = Find(numbers_, pair.Required("second"), "buffer");
      static_cast<void>(pair.Optional("reasons"));
      if (kind != RelationKind::kColocate && Drops(key, first, second)) continue;
      problem_.relations.push_back({kind, first, second});
    }
  }

  // Returns whether the buffers are in different pools, and then counts the pair.
  bool Drops(std::string_view key, int first, int second) {
    if (problem_.buffers.empty()) return false;  // after a fault
    const auto pool = [&](int i) { return problem_.buffers[static_cast<size_t>(i)].memory; };
    if (pool(first) == pool(second)) return false;
    ++dropped_[std::string(key)];
    return true;
  }

  void ReadConstraints(const JsonValue& value) {
    JsonObject object = value.Object();
    ReadPairs(object, "colocations", RelationKind::kColocate);
    ReadPairs(object, "separations", RelationKind::kSeparate);
    ReadPairs(object, "temporal_exclusions", RelationKind::kExclusive);
    for (const JsonValue& item : object.Items("pinned_allocations", Presence::kOptional)) {
      JsonObject pin = item.Object();
      const int buffer = Find(numbers_, pin.Required("buffer"), "buffer");
      const int pool = Find(pools_, pin.Required("pool"), "pool");
      const Bytes offset = pin.Integer("offset", kAddresses);
      const bool exclusive = pin.Boolean("exclusive_for_all_time", false);
      if (problem_.buffers.empty()) return;
      Buffer& pinned = problem_.buffers[static_cast<size_t>(buffer)];
      if (pinned.memory != pool) pin.Refuse("the pin is in a pool that is not allowed");
      pinned.offset = offset;
      if (exclusive) SeparateFromAll(buffer);
    }
  }

  void SeparateFromAll(int buffer) {
    const auto memory = problem_.buffers[static_cast<size_t>(buffer)].memory;
    for (int i = 0; i < static_cast<int>(problem_.buffers.size()); ++i) {
      if (i != buffer && problem_.buffers[static_cast<size_t>(i)].memory == memory)
        problem_.relations.push_back(
            {RelationKind::kSeparate, std::min(i, buffer), std::max(i, buffer)});
    }
  }

  void ReadCosts(const JsonValue& value) {
    constexpr std::string_view kKey = "reuse_penalties";
    JsonObject object = value.Object();
    for (const JsonValue& item : object.Items(kKey)) {
      JsonObject penalty = item.Object();
      Cost cost;
      cost.first = Find(numbers_, penalty.Required("first"), "buffer");
      cost.second = Find(numbers_, penalty.Required("second"), "buffer");
      cost.weight = penalty.Integer("cost", {1, base::kMaxTotal});
      cost.name = penalty.String("reason", "");
      if (!Drops(kKey, cost.first, cost.second)) problem_.costs.push_back(std::move(cost));
    }
  }

  Problem problem_;
  std::map<int64_t, int> pools_;            // number of a memory
  std::map<int64_t, int> numbers_;          // of a buffer
  std::map<std::string, int64_t> dropped_;  // pairs by the key of their list
};

std::string BeyondDsaSolver(const Problem& problem) {
  if (!problem.rules.empty()) return "rules";
  if (!problem.loops.empty()) return "loops";
  for (const Memory& memory : problem.memories) {
    if (!memory.banks.empty() || !memory.modes.empty()) return "banks and modes";
  }
  for (const Relation& relation : problem.relations) {
    const bool known = relation.kind == RelationKind::kSeparate ||
                       relation.kind == RelationKind::kExclusive ||
                       (relation.kind == RelationKind::kColocate && relation.delta == 0);
    if (!known) return "relations other than separate, exclusive and colocate without a distance";
  }
  for (const Cost& cost : problem.costs) {
    if (cost.kind != CostKind::kReuse) return "costs of mode switches";
  }
  return "";
}

Json PairsOf(const Problem& problem, RelationKind kind) {
  Json pairs = Json::array();
  for (const Relation& relation : problem.relations) {
    if (relation.kind != kind) continue;
    Json pair = Json::object();
    pair["first"] = relation.first;
    pair["second"] = relation.second;
    if (kind == RelationKind::kSeparate) pair["reasons"] = Json::array();
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

Json PoolsOf(const Problem& problem) {
  Json pools = Json::array();
  for (size_t i = 0; i < problem.memories.size(); ++i) {
    const Memory& memory = problem.memories[i];
    Json pool = Json::object();
    pool["id"] = i;
    pool["name"] = memory.name;
    pool["capacity"] = memory.capacity < base::kMaxTotal ? Json(memory.capacity) : Json(nullptr);
    pool["reserved_ranges"] = Json::array();
    for (const Reserved& reserved : memory.reserved) {
      Json range = Json::object();
      range["begin"] = reserved.range.begin;
      range["end"] = reserved.range.end;
      base::Append(pool, "reserved_ranges", std::move(range));
    }
    pools.push_back(std::move(pool));
  }
  return pools;
}

Json BuffersOf(const Problem& problem) {
  Json buffers = Json::array();
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    Json object = Json::object();
    object["id"] = i;
    object["name"] = buffer.name.empty() ? buffer.id : buffer.name;
    object["size"] = buffer.size;
    object["alignment"] = AlignmentOf(problem, buffer);
    object["live_intervals"] = Json::array();
    for (const Lifespan& life : buffer.lifespans) {
      Json interval = Json::object();
      interval["lower"] = life.lower;
      interval["upper"] = life.upper;
      base::Append(object, "live_intervals", std::move(interval));
    }
    object["allowed_pools"] = Json::array({buffer.memory});
    buffers.push_back(std::move(object));
  }
  return buffers;
}

Json PinsOf(const Problem& problem) {
  Json pins = Json::array();
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (!buffer.offset) continue;
    Json pin = Json::object();
    pin["buffer"] = i;
    pin["pool"] = buffer.memory;
    pin["offset"] = *buffer.offset;
    pin["exclusive_for_all_time"] = false;
    pins.push_back(std::move(pin));
  }
  return pins;
}

}  // namespace

Expected<Problem> ReadDsaSolver(std::string_view text, std::string_view file,
                                std::vector<std::string>* notes) {
  JsonReader reader(text, std::string(file));
  Problem problem;
  {
    JsonObject root = reader.Root().Object();
    DsaReader document;
    problem = document.Read(root);
    if (std::string dropped = document.Dropped(); notes != nullptr && !dropped.empty())
      notes->push_back(std::move(dropped));
  }
  if (!reader.Failed()) {
    if (std::optional<base::Diagnostic> fault = CheckWellFormed(problem))
      reader.Refuse(*std::move(fault));
  }
  return reader.Finish(std::move(problem));
}

Expected<std::string> WriteDsaSolver(const Problem& problem) {
  if (const std::string beyond = BeyondDsaSolver(problem); !beyond.empty())
    return Unexpected(CannotState(kName, beyond));
  const bool is_plain = problem.relations.empty() && problem.costs.empty();
  Json root = Json::object();
  root["schema_version"] = 1;
  root["profile"] = is_plain ? "standard_dsa" : "dsa_rp_v1";
  root["instance"] = problem.name;
  root["metadata"] = Json::object();
  Json body = Json::object();
  body["pools"] = PoolsOf(problem);
  body["buffers"] = BuffersOf(problem);
  Json constraints = Json::object();
  constraints["colocations"] = PairsOf(problem, RelationKind::kColocate);
  constraints["separations"] = PairsOf(problem, RelationKind::kSeparate);
  constraints["temporal_exclusions"] = PairsOf(problem, RelationKind::kExclusive);
  constraints["pinned_allocations"] = PinsOf(problem);
  body["constraints"] = std::move(constraints);
  if (!problem.costs.empty()) {
    Json penalties = Json::array();
    for (const Cost& cost : problem.costs) {
      if (cost.weight == 0) continue;  // the format has none
      Json penalty = Json::object();
      penalty["first"] = cost.first;
      penalty["second"] = cost.second;
      penalty["cost"] = cost.weight;
      penalty["reason"] = "generic";
      penalties.push_back(std::move(penalty));
    }
    Json model = Json::object();
    model["reuse_penalties"] = std::move(penalties);
    body["cost_model"] = std::move(model);
  }
  Json objective = Json::object();
  objective["aggregation"] = "lexicographic";
  objective["terms"] = problem.costs.empty() ? Json::array({"total_peak"})
                                             : Json::array({"capacity_overflow", "reuse_cost"});
  body["objective"] = std::move(objective);
  root["problem"] = std::move(body);
  return base::WriteJson(root);
}

}  // namespace tessera::problem::files
