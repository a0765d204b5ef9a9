// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/base/random.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::audit {

// An accelerator that might run the network. Every feature of docs/profile-format.md occurs in some
// draws. The size of the tile memory, and of finite homes, is drawn around the bytes that the
// network needs. The result is what hw_profiles::ReadProfile reads from the text that
// hw_profiles::WriteProfileJson writes of it.
hw_profiles::Profile DrawProfile(base::Random& random, const graph::Graph& network);

// Reads a profile's own text back, or throws with the reader's message.
hw_profiles::Profile AsRead(const hw_profiles::Profile& profile);

}  // namespace tessera::audit
