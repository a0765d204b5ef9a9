// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/base/random.h"
#include "tessera/search/engines/boxing/schedule.h"
#include "tessera/search/engines/order_search/effort.h"
#include "tessera/search/engines/order_search/instance.h"

namespace tessera::search::engines::boxing {

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
// - Theorem 16: small jobs are boxed round by round (schedule.h), then everything.
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
