#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/partition/demands.h"

namespace CLI {
class App;
}

namespace tessera::cli {

// The options by which somebody says what a plan must keep to.
class DemandOptions {
 public:
  // Adds --demands, --together, --apart, --keep and --spill.
  void Declare(CLI::App& app);

  // The file of demands; empty where none is named.
  const std::string& File() const { return file_; }

  // The demands of the file, then those of the other options; all of them together without fault (search/partition/demand_faults.h).
  base::Expected<std::vector<search::Demand>> Load(const graph::Graph& network,
                                                   const hw_profiles::Profile& profile,
                                                   std::optional<int> max_operators) const;

 private:
  std::string file_;
  std::vector<std::string> together_;
  std::vector<std::string> apart_;
  std::vector<std::string> kept_;
  std::vector<std::string> spilled_;
};

}  // namespace tessera::cli
