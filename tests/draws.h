#pragma once

#include <gtest/gtest.h>

// How many random draws a test makes. A sanitizer slows each draw about tenfold, and looks for
// faults of memory and of threads, which show in few draws: there a tenth must do. Statistics over
// draws keep their thresholds.
namespace tessera {

constexpr int DrawsOf(int whole) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return whole / 10;
#else
  return whole;
#endif
}

// For a test that draws, and leaves out draws that say nothing to it: says how many it looked at,
// and fails where they are too few.
inline void ExpectEnough(int checked, int least) {
  testing::Test::RecordProperty("checked", checked);
  EXPECT_GE(checked, least) << "draws that were not left out";
}

}  // namespace tessera
