// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/search_options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <string_view>
#include <utility>

#include "tessera/api/parts/allocation.h"
#include "tessera/base/arithmetic.h"
#include "tessera/base/process.h"
#include "tessera/cli/common_options.h"
#include "tessera/search/allocate/engine_queries.h"

namespace tessera::cli {

base::Stop::Clock::time_point ProcessBegin() {
  const std::chrono::duration<double> used(static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  return base::Stop::Clock::now() - std::chrono::duration_cast<base::Stop::Clock::duration>(used);
}

void CallLimits::Declare(CLI::App& app, std::string_view outcome) {
  app.add_option(
         "--timeout", timeout_s,
         fmt::format("Most seconds of wall clock from the start of the process; {} (default: none)",
                     outcome))
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
  app.add_option("--budget", budget,
                 "Most work for each question put to an engine, counted in nodes and conflicts; "
                 "`plan` also limits its whole search to it, in tile shapes times operators. The "
                 "answer then depends on no clock")
      ->transform(WholeNumber(0, base::kMaxTotal));
  CallLimits::Declare(app, "the best answer so far is given");
  app.add_option(
         "--engine", engine,
         "Ask this engine alone; z3, and ipasir where it is built in, are asked only by name")
      ->check(CLI::IsMember(api::parts::EngineSet::Names()));
  app.add_option("--switch-off", switched_off,
                 "Search without this rule of the engines, to see what it is worth: answers stay "
                 "right but come slower; may be repeated")
      ->check(CLI::IsMember(api::parts::EngineSet::Rules()))
      ->type_name("RULE");
  app.add_flag("--verbose", verbose, "Tell on stderr what each engine found and when");
}

std::optional<base::Stop::Clock::time_point> CallLimits::Deadline() const {
  if (!timeout_s) return std::nullopt;
  // A year serves as infinity and cannot overflow the clock.
  constexpr double kYear = 365.0 * 24 * 3600;
  return begin + std::chrono::duration_cast<base::Stop::Clock::duration>(
                     std::chrono::duration<double>(std::min(*timeout_s, kYear)));
}

void CallLimits::LimitLast(base::Stop& stop) const {
  stop.LimitMemory(memory_limit ? *memory_limit : base::UsableBytes() / 4 * 3);
  stop.EndProcess();
}

api::parts::EngineSet SearchOptions::Engines() const {
  return api::parts::EngineSet(api::parts::EngineSet::NamesOfWanted(engine), switched_off, seed);
}

void Reasons::Declare(CLI::App& app) {
  app.add_flag("--no-reasons", off_,
               "Do not look for the few conditions that collide where nothing fits, nor for what "
               "would help");
}

std::optional<api::answers::Collision> Reasons::Find(
    const problem::Problem& problem, problem::Bytes capacity, const SearchOptions& search,
    const base::Stop& stop, const problem::Ladder* ladder, size_t candidate) const {
  if (off_) return std::nullopt;
  return api::answers::Collision{
      problem, capacity,
      api::parts::ExplainInfeasible(problem, capacity, search.Engines(), search.budget, stop,
                                    ladder, candidate)};
}

}  // namespace tessera::cli
