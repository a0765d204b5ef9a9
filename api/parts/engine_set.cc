// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/engine_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "tessera/encoder/sat/cadical_engine.h"
#ifdef TESSERA_IPASIR
#include "tessera/encoder/sat/ipasir_engine.h"
#endif
#include "tessera/encoder/smt/z3_engine.h"
#include "tessera/search/engines/boxing/boxing_engine.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/guided/guided.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/engines/local_search/local_search.h"
#include "tessera/search/engines/order_search/order_search.h"

namespace tessera::api::parts {
namespace {

struct EngineOptions {
  search::engines::canonical::CanonicalOptions canonical;
  search::engines::lazy::LazyOptions lazy;
  search::engines::boxing::BoxingOptions boxing;
};

struct Rule {
  std::string_view name;
  void (*switch_off)(EngineOptions&);
};

// Some names stand for a rule of the canonical engine, some for one of the lazy engine or of both,
// some for one of boxing.
constexpr Rule kRules[] = {
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
    {"mirror", [](EngineOptions& o) { o.lazy.break_mirror = false; }},
    {"edge-finding", [](EngineOptions& o) { o.lazy.edge_finding = false; }},
    {"section-pair-cuts", [](EngineOptions& o) { o.lazy.section_pair_cuts = 0; }},
    {"section-energy", [](EngineOptions& o) { o.lazy.section_energy = false; }},
    {"clause-minimisation", [](EngineOptions& o) { o.lazy.minimize_clauses = false; }},
    {"clause-reduction", [](EngineOptions& o) { o.lazy.reduce_clauses = false; }},
    {"clause-keeping", [](EngineOptions& o) { o.lazy.keep_clauses = false; }},
    {"restarts", [](EngineOptions& o) { o.lazy.restart_base = 0; }},
    {"order-decisions", [](EngineOptions& o) { o.lazy.orders_every = 0; }},
    {"latent-invariants", [](EngineOptions& o) { o.boxing.latent_invariants = false; }},
    {"calibration", [](EngineOptions& o) { o.boxing.calibration = false; }},
    {"critical-points", [](EngineOptions& o) { o.boxing.critical_points = false; }},
    {"unboxing", [](EngineOptions& o) { o.boxing.unboxing = false; }},
    {"dummy-job", [](EngineOptions& o) { o.boxing.dummy_job = false; }},
    {"hints", [](EngineOptions& o) { o.lazy.follow_hints = false; }},
};

struct EngineMaker {
  std::string_view name;
  bool by_default;
  std::unique_ptr<problem::Engine> (*make)(const EngineOptions&, uint64_t seed);
};

template <typename Engine, typename... Options>
std::unique_ptr<problem::Engine> Make(Options&&... options) {
  return std::make_unique<Engine>(std::forward<Options>(options)...);
}

// In the order in which they are asked.
constexpr EngineMaker kEngines[] = {
    {"greedy", true,
     [](const EngineOptions&, uint64_t) { return Make<search::engines::greedy::GreedyEngine>(); }},
    {"canonical", true,
     [](const EngineOptions& o, uint64_t) {
       return Make<search::engines::canonical::CanonicalEngine>(o.canonical);
     }},
    {"local-search", true,
     [](const EngineOptions&, uint64_t seed) {
       return Make<search::engines::local_search::LocalSearchEngine>(seed);
     }},
    {"order-search", true,
     [](const EngineOptions&, uint64_t seed) {
       return Make<search::engines::order_search::OrderSearchEngine>(seed);
     }},
    {"lazy", true,
     [](const EngineOptions& o, uint64_t) {
       return Make<search::engines::lazy::LazyEngine>(o.lazy);
     }},
    {"cadical", true,
     [](const EngineOptions&, uint64_t seed) {
       return Make<encoder::sat::SatEngine>(encoder::sat::SatOptions{.seed = seed});
     }},
    {"boxing", false,
     [](const EngineOptions& o, uint64_t seed) {
       return Make<search::engines::boxing::BoxingEngine>(seed, o.boxing);
     }},
    {"guided", false,
     [](const EngineOptions&, uint64_t) { return Make<search::engines::guided::GuidedEngine>(); }},
    {"z3", false,
     [](const EngineOptions&, uint64_t seed) {
       return Make<encoder::smt::Z3Engine>(encoder::smt::Z3Options{.seed = seed});
     }},
#ifdef TESSERA_IPASIR
    {"ipasir", false,
     [](const EngineOptions&, uint64_t) { return Make<encoder::sat::IpasirEngine>(); }},
#endif
};

EngineOptions WithoutRules(std::span<const std::string> off, uint64_t seed) {
  EngineOptions engines;
  engines.canonical.seed = engines.lazy.seed = seed;
  for (const Rule& rule : kRules) {
    if (std::find(off.begin(), off.end(), rule.name) != off.end()) rule.switch_off(engines);
  }
  return engines;
}

}  // namespace

std::vector<std::string> EngineSet::Names() {
  std::vector<std::string> names;
  for (const EngineMaker& engine : kEngines) names.emplace_back(engine.name);
  return names;
}

std::vector<std::string> EngineSet::NamesOfWanted(const std::string& only) {
  std::vector<std::string> names;
  for (const EngineMaker& engine : kEngines) {
    if (only.empty() ? engine.by_default : engine.name == only) names.emplace_back(engine.name);
  }
  return names;
}

std::vector<std::string> EngineSet::Rules() {
  std::vector<std::string> names;
  for (const Rule& rule : kRules) names.emplace_back(rule.name);
  return names;
}

EngineSet::EngineSet(std::span<const std::string> names, std::span<const std::string> switched_off,
                     uint64_t seed) {
  const EngineOptions rules = WithoutRules(switched_off, seed);
  for (const std::string& name : names) {
    for (const EngineMaker& engine : kEngines) {
      if (engine.name == name) engines_.push_back(engine.make(rules, seed));
    }
  }
  for (const auto& engine : engines_) pointers_.push_back(engine.get());
}

std::string EngineSet::FindUnknown(std::span<const std::string> names,
                                   std::span<const std::string> switched_off) {
  const auto find = [](std::span<const std::string> wanted, const std::vector<std::string>& known) {
    return std::find_if(wanted.begin(), wanted.end(), [&](const std::string& name) {
      return std::find(known.begin(), known.end(), name) == known.end();
    });
  };
  if (const auto engine = find(names, Names()); engine != names.end())
    return fmt::format("engine '{}'", *engine);
  if (const auto rule = find(switched_off, Rules()); rule != switched_off.end())
    return fmt::format("rule '{}'", *rule);
  return "";
}

}  // namespace tessera::api::parts
