// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/program_steps.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

// The choices for a partition of a network, and the Problem over program time that they make
// (build_program.h). docs/program.md defines every step and lifespan.
namespace tessera::encoder::program {

struct Policy {
  hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
  bool in_place = false;
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
  // Boundary tensors that stay on chip from their maker to their last reader, as if the tile memory
  // were their home; ascending. Lists those that the subgraph touches and those that pass over it.
  // Other tensors have no effect.
  std::vector<int> kept = {};
  // K extent of one slice for split-k: a multiple of the operator's step (docs/program.md
  // 7.1.5); 0 means the step
  int64_t k_extent = 0;
  // transfers have separate steps although the profile double-buffers
  bool serialized = false;
  // operators from this one of the interval on form a second stage, which runs a tile behind the
  // others (stages.cc); 0: there is one stage
  int second_stage = 0;
  friend bool operator==(const Policy&, const Policy&) = default;
};

inline hw_profiles::DmaSteps DmaOf(const hw_profiles::Profile& profile, const Policy& policy) {
  return policy.serialized ? hw_profiles::DmaSteps::kSerialized : profile.tiling.dma;
}

struct SubgraphChoice {
  graph::Interval interval;
  graph::tiling::TileShape tile;
  Policy policy;
  // plan::Subgraph::prefetch: when the parts of constants that are loaded once arrive
  std::vector<int> prefetch = {};
};

using graph::BufferKind;
using graph::BufferUse;
using graph::StepKind;
using graph::StepUse;

// The Problem, with the meaning of each of its steps and buffers. Order of the buffers: whole ones
// by tensor; then, for each subgraph, resident constants, tiles by tensor and phase with the
// tensor's rolling buffer, line or halos, slices, scratch, accumulators; last, the scratch of
// operators that need it only to work channel by channel.
struct Program {
  problem::Problem problem;
  std::vector<StepUse> steps;      // step t of the Problem is steps[t]
  std::vector<BufferUse> buffers;  // parallel to Problem::buffers
};

}  // namespace tessera::encoder::program
