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

// The names that expressions of a specification may use, and what must not be called so.
namespace tessera::explore {

class Vocabulary {
 public:
  Vocabulary();

  const std::vector<std::string>& Metrics() const { return metrics_; }
  bool IsMetric(std::string_view name) const;

  // All paths of a base profile become known.
  void AddProfile(const Json& document);

  // A path under `vary`.
  void AddPath(const std::string& path) { axis_names_.insert(path); }

  // A name under `vary`, or a column. Complains if it stands for something else already, or is no
  // word. `what`: "name" or "column".
  void AddName(const base::YamlNode& node, const std::string& name, std::string_view what);

  // Complains about names that stand for nothing. `own`: further names that are known here.
  enum class Among { kSpace, kObjective };
  void Check(const base::YamlNode& node, const Expression& expression, Among among,
             const std::vector<std::string>& own = {}) const;

  // The nearest path of a profile, for a hint.
  std::string NearestPath(std::string_view path) const;

 private:
  std::vector<std::string> metrics_;
  std::vector<std::string> paths_;
  std::set<std::string> axis_names_;
  std::set<std::string> columns_;
};

// The expression of a scalar. Complains about one that cannot be read.
Expression ReadExpression(const base::YamlNode& node);

}  // namespace tessera::explore
