// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::search {

// A network or a profile in a file, by its path from the root of the sources. A file that cannot be
// read ends the test.
graph::Graph NetworkIn(const std::string& path);
hw_profiles::Profile ProfileIn(const std::string& path);

}  // namespace tessera::search
