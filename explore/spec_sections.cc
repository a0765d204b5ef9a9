// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/spec_sections.h"

#include <fmt/format.h>
#include <tessera/profile.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "tessera/base/files.h"
#include "tessera/base/text.h"
#include "tessera/graph/import/space/space.h"

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

namespace spaces = graph::import::space;
using base::YamlNode;

constexpr size_t kMostChoices = 1'000;
constexpr int64_t kMostValue = int64_t{1} << 40;

// Parameters and their chosen values, in the order of the file.
using Lists = std::vector<std::pair<std::string, std::vector<int64_t>>>;

spaces::Choice ChoiceOf(const NetworkEntry& entry) {
  return {entry.import.dims.begin(), entry.import.dims.end()};
}

// Returns all combinations; empty after a complaint.
std::vector<spaces::Choice> Combine(const YamlNode& choices, const Lists& lists) {
  std::vector<spaces::Choice> combinations = {{}};
  for (const auto& [name, values] : lists) {
    std::vector<spaces::Choice> more;
    for (const spaces::Choice& begun : combinations) {
      for (const int64_t value : values) {
        more.push_back(begun);
        more.back()[name] = value;
      }
    }
    combinations = std::move(more);
    if (!combinations.empty() && combinations.size() <= kMostChoices) continue;
    choices.Complain("these are too many or no choices", "1 to 1000");
    return {};
  }
  return combinations;
}

// Returns the entry with the values of these names, in the order of the file.
NetworkEntry Made(const NetworkEntry& pattern, const Lists& lists, const spaces::Choice& chosen) {
  NetworkEntry made = pattern;
  for (const auto& [name, values] : lists) {
    const auto value = chosen.find(name);
    if (value == chosen.end()) continue;
    made.import.dims.emplace_back(name, value->second);
    made.name += fmt::format(" {}={}", name, value->second);
  }
  return made;
}

class SpaceChoices {
 public:
  SpaceChoices(const YamlNode& choices, const NetworkEntry& pattern, const spaces::Space& space)
      : choices_(choices), pattern_(pattern), space_(space) {}

  NetworkChoices Read(const Lists& lists) {
    NetworkChoices result;
    if (!AreOfSpace(lists)) return result;
    std::set<std::string> effective;
    std::set<std::string> seen;  // texts of networks
    for (const spaces::Choice& chosen : Combine(choices_, lists)) {
      NetworkEntry entry = WithoutIdle(lists, chosen);
      for (const auto& [name, value] : entry.import.dims) effective.insert(name);
      const base::Expected<std::string> text = space_.Write(ChoiceOf(entry));
      if (text) {
        if (seen.insert(*text).second) result.networks.push_back(std::move(entry));
      } else if (seen.insert(entry.name).second) {
        result.refused.push_back({entry.name, text.error().message});
      }
    }
    if (result.networks.empty() && !result.refused.empty())
      choices_.Complain("no combination is a network: " + result.refused.front().reason);
    for (const auto& [name, node] : choices_.Entries()) {
      if (!result.networks.empty() && !effective.contains(name))
        node.ComplainOfKey(fmt::format("'{}' has no effect in any combination", name),
                           "parameters of blocks and layers that the depth leaves in");
    }
    for (const auto& [name, value] : pattern_.import.dims) {
      if (!result.networks.empty() && !effective.contains(name))
        choices_.Complain(fmt::format("'{}' of 'dims' has no effect in any combination", name),
                          "parameters of blocks and layers that the depth leaves in");
    }
    return result;
  }

 private:
  // Leaves out names that have no effect: those of blocks and layers beyond the depth.
  NetworkEntry WithoutIdle(const Lists& lists, spaces::Choice chosen) const {
    NetworkEntry pattern = pattern_;
    spaces::Choice all = chosen;
    all.insert(pattern.import.dims.begin(), pattern.import.dims.end());
    for (const std::string& idle : space_.NamesWithoutEffect(all)) {
      chosen.erase(idle);
      std::erase_if(pattern.import.dims, [&idle](const auto& dim) { return dim.first == idle; });
    }
    return Made(pattern, lists, chosen);
  }

  bool AreOfSpace(const Lists& lists) const {
    if (const auto fault = space_.CheckChoice(ChoiceOf(pattern_))) {
      choices_.Complain("of 'dims', " + fault->message, fault->expected, fault->hint);
      return false;
    }
    bool is_right = true;
    const auto entries = choices_.Entries();
    for (size_t i = 0; i < entries.size(); ++i) {
      const YamlNode& node = entries[i].second;
      for (const int64_t value : lists[i].second) {
        const auto fault = space_.CheckChoice({{lists[i].first, value}});
        if (!fault) continue;
        is_right = false;
        node.ComplainOfKey(fault->message, fault->expected, fault->hint);
        break;
      }
      if (!ChoiceOf(pattern_).contains(lists[i].first)) continue;
      is_right = false;
      node.ComplainOfKey(fmt::format("'{}' is under 'dims' too", lists[i].first));
    }
    return is_right;
  }

  const YamlNode& choices_;
  const NetworkEntry& pattern_;
  const spaces::Space& space_;
};

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

bool IsSpace(const NetworkEntry& entry) { return base::SuffixOf(entry.file) == ".space"; }

