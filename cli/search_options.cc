#include "tessera/cli/search_options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/process.h"
#include "tessera/cli/common_options.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#ifdef TESSERA_IPASIR
#include "tessera/encoder/sat/ipasir_engine.h"
#endif
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/encoder/smt/z3_engine.h"
#include "tessera/search/allocate/engine_queries.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/local_search/local_search.h"
#include "tessera/search/reasons/explain.h"

namespace tessera::cli {
namespace {

struct EngineOptions {
  search::engines::canonical::CanonicalOptions canonical;
  search::engines::lazy::LazyOptions lazy;
};

struct Rule {
  std::string_view name;
  void (*switch_off)(EngineOptions&);
};

// Some names stand for a rule of the canonical engine, some for one of the lazy engine, some for
// both.
constexpr Rule kRules[] = {
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
    {"lazy", true,
     [](const EngineOptions& o, uint64_t) {
       return Make<search::engines::lazy::LazyEngine>(o.lazy);
     }},
    {"cadical", true,
     [](const EngineOptions&, uint64_t seed) {
       return Make<encoder::sat::SatEngine>(encoder::sat::SatOptions{.seed = seed});
     }},
    {"z3", false,
     [](const EngineOptions&, uint64_t seed) {
       return Make<encoder::smt::Z3Engine>(encoder::smt::Z3Options{.seed = seed});
     }},
#ifdef TESSERA_IPASIR
    {"ipasir", false,
     [](const EngineOptions&, uint64_t) { return Make<encoder::sat::IpasirEngine>(); }},
#endif
};

std::vector<std::string> NamesOfEngines() {
  std::vector<std::string> names;
  for (const EngineMaker& engine : kEngines) names.emplace_back(engine.name);
  return names;
}

// The one that is named, or those that a portfolio asks.
std::vector<std::string> NamesOfWanted(const std::string& only) {
  std::vector<std::string> names;
  for (const EngineMaker& engine : kEngines) {
    if (only.empty() ? engine.by_default : engine.name == only) names.emplace_back(engine.name);
  }
  return names;
}

std::vector<std::string> NamesOfRules() {
  std::vector<std::string> names;
  for (const Rule& rule : kRules) names.emplace_back(rule.name);
  return names;
}

EngineOptions WithoutRules(std::span<const std::string> off, uint64_t seed) {
  EngineOptions engines;
  engines.canonical.seed = engines.lazy.seed = seed;
  for (const Rule& rule : kRules) {
    if (std::find(off.begin(), off.end(), rule.name) != off.end()) rule.switch_off(engines);
  }
  return engines;
}

}  // namespace

void CallLimits::Declare(CLI::App& app, std::string_view outcome) {
  app.add_option("--timeout", timeout_s,
                 fmt::format("Most seconds of wall clock; {} (default: none)", outcome))
      ->transform(Seconds());
  app.add_option(
         "--memory-limit", memory_limit,
         fmt::format("Most bytes of memory; {}; suffixes as in 2Gi (default: three quarters of "
                     "what the machine or its control group has)",
                     outcome))
      ->transform(ByteCount());
}

void SearchOptions::Declare(CLI::App& app) {
  app.add_option("--seed", seed, "Seed of every random choice; one seed gives one answer")
      ->transform(WholeNumber(0, base::kMaxTotal))
      ->capture_default_str();
  app.add_option(
         "--budget", budget,
         "Most work for each question put to an engine, counted in nodes and conflicts, and of "
         "plan for the whole search, in tile shapes times operators: the answer then depends on no "
         "clock")
      ->transform(WholeNumber(0, base::kMaxTotal));
  CallLimits::Declare(app, "the best answer so far is given");
  app.add_option(
         "--engine", engine,
         "Ask this engine alone; z3, and ipasir where it is built in, are asked only by name")
      ->check(CLI::IsMember(NamesOfEngines()));
  app.add_option("--switch-off", switched_off,
                 "Search without this rule of the canonical or lazy engine, to see what it is "
                 "worth: answers stay right but come slower; may be repeated")
      ->check(CLI::IsMember(NamesOfRules()))
      ->type_name("RULE");
  app.add_flag("--verbose", verbose, "Tell on stderr what each engine found and when");
}

std::optional<base::Stop::Clock::time_point> CallLimits::Deadline() const {
  if (!timeout_s) return std::nullopt;
  // A year serves as infinity and cannot overflow the clock.
  constexpr double kYear = 365.0 * 24 * 3600;
  return base::Stop::Clock::now() + std::chrono::duration_cast<base::Stop::Clock::duration>(
                                        std::chrono::duration<double>(std::min(*timeout_s, kYear)));
}

int64_t CallLimits::MemoryLimit() const {
  return memory_limit ? *memory_limit : base::UsableBytes() / 4 * 3;
}

EngineSet::EngineSet(const SearchOptions& options)
    : EngineSet(NamesOfWanted(options.engine), options.switched_off, options.seed) {}

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
  if (const auto engine = find(names, NamesOfEngines()); engine != names.end())
    return fmt::format("engine '{}'", *engine);
  if (const auto rule = find(switched_off, NamesOfRules()); rule != switched_off.end())
    return fmt::format("rule '{}'", *rule);
  return "";
}

namespace {

constexpr int64_t kReasonBudget = 100'000;

}  // namespace

void Reasons::Declare(CLI::App& app) {
  app.add_flag("--no-reasons", off_,
               "Do not look for the few conditions that collide where nothing fits, nor for what "
               "would help");
}

std::optional<report::Collision> Reasons::Find(const problem::Problem& problem,
                                               problem::Bytes capacity, const SearchOptions& search,
                                               const base::Stop& stop,
                                               const problem::Ladder* ladder,
                                               size_t candidate) const {
  if (off_) return std::nullopt;
  const EngineSet engines(search);
  const search::reasons::Decide decide = search::allocate::MakeDecider(engines.Pointers(), stop);
  search::reasons::ExplainOptions options;
  options.budget = search.Limit(kReasonBudget);
  options.stop = &stop;
  options.ladder = ladder;
  options.candidate = candidate;
  return report::Collision{problem, capacity,
                           search::reasons::Explain(problem, capacity, decide, options)};
}

std::optional<report::Collision> Reasons::FindIfProven(const problem::Problem& problem,
                                                       problem::Bytes capacity,
                                                       const SearchOptions& search,
                                                       const base::Stop& stop) const {
  if (off_) return std::nullopt;
  const EngineSet engines(search);
  const search::reasons::Decide decide = search::allocate::MakeDecider(engines.Pointers(), stop);
  const problem::Status status = decide(problem, capacity, search.Limit(kReasonBudget)).status;
  if (status != problem::Status::kInfeasible) return std::nullopt;
  return Find(problem, capacity, search, stop);
}

}  // namespace tessera::cli
