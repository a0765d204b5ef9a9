#include "tessera/plan/json_partition.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "tessera/base/checked.h"
#include "tessera/base/suggest.h"
#include "tessera/graph/yaml.h"
#include "tessera/hw_profiles/reader.h"
#include "tessera/plan/names.h"

namespace tessera::plan {
namespace {

using base::JsonObject;
using base::JsonValue;

constexpr base::IntegerRange kExtent = {1, base::kMaxTotal / 2};

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
  auto network = graph::ReadNetwork(value.Text(), "");
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

Subgraph ReadCut(JsonObject& object, const graph::Graph& network) {
  Subgraph subgraph;
  subgraph.interval = ReadInterval(object.Required("operators"), network);
  for (const JsonValue& extent : object.Items("tile")) subgraph.tile.push_back(extent.Integer(kExtent));
  JsonObject policies = object.Required("policies").Object();
  subgraph.weights = static_cast<hw_profiles::WeightPolicy>(policies.OneOf("weights", kWeightPolicyNames));
  subgraph.in_place = policies.Required("in_place").Boolean();
  if (const JsonValue halo = policies.Optional("halo"))
    subgraph.halo = static_cast<hw_profiles::HaloStorage>(halo.OneOf(kHaloNames));
  if (const JsonValue depth = policies.Optional("depth")) subgraph.depth = depth.Integer(kExtent);
  if (const JsonValue prefetch = policies.Optional("prefetch")) subgraph.prefetch = prefetch.Boolean();
  return subgraph;
}

}  // namespace tessera::plan
