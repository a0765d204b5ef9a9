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
#include "tessera/explore/vocabulary.h"

// The map `area` of a specification.
namespace tessera::explore {

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
