// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/files/plan_draft.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>

#include "tessera/base/arithmetic.h"
#include "tessera/base/json_reader.h"
#include "tessera/base/text.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/plan/files/json_sections.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::files {

namespace {

using base::JsonObject;
using base::JsonValue;
using base::Presence;

constexpr base::IntegerRange kExtent = {1, base::kMaxTotal / 2};
constexpr base::IntegerRange kAhead = {0, 1'000'000};

void RefuseEmbedded(const JsonValue& value, std::string_view what, const base::Diagnostic& fault) {
  value.Refuse(fmt::format("the embedded {} is refused: {}", what, fault.message), fault.expected,
               fault.hint);
}

std::map<std::string, double> ReadMetricMap(const JsonValue& value) {
  std::map<std::string, double> numbers;
  const std::vector<std::string_view> names = MetricNames();
  JsonObject object = value.Object();
  for (const auto& [name, number] : object.Members()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      number.Refuse(fmt::format("there is no metric '{}'", name), "one of " + base::Join(names));
    }
    numbers[name] = number.Number(0, std::numeric_limits<double>::max());
  }
  return numbers;
}

graph::Interval ReadInterval(const JsonValue& value, const graph::Graph& network) {
  const std::vector<JsonValue> ids = value.Items();
  if (ids.empty()) value.Refuse("a subgraph holds at least one operator");
  graph::Interval interval;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string id = ids[i].String();
    const std::optional<int> op = graph::FindOperator(network, id);
    if (!op) ids[i].Refuse(fmt::format("there is no operator '{}'", id));
    if (i > 0 && op.value_or(0) != interval.last + 1)
      ids[i].Refuse("the operators of a subgraph follow one another in the network");
    if (i == 0) interval.first = op.value_or(0);
    interval.last = op.value_or(0);
  }
  return interval;
}

}  // namespace

graph::Graph ReadEmbeddedNetwork(const JsonValue& value) {
  if (!value) return {};
  auto network = graph::import::yaml::ReadNetwork(value.Text(), "");
  if (network) return *std::move(network);
  RefuseEmbedded(value, "network", network.error());
  return {};
}

hw_profiles::Profile ReadEmbeddedProfile(const JsonValue& value) {
  if (!value) return {};
  auto profile = hw_profiles::ReadProfile(value.Text(), "", {});
  if (profile) return *std::move(profile);
  RefuseEmbedded(value, "profile", profile.error());
  return {};
}

Objective ReadObjective(const JsonValue& value) {
  JsonObject object = value.Object();
  Objective objective;
  objective.weights = ReadMetricMap(object.Required("weights"));
  objective.limits = ReadMetricMap(object.Required("limits"));
  return objective;
}

uint64_t ReadSeed(const JsonValue& value) {
  const std::string text = value.Text();
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size()) return seed;
  value.Refuse("this is no seed", "an integer from 0 to 2^64 - 1");
  return 0;
}

