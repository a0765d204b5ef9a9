// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/yaml_reader.h"
#include "tessera/explore/area.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/vocabulary.h"

// The parts of a specification that spec.cc does not read itself.
namespace tessera::explore {

// Reads the axes, the map `vary`, and adds their names to the vocabulary. Complains about entries
// that no profile has, and about values that cannot be read.
std::vector<Axis> ReadAxes(const base::YamlNode& vary, const std::vector<BaseProfile>& bases,
                           Vocabulary& vocabulary);

// The networks of `choices` (docs/spaces.md).

struct NetworkChoices {
  std::vector<NetworkEntry> networks;
  std::vector<RefusedNetwork> refused;
};

// Returns whether the file is a space of networks.
bool IsSpace(const NetworkEntry& entry);

// Returns a network for each combination of values, the first parameter outermost. `pattern` is the
// entry from which they are made, and `content` that of its file. For a space of networks, names
// without an effect are left out, equal networks become one, and combinations that are not networks
// are refused. Complains at the node; returns a fault of the file itself.
base::Expected<NetworkChoices> ReadChoices(const base::YamlNode& choices,
                                           const NetworkEntry& pattern, const std::string& content);

// The map `area` of a specification.

class AreaReader {
 public:
  // All arguments must outlive this object. `folder` is that of files that the map names.
  AreaReader(const std::vector<BaseProfile>& bases, const std::vector<Axis>& axes,
             const Vocabulary& vocabulary, std::filesystem::path folder)
      : bases_(bases), axes_(axes), vocabulary_(vocabulary), folder_(std::move(folder)) {}

  // Reads the map. Complains about rules for parts that no profile has, and about unknown names.
  AreaModel Read(const base::YamlNode& node);

  // Returns the fault in a table.
  const std::optional<base::Diagnostic>& Fault() const { return fault_; }

  // Returns the tables that were read.
  const std::vector<std::string>& Files() const { return files_; }

 private:
  void ReadRule(const std::string& part, const base::YamlNode& node, AreaModel& model) const;
  void ReadTable(const base::YamlNode& node, AreaModel& model);
  bool HasPart(const std::string& pattern) const;
  std::vector<std::string> AllParts() const;
  std::vector<std::string> NamesFor(const std::string& pattern) const;

  const std::vector<BaseProfile>& bases_;
  const std::vector<Axis>& axes_;
  const Vocabulary& vocabulary_;
  std::filesystem::path folder_;
  std::optional<base::Diagnostic> fault_;
  std::vector<std::string> files_;
};

}  // namespace tessera::explore
