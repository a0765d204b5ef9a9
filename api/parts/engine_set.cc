// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/engine_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "tessera/api/parts/engine_makers.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/local_search/local_search.h"
#include "tessera/search/engines/order_search/order_search.h"

namespace tessera::api::parts {
namespace {

std::vector<EngineMaker> Makers() {
  std::vector<EngineMaker> makers;
  for (const EngineTable& table : {PlacementEngines(), FurtherEngines()})
    makers.insert(makers.end(), table.engines.begin(), table.engines.end());
  return makers;
}

std::vector<EngineRule> AllRules() {
  std::vector<EngineRule> rules;
  for (const EngineTable& table : {PlacementEngines(), FurtherEngines()})
    rules.insert(rules.end(), table.rules.begin(), table.rules.end());
  return rules;
}

EngineOptions WithoutRules(std::span<const std::string> off, uint64_t seed) {
  EngineOptions engines;
  engines.canonical.seed = engines.lazy.seed = seed;
  for (const EngineRule& rule : AllRules()) {
    if (std::find(off.begin(), off.end(), rule.name) != off.end()) rule.switch_off(engines);
  }
  return engines;
}

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

std::vector<std::string> EngineSet::Names() {
  std::vector<std::string> names;
  for (const EngineMaker& engine : Makers()) names.emplace_back(engine.name);
  return names;
}

bool EngineSet::IsWhole() { return !FurtherEngines().engines.empty(); }

std::vector<std::string> EngineSet::NamesOfWanted(const std::string& only) {
  std::vector<std::string> names;
  for (const EngineMaker& engine : Makers()) {
    if (only.empty() ? engine.by_default : engine.name == only) names.emplace_back(engine.name);
  }
  return names;
}

std::vector<std::string> EngineSet::Rules() {
  std::vector<std::string> names;
  for (const EngineRule& rule : AllRules()) names.emplace_back(rule.name);
  return names;
}

EngineSet::EngineSet(std::span<const std::string> names, std::span<const std::string> switched_off,
                     uint64_t seed) {
  const EngineOptions rules = WithoutRules(switched_off, seed);
  const std::vector<EngineMaker> makers = Makers();
  for (const std::string& name : names) {
    for (const EngineMaker& engine : makers) {
      if (engine.name == name) engines_.push_back(engine.make(rules, seed));
    }
  }
  for (const auto& engine : engines_) pointers_.push_back(engine.get());
}

std::optional<EngineSet::Unknown> EngineSet::FindUnknown(
    std::span<const std::string> names, std::span<const std::string> switched_off) {
  const auto find = [](std::string_view noun, std::span<const std::string> wanted,
                       std::vector<std::string> known) -> std::optional<Unknown> {
    for (const std::string& name : wanted) {
      if (std::find(known.begin(), known.end(), name) == known.end())
        return Unknown{fmt::format("{} '{}'", noun, name), std::move(known)};
    }
    return std::nullopt;
  };
  std::optional<Unknown> engine = find("engine", names, Names());
  return engine ? engine : find("rule", switched_off, Rules());
}

EngineTable PlacementEngines() { return {kPlacement, kPlacementRules}; }

}  // namespace tessera::api::parts
