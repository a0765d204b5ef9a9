// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/spec_axes.h"

#include <tessera/profile.h>

#include <cmath>
#include <string_view>

namespace tessera::explore {
namespace {

using base::YamlNode;

constexpr int64_t kMostSteps = 10'000;

Json ValueOf(const YamlNode& node) {
  if (node.IsList()) {
    Json list = Json::array();
    for (const YamlNode& item : node.Items()) list.push_back(ValueOf(item));
    return list;
  }
  if (node.IsMap()) {
    Json map = Json::object();
    for (const auto& [key, value] : node.Entries()) map[key] = ValueOf(value);
    return map;
  }
  const std::string text = node.Text();
  if (text == "true" || text == "false") return text == "true";
  if (const std::optional<double> number = ParseQuantity(text)) return AsJson(*number);
  return text;
}

// Returns whether the path names entries, or a key that profiles may have.
bool CanBeSet(const Json& document, const std::string& path) {
  if (!FindEntries(document, path).empty()) return true;
  const std::vector<std::string> places = FindPlaces(document, path);
  if (places.empty()) return false;
  Json changed = document;
  SetEntries(changed, places, 1);
  const Result<Profile> profile = Profile::Parse(changed.dump());
  return profile || !profile.Error().message.starts_with("unknown key");
}

double QuantityOf(const YamlNode& node) {
  const std::optional<double> number = ParseQuantity(node.Text());
  if (!number) node.Complain("this is no number", "a number, as 12, 0.5 or 128Ki");
  return number.value_or(0);
}

// Reads powers of two from the lower end on, or evenly spaced numbers with both ends.
void ReadRange(const YamlNode& node, Axis& axis) {
  const double from = QuantityOf(node.At("from"));
  const double to = QuantityOf(node.At("to"));
  if (to < from) node.At("to").Complain("the range ends before it begins");
  const YamlNode steps = node.At("steps");
  if (steps.Text() == "powers_of_two") {
    if (from <= 0) node.At("from").Complain("a range of powers needs a number above 0");
    for (double value = from; value <= to && value > 0; value *= 2)
      axis.values.push_back(AsJson(value));
    return;
  }
  if (!ParseQuantity(steps.Text()))
    return steps.Complain("unknown steps '" + steps.Text() + "'",
                          "powers_of_two, or the number of values");
  const int64_t count = steps.Integer(2, kMostSteps);
  const bool whole = std::floor(from) == from && std::floor(to) == to &&
                     to - from >= static_cast<double>(count - 1);
  for (int64_t i = 0; i < count; ++i) {
    const double value =
        from + (to - from) * static_cast<double>(i) / static_cast<double>(count - 1);
    const Json number = AsJson(whole ? std::round(value) : value);
    if (axis.values.empty() || axis.values.back() != number) axis.values.push_back(number);
  }
}

void ReadAxis(const YamlNode& node, Axis& axis, Vocabulary& vocabulary) {
  if (node.IsScalar()) {
    axis.expression = ReadExpression(node);
    return;
  }
  YamlNode values = node;
  if (node.IsMap()) {
    node.OnlyKeys({"name", "values", "from", "to", "steps"});
    if (const YamlNode name = node.Maybe("name")) {
      axis.name = name.Text();
      vocabulary.AddName(name, axis.name, "name");
    }
    values = node.Maybe("values");
    if (!values) return ReadRange(node, axis);
    for (const std::string_view key : {"from", "to", "steps"}) {
      if (const YamlNode other = node.Maybe(key))
        other.ComplainOfKey("'values' and '" + std::string(key) + "' are both given");
    }
    if (values.IsScalar()) {
      axis.expression = ReadExpression(values);
      return;
    }
  }
  for (const YamlNode& item : values.Items()) axis.values.push_back(ValueOf(item));
  if (axis.values.empty()) values.Complain("there is no value", "at least one");
}

}  // namespace

std::vector<Axis> ReadAxes(const YamlNode& vary, const std::vector<BaseProfile>& bases,
                           Vocabulary& vocabulary) {
  std::vector<Axis> axes;
  for (const auto& [path, node] : vary.Entries()) {
    for (const BaseProfile& base : bases) {
      if (CanBeSet(base.document, path)) continue;
      node.ComplainOfKey("the profile '" + base.name + "' has no entry '" + path + "'",
                         "keys of the profile with dots between them, * for any key",
                         vocabulary.NearestPath(path));
    }
    Axis axis{path, path, {}, std::nullopt};
    ReadAxis(node, axis, vocabulary);
    vocabulary.AddPath(path);
    if (axis.expression) vocabulary.Check(node, *axis.expression, Vocabulary::Among::kSpace);
    axes.push_back(std::move(axis));
  }
  return axes;
}

}  // namespace tessera::explore
