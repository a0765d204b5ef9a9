// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/files.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/search/cost/simulator.h"

// The cycles of single operators in stripes of rows, for comparisons with other estimators:
// bench/cost_tables.py. Reads lines "OPERATOR ROWS WEIGHTS [BYTES]" and prints the cycles of each,
// or "-" if the network has no such operator. BYTES: of the operator's weights and their tables, as
// stored. WEIGHTS: "buffered" (in the tile memory already), "direct" or "streamed" (from their
// home: direct if the profile has that, otherwise streamed). Tensors between operators stay in the
// tile memory; inputs and outputs of the network are at home.
namespace {

using tessera::graph::Graph;
using tessera::hw_profiles::Profile;
using tessera::hw_profiles::WeightPolicy;

template <typename T>
T OrExit(tessera::base::Expected<T> value) {
  if (value) return std::move(*value);
  std::fputs((tessera::base::Format(value.error()) + "\n").c_str(), stderr);
  std::exit(3);
}

tessera::base::Expected<std::string> ReadFile(std::string_view path) {
  return tessera::base::ReadInput(std::string(path));
}

struct Row {
  std::string name;
  int64_t rows = 0;
  std::string weights;
  std::optional<int64_t> bytes;
};

std::vector<Row> ReadRows(std::istream& input) {
  std::vector<Row> read;
  std::string line;
  while (std::getline(input, line)) {
    std::istringstream words(line);
    Row& row = read.emplace_back();
    words >> row.name >> row.rows >> row.weights;
    if (int64_t bytes = 0; words >> bytes) row.bytes = bytes;
  }
  return read;
}

void SetStoredBytes(Graph& network, const Profile& profile, const std::vector<Row>& rows) {
  for (const tessera::graph::Operator& op : network.operators) {
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&op](const Row& each) { return each.name == op.id; });
    if (row == rows.end() || !row->bytes || op.weights.empty()) continue;
    const int64_t channels = network.tensors[static_cast<size_t>(op.outputs.front())].shape[1];
    network.tensors[static_cast<size_t>(op.weights.front())].stored_bytes =
        std::max<int64_t>(1, *row->bytes - profile.table_bytes_per_channel * channels);
  }
}

class Pricing {
 public:
  Pricing(const Graph& network, const Profile& profile)
      : network_(network), profile_(profile), simulator_(network, profile) {}

  std::optional<int64_t> CyclesOf(const std::string& name, int64_t rows,
                                  const std::string& weights) const {
    for (int index = 0; index < static_cast<int>(network_.operators.size()); ++index) {
      if (network_.operators[static_cast<size_t>(index)].id == name)
        return CyclesOf(index, rows, weights);
    }
    return std::nullopt;
  }

 private:
  int64_t CyclesOf(int index, int64_t rows, const std::string& weights) const {
    const tessera::graph::Operator& op = network_.operators[static_cast<size_t>(index)];
    tessera::graph::tiling::TileShape tile =
        network_.tensors[static_cast<size_t>(op.outputs.front())].shape;
    if (tile.size() == 4) tile[2] = std::min(tile[2], rows);
    tessera::encoder::program::Policy policy;
    const auto& offered = profile_.tiling.weights;
    const bool direct = std::count(offered.begin(), offered.end(), WeightPolicy::kDirect) > 0;
    policy.weights = weights == "buffered" ? WeightPolicy::kResident
                     : direct              ? WeightPolicy::kDirect
                                           : WeightPolicy::kStreamed;
    for (int tensor = 0; tensor < static_cast<int>(network_.tensors.size()); ++tensor)
      policy.kept.push_back(tensor);
    tessera::search::cost::Prefetches prefetches;
    if (weights == "buffered") prefetches.own = {1};
    const auto tiling = tessera::graph::tiling::Tile(network_, {index, index}, tile);
    return simulator_.Run(tiling, policy, tessera::search::cost::Detail::kTotals, prefetches)
        .latency_cycles;
  }

  const Graph& network_;
  const Profile& profile_;
  tessera::search::cost::Simulator simulator_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: cost_bench NETWORK PROFILE < ROWS\n", stderr);
    return 2;
  }
  Graph network = OrExit(ReadFile(argv[1]).and_then([&](const std::string& text) {
    return tessera::graph::import::yaml::ReadNetwork(text, argv[1]);
  }));
  const Profile profile = OrExit(ReadFile(argv[2]).and_then([&](const std::string& text) {
    return tessera::hw_profiles::ReadProfile(text, argv[2], ReadFile);
  }));
  const std::vector<Row> rows = ReadRows(std::cin);
  SetStoredBytes(network, profile, rows);
  network = tessera::encoder::program::WithHomes(std::move(network), profile);
  const Pricing pricing(network, profile);
  for (const Row& row : rows) {
    const std::optional<int64_t> cycles = pricing.CyclesOf(row.name, row.rows, row.weights);
    fmt::print("{}\n", cycles ? std::to_string(*cycles) : "-");
  }
  return 0;
}
