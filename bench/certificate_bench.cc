// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/encoder/sat/sat_prover.h"
#include "tessera/problem/generate/families.h"
#include "tessera/problem/proof/checker.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

// Measures the cost of certificates: for each infeasible instance the time to solve it without a
// proof, to prove it (the proof written out), and to check the proof.
//
//     certificate_bench [BUFFERS [INSTANCES]]
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLimit = 20;  // seconds for each solve and each proof

struct Family {
  const char* name;
  const tessera::problem::Engine& engine;
  const tessera::problem::proof::Prover& prover;
  std::function<tessera::problem::Problem(uint64_t)> generate;
};

double Measure(const std::function<void(const tessera::base::Stop&)>& work) {
  const auto start = Clock::now();
  const tessera::base::Stop stop(start +
                                 std::chrono::microseconds(static_cast<int64_t>(kLimit * 1e6)));
  work(stop);
  const std::chrono::duration<double, std::milli> took = Clock::now() - start;
  return took.count();
}

// Returns false if the checker refused a proof.
bool PrintLine(const Family& family, uint64_t seed) {
  const tessera::problem::Problem instance = family.generate(seed);
  const tessera::problem::Bytes capacity = instance.memories[0].capacity;
  tessera::problem::Result result;
  const double solving = Measure([&](const tessera::base::Stop& stop) {
    result = family.engine.Open(instance, nullptr)->Solve(0, capacity, {}, stop);
  });
  std::printf("%-8s %4llu  %-10s %9.1f %9lld", family.name, static_cast<unsigned long long>(seed),
              std::string(tessera::problem::NameOf(result.status)).c_str(), solving,
              static_cast<long long>(result.statistics.conflicts));
  if (result.status != tessera::problem::Status::kInfeasible) {
    std::printf("\n");
    return true;
  }
  tessera::problem::proof::Attempt attempt;
  const double proving = Measure([&](const tessera::base::Stop& stop) {
    attempt = family.prover.Prove(instance, capacity, {}, stop);
  });
  if (!attempt.proof) {
    std::printf(" %9.1f  %s\n", proving, attempt.reason.c_str());
    return true;
  }
  tessera::problem::proof::ProofCheck verdict;
  const double checking = Measure([&](const tessera::base::Stop&) {
    verdict = tessera::problem::proof::CheckProof(instance, capacity, *attempt.proof);
  });
  std::printf(" %9.1f %9lld %9.2f %9.1f %8.2f  %s\n", proving,
              static_cast<long long>(attempt.statistics.conflicts),
              static_cast<double>(attempt.proof->size()) / 1e6, checking, checking / solving,
              verdict.accepted ? "" : verdict.flaw.c_str());
  return verdict.accepted;
}

}  // namespace

int main(int argc, char** argv) {
  const int buffers = argc > 1 ? std::atoi(argv[1]) : 60;
  const int instances = argc > 2 ? std::atoi(argv[2]) : 12;
  const tessera::search::engines::lazy::LazyEngine lazy;
  const tessera::search::engines::lazy::LazyProver lazy_prover;
  const tessera::encoder::sat::SatEngine sat;
  const tessera::encoder::sat::SatProver sat_prover;
  const Family families[] = {
      {"broken", lazy, lazy_prover,
       [&](uint64_t seed) {
         return tessera::problem::generate::MakeBroken({.buffers = buffers}, seed);
       }},
      {"banked", sat, sat_prover,
       [&](uint64_t seed) {
         return tessera::problem::generate::MakeBanked({.buffers = buffers}, seed);
       }},
  };
  std::printf("%-8s %4s  %-10s %9s %9s %9s %9s %9s %9s %8s\n", "family", "seed", "status",
              "solve_ms", "conflicts", "prove_ms", "conflicts", "proof_MB", "check_ms", "ratio");
  bool accepted = true;
  for (const Family& family : families) {
    for (int seed = 1; seed <= instances; ++seed) {
      accepted = PrintLine(family, static_cast<uint64_t>(seed)) && accepted;
    }
  }
  return accepted ? EXIT_SUCCESS : EXIT_FAILURE;
}
