// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cstdio>

#include "tessera/bench/cpu_clock.h"
#include "tessera/bench/encode_tables.h"
#include "tessera/encoder/formulation/encoded_session.h"
#include "tessera/problem/generate/families.h"

namespace tessera::bench {

namespace {

constexpr int kProblems = 6;
constexpr int kSlackPercent = 10;

// Means over the Problems.
struct Cost {
  double clauses = 0;
  double write = 0;  // ms
  double solve = 0;  // ms
};

Cost Measure(const problem::Problem& problem, encoder::sat::IntegerEncoding encoding,
             double seconds) {
  const encoder::sat::SatOptions options{
      0, encoding, {}, encoder::formulation::Refinements::None()};
  encoder::formulation::EncodedSession session("cadical", problem, nullptr,
                                               encoder::sat::CadicalBackends(options));
  const base::Stop stop(base::Stop::Clock::now() +
                        std::chrono::milliseconds(static_cast<int64_t>(seconds * 1e3)));
  Cost cost;
  const double start = CpuMilliseconds();
  session.Solve(0, problem.memories[0].capacity, {0}, stop);  // without a budget it only writes
  const double written = CpuMilliseconds();
  session.Solve(0, problem.memories[0].capacity, {}, stop);
  cost.write = written - start;
  cost.solve = CpuMilliseconds() - written;
  for (const int64_t count : session.Counts()) cost.clauses += static_cast<double>(count);
  return cost;
}

Cost Mean(int buffers, problem::Bytes values, encoder::sat::IntegerEncoding encoding,
          double seconds) {
  Cost mean;
  for (uint64_t seed = 1; seed <= kProblems; ++seed) {
    problem::Problem problem =
        problem::generate::MakeBroken({buffers, 40, values * 100 / (100 + kSlackPercent)}, seed);
    problem.memories[0].capacity = values;
    const Cost cost = Measure(problem, encoding, seconds);
    mean.clauses += cost.clauses / kProblems;
    mean.write += cost.write / kProblems;
    mean.solve += cost.solve / kProblems;
  }
  return mean;
}

}  // namespace

void PrintCrossover(const EncodeArguments& arguments) {
  std::printf("order literals and bits: %d random problems each, %d %% slack, means\n", kProblems,
              kSlackPercent);
  std::printf("%8s %8s | %10s %8s %8s | %10s %8s %8s\n", "buffers", "values", "clauses", "write",
              "solve", "clauses", "write", "solve");
  for (const int buffers : {15, 30, 60}) {
    for (const problem::Bytes values : {64, 128, 256, 512, 1024, 2048, 4096}) {
      const Cost order =
          Mean(buffers, values, encoder::sat::IntegerEncoding::kOrder, arguments.seconds);
      const Cost bits =
          Mean(buffers, values, encoder::sat::IntegerEncoding::kBits, arguments.seconds);
      std::printf("%8d %8lld | %10.0f %8.1f %8.1f | %10.0f %8.1f %8.1f\n", buffers,
                  static_cast<long long>(values), order.clauses, order.write, order.solve,
                  bits.clauses, bits.write, bits.solve);
    }
  }
  std::printf("\n");
}

}  // namespace tessera::bench
