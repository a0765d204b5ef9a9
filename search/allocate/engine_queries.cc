// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/engine_queries.h"

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/problem/proof/checker.h"
#include "tessera/problem/proof/proof_text.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/engine_session.h"
#include "tessera/search/allocate/portfolio.h"

namespace tessera::search::allocate {

std::function<problem::Result(const problem::Problem&, problem::Bytes, const base::Budget&)>
MakeDecider(std::span<const problem::Engine* const> engines, const base::Stop& stop) {
  return [engines, &stop](const problem::Problem& problem, problem::Bytes capacity,
                          const base::Budget& budget) {
    AllocateOptions options;
    options.capacity = capacity;
    options.budget = budget;
    options.stop = &stop;
    base::Expected<problem::Result> result = Allocate(problem, nullptr, 0, engines, options);
    if (result) return *std::move(result);
    problem::Result fault;
    fault.reason = result.error().message;
    return fault;
  };
}

using problem::Result;
using problem::Status;

namespace {

// Replaces `best` by the engine's answer if that is cheaper, and takes over its proven bound.
void Take(Result& best, Result found) {
  best.statistics.nodes += found.statistics.nodes;
  best.statistics.conflicts += found.statistics.conflicts;
  if (found.status == Status::kUnknown || !found.cost)
    return AppendReason(best.reason, found.reason);
  best.least_cost = std::max(best.least_cost, found.least_cost);
  if (*found.cost < *best.cost) {
    best.allocation = std::move(found.allocation);
    best.peak = found.peak;
    best.cost = found.cost;
    best.engine = std::move(found.engine);
    if (best.status == Status::kOptimal && *best.peak > best.lower_bound)
      best.status = Status::kFeasible;
  }
}

// The share of the time in which engines that refute nothing lower the costs.
constexpr double kFindersShare = 0.7;

problem::Problem WithHints(problem::Problem problem, const problem::Allocation& allocation) {
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    problem.buffers[i].hint = allocation.offsets[i];
  return problem;
}

// Returns the fault of an engine's answer about a Problem with a known placement, or nullopt. A
// fault is an error of the program.
std::optional<base::Diagnostic> CheckAgainstKnown(const problem::Problem& problem,
                                                  problem::Bytes capacity, const Result& found) {
  base::Diagnostic fault;
  if (found.status == Status::kInfeasible) {
    fault.message = found.engine + " calls a problem infeasible of which a placement is known";
    return fault;
  }
  if (!found.allocation) return std::nullopt;
  const auto violations = problem::Validate(problem, *found.allocation, capacity, 1);
  if (violations.empty()) return std::nullopt;
  fault.message = found.engine + " returned a wrong allocation: " + violations.front().message;
  return fault;
}

}  // namespace

base::Expected<Result> FindCheapest(const problem::Problem& problem, Result placed,
                                    problem::Bytes capacity,
                                    std::span<const problem::Engine* const> engines,
                                    const base::Budget& budget, const base::Stop& stop) {
  if (problem.costs.empty() || !placed.allocation) return placed;
  placed.cost = CostOf(problem, *placed.allocation);
  bool asked = false;
  for (const bool refutes : {false, true}) {
    const base::Stop share(refutes ? std::nullopt : stop.Before(kFindersShare), &stop);
    for (const problem::Engine* engine : engines) {
      if (engine->Refutes() != refutes || *placed.cost <= placed.least_cost) continue;
      const problem::Problem hinted = WithHints(problem, *placed.allocation);
      Result found = engine->Open(hinted, nullptr)->Minimise(0, capacity, budget, share);
      if (found.status == Status::kUnsupported) continue;
      asked = true;
      if (auto fault = CheckAgainstKnown(problem, capacity, found)) return base::Unexpected(*fault);
      Take(placed, std::move(found));
      if (refutes) break;
    }
  }
  if (!asked && *placed.cost > 0) AppendReason(placed.reason, "no engine asked minimises costs");
  if (*placed.cost > placed.least_cost)
    AppendReason(placed.reason, "a cheaper placement is not ruled out");
  return placed;
}

namespace {

using problem::Bytes;
using problem::Problem;
using problem::proof::Attempt;
using problem::proof::Ground;

// Proves by a bound that buffers together, or one alone, need more than the capacity of their
// memory. The proof has one line.
Attempt ProveByBound(const Problem& problem, Bytes capacity) {
  Attempt attempt;
  attempt.reason = "no bound exceeds the capacity";
  for (int memory = 0; memory < static_cast<int>(problem.memories.size()); ++memory) {
    const Bound bound = FindBound(problem, memory);
    const Bytes room =
        memory == 0 ? capacity : problem.memories[static_cast<size_t>(memory)].capacity;
    if (bound.bytes <= room || bound.buffers.empty()) continue;
    problem::proof::Log log;
    const std::vector<int64_t> subjects(bound.buffers.begin(), bound.buffers.end());
    const Ground ground = subjects.size() == 1 ? Ground::kRoom : Ground::kStack;
    const problem::proof::Log::Hint hint = log.AddAxiom(ground, subjects, {});
    log.AddClause({}, std::span(&hint, 1));
    attempt.proof = log.Write();
    return attempt;
  }
  return attempt;
}

// Proves that a buffer, or a pair, cannot satisfy some rule at any position. The proof has one
// line.
Attempt ProveByRule(const Problem& problem, Bytes capacity) {
  Attempt attempt;
  attempt.reason = "no rule is broken wherever its buffers lie";
  for (size_t rule = 0; rule < problem.rules.size(); ++rule) {
    const size_t items = ItemCount(problem.rules[rule]);
    for (size_t i = 0; i < items; ++i) {
      problem::proof::Log log;
      const std::array<int64_t, 2> subject = {static_cast<int64_t>(rule), static_cast<int64_t>(i)};
      const problem::proof::Log::Hint hint = log.AddAxiom(Ground::kRule, subject, {});
      log.AddClause({}, std::span(&hint, 1));
      std::optional<std::string> proof = log.Write();
      if (!proof || !problem::proof::CheckProof(problem, capacity, *proof).accepted) continue;
      attempt.proof = std::move(proof);
      return attempt;
    }
  }
  return attempt;
}

}  // namespace

Certification Certify(const Problem& problem, Bytes capacity,
                      std::span<const problem::proof::Prover* const> provers,
                      const base::Budget& budget, const base::Stop& stop,
                      const base::ProgressFunction& progress) {
  Certification certification;
  // Whether the attempt is final.
  const auto take = [&](std::string_view name, Attempt attempt) {
    std::string line(name);
    if (attempt.proof) {
      const auto verdict = problem::proof::CheckProof(problem, capacity, *attempt.proof);
      line += verdict.accepted ? ": a proof of " + std::to_string(verdict.clauses) + " clauses"
                               : ": its proof is refused at line " + std::to_string(verdict.line) +
                                     ": " + verdict.flaw;
      if (verdict.accepted) {
        certification.proof = std::move(attempt.proof);
        certification.prover = name;
      }
    } else {
      line += ": no proof: " + attempt.reason;
    }
    if (progress) progress({.line = line, .phase = "proof"});
    if (!certification.reason.empty()) certification.reason += "; ";
    certification.reason += line;
    return certification.proof.has_value();
  };
  if (take("bound", ProveByBound(problem, capacity))) return certification;
  if (!problem.rules.empty() && take("rule", ProveByRule(problem, capacity))) return certification;
  const auto prove = [&](const problem::proof::Prover& prover) {
    Attempt attempt;
    attempt.reason = "stopped";
    if (stop.Requested()) return attempt;
    try {
      return prover.Prove(problem, capacity, budget, stop);
    } catch (const std::bad_alloc&) {
      stop.NoteFailedAllocation();
      attempt.reason = "memory is exhausted";
      return attempt;
    }
  };
  for (const problem::proof::Prover* prover : provers) {
    if (take(prover->Name(), prove(*prover))) break;
  }
  return certification;
}

}  // namespace tessera::search::allocate
