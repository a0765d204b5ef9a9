// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/residency.h"

namespace tessera::plan::verify {

// The number of steps in which an engine makes `made` of the first output of a convolution or
// product: docs/program.md, "Arithmetic".
int64_t EngineSteps(const graph::Graph& network, const graph::Operator& op,
                    const std::vector<int64_t>& made, const hw_profiles::Throughput& speed,
                    const std::optional<KSlices>& k_extent);

// The number of steps for one output block of a convolution: docs/program.md, "Output blocks".
int64_t BlockSteps(const graph::Graph& network, const graph::Operator& op,
                   const std::vector<int64_t>& block, const hw_profiles::Throughput& speed,
                   const std::optional<KSlices>& k_extent);

}  // namespace tessera::plan::verify
