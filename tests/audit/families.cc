// SPDX-License-Identifier: Apache-2.0

#include "again.h"
#include "engines.h"
#include "more.h"
#include "optimum.h"
#include "same.h"
#include "written.h"

namespace tessera::audit {

const std::vector<Family>& Families() {
  static const std::vector<Family> kFamilies = {
      {"optimum",
       "the search against every plan of small networks",
       2,
       DrawSmall,
       CheckOptimum,
       {{"called optimal", "best known", 0.9}, {"refuted", "none known", 0.95}}},
      {"more", "more of anything allowed is never worse", 1, DrawAny, CheckMore},
      {"limits", "a plan's own metrics as limits, and claims of several objectives", 1, DrawAny,
       CheckLimits},
      {"constraints", "a plan as constraints, and as the older plan", 1, DrawAny, CheckConstraints},
      {"same", "threads, caches, names and the order of the file change nothing", 1, DrawAny,
       CheckSame},
      {"written", "YAML, JSON and ONNX give one network", 0.5, DrawPlain, CheckWritten},
      {"engines", "each engine alone, on plans and on their Problems", 0.5, DrawAny, CheckEngines}};
  return kFamilies;
}

}  // namespace tessera::audit
