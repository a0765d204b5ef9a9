// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/spec_area.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>

#include "tessera/base/files.h"
#include "tessera/base/text.h"

namespace tessera::explore {

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
