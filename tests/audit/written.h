#pragma once

#include "run.h"

namespace tessera::audit {

// Of one data type and without tables, so that other formats can say it all.
PlanRequest DrawPlain(base::Random& random);

// A network is the same from YAML, JSON and ONNX.
void CheckWritten(const PlanRequest& question, uint64_t seed, Run& run);

}  // namespace tessera::audit
