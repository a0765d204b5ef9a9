// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/files.h"
#include "tessera/bench/shared_objects.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/plan/lowering/lowering.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/partition/placement/home_and_joint_placement.h"

// Bytes that the tensors of published networks take off chip on edge_npu_1mib (docs/off-chip.md):
// whole, by Shared Objects and by our engines; by tiles, by the published method and by ours. Each
// plan is checked and executed.
namespace {

using namespace tessera;
using problem::Bytes;
using search::partition::answer::PartitionOptions;

constexpr const char* kUsage = "usage: off_chip_bench [--root FOLDER] [--threads N] [NETWORK ..]\n";

// Published change of the tile-aware method against Shared Objects, layer by layer.
struct Published {
  const char* network;
  const char* change;
};
constexpr Published kNetworks[] = {
    {"examples/networks/squeezenet.yaml", "-15.20 %"},
    {"bench/networks/inception_v3.yaml", "0.00 %"},
    {"bench/networks/inception_v4.yaml", "-15.26 %"},
    {"examples/networks/mobilenet_v1.yaml", "-7.57 %"},
    {"examples/networks/mobilenet_v2.yaml", "0.00 %"},
    {"bench/networks/resnet_v2_101.yaml", "-13.85 %"},
    {"examples/networks/mnasnet_130.yaml", "0.00 %"},
    {"examples/networks/fsrcnn_activations.yaml", "-33.33 %"},
    {"examples/networks/fsrcnn_same.yaml", ""},
};

struct Partition {
  const char* name;
  const char* metric;
  bool is_by_layer;
  bool cuts_rows;  // alone
};
constexpr Partition kPartitions[] = {
    {"layer by layer", "latency", true, false},
    {"layer by layer, rows", "latency", true, true},
    {"our plan", "latency", false, false},
    {"least off chip", "off_chip_peak", false, false},
};

constexpr int64_t kUsualBudget = 200'000;
constexpr int64_t kBudgetOfHomes = 20'000;

template <typename Value>
Value OrExit(base::Expected<Value> found) {
  if (found) return *std::move(found);
  fmt::print(stderr, "{}\n", base::Format(found.error()));
  std::exit(3);
}

base::Expected<std::string> ReadFile(std::string_view path) {
  return base::ReadInput(std::string(path));
}

bool Lasts(const problem::Buffer& buffer) {
  return buffer.role == "constant" || buffer.role == "state";
}

// Returns the bytes of constants and state in all homes; the gaps between them count with the other
// tensors.
Bytes LastingBytes(const plan::Plan& plan) {
  Bytes bytes = 0;
  for (const plan::Home& home : plan.homes) {
    for (const problem::Buffer& buffer : home.problem.buffers)
      bytes += Lasts(buffer) ? buffer.size : 0;
  }
  return bytes;
}

// Returns the bytes of Shared Objects for the tensors that do not last.
Bytes SharedObjectBytes(const plan::Plan& plan) {
  Bytes bytes = 0;
  for (const plan::Home& home : plan.homes) {
    problem::Problem passing = home.problem;
    std::erase_if(passing.buffers, Lasts);
    if (!passing.buffers.empty())
      bytes += problem::PeakOf(passing, {bench::PlaceSharedObjects(passing), {}});
  }
  return bytes;
}

class Table {
 public:
  Table(std::string root, int threads) : root_(std::move(root)), threads_(threads) {
    profile_ = OrExit(ReadFile(ProfilePath()).and_then([&](const std::string& text) {
      return hw_profiles::ReadProfile(text, ProfilePath(), ReadFile);
    }));
  }

  void Print(const Published& published) {
    const std::string path = root_ + "/" + published.network;
    const graph::Graph network = OrExit(ReadFile(path).and_then(
        [&](const std::string& text) { return graph::import::yaml::ReadNetwork(text, path); }));
    for (const Partition& partition : kPartitions) Print(network, partition, published.change);
  }

 private:
  std::string ProfilePath() const { return root_ + "/hw_profiles/edge_npu_1mib.yaml"; }

