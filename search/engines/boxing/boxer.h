// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/problem/problem.h"
#include "tessera/search/engines/order_search/instance.h"

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

using order_search::Effort;
using order_search::Instance;

// A buffer or a box, for sections [first, last). A box lives as long as its contents need it.
struct Job {
  int first = 0;
  int last = 0;
  Bytes height = 0;
  int parent = -1;  // the box that it lies in, at `at` from the bottom
  Bytes at = 0;
};

// The jobs of a boxing: the buffers of an instance by their numbers, then the dummy job if there is
// one, then the boxes.
struct Boxing {
  std::vector<Job> jobs;
  int dummy = -1;
};

// Boxes all jobs of an instance (Buchsbaum, Karloff, Kenyon, Reingold and Thorup, "OPT versus LOAD
// in dynamic storage allocation", SIAM J. Comput. 33, 2004), with the simplifications and
// extensions of idealloc (papers of the same name).
//
//     .-------------- H ---.     A box holds rows of one height. Contents of a row follow one
//     | [ job ]  [  job  ] |     another in time, so the box never overflows:
//     |--------------------|
//     |   [      job     ] |         at = row * (height of the rows),  rows * height <= H
//     |--------------------|
//     | [     job  ]       |     Boxes are jobs of the next round, of equal height. In the end all
//     '--------------------'     are in boxes of one height, which interval colouring places.
//
// - Theorem 16: small jobs are boxed round by round (BoxingSchedule), then everything.
// - Corollary 15: heights are rounded up to powers of 1 + error; each class is boxed separately.
// - Theorem 2: critical points divide time. The jobs that contain the same point are boxed by Lemma
//   1. The jobs that Lemma 1 leaves are coloured in rows; their ends divide the jobs between two
//   points further. If no job contains a point, a point is injected.
// - Lemma 1: of jobs that contain one point, those that begin first (vertical strips) and those
//   that end last (horizontal strips) are boxed together in turns, so that a box wastes little at
//   its ends. The outermost strip of each kind is left unresolved.
//
// Unlike the original, and like idealloc, the algorithm does not keep free spaces: it colours rows
// where it needs them, and the final placement closes the holes. Ties and injected points are drawn
// from `random`, so every boxing is different. Cost: O(n log n) for each level of critical points,
// of which there are O(log n) on average.
//
// Returns false after a stop; the boxing is then incomplete.
bool BoxAll(const Instance& instance, const BoxingSchedule& schedule, const BoxingOptions& options,
            base::Random& random, Effort& effort, Boxing& boxing);

// Returns the row of each job, such that jobs of one row do not overlap. There are no more rows
// than jobs that live at one section (interval colouring). Lower rows are preferred. Sorts `jobs`
// by their first section.
std::vector<int> ColourRows(const std::vector<Job>& all, std::vector<int>& jobs);

}  // namespace tessera::search::engines::boxing
