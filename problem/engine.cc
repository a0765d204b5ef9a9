#include "tessera/problem/engine.h"

namespace tessera::problem {

Result Session::Minimise(size_t /*rung*/, Bytes /*capacity*/, const base::Budget& /*budget*/,
                         const base::Stop& /*stop*/) {
  Result result;
  result.status = Status::kUnsupported;
  result.reason = "this engine does not minimise costs";
  return result;
}

}  // namespace tessera::problem
