// SPDX-License-Identifier: Apache-2.0

#include <mlir/IR/DialectRegistry.h>
#include <mlir/InitAllDialects.h>
#include <mlir/Pass/PassRegistry.h>
#include <mlir/Tools/mlir-opt/MlirOptMain.h>

#include "plan_arena.h"

// tessera-mlir-opt: mlir-opt with the pass tessera-plan-arena alone.
int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerPass(tessera::mlir_pass::CreatePlanArena);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Plans the memory of MLIR functions\n", registry));
}