base::Expected<NetworkChoices> ReadChoices(const YamlNode& choices, const NetworkEntry& pattern,
                                           const std::string& content) {
  Lists lists;
  for (const auto& [name, list] : choices.Entries())
    lists.emplace_back(name, list.Integers(1, kMostValue));
  if (IsSpace(pattern)) {
    const base::Expected<spaces::Space> space = spaces::Space::Parse(content, pattern.file);
    if (!space) return base::Unexpected(space.error());
    return SpaceChoices(choices, pattern, *space).Read(lists);
  }
  NetworkChoices result;
  for (const spaces::Choice& chosen : Combine(choices, lists))
    result.networks.push_back(Made(pattern, lists, chosen));
  return result;
}

using base::YamlNode;

// Returns the parts of all base profiles, and those that an axis adds.
std::vector<std::string> AreaReader::AllParts() const {
  std::set<std::string> parts;
  for (const BaseProfile& base : bases_) {
    for (std::string& part : PartsOf(base.document)) parts.insert(std::move(part));
  }
  for (const Axis& axis : axes_) {
    if (std::count(axis.path.begin(), axis.path.end(), '.') == 1) parts.insert(axis.path);
  }
  return {parts.begin(), parts.end()};
}

bool AreaReader::HasPart(const std::string& pattern) const {
  const std::vector<std::string> parts = AllParts();
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return base::MatchesGlob(part, pattern); });
}

// Returns the names allowed in a rule: fields that one of its parts has, or gets from an axis.
std::vector<std::string> AreaReader::NamesFor(const std::string& pattern) const {
  std::set<std::string> names;
  for (const BaseProfile& base : bases_) {
    for (const std::string& part : PartsOf(base.document)) {
      if (!base::MatchesGlob(part, pattern)) continue;
      for (std::string& name : NamesOfPart(base.document, part)) names.insert(std::move(name));
    }
  }
  for (const Axis& axis : axes_) {
    size_t dot = axis.path.find('.');
    dot = dot == std::string::npos ? dot : axis.path.find('.', dot + 1);
    if (dot != std::string::npos) names.insert(axis.path.substr(dot + 1));
  }
  return {names.begin(), names.end()};
}

AreaModel AreaReader::Read(const YamlNode& node) {
  AreaModel model;
  for (const auto& [part, value] : node.Entries()) {
    if (part == "file") {
      ReadTable(value, model);
    } else {
      ReadRule(part, value, model);
    }
  }
  return model;
}

void AreaReader::ReadRule(const std::string& part, const YamlNode& node, AreaModel& model) const {
  if (!HasPart(part)) {
    std::vector<std::string> parts = AllParts();
    parts.emplace_back("file");
    const std::vector<std::string_view> views(parts.begin(), parts.end());
    return node.ComplainOfKey("no profile has a part '" + part + "'",
                              "one of " + base::Join(views) + ", with * for any characters",
                              base::DidYouMean(part, views));
  }
  AreaRule rule{part, {}, {}, {}, node.Located("")};
  if (node.IsMap()) {
    node.OnlyKeys({"command"});
    rule.estimator = std::make_shared<Estimator>(
        node.At("command").Text(), std::filesystem::absolute(folder_).lexically_normal().string());
  } else {
    rule.mm2 = ReadExpression(node);
    vocabulary_.Check(node, rule.mm2, Vocabulary::Among::kSpace, NamesFor(part));
  }
  model.Add(std::move(rule));
}

void AreaReader::ReadTable(const YamlNode& node, AreaModel& model) {
  const std::filesystem::path path(node.Text());
  const std::string file =
      path.is_absolute() ? path.string() : (folder_ / path).lexically_normal().string();
  files_.push_back(file);
  const base::Expected<std::string> text = base::ReadInput(file);
  if (!text) return node.Complain("'" + file + "' cannot be read: " + text.error().message);
  base::Expected<std::vector<AreaRule>> rules = ReadAreaTable(*text, file);
  if (!rules) {
    fault_ = rules.error();
    return;
  }
  for (AreaRule& rule : *rules) {
    const std::vector<std::string> names = NamesFor(rule.part);
    const auto unknown =
        std::find_if(rule.conditions.begin(), rule.conditions.end(), [&](const auto& condition) {
          return std::find(names.begin(), names.end(), condition.first) == names.end();
        });
    base::Diagnostic fault = rule.place;
    if (!HasPart(rule.part)) {
      const std::vector<std::string> parts = AllParts();
      const std::vector<std::string_view> views(parts.begin(), parts.end());
      fault.message = "no profile has a part '" + rule.part + "'";
      fault.expected = "one of " + base::Join(views) + ", with * for any characters";
      fault.hint = base::DidYouMean(rule.part, views);
    } else if (unknown != rule.conditions.end()) {
      const std::vector<std::string_view> views(names.begin(), names.end());
      fault.message = "'" + rule.part + "' has no field '" + unknown->first + "'";
      fault.hint = base::DidYouMean(unknown->first, views);
    }
    if (!fault.message.empty()) {
      if (!fault_) fault_ = fault;
      return;
    }
    model.Add(std::move(rule));
  }
}

}  // namespace tessera::explore
