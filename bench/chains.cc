// SPDX-License-Identifier: Apache-2.0

#include "tessera/bench/chains.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "tessera/encoder/formulation/address_constraints.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::bench {
namespace {

struct Subgraph {
  const char* network;
  const char* profile;
  const char* first;
  const char* last;
};

constexpr Subgraph kSubgraphs[] = {
    {"mobilenet_v2", "edge_npu_1mib", "block1_expand", "block1_project"},
    {"mobilenet_v2", "edge_npu_1mib", "block2_expand", "block3_project"},
    {"mobilenet_v2", "edge_npu_1mib", "block4_expand", "block5_add"},
    {"mobilenet_v2", "tpu_like", "block1_expand", "block3_project"},
    {"mobilenet_v2", "mcu_320k", "block2_expand", "block2_add"},
    {"mobilenet_v2", "three_bank_two_mode", "block1_expand", "block1_project"},
    {"mobilenet_v2", "three_bank_two_mode", "block2_expand", "block2_add"},
    {"mobilenet_v2", "ethos_u65_256", "block1_expand", "block2_add"},
    {"resnet_18", "edge_npu_1mib", "stage1_0_first", "stage1_0_add"},
    {"resnet_18", "edge_npu_1mib", "stage1_0_first", "stage1_1_add"},
    {"resnet_18", "tpu_like", "stage1_0_first", "stage2_0_add"},
    {"resnet_18", "three_bank_two_mode", "stage1_0_first", "stage1_0_add"},
};

base::Expected<std::string> ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (file) return std::string{std::istreambuf_iterator<char>(file), {}};
  base::Diagnostic fault;
  fault.file = path.string();
  fault.message = "cannot be read";
  fault.hint = "--root names the folder that holds hw_profiles/ and examples/networks/";
  return base::Unexpected(std::move(fault));
}

base::Expected<graph::Graph> ReadNetwork(const std::filesystem::path& path) {
  const auto text = ReadFile(path);
  if (!text) return base::Unexpected(text.error());
  return graph::import::yaml::ReadNetwork(*text, path.string());
}

base::Expected<hw_profiles::Profile> ReadProfile(const std::filesystem::path& path) {
  const auto text = ReadFile(path);
  if (!text) return base::Unexpected(text.error());
  return hw_profiles::ReadProfile(*text, path.string(),
                                  [](std::string_view name) { return ReadFile(name); });
}

int IndexOf(const graph::Graph& network, std::string_view id) {
  const auto found = std::find_if(network.operators.begin(), network.operators.end(),
                                  [id](const auto& each) { return each.id == id; });
  return static_cast<int>(found - network.operators.begin());
}

bool LoadFits(const problem::Problem& problem, const problem::CandidateSizes& index) {
  const std::vector<problem::Bytes> loads =
      encoder::formulation::LoadOf(AtCandidate(problem, index));
  for (size_t m = 0; m < loads.size(); ++m) {
    if (loads[m] > problem.memories[m].capacity) return false;
  }
  return true;
}

// Returns kCandidates candidates that may fit, evenly spread, including the last one; none if there
// are fewer.
problem::Ladder Thin(const problem::Problem& problem, const problem::Ladder& ladder) {
  std::vector<problem::CandidateSizes> fitting;
  std::copy_if(ladder.candidates.begin(), ladder.candidates.end(), std::back_inserter(fitting),
               [&](const problem::CandidateSizes& index) { return LoadFits(problem, index); });
  problem::Ladder thin;
  if (fitting.size() < kCandidates) return thin;
  for (size_t i = 0; i < kCandidates; ++i)
    thin.candidates.push_back(fitting[i * (fitting.size() - 1) / (kCandidates - 1)]);
  return thin;
}

}  // namespace

base::Expected<std::vector<Chain>> CollectChains(const std::filesystem::path& root) {
  std::vector<Chain> chains;
  for (const Subgraph& each : kSubgraphs) {
    const auto network =
        ReadNetwork(root / "examples/networks" / (std::string(each.network) + ".yaml"));
    if (!network) return base::Unexpected(network.error());
    const auto profile = ReadProfile(root / "hw_profiles" / (std::string(each.profile) + ".yaml"));
    if (!profile) return base::Unexpected(profile.error());
    const graph::Interval interval{IndexOf(*network, each.first), IndexOf(*network, each.last)};
    const auto tiles = search::tiling::IntervalTiles::Build(*network, *profile, interval, {});
    if (!tiles) return base::Unexpected(tiles.error());

    // The structure with the most candidates.
    Chain chain;
    chain.name = std::string(each.network) + " " + each.first + ".. on " + each.profile;
    std::set<const encoder::program::SubgraphCandidates*> seen;
    size_t most = 0;
    for (size_t i = 0; i < tiles->Candidates().size(); ++i) {
      const encoder::program::SubgraphCandidates& structure = tiles->CandidatesOf(i);
      if (!seen.insert(&structure).second || structure.ladder.candidates.size() <= most) continue;
      problem::Ladder thin = Thin(structure.program.problem, structure.ladder);
      if (thin.candidates.empty()) continue;
      most = structure.ladder.candidates.size();
      chain.problem = structure.program.problem;
      chain.ladder = std::move(thin);
    }
    if (most == 0) continue;
    chain.capacity = chain.problem.memories[0].capacity;
    chains.push_back(chain);
    chain.capacity =
        encoder::formulation::LoadOf(AtCandidate(chain.problem, chain.ladder.candidates.back()))
            .front();
    chain.name += ", tight";
    chains.push_back(std::move(chain));
  }
  return chains;
}

}  // namespace tessera::bench
