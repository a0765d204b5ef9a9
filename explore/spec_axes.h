// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/base/yaml_reader.h"
#include "tessera/explore/space.h"
#include "tessera/explore/vocabulary.h"

// The axes: the map `vary` of a specification.
namespace tessera::explore {

// Complains about entries that no profile has, and about values that cannot be read. Names of axes
// become known to the vocabulary.
std::vector<Axis> ReadAxes(const base::YamlNode& vary, const std::vector<BaseProfile>& bases,
                           Vocabulary& vocabulary);

}  // namespace tessera::explore
