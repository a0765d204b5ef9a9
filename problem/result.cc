#include "tessera/problem/result.h"

#include <algorithm>
#include <array>

#include "tessera/problem/engine.h"

namespace tessera::problem {

std::string_view NameOf(Status status) {
  static constexpr std::array<std::string_view, 6> kNames = {"optimal", "feasible", "infeasible",
                                                             "unknown", "invalid",  "unsupported"};
  return kNames[static_cast<size_t>(status)];
}

Bytes PeakOf(const Problem& problem, const Allocation& allocation, int memory) {
  const std::vector<Guard> guards = GuardsOf(problem);
  Bytes peak = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (buffer.memory != memory) continue;
    peak = std::max(peak,
                    allocation.offsets[i] + buffer.size + (guards.empty() ? 0 : guards[i].after));
  }
  return peak;
}

Result Session::Minimise(size_t /*candidate*/, Bytes /*capacity*/, const base::Budget& /*budget*/,
                         const base::Stop& /*stop*/) {
  Result result;
  result.status = Status::kUnsupported;
  result.reason = "this engine does not minimise costs";
  return result;
}

}  // namespace tessera::problem
