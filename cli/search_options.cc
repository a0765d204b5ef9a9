#include "tessera/cli/search_options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "tessera/base/checked.h"
#include "tessera/encoder/sat/sat_engine.h"
#include "tessera/encoder/smt/z3_engine.h"
#include "tessera/search/allocate/canonical.h"
#include "tessera/search/allocate/greedy.h"

namespace tessera::cli {
namespace {

// CLI11's own check lets "nan" pass.
std::string RefuseNegative(const std::string& seconds) {
  return std::strtod(seconds.c_str(), nullptr) >= 0 ? "" : "expected seconds from 0 up, found " + seconds;
}

}  // namespace

void SearchOptions::Declare(CLI::App& app) {
  app.add_option("--seed", seed, "Seed of every random choice; one seed gives one answer")
      ->check(CLI::Range(uint64_t{0}, uint64_t{base::kMaxTotal}))
      ->capture_default_str();
  app.add_option("--budget", budget,
                 "Most work for each question put to an engine, counted in nodes and conflicts: the answer "
                 "then depends on no clock")
      ->check(CLI::Range(int64_t{0}, base::kMaxTotal));
  app.add_option("--timeout", timeout_s,
                 "Most seconds of wall clock; the best answer so far is given (default: none)")
      ->check(CLI::Validator(RefuseNegative, "SECONDS"));
  app.add_option("--engine", engine, "Ask this engine alone; z3 is asked only by name")
      ->check(CLI::IsMember({"greedy", "canonical", "cadical", "z3"}));
  app.add_flag("--verbose", verbose, "Tell on stderr what was found and when");
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
  const auto wanted = [&only](std::string_view name) { return only.empty() ? name != "z3" : only == name; };
  if (wanted("greedy")) engines_.push_back(std::make_unique<search::GreedyEngine>());
  if (wanted("canonical")) engines_.push_back(std::make_unique<search::CanonicalEngine>(options.seed));
  if (wanted("cadical")) {
    engines_.push_back(std::make_unique<encoder::SatEngine>(encoder::SatOptions{.seed = options.seed}));
  }
  if (wanted("z3"))
    engines_.push_back(std::make_unique<encoder::Z3Engine>(encoder::Z3Options{.seed = options.seed}));
  for (const auto& engine : engines_) pointers_.push_back(engine.get());
}

}  // namespace tessera::cli
