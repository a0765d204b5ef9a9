// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/base/yaml_reader.h"
#include "tessera/explore/space.h"
#include "tessera/explore/vocabulary.h"

// The axes: the map `vary` of a specification.
namespace tessera::explore {

// Reads the axes, and adds their names to the vocabulary. Complains about entries that no profile
// has, and about values that cannot be read.
std::vector<Axis> ReadAxes(const base::YamlNode& vary, const std::vector<BaseProfile>& bases,
                           Vocabulary& vocabulary);

}  // namespace tessera::explore
