#include "tessera/plan/refutation/placements.h"

#include <algorithm>
#include <utility>

#include "tessera/plan/program_problem.h"
#include "tessera/problem/json.h"
#include "tessera/problem/proof/checker.h"
#include "tessera/problem/well_formed.h"

namespace tessera::plan::refutation {

bool Placements::AreImpossible(const problem::Problem& problem, problem::Bytes capacity) {
  if (LeastLoad(problem) > FreeBytes(problem.memories.front(), capacity)) return true;
  const bool is_open = std::all_of(problem.buffers.begin(), problem.buffers.end(), [&](const auto& buffer) {
    return !buffer.offset || (*buffer.offset % problem::AlignmentOf(problem, buffer) == 0 &&
                              *buffer.offset <= capacity - buffer.size);
  });
  if (!is_open) return true;
  const auto [known, is_new] = known_.try_emplace(problem::WriteProblem(problem), false);
  if (!is_new || AreSpent() || problem::FindFault(problem)) return known->second;
  ++asked_;
  std::optional<std::string> text = find_proof_(problem, capacity);
  if (!text || !problem::proof::CheckProof(problem, capacity, *text).accepted) return false;
  proofs_.push_back({problem, capacity, *std::move(text)});
  return known->second = true;
}

}  // namespace tessera::plan::refutation
