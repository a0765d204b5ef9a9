// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/plan.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/area.h"
#include "tessera/explore/expression.h"
#include "tessera/explore/space.h"

// The specification of an exploration (docs/explore.md): a YAML file, read and resolved.
namespace tessera::explore {

struct NetworkEntry {
  std::string file;
  std::string name;
  double weight = 1;
  std::vector<MetricValue> limits = {};
  ImportOptions import = {};                   // `dims` and `floats_as`
  std::map<std::string, double> columns = {};  // the user's own figures
  std::string digest = {};                     // of the file's content
};

// A combination of `choices` that is not a network.
struct RefusedNetwork {
  std::string name;
  std::string reason;
};

// A minimised objective. The names in its expression stand for metrics of a plan, `area`, columns
// of the user, and the names of the space.
struct Objective {
  std::string name;
  Expression expression;
};

struct Settings {
  int64_t budget = 200'000;  // of work, of each plan
  uint64_t seed = 0;
  std::optional<int> max_operators = {};
  bool keep_order = false;
  bool keep_boundaries = true;
};

struct Spec {
  std::string file;
  std::vector<std::string> files;  // that were read for it: networks and tables
  std::vector<NetworkEntry> networks;
  std::vector<RefusedNetwork> refused_networks;
  Space space;
  std::vector<Objective> objectives;
  std::vector<std::string> metrics;  // of which each plan minimises one
  bool needs_area = false;
  bool wants_network_fronts = true;  // a front for each network
  bool wants_set_front = false;      // a front for all of them together
  AreaModel area;
  Settings settings;
};

// Files that the specification names are relative to its folder. Errors have file, line and column.
base::Expected<Spec> ReadSpec(std::string text, const std::string& file);

// Returns 128 bits of FNV-1a, in 32 hexadecimal digits.
std::string DigestOf(std::string_view text);

}  // namespace tessera::explore
