// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "tessera/bench/banked_greedy.h"
#include "tessera/bench/cpu_clock.h"
#include "tessera/bench/encode_tables.h"
#include "tessera/problem/generate/families.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

namespace tessera::bench {

Timed SolveAnew(const problem::Engine& engine, const problem::Problem& problem, double seconds) {
  const base::Stop stop(base::Stop::Clock::now() +
                        std::chrono::milliseconds(static_cast<int64_t>(seconds * 1e3)));
  const double start = CpuMilliseconds();
  Timed timed;
  timed.result = engine.Open(problem, nullptr)->Solve(0, problem.memories[0].capacity, {}, stop);
  timed.milliseconds = CpuMilliseconds() - start;
  return timed;
}

namespace {

// Asks the same question as `tessera alloc --capacity`, on one thread.
Timed SolveByAll(const problem::Problem& problem, double seconds) {
  const search::engines::greedy::GreedyEngine greedy;
  const search::engines::canonical::CanonicalEngine canonical(0);
  const search::engines::lazy::LazyEngine lazy;
  const encoder::sat::SatEngine sat;
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical, &lazy, &sat};
  const base::Stop stop(base::Stop::Clock::now() +
                        std::chrono::milliseconds(static_cast<int64_t>(seconds * 1e3)));
  search::allocate::AllocateOptions options;
  options.capacity = problem.memories[0].capacity;
  options.stop = &stop;
  const double start = CpuMilliseconds();
  auto result = search::allocate::Allocate(problem, nullptr, 0, engines, options);
  Timed timed;
  timed.milliseconds = CpuMilliseconds() - start;
  if (result) {
    timed.result = *std::move(result);
  } else {
    std::fputs(base::Format(result.error()).c_str(), stderr);
  }
  if (!timed.result.allocation && timed.result.status != problem::Status::kInfeasible) {
    std::fprintf(stderr, "%s is open: %s\n", problem.name.c_str(), timed.result.reason.c_str());
  }
  return timed;
}

class Column {
 public:
  void Note(const Timed& timed) {
    milliseconds_.push_back(timed.milliseconds);
    const bool refuted = timed.result.status == problem::Status::kInfeasible;
    feasible_ += timed.result.allocation ? 1 : 0;
    infeasible_ += refuted ? 1 : 0;
    open_ += !timed.result.allocation && !refuted ? 1 : 0;
  }

  void Print(const char* name) {
    std::sort(milliseconds_.begin(), milliseconds_.end());
    const auto soon = std::count_if(milliseconds_.begin(), milliseconds_.end(),
                                    [](double ms) { return ms <= 1000; });
    const size_t count = milliseconds_.size();
    std::printf("%-14s %8d %10d %5d %10td %10.0f %10.0f %10.0f\n", name, feasible_, infeasible_,
                open_, soon, milliseconds_[count / 2], milliseconds_[count * 95 / 100],
                milliseconds_.back());
  }

 private:
  std::vector<double> milliseconds_;
  int feasible_ = 0;
  int infeasible_ = 0;
  int open_ = 0;
};

}  // namespace

void PrintBanked(const EncodeArguments& arguments) {
  if (arguments.seeds == 0) return;
  const encoder::sat::SatEngine sat;
  const encoder::sat::SatEngine plain(
      {.seed = 0, .refinements = encoder::formulation::Refinements::None()});
  Column refined, bare, portfolio;
  uint64_t greedy = 0;
  problem::generate::BankedShape shape;
  shape.slack_percent = arguments.slack_percent;
  for (uint64_t seed = 1; seed <= arguments.seeds; ++seed) {
    const problem::Problem problem = problem::generate::MakeBanked(shape, seed);
    greedy += GreedySolvesBanked(problem) ? 1 : 0;
    refined.Note(SolveAnew(sat, problem, arguments.seconds));
    bare.Note(SolveAnew(plain, problem, arguments.seconds));
    portfolio.Note(SolveByAll(problem, arguments.seconds));
  }
  std::printf(
      "banked: %d buffers, %lld steps, %d banks, %d modes, %d %% slack; first fit solves %llu of "
      "%llu\n",
      shape.buffers, static_cast<long long>(shape.steps), shape.banks, shape.modes,
      shape.slack_percent, static_cast<unsigned long long>(greedy),
      static_cast<unsigned long long>(arguments.seeds));
  std::printf("%-14s %8s %10s %5s %10s %10s %10s %10s\n", "", "feasible", "infeasible", "open",
              "within 1 s", "median ms", "95th ms", "worst ms");
  refined.Print("cadical");
  bare.Print("cadical plain");
  portfolio.Print("portfolio");
  std::printf("\n");
}

}  // namespace tessera::bench
