// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <mlir/Pass/Pass.h>

#include <memory>

namespace tessera::mlir_pass {

// The pass `tessera-plan-arena` on functions: buffers of static shapes become views of one arena.
std::unique_ptr<mlir::Pass> CreatePlanArena();

}  // namespace tessera::mlir_pass
