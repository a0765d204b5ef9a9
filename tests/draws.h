#pragma once

// How many random draws a test makes. A sanitizer slows each draw about tenfold, and looks for faults of memory and
// of threads, which show in few draws: there a tenth must do. Statistics over draws keep their thresholds.
namespace tessera {

constexpr int DrawsOf(int whole) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return whole / 10;
#else
  return whole;
#endif
}

}  // namespace tessera
