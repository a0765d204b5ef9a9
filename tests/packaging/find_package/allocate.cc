// SPDX-License-Identifier: Apache-2.0

#include <tessera/allocate.h>

#include <cstdio>

// Places three buffers with the small library, and asks it for what only the whole one has.
int main() {
  const auto problem =
      tessera::Problem::Make({{"a", 4, {{0, 3}}}, {"b", 8, {{2, 9}}}, {"c", 4, {{3, 9}}}});
  if (!problem) return 1;
  const auto answer = tessera::Allocate(*problem);
  if (!answer || answer->outcome != tessera::Outcome::kOptimal || !answer->allocation) return 2;
  if (answer->allocation->Peak() != 12 || !tessera::Check(*answer->allocation)->accepted) return 3;
  tessera::AllocateOptions tight;
  tight.capacity = 11;
  const auto none = tessera::Allocate(*problem, tight);
  if (!none || none->outcome != tessera::Outcome::kInfeasible || none->explanation.empty())
    return 4;
  const auto file = tessera::Problem::Load("problem.csv");
  if (file || file.Error().status != tessera::CallStatus::kUnsupported) return 5;
  tight.engine = "z3";
  const auto other = tessera::Allocate(*problem, tight);
  if (other || other.Error().status != tessera::CallStatus::kUnsupported) return 6;
  std::puts("12 bytes");
}
