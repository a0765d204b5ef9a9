// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/encoder/program/program.h"
#include "tessera/plan/lowering/lowering.h"
#include "tessera/plan/plan.h"

// Plans to run, written by hand and drawn at random.
namespace tessera::plan::execute {

// The program of these choices, with every buffer placed as low as a quick search can place it;
// nullopt where the profile cannot run it or nothing fits. With modes, where the memory has any.
std::optional<Plan> PlaceLow(const graph::Graph& network, const hw_profiles::Profile& profile,
                             const std::vector<encoder::program::SubgraphChoice>& choices);

// The same with every buffer at its own address, in the order of the Problem, but halos directly
// before their tiles: no two buffers share a byte.
Plan Spread(const graph::Graph& network, const hw_profiles::Profile& profile,
            const std::vector<encoder::program::SubgraphChoice>& choices);

// The kind of draw: networks of all kinds of operators; networks of mostly depthwise ones, also for
// accelerators that store pads and hold most tensors whole; networks with a state that is read and
// replaced; two operators on a few elements, which often need no place in the tile memory; or
// subgraphs of two stages on two engines.
enum class Kinds : uint8_t { kAll, kDepthwise, kPadded, kRecurrent, kFewElements, kStaged };

// A random network of up to so many operators with weights, tables of constants and data types of
// all widths.
graph::Graph DrawNetwork(base::Random& random, int operators, Kinds kinds = Kinds::kAll);

// A random accelerator that may run the network: homes, layouts, pads, direct access, slices,
// scratch, in-place, either kind of DMA.
hw_profiles::Profile DrawProfile(base::Random& random);

// Changes it to store pads and to hold more in its tile memory.
void StorePads(base::Random& random, hw_profiles::Profile& profile);

// Gives the tile memory two or three banks and random modes.
void DrawModes(base::Random& random, hw_profiles::Profile& profile);

// A random partition with random tiles and policies; nullopt where the draw is no program.
std::optional<Plan> DrawPlan(base::Random& random, bool with_modes = false,
                             Kinds kinds = Kinds::kAll);

// The plan with an address for each tensor with a home outside the tile memory, one behind the
// other.
Plan WithHomes(Plan plan);

// The findings of a run, one line each; "obstacle: .." where nothing could run.
std::vector<std::string> MessagesOf(const Plan& plan);
std::vector<std::string> MessagesOf(const lowering::Report& report);

}  // namespace tessera::plan::execute
