// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/yaml_reader.h"
#include "tessera/explore/spec.h"

// The networks of `choices` (docs/spaces.md).
namespace tessera::explore {

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

}  // namespace tessera::explore
