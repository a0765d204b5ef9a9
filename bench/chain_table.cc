// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cstdio>
#include <string>

#include "tessera/bench/chains.h"
#include "tessera/bench/cpu_clock.h"
#include "tessera/bench/encode_tables.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

namespace tessera::bench {

namespace {

constexpr int kMostRuns = 20;  // the best counts
constexpr double kEnoughMilliseconds = 500;

// A letter for each candidate: it fits, it does not fit, or the question is open.
char LetterOf(const problem::Result& result) {
  if (result.allocation) return 'f';
  return result.status == problem::Status::kInfeasible ? 'n' : 'o';
}

struct Climb {
  std::string answers;
  double milliseconds = 0;
};

base::Stop StopIn(double seconds) {
  return base::Stop(base::Stop::Clock::now() +
                    std::chrono::milliseconds(static_cast<int64_t>(seconds * 1e3)));
}

// One session for all candidates.
Climb ClimbOpen(const problem::Engine& engine, const Chain& chain, double seconds) {
  Climb climb;
  const double start = CpuMilliseconds();
  const auto session = engine.Open(chain.problem, &chain.ladder);
  for (size_t candidate = 0; candidate < chain.ladder.candidates.size(); ++candidate) {
    const base::Stop stop = StopIn(seconds);
    climb.answers += LetterOf(session->Solve(candidate, chain.capacity, {}, stop));
  }
  climb.milliseconds = CpuMilliseconds() - start;
  return climb;
}

// A session for each candidate, with constant sizes. Each is a ladder of one candidate, so that
// engines search as they do on a longer ladder.
Climb ClimbAnew(const problem::Engine& engine, const Chain& chain, double seconds) {
  Climb climb;
  const double start = CpuMilliseconds();
  for (const problem::CandidateSizes& candidate : chain.ladder.candidates) {
    const problem::Ladder alone = {{candidate}};
    const base::Stop stop = StopIn(seconds);
    const auto session = engine.Open(chain.problem, &alone);
    climb.answers += LetterOf(session->Solve(0, chain.capacity, {}, stop));
  }
  climb.milliseconds = CpuMilliseconds() - start;
  return climb;
}

template <typename Climber>
Climb Best(Climber climber, const problem::Engine& engine, const Chain& chain, double seconds) {
  Climb best = climber(engine, chain, seconds);
  double spent = best.milliseconds;
  for (int run = 1; run < kMostRuns && spent < kEnoughMilliseconds; ++run) {
    Climb again = climber(engine, chain, seconds);
    spent += again.milliseconds;
    if (again.milliseconds < best.milliseconds) best = std::move(again);
  }
  return best;
}

}  // namespace

bool PrintChains(const EncodeArguments& arguments) {
  const auto chains = CollectChains(arguments.root);
  if (!chains) {
    std::fputs(base::Format(chains.error()).c_str(), stderr);
    return false;
  }
  std::printf(
      "chains of %zu candidates: ms to write and solve them all, best of up to %d runs (f fits, n "
      "not, o open)\n",
      kCandidates, kMostRuns);
  std::printf("%-69s %7s  %-12s %9s %9s %6s %9s %9s\n", "subgraph", "buffers", "answers",
              "selectors", "anew", "ratio", "lazy", "lazy anew");
  const encoder::sat::SatEngine sat;
  const search::engines::lazy::LazyEngine lazy;
  double selected = 0;
  double written = 0;  // of the chains that are not tight
  for (const Chain& chain : *chains) {
    const Climb open = Best(ClimbOpen, sat, chain, arguments.seconds);
    const Climb anew = Best(ClimbAnew, sat, chain, arguments.seconds);
    const Climb kept = Best(ClimbOpen, lazy, chain, arguments.seconds);
    const Climb lazy_anew = Best(ClimbAnew, lazy, chain, arguments.seconds);
    const bool refused = kept.answers.find_first_not_of('o') == std::string::npos;
    std::printf("%-69s %7zu  %-12s %9.2f %9.2f %6.1f", chain.name.c_str(),
                chain.problem.buffers.size(), open.answers.c_str(), open.milliseconds,
                anew.milliseconds, anew.milliseconds / open.milliseconds);
    if (refused) std::printf(" %9s %9s\n", "refused", "");
    if (!refused) std::printf(" %9.2f %9.2f\n", kept.milliseconds, lazy_anew.milliseconds);
    if (chain.capacity < chain.problem.memories[0].capacity) continue;
    selected += open.milliseconds;
    written += anew.milliseconds;
  }
  std::printf("%-69s %7s  %-12s %9.2f %9.2f %6.1f\n\n", "all that are not tight", "", "", selected,
              written, written / selected);
  return true;
}

}  // namespace tessera::bench
