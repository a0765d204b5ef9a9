// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "tessera/problem/problem.h"

// Two common methods, as baselines. Both accept Problems of one memory without relations.
namespace tessera::bench {

// Returns the peak of an allocator at run time that sees births and deaths one by one (best fit).
problem::Bytes BestFitPeak(const problem::Problem& problem);

// Hill climbing over orders of placement, as compilers for microcontrollers do it: first fit from
// the largest buffer down; then two buffers exchange their places in the order, and the exchange is
// kept unless the peak rises. Returns the least peak after so many seconds of wall clock.
problem::Bytes HillClimbingPeak(const problem::Problem& problem, uint64_t seed, double seconds);

}  // namespace tessera::bench
