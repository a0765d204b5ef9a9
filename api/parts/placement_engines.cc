// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/engine_makers.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/local_search/local_search.h"
#include "tessera/search/engines/order_search/order_search.h"

namespace tessera::api::parts {
namespace {

// Rules of the canonical engine. One of them is a rule of the lazy engine too.
constexpr EngineRule kPlacementRules[] = {
    {"gap-fill", [](EngineOptions& o) { o.canonical.gap_fill = false; }},
    {"support", [](EngineOptions& o) { o.canonical.support = false; }},
    {"witness", [](EngineOptions& o) { o.canonical.witness = false; }},
    {"sections", [](EngineOptions& o) { o.canonical.sections = false; }},
    {"backjumping", [](EngineOptions& o) { o.canonical.backjumping = false; }},
    {"decomposition", [](EngineOptions& o) { o.canonical.decomposition = false; }},
    {"cache", [](EngineOptions& o) { o.canonical.cache = false; }},
    {"both-directions", [](EngineOptions& o) { o.canonical.both_directions = false; }},
    {"interchangeable",
     [](EngineOptions& o) { o.canonical.interchangeable = o.lazy.order_interchangeable = false; }},
};

constexpr EngineMaker kPlacement[] = {
    {"greedy", true,
     [](const EngineOptions&, uint64_t) {
       return MakeEngine<search::engines::greedy::GreedyEngine>();
     }},
    {"canonical", true,
     [](const EngineOptions& o, uint64_t) {
       return MakeEngine<search::engines::canonical::CanonicalEngine>(o.canonical);
     }},
    {"local-search", true,
     [](const EngineOptions&, uint64_t seed) {
       return MakeEngine<search::engines::local_search::LocalSearchEngine>(seed);
     }},
    {"order-search", true,
     [](const EngineOptions&, uint64_t seed) {
       return MakeEngine<search::engines::order_search::OrderSearchEngine>(seed);
     }},
};

}  // namespace

EngineTable PlacementEngines() { return {kPlacement, kPlacementRules}; }

}  // namespace tessera::api::parts
