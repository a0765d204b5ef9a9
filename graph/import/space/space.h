// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"

// Spaces of networks: a YAML file with a family of networks and the values that its parameters may
// have (docs/spaces.md). A choice of values is a network.
namespace tessera::graph::import::space {

// A parameter and its values, ascending as in the file; the first is the default.
struct Parameter {
  std::string name;
  std::vector<int64_t> values;
};

// Values by parameter; those that are absent have their default.
using Choice = std::map<std::string, int64_t>;

enum class Family : uint8_t { kInvertedResidual, kTransformer };

// A space. It is immutable.
class Space {
 public:
  // A part that repeats: a stage of blocks, or the layers of a transformer.
  struct Part {
    int64_t channels = 0;
    int64_t stride = 1;
    std::string name;
  };

  // Faults have file, line and column.
  static base::Expected<Space> Parse(std::string text, const std::string& file);

  const std::string& Name() const { return name_; }

  // In the order of the file; parameters of blocks by number. "stage2.depth",
  // "stage2.block1.kernel".
  const std::vector<Parameter>& Parameters() const { return parameters_; }

  // Reports names and values of the choice that the space does not have; nullopt if there are none.
  std::optional<base::Diagnostic> CheckChoice(const Choice& choice) const;

  // The names of a choice without a fault that have no effect: their block or layer is beyond the
  // depth that the choice has.
  std::vector<std::string> NamesWithoutEffect(const Choice& choice) const;

  // The network of a choice as a document of docs/network-format.md. Refuses names and values that
  // the space does not have, and values that are no network together. Names without an effect are
  // allowed.
  base::Expected<std::string> Write(const Choice& choice) const;

 private:
  friend class SpaceReader;
  int64_t ValueOf(const Choice& choice, const std::string& name) const;
  std::string WriteInvertedResidual(const Choice& choice) const;
  base::Expected<std::string> WriteTransformer(const Choice& choice) const;
  base::Diagnostic Refusal(std::string message, std::string expected) const;

  std::string name_;
  std::string file_;
  std::string dtype_ = "int8";
  Family family_ = Family::kInvertedResidual;
  std::vector<Parameter> parameters_;
  Choice fixed_;  // what the file states as one value
  std::vector<Part> stages_;
  int64_t stem_channels_ = 0;
  int64_t stem_stride_ = 2;
  int64_t head_channels_ = 0;
  int64_t classes_ = 0;
};

}  // namespace tessera::graph::import::space
