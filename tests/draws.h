// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

// The number of random draws of a test. A sanitizer slows each draw about tenfold. It looks for
// faults of memory and of threads, which few draws show, so a tenth of the draws is enough there.
// Statistics over draws keep their thresholds.
namespace tessera {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr int DrawsOf(int whole) { return kSanitized ? std::max(1, whole / 10) : whole; }

// The least number of draws of a kind that are seldom drawn: a tenth of the draws may hold less
// than a tenth of them.
constexpr int LeastOf(int whole) { return DrawsOf(whole) < whole ? whole / 20 : whole; }

// Whether this is a run of `scripts/test long` (tessera_long_run in CMakeLists.txt), where a test
// looks at all cases of which every other run takes a share.
inline bool IsLongRun() { return std::getenv("TESSERA_LONG") != nullptr; }

// For a test that leaves out draws without a statement: prints how many it used, and fails where
// they are too few.
inline void ExpectEnough(int checked, int least) {
  testing::Test::RecordProperty("checked", checked);
  EXPECT_GE(checked, least) << "draws that were not left out";
}

}  // namespace tessera
