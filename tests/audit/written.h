// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "run.h"

namespace tessera::audit {

// Questions of one data type and without tables, which all formats can state.
PlanRequest DrawPlain(base::Random& random);

// A network is the same whether it is read from YAML, JSON or ONNX.
void CheckWritten(const PlanRequest& question, uint64_t seed, Run& run);

}  // namespace tessera::audit
