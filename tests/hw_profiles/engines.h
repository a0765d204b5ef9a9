// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "tessera/base/vocabulary.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::hw_profiles {

// An engine that runs operators of every kind, all at the pace that throughputs have by default.
inline Engine EngineForEveryKind(std::string name) {
  Engine engine;
  engine.name = std::move(name);
  for (size_t kind = 0; kind < base::OperatorKindNames().size(); ++kind) {
    Throughput& throughput = engine.throughputs.emplace_back();
    throughput.kind = static_cast<base::OperatorKind>(kind);
  }
  return engine;
}

// An engine that runs what no other engine lists.
inline Engine Host(std::string name, HostSpeed speed = {}) {
  Engine engine;
  engine.name = std::move(name);
  engine.host = speed;
  return engine;
}

}  // namespace tessera::hw_profiles
