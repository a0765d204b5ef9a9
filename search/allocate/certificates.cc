#include "tessera/search/allocate/certificates.h"

#include <array>
#include <new>
#include <utility>
#include <vector>

#include "tessera/problem/proof/checker.h"
#include "tessera/problem/proof/proof_text.h"
#include "tessera/search/allocate/bounds.h"

namespace tessera::search::allocate {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::proof::Attempt;
using problem::proof::Ground;

// Buffers that together, or alone, need more than the capacity of their memory. The proof has one
// line.
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

// A buffer, or a pair, that cannot satisfy some rule at any position. The proof has one line too.
Attempt ProveByRule(const Problem& problem, Bytes capacity) {
  Attempt attempt;
  attempt.reason = "no rule is broken wherever its buffers lie";
  for (size_t rule = 0; rule < problem.rules.size(); ++rule) {
    const size_t subjects = problem.rules[rule].buffers.size() + problem.rules[rule].pairs.size();
    for (size_t i = 0; i < subjects; ++i) {
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
                      const std::function<void(std::string_view)>& progress) {
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
    if (progress) progress(line);
    if (!certification.reason.empty()) certification.reason += "; ";
    certification.reason += line;
    return certification.proof.has_value();
  };
  if (take("bound", ProveByBound(problem, capacity))) return certification;
  if (!problem.rules.empty() && take("rule", ProveByRule(problem, capacity))) return certification;
  const auto prove = [&](const problem::proof::Prover& prover) {
    try {
      return prover.Prove(problem, capacity, budget, stop);
    } catch (const std::bad_alloc&) {
      Attempt attempt;
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
