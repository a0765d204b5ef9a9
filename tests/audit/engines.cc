// SPDX-License-Identifier: Apache-2.0

#include "engines.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "claims.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/portfolio.h"

// No engine refutes a Problem that another engine solves. Least peaks that are proven are equal. No
// bound is above a peak.
//
// The Problems come from plans: the joint one and those of the homes, with the peak as the
// capacity, with a byte less, and with a capacity around it.
namespace tessera::audit {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Status;

constexpr double kSeconds = 2;  // for each engine and Problem

struct EngineAnswer {
  const problem::Engine* engine = nullptr;
  problem::Result result;
};

problem::Result AskAlone(const problem::Engine& engine, const Problem& problem, Bytes capacity,
                         bool minimise) {
  const base::Stop stop(base::Stop::Clock::now() +
                        std::chrono::duration_cast<base::Stop::Clock::duration>(
                            std::chrono::duration<double>(kSeconds)));
  search::allocate::AllocateOptions options;
  options.capacity = capacity;
  options.minimize = minimise;
  options.stop = &stop;
  const problem::Engine* one = &engine;
  auto result = search::allocate::Allocate(problem, nullptr, 0, {&one, 1}, options);
  if (result) return *std::move(result);
  problem::Result fault;
  fault.status = Status::kInvalid;
  fault.reason = base::Format(result.error());
  return fault;
}

class Contest {
 public:
  Contest(const PlanRequest& question, const Problem& problem, Bytes capacity, bool minimise,
          Run& run)
      : question_(question),
        problem_(problem),
        capacity_(capacity),
        minimise_(minimise),
        run_(run) {}

  void Hold() {
    for (const problem::Engine* engine : AllEngines())
      verdicts_.push_back({engine, AskAlone(*engine, problem_, capacity_, minimise_)});
    run_.Count("problems");
    for (const EngineAnswer& verdict : verdicts_) Check(verdict);
    for (const EngineAnswer& claim : verdicts_) {
      for (const EngineAnswer& witness : verdicts_) {
        if (witness.result.allocation) CheckAgainst(claim, witness);
      }
    }
  }

 private:
  void Check(const EngineAnswer& verdict) {
    run_.Count(fmt::format("{} {}", verdict.engine->Name(), NameOf(verdict.result.status)));
    if (verdict.result.status == Status::kInvalid)
      return Report("fault of an engine", verdict, verdict);
    if (!verdict.result.allocation) return;
    if (!problem::Validate(problem_, *verdict.result.allocation, capacity_).empty())
      Report("placement is wrong", verdict, verdict);
  }

  void CheckAgainst(const EngineAnswer& claim, const EngineAnswer& witness) {
    const Bytes peak = witness.result.peak.value_or(0);
    if (claim.result.status == Status::kInfeasible)
      Report("refuted what another engine places", claim, witness);
    if (claim.result.lower_bound > peak) Report("bound above a peak", claim, witness);
    const bool is_least = minimise_ && claim.result.status == Status::kOptimal;
    if (is_least && *claim.result.peak > peak) Report("least peak is beaten", claim, witness);
  }

  void Report(const std::string& kind, const EngineAnswer& claim, const EngineAnswer& witness) {
    const auto text = [](const EngineAnswer& verdict) {
      return fmt::format("{}: {}, bound {}, peak {} {}", verdict.engine->Name(),
                         NameOf(verdict.result.status), verdict.result.lower_bound,
                         verdict.result.peak.value_or(-1), verdict.result.reason);
    };
    std::vector<std::string> commands;
    for (const EngineAnswer* verdict : {&claim, &witness})
      commands.push_back(fmt::format("tessera alloc problem.json --capacity {} --engine {}{}",
                                     capacity_, verdict->engine->Name(),
                                     minimise_ ? " --minimize" : ""));
    run_.Report({kind,
                 fmt::format("{}; {}", text(claim), text(witness)),
                 question_,
                 {{"problem.json", problem::files::WriteProblem(problem_)}},
                 commands});
  }

  const PlanRequest& question_;
  const Problem& problem_;
  const Bytes capacity_;
  const bool minimise_;
  Run& run_;
  std::vector<EngineAnswer> verdicts_;
};

}  // namespace

void CheckEngines(const PlanRequest& question, uint64_t seed, Run& run) {
  base::Random random(seed);
  const Answer usual = run.Ask(question);
  if (!usual.fault.empty()) return;
  Claims claims;
  claims.Add(question, usual);
  for (const problem::Engine* engine : UsualEngines()) {
    if (random.Chance(0.5)) continue;
    PlanRequest alone = question;
    alone.engine = engine;
    claims.Add(alone, run.Ask(alone, kSeconds));
  }
  claims.Check(run);
  if (!usual.plan) return;

  std::vector<Problem> problems = {usual.plan->problem};
  for (const plan::Home& home : usual.plan->homes) problems.push_back(home.problem);
  for (Problem& problem : problems) {
    const Bytes capacity = problem.memories.front().capacity;
    const Bytes bound = std::max<Bytes>(1, search::allocate::FindBound(problem, 0).bytes);
    Contest(question, problem, capacity, /*minimise=*/true, run).Hold();
    Contest(question, problem, std::min(capacity, bound), /*minimise=*/false, run).Hold();
    const Bytes around = random.Uniform(std::max<Bytes>(1, bound - 4), bound + bound / 4);
    Contest(question, problem, std::min(capacity, around), /*minimise=*/false, run).Hold();
  }
}

}  // namespace tessera::audit
