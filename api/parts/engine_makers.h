// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "tessera/problem/engine.h"
#include "tessera/search/engines/boxing/boxing_engine.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

// The tables for EngineSet: engines that only place buffers, which Tessera::allocate has too, and
// the other engines of the whole library.
namespace tessera::api::parts {

struct EngineOptions {
  search::engines::canonical::CanonicalOptions canonical;
  search::engines::lazy::LazyOptions lazy;
  search::engines::boxing::BoxingOptions boxing;
};

struct EngineRule {
  std::string_view name;
  void (*switch_off)(EngineOptions&);
};

struct EngineMaker {
  std::string_view name;
  bool by_default;
  std::unique_ptr<problem::Engine> (*make)(const EngineOptions&, uint64_t seed);
};

struct EngineTable {
  std::span<const EngineMaker> engines;  // in the order in which they are used
  std::span<const EngineRule> rules;
};

EngineTable PlacementEngines();
EngineTable FurtherEngines();  // used after the placement engines; empty in Tessera::allocate

template <typename Engine, typename... Options>
std::unique_ptr<problem::Engine> MakeEngine(Options&&... options) {
  return std::make_unique<Engine>(std::forward<Options>(options)...);
}

}  // namespace tessera::api::parts