  void Print(const graph::Graph& network, const Partition& partition, const char* change) {
    PartitionOptions options;
    options.objective.weights = {{partition.metric, 1}};
    options.engines = engines_;
    options.threads = threads_;
    options.budget = {kUsualBudget};
    if (partition.is_by_layer) {
      options.max_operators = 1;
      options.keeping = search::partition::paths::Keeping::kNothing;
    }
    hw_profiles::Profile profile = profile_;
    if (partition.cuts_rows) {
      std::erase_if(profile.tiling.axes, [](const hw_profiles::AxisGranularity& axis) {
        return axis.axis != base::Axis::kRows;
      });
    }
    const auto whole = OrExit(search::partition::SearchPartition(network, profile, options)).plan;
    if (!whole) {
      fmt::print("| {} | {} | no plan |\n", network.name, partition.name);
      return;
    }
    const Bytes lasting = LastingBytes(*whole);
    double seconds = 0;
    Bytes bound = 0;
    const Bytes paper = Placed(*whole, plan::OffChip::kPaper, seconds, bound);
    const Bytes ours = Placed(*whole, plan::OffChip::kTileAware, seconds, bound);
    const Bytes shared = SharedObjectBytes(*whole);
    const auto less = [shared, lasting](Bytes than) {
      return 100 * (static_cast<double>(than - lasting) / static_cast<double>(shared) - 1);
    };
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {:+.2f} % | {:+.2f} % | {} | {:.2f} |\n",
               network.name, partition.name, shared, plan::OffChipPeakOf(whole->homes) - lasting,
               paper - lasting, ours - lasting, bound - lasting, less(paper), less(ours),
               partition.is_by_layer ? change : "", seconds);
    std::fflush(stdout);
  }

  // Returns the off-chip peak with that method; exits if the plan is not valid or cannot be
  // executed.
  Bytes Placed(plan::Plan plan, plan::OffChip method, double& seconds, Bytes& bound) {
    search::off_chip::PlaceOptions options;
    options.method = method;
    options.engines = engines_;
    options.budget = {kBudgetOfHomes};
    options.threads = threads_;
    const auto start = std::chrono::steady_clock::now();
    const auto placed = search::partition::placement::PlaceHomesByTiles(plan, {}, options);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto scale = OrExit(search::cost::Scale::Make(plan.objective, plan.lower_bounds));
    search::partition::answer::Rescore(scale, plan.lower_bounds, "placements by tiles", plan);
    const std::string fault = !placed ? base::Format(placed.error()) : FaultOf(plan);
    if (!fault.empty()) {
      fmt::print(stderr, "{}: {}\n", plan.network.name, fault);
      std::exit(1);
    }
    bound = 0;
    for (const plan::Home& home : plan.homes)
      bound += home.by_tiles ? home.lower_bound : plan::PeakOf(home);
    return plan::OffChipPeakOf(plan.homes);
  }

  static std::string FaultOf(const plan::Plan& plan) {
    const auto violations = plan::verify::Validate(plan, 1);
    if (!violations.empty()) return violations.front().message;
    const plan::lowering::Report run = plan::lowering::Execute(plan);
    return run.findings.empty() ? run.obstacle : run.findings.front().message;
  }

  std::string root_;
  int threads_;
  hw_profiles::Profile profile_;
  search::engines::greedy::GreedyEngine greedy_;
  search::engines::canonical::CanonicalEngine canonical_;
  search::engines::lazy::LazyEngine lazy_;
  encoder::sat::SatEngine sat_;
  std::vector<const problem::Engine*> engines_ = {&greedy_, &canonical_, &lazy_, &sat_};
};

}  // namespace

int main(int argc, char** argv) {
  std::string root = ".";
  int threads = 2;
  std::vector<std::string_view> names;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool is_option = word == "--root" || word == "--threads";
    if ((is_option && i + 1 == argc) || (!is_option && word.starts_with("-"))) {
      std::fputs(kUsage, stderr);
      return 2;
    }
    if (word == "--root")
      root = argv[++i];
    else if (word == "--threads")
      threads = std::max(1, std::atoi(argv[++i]));
    else
      names.push_back(word);
  }
  fmt::print(
      "bytes of tensors that come and go\n\n"
      "| network | partition | Shared Objects | whole | paper's method | ours | bound | "
      "paper's | ours | published | ours, s |\n"
      "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  Table table(root, threads);
  for (const Published& published : kNetworks) {
    const bool is_asked =
        names.empty() || std::any_of(names.begin(), names.end(), [&](auto name) {
          return std::string_view(published.network).find(name) != std::string_view::npos;
        });
    if (is_asked) table.Print(published);
  }
  return 0;
}
