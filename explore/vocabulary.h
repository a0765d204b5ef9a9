// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/yaml_reader.h"
#include "tessera/explore/expression.h"
#include "tessera/explore/space.h"

// The names that expressions of a specification may use, and the names that are taken.
namespace tessera::explore {

class Vocabulary {
 public:
  Vocabulary();

  const std::vector<std::string>& Metrics() const { return metrics_; }
  bool IsMetric(std::string_view name) const;

  // Adds all paths of a base profile.
  void AddProfile(const Json& document);

  // Adds a path under `vary`.
  void AddPath(const std::string& path) { axis_names_.insert(path); }

  // Adds a name under `vary`, or a column. Complains if the name has a meaning already, or is not a
  // word. `what` is "name" or "column".
  void AddName(const base::YamlNode& node, const std::string& name, std::string_view what);

  // Complains about unknown names. `own` are further names that are known here.
  enum class Among { kSpace, kObjective };
  void Check(const base::YamlNode& node, const Expression& expression, Among among,
             const std::vector<std::string>& own = {}) const;

  // Returns the nearest path of a profile, for a hint.
  std::string NearestPath(std::string_view path) const;

 private:
  std::vector<std::string> metrics_;
  std::vector<std::string> paths_;
  std::set<std::string> axis_names_;
  std::set<std::string> columns_;
};

// Reads the expression of a scalar. Complains if it cannot be read.
Expression ReadExpression(const base::YamlNode& node);

}  // namespace tessera::explore