std::vector<int> ReadKept(const std::vector<JsonValue>& ids, const graph::Graph& network) {
  std::vector<int> kept;
  for (const JsonValue& value : ids) {
    const std::string id = value.String();
    const std::optional<int> tensor = graph::FindTensor(network, id);
    if (!tensor) {
      std::vector<std::string_view> known;
      for (const graph::Tensor& each : network.tensors) known.push_back(each.id);
      value.Refuse(fmt::format("there is no tensor '{}'", id), "", base::DidYouMean(id, known));
    } else if (std::find(kept.begin(), kept.end(), *tensor) != kept.end()) {
      value.Refuse(fmt::format("tensor '{}' is kept twice", id), "each tensor once");
    } else {
      kept.push_back(*tensor);
    }
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

Subgraph ReadCut(JsonObject& object, const graph::Graph& network, Presence halo) {
  Subgraph subgraph;
  subgraph.interval = ReadInterval(object.Required("operators"), network);
  for (const JsonValue& extent : object.Items("tile"))
    subgraph.tile.push_back(extent.Integer(kExtent));
  JsonObject policies = object.Required("policies").Object();
  subgraph.weights = static_cast<hw_profiles::WeightPolicy>(
      policies.OneOf("weights", hw_profiles::WeightPolicyNames()));
  subgraph.in_place = policies.Required("in_place").Boolean();
  if (const JsonValue storage = policies.Member("halo", halo))
    subgraph.halo =
        static_cast<hw_profiles::HaloStorage>(storage.OneOf(hw_profiles::HaloStorageNames()));
  if (const JsonValue k_extent = policies.Optional("k_extent"))
    subgraph.k_extent = k_extent.Integer(kExtent);
  if (const JsonValue serialized = policies.Optional("serialized"))
    subgraph.serialized = serialized.Boolean();
  if (const JsonValue stage = policies.Optional("second_stage")) {
    const std::optional<int> op = graph::FindOperator(network, stage.String());
    if (op && subgraph.interval.first < *op && *op <= subgraph.interval.last) {
      subgraph.second_stage = *op - subgraph.interval.first;
    } else {
      stage.Refuse(fmt::format("no second stage can begin with '{}'", stage.String()),
                   "an operator of the subgraph but its first");
    }
  }
  if (const JsonValue prefetch = policies.Optional("prefetch")) {
    for (const JsonValue& part : prefetch.Items())
      subgraph.prefetch.push_back(static_cast<int>(part.Integer(kAhead)));
  }
  return subgraph;
}

namespace {

using base::JsonObject;
using base::JsonReader;
using base::JsonValue;

constexpr base::IntegerRange kPinned = {0, base::kMaxTotal / 2};

// Accepts keys of a complete plan that follow from the rest, and ignores their values.
void PassBy(JsonObject& object, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) object.Optional(key);
}

class DraftReader {
 public:
  explicit DraftReader(JsonReader& reader) : reader_(reader) {}

  Draft Run() {
    JsonObject root = reader_.Root().Object();
    root.Format("tessera-plan", 1);
    draft_.network = ReadEmbeddedNetwork(root.Required("network"));
    draft_.profile = ReadEmbeddedProfile(root.Required("profile"));
    if (const JsonValue objective = root.Optional("objective"))
      draft_.objective = ReadObjective(objective);
    if (const JsonValue seed = root.Optional("seed")) draft_.seed = ReadSeed(seed);
    PassBy(root, {"made_by",       "digest",    "name",         "run",      "constraints",
                  "status",        "score",     "bound",        "scope",    "proven_within",
                  "time_ms",       "totals",    "lower_bounds", "baseline", "notes",
                  "loops",         "relations", "rules",        "lowering", "tensor_homes",
                  "profile_totals"});
    if (reader_.Failed()) return std::move(draft_);  // the rest refers to the network
    draft_.kept = ReadKept(root.Items("kept", Presence::kOptional), draft_.network);
    ReadBuffers(root.Items("buffers", Presence::kOptional), "/buffers");
    const std::vector<JsonValue> subgraphs = root.Items("subgraphs");
    for (size_t i = 0; i < subgraphs.size(); ++i)
      ReadSubgraph(subgraphs[i], fmt::format("/subgraphs/{}", i));
    const std::vector<JsonValue> homes = root.Items("homes", Presence::kOptional);
    for (size_t i = 0; i < homes.size(); ++i) ReadHome(homes[i], fmt::format("/homes/{}", i));
    return std::move(draft_);
  }

 private:
  void ReadSubgraph(const JsonValue& value, const std::string& pointer) {
    JsonObject object = value.Object();
    draft_.subgraphs.push_back(ReadCut(object, draft_.network, Presence::kOptional));
    PassBy(object,
           {"tiles", "largest_proven", "metrics", "rejected_alternatives", "first_step", "steps"});
    ReadBuffers(object.Items("buffers", Presence::kOptional), pointer + "/buffers");
  }

  void ReadBuffers(const std::vector<JsonValue>& values, const std::string& pointer) {
    for (size_t i = 0; i < values.size(); ++i) {
      JsonObject object = values[i].Object();
      const std::string id = object.String("id");
      PassBy(object, {"name", "role", "kind", "tensor", "operator", "phase", "slot", "memory",
                      "size", "alignment", "span", "banks", "allowed_banks", "fixed", "hint",
                      "lifespans", "accesses", "annotations"});
      AddPin(object, id, "", fmt::format("{}/{}", pointer, i));
    }
  }

  void ReadHome(const JsonValue& value, const std::string& pointer) {
    JsonObject object = value.Object();
    const std::string memory = object.String("memory");
    PassBy(object, {"peak", "lower_bound"});
    const bool by_tiles = object.Boolean("by_tiles", false);
    const std::vector<JsonValue> tensors = object.Items("tensors");
    for (size_t i = 0; i < tensors.size(); ++i) {
      JsonObject tensor = tensors[i].Object();
      const std::string id = tensor.String("tensor");
      PassBy(tensor, {"role", "size", "alignment", "subgraphs"});
      const size_t before = draft_.pins.size();
      AddPin(tensor, id, memory, fmt::format("{}/tensors/{}", pointer, i));
      if (draft_.pins.size() > before) draft_.pins.back().by_tiles = by_tiles;
    }
  }

  void AddPin(JsonObject& object, const std::string& id, const std::string& memory,
              const std::string& pointer) {
    if (const JsonValue offset = object.Optional("offset"))
      draft_.pins.push_back({id, offset.Integer(kPinned), memory, pointer});
  }

  JsonReader& reader_;
  Draft draft_;
};

}  // namespace

base::Expected<Draft> ReadDraft(std::string_view text, std::string file) {
  JsonReader reader(text, std::move(file));
  Draft draft = DraftReader(reader).Run();
  return reader.Finish(std::move(draft));
}

}  // namespace tessera::plan::files
