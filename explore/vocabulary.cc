// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/vocabulary.h"

#include <tessera/plan.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tessera/base/text.h"

namespace tessera::explore {
namespace {

std::vector<std::string_view> Views(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

// Adds every path of a number, a truth value or a name in the document.
void AddPaths(const Json& at, const std::string& path, std::vector<std::string>& paths) {
  if (!path.empty()) paths.push_back(path);
  if (!at.is_object()) return;
  const std::string prefix = path.empty() ? "" : path + ".";
  for (const auto& [key, value] : at.items()) {
    std::string inner = prefix;
    AddPaths(value, inner.append(key), paths);
  }
}

bool Contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

Vocabulary::Vocabulary() {
  if (Result<std::vector<std::string>> names = MetricNames()) metrics_ = *std::move(names);
}

bool Vocabulary::IsMetric(std::string_view name) const { return Contains(metrics_, name); }

void Vocabulary::AddProfile(const Json& document) { AddPaths(document, "", paths_); }

void Vocabulary::AddName(const base::YamlNode& node, const std::string& name,
                         std::string_view what) {
  static constexpr std::array<std::string_view, 3> kWords = {"and", "or", "not"};
  const base::Expected<Expression> word = Expression::Parse(name);
  const bool is_word = word && word->NamesUsed() == std::set<std::string>{name} &&
                       std::find(kWords.begin(), kWords.end(), name) == kWords.end();
  if (!is_word && what != "column")  // a table may have columns that no expression names
    return node.Complain("the " + std::string(what) + " '" + name + "' is no word",
                         "letters, digits and _, a letter first");
  std::string taken;
  if (IsMetric(name)) taken = "a metric";
  if (name == "area") taken = "the area";
  if (Contains(paths_, name)) taken = "an entry of the profile";
  if (axis_names_.contains(name)) taken = "an entry under 'vary'";
  if (columns_.contains(name)) taken = "a column";
  if (!taken.empty())
    return node.Complain(
        "the " + std::string(what) + " '" + name + "' stands for " + taken + " already",
        "another name");
  (what == "column" ? columns_ : axis_names_).insert(name);
}

void Vocabulary::Check(const base::YamlNode& node, const Expression& expression, Among among,
                       const std::vector<std::string>& own) const {
  std::vector<std::string> known = paths_;
  known.insert(known.end(), axis_names_.begin(), axis_names_.end());
  known.insert(known.end(), own.begin(), own.end());
  if (among == Among::kObjective) {
    known.insert(known.end(), metrics_.begin(), metrics_.end());
    known.insert(known.end(), columns_.begin(), columns_.end());
    known.emplace_back("area");
  }
  for (const std::string& name : expression.NamesUsed()) {
    if (name.find('*') != std::string::npos || Contains(known, name)) continue;
    node.Complain("'" + name + "' stands for nothing",
                  among == Among::kObjective
                      ? "a metric, area, a column, an entry of the profile, or a name under 'vary'"
                  : own.empty() ? "an entry of the profile, or a name under 'vary'"
                                : "a field of the part, an entry of the profile, or a name under "
                                  "'vary'",
                  base::DidYouMean(name, Views(known)));
  }
}

std::string Vocabulary::NearestPath(std::string_view path) const {
  return base::DidYouMean(path, Views(paths_));
}

Expression ReadExpression(const base::YamlNode& node) {
  base::Expected<Expression> expression = Expression::Parse(node.Text());
  if (expression) return *std::move(expression);
  const base::Diagnostic& fault = expression.error();
  node.Complain(fault.message + " at its character " + std::to_string(fault.column),
                fault.expected);
  return {};
}

}  // namespace tessera::explore
