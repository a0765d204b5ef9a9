// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::search::engines::boxing {

using problem::Bytes;

// The additions of idealloc to the algorithm of Buchsbaum et al. Each can be switched off, to
// measure its effect (docs/boxing.md); every combination yields valid placements.
struct BoxingOptions {
  bool latent_invariants = true;  // errors stay in the range in which the proofs hold
  bool calibration = true;        // epsilon is tuned instead of the least legal one
  bool critical_points = true;    // a point is injected if no job contains one
  bool unboxing = true;           // buffers follow their offsets within boxes, at all depths
  bool dummy_job = true;          // a job that lifts the ratio of heights to where the proofs hold
};

// One application of Corollary 15: jobs of at most `most_height` go into boxes of `box_height`.
struct BoxingLevel {
  double error = 0;  // heights are rounded up to powers of 1 + error
  Bytes box_height = 0;
  Bytes most_height = 0;
};

// All applications of Corollary 15 in Theorem 16. They depend on the heights of the jobs alone:
// boxes have the height that their level states, wherever they lie.
struct BoxingSchedule {
  std::vector<BoxingLevel> small;  // the boxing of small jobs, round by round
  BoxingLevel last;                // of all that is left
  double last_ratio = 1;           // r*: the greatest to the least height before the last level
  Bytes dummy = 0;                 // height of the dummy job; 0: none
};

// Returns the schedule for jobs of these heights, which ascend and are not empty. `load` is the
// greatest load of the instance.
BoxingSchedule MakeSchedule(std::span<const Bytes> heights, Bytes load,
                            const BoxingOptions& options);

}  // namespace tessera::search::engines::boxing
