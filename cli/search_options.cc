#include "tessera/cli/search_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "tessera/base/checked.h"
#include "tessera/encoder/lazy/lazy_engine.h"
#ifdef TESSERA_IPASIR
#include "tessera/encoder/sat/ipasir_engine.h"
#endif
#include "tessera/encoder/sat/sat_engine.h"
#include "tessera/encoder/smt/z3_engine.h"
#include "tessera/search/allocate/canonical.h"
#include "tessera/search/allocate/greedy.h"
#include "tessera/search/allocate/repair.h"

namespace tessera::cli {
namespace {

struct EngineOptions {
  search::CanonicalOptions canonical;
  encoder::LazyOptions lazy;
};

struct Rule {
  std::string_view name;
  void (*switch_off)(EngineOptions&);
};

// Some names stand for a rule of the canonical engine, some for one of the lazy engine, some for both.
constexpr Rule kRules[] = {
    {"support", [](EngineOptions& o) { o.canonical.support = false; }},
    {"witness", [](EngineOptions& o) { o.canonical.witness = false; }},
    {"sections", [](EngineOptions& o) { o.canonical.sections = false; }},
    {"backjumping", [](EngineOptions& o) { o.canonical.backjumping = false; }},
    {"decomposition", [](EngineOptions& o) { o.canonical.decomposition = false; }},
    {"cache", [](EngineOptions& o) { o.canonical.cache = false; }},
    {"both-directions", [](EngineOptions& o) { o.canonical.both_directions = false; }},
    {"duplicates", [](EngineOptions& o) { o.canonical.duplicates = o.lazy.order_interchangeable = false; }},
    {"mirror", [](EngineOptions& o) { o.lazy.break_mirror = false; }},
    {"edge-finding", [](EngineOptions& o) { o.lazy.edge_finding = false; }},
    {"handovers", [](EngineOptions& o) { o.lazy.handovers = 0; }},
    {"section-energy", [](EngineOptions& o) { o.lazy.section_energy = false; }},
    {"clause-minimisation", [](EngineOptions& o) { o.lazy.minimize_clauses = false; }},
    {"clause-reduction", [](EngineOptions& o) { o.lazy.reduce_clauses = false; }},
    {"clause-keeping", [](EngineOptions& o) { o.lazy.keep_clauses = false; }},
    {"restarts", [](EngineOptions& o) { o.lazy.restart_base = 0; }},
    {"order-decisions", [](EngineOptions& o) { o.lazy.orders_every = 0; }},
    {"hints", [](EngineOptions& o) { o.lazy.follow_hints = false; }},
};

std::vector<std::string> NamesOfEngines() {
  std::vector<std::string> names = {"greedy", "canonical", "repair", "lazy", "cadical", "z3"};
#ifdef TESSERA_IPASIR
  names.emplace_back("ipasir");
#endif
  return names;
}

std::vector<std::string> NamesOfRules() {
  std::vector<std::string> names;
  for (const Rule& rule : kRules) names.emplace_back(rule.name);
  return names;
}

EngineOptions WithoutRules(const SearchOptions& options) {
  EngineOptions engines;
  engines.canonical.seed = engines.lazy.seed = options.seed;
  for (const Rule& rule : kRules) {
    const auto& off = options.switched_off;
    if (std::find(off.begin(), off.end(), rule.name) != off.end()) rule.switch_off(engines);
  }
  return engines;
}

// CLI11's own check lets "nan" pass.
std::string RefuseNegative(const std::string& seconds) {
  return std::strtod(seconds.c_str(), nullptr) >= 0 ? "" : "expected seconds from 0 up, found " + seconds;
}

}  // namespace

void SearchOptions::Declare(CLI::App& app) {
  app.add_option("--seed", seed, "Seed of every random choice; one seed gives one answer")
      ->check(CLI::Range(uint64_t{0}, uint64_t{base::kMaxTotal}))
      ->capture_default_str();
  app.add_option(
         "--budget", budget,
         "Most work for each question put to an engine, counted in nodes and conflicts, and of plan for "
         "the whole search, in tile shapes times operators: the answer then depends on no clock")
      ->check(CLI::Range(int64_t{0}, base::kMaxTotal));
  app.add_option("--timeout", timeout_s,
                 "Most seconds of wall clock; the best answer so far is given (default: none)")
      ->check(CLI::Validator(RefuseNegative, "SECONDS"));
  app.add_option("--engine", engine,
                 "Ask this engine alone; z3, and ipasir where it is built in, are asked only by name")
      ->check(CLI::IsMember(NamesOfEngines()));
  app.add_option("--switch-off", switched_off,
                 "Search without this rule of the canonical or lazy engine, to see what it is worth: answers "
                 "stay right but come slower; may be repeated")
      ->check(CLI::IsMember(NamesOfRules()))
      ->type_name("RULE");
  app.add_flag("--verbose", verbose, "Tell on stderr what each engine found and when");
}

std::optional<base::Stop::Clock::time_point> SearchOptions::Deadline() const {
  if (!timeout_s) return std::nullopt;
  // A year is as good as for ever, and cannot overflow the clock.
  constexpr double kYear = 365.0 * 24 * 3600;
  return base::Stop::Clock::now() + std::chrono::duration_cast<base::Stop::Clock::duration>(
                                        std::chrono::duration<double>(std::min(*timeout_s, kYear)));
}

EngineSet::EngineSet(const SearchOptions& options) {
  const std::string& only = options.engine;
  const EngineOptions rules = WithoutRules(options);
  const auto wanted = [&only](std::string_view name) { return only.empty() ? name != "z3" : only == name; };
  if (wanted("greedy")) engines_.push_back(std::make_unique<search::GreedyEngine>());
  if (wanted("canonical")) engines_.push_back(std::make_unique<search::CanonicalEngine>(rules.canonical));
  if (wanted("repair")) engines_.push_back(std::make_unique<search::RepairEngine>(options.seed));
  if (wanted("lazy")) engines_.push_back(std::make_unique<encoder::LazyEngine>(rules.lazy));
  if (wanted("cadical")) {
    engines_.push_back(std::make_unique<encoder::SatEngine>(encoder::SatOptions{.seed = options.seed}));
  }
  if (wanted("z3"))
    engines_.push_back(std::make_unique<encoder::Z3Engine>(encoder::Z3Options{.seed = options.seed}));
#ifdef TESSERA_IPASIR
  if (only == "ipasir") engines_.push_back(std::make_unique<encoder::IpasirEngine>());
#endif
  for (const auto& engine : engines_) pointers_.push_back(engine.get());
}

}  // namespace tessera::cli
