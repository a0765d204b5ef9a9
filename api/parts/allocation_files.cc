// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/allocation_files.h"

#include <algorithm>

#include "tessera/problem/draw/pictures.h"

namespace tessera::api::parts {

using problem::Bytes;

std::optional<base::Diagnostic> UseMemoryOf(const hw_profiles::Profile& profile,
                                            problem::Problem& problem) {
  base::Diagnostic fault;
  if (problem.memories.size() != 1) {
    fault.message = "a profile replaces the one memory of a problem, but this one has " +
                    std::to_string(problem.memories.size());
    return fault;
  }
  const hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  problem.memories[0] = hw_profiles::AsProblemMemory(memory);
  for (problem::Buffer& buffer : problem.buffers) buffer.span = std::max(buffer.span, memory.span);
  if (const auto refused = hw_profiles::ApplyRules(profile.rules, problem)) {
    fault.message = "this profile has " + *refused;
    fault.expected = "rules that select by role, size or name, or pairs of ping and pong";
    return fault;
  }
  return std::nullopt;
}

base::Expected<std::string> RenderAllocation(std::string_view format,
                                             const problem::Problem& problem,
                                             const problem::files::AllocationDocument& document,
                                             problem::files::Lifetimes lifetimes) {
  const Bytes capacity = document.capacity.value_or(problem.memories[0].capacity);
  if (format == "csv") {
    return problem::files::WriteCsv(problem, &*document.result.allocation, lifetimes);
  }
  if (format == "json") return problem::files::WriteAllocation(problem, document);
  if (document.result.explanation)
    return problem::draw::WriteCollisionSvg(problem, *document.result.explanation, capacity);
  return problem::draw::WriteSvg(problem, *document.result.allocation, capacity);
}

}  // namespace tessera::api::parts
