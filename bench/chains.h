// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::bench {

inline constexpr size_t kCandidates = 12;

// A subgraph of a network on a chip, and kCandidates of its tile shapes, smallest first.
struct Chain {
  std::string name;
  problem::Problem problem;
  problem::Ladder ladder;
  problem::Bytes capacity = 0;  // in question
};

// Two chains for each of some subgraphs of MobileNetV2 and ResNet-18 on shipped profiles. `root`
// holds hw_profiles/ and examples/networks/. Candidates whose load exceeds the memory are left out,
// because no engine needs to look at them. Subgraphs that keep fewer than kCandidates are left out.
// The first chain of a subgraph asks about the memory as it is. The second chain asks about the
// load of the last candidate, which leaves that candidate no slack.
base::Expected<std::vector<Chain>> CollectChains(const std::filesystem::path& root);

}  // namespace tessera::bench
