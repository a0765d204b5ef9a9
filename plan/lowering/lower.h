#pragma once

#include "tessera/base/diagnostic.h"
#include "tessera/plan/lowering/program.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::lowering {

// The plan as jobs for engines and links (docs/plan-format.md, Lowering), which follow from it alone. Refused, in words, where it
// cannot be said: elements of four bits, tensors without an address, programs too long. Cost: that of the program's transfers and
// operators, each as long as the rows of bytes that it touches.
base::Expected<Program> Lower(const Plan& plan);

}  // namespace tessera::plan::lowering
