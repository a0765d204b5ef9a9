// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/files.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/partition.h"

// Compares plans with published ones (docs/comparisons.md). Each line is one search with the
// command's default options, or with the constraints that state the published plan.
namespace {

using namespace tessera;

constexpr const char* kUsage = "usage: published_bench [--root FOLDER] [--threads N]\n";

constexpr int64_t kUsualBudget = 200'000;

tessera::base::Expected<std::string> ReadFile(std::string_view path) {
  return tessera::base::ReadInput(std::string(path));
}

template <typename Value>
Value OrExit(tessera::base::Expected<Value> found) {
  if (found) return *std::move(found);
  fmt::print(stderr, "{}\n", tessera::base::Format(found.error()));
  std::exit(3);
}

class Planner {
 public:
  Planner(std::string root, int threads) : root_(std::move(root)), threads_(threads) {}

  void Choose(const std::string& network, const std::string& profile) {
    const std::string network_file = root_ + "/examples/networks/" + network;
    const std::string profile_file = root_ + "/" + profile;
    network_ = OrExit(ReadFile(network_file).and_then([&](const std::string& text) {
      return tessera::graph::import::yaml::ReadNetwork(text, network_file);
    }));
    profile_ = OrExit(ReadFile(profile_file).and_then([&](const std::string& text) {
      return tessera::hw_profiles::ReadProfile(text, profile_file, ReadFile);
    }));
  }

  // Returns the plan of least value in a metric, within limits, and under the constraints of a file
  // if one is given.
  std::optional<tessera::plan::Plan> Least(const std::string& metric,
                                           const std::map<std::string, double>& limits,
                                           const std::string& constraints = "") {
    tessera::search::partition::answer::PartitionOptions options;
    options.objective = {.weights = {{metric, 1}}, .limits = limits};
    options.engines = engines_;
    options.threads = threads_;
    options.budget = tessera::base::Budget{kUsualBudget};
    if (!constraints.empty()) {
      const std::string file = root_ + "/" + constraints;
      options.constraints = OrExit(tessera::search::partition::constraints::ReadConstraints(
          OrExit(ReadFile(file)), file, network_, profile_, std::nullopt));
    }
    const auto start = std::chrono::steady_clock::now();
    tessera::search::partition::answer::PartitionResult found =
        OrExit(tessera::search::partition::SearchPartition(network_, profile_, options));
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(found.plan);
  }

  double Seconds() const { return seconds_; }

 private:
  std::string root_;
  int threads_;
  tessera::graph::Graph network_;
  tessera::hw_profiles::Profile profile_;
  tessera::search::engines::greedy::GreedyEngine greedy_;
  tessera::search::engines::canonical::CanonicalEngine canonical_;
  tessera::search::engines::lazy::LazyEngine lazy_;
  tessera::encoder::sat::SatEngine sat_;
  std::vector<const tessera::problem::Engine*> engines_ = {&greedy_, &canonical_, &lazy_, &sat_};
  double seconds_ = 0;
};

struct MsfPoint {
  int64_t memory = 0;  // as published
  int64_t macs = 0;    // as published, by a formula that leaves out bands at the borders
};

constexpr MsfPoint kMsfPoints[] = {
    {7'887, 31'758'160},  {13'926, 29'560'000}, {15'340, 26'132'080},
    {21'288, 24'536'110}, {25'674, 23'700'946}, {63'741, 23'249'938},
    {67'905, 20'751'538}, {83'065, 19'265'890}, {181'440, 18'909'490},
};

void PrintMacsWithin(Planner& planner, int64_t memory, const char* before) {
  const auto ours = planner.Least("macs", {{"peak", static_cast<double>(memory)}});
  fmt::print("{}{:>12} {:>8} {:>6.1f}", before, ours ? ours->totals.macs : -1,
             ours ? ours->totals.peak_bytes : -1, planner.Seconds());
}

void PrintMsfCnn(Planner& planner) {
  fmt::print("MobileNetV2 w0.35 at 144, MACs within a memory, compared with msf-CNN\n");
  fmt::print("{:>8} {:>12} {:>12} {:>9} | {:>12} {:>8} {:>6} | in as much {:>12} {:>8} {:>6}\n",
             "memory B", "their MACs", "counted", "run in B", "our MACs", "peak B", "s", "our MACs",
             "peak B", "s");
  planner.Choose("mobilenet_v2_035.yaml", "examples/comparisons/msf_cnn.yaml");
  for (const MsfPoint& point : kMsfPoints) {
    const auto theirs = planner.Least(
        "peak", {}, fmt::format("examples/comparisons/msf_cnn_{}.yaml", point.memory));
    fmt::print("{:>8} {:>12} {:>12} {:>9}", point.memory, point.macs,
               theirs ? theirs->totals.macs : -1, theirs ? theirs->totals.peak_bytes : -1);
    PrintMacsWithin(planner, point.memory, " | ");
    PrintMacsWithin(planner, theirs ? theirs->totals.peak_bytes : 0, " |            ");
    fmt::print("\n");
  }
  fmt::print("\n");
}

int64_t PeakBytes(const tessera::plan::Metrics& metrics) { return metrics.peak_bytes; }

int64_t FeatureBytes(const tessera::plan::Metrics& metrics) {
  return metrics.off_chip_by_cause.at("inputs") + metrics.off_chip_by_cause.at("outputs");
}

void PrintLine(const std::string& what, int64_t published,
               const std::optional<tessera::plan::Plan>& plan,
               int64_t (*figure)(const tessera::plan::Metrics&), double seconds) {
  if (!plan) {
    fmt::print("{:<62} {:>11} {:>11}\n", what, published, "none");
    return;
  }
  fmt::print("{:<62} {:>11} {:>11} {:>11} {:>11} {:>6.1f}\n", what, published, figure(plan->totals),
             figure(plan->lower_bounds), plan->totals.recomputed_macs, seconds);
}

void PrintCompilers(Planner& planner) {
  constexpr int64_t kVelaPeak = 361'984;
  constexpr int64_t kVelaFeatures = 1'360'912 + 414'952;
  constexpr int64_t kFusedFeatures = 9'300'000;
  fmt::print("{:<62} {:>11} {:>11} {:>11} {:>11} {:>6}\n", "", "published", "ours", "bound",
             "MACs again", "s");
  planner.Choose("mobilenet_v2.yaml", "hw_profiles/ethos_u55_256.yaml");
  const auto peak = planner.Least("peak", {});
  const double macs = peak ? static_cast<double>(peak->lower_bounds.macs) : 0;
  PrintLine("MobileNetV2 on ethos_u55_256, peak", kVelaPeak, peak, PeakBytes, planner.Seconds());
  const auto once = planner.Least("peak", {{"macs", macs}});
  PrintLine("the same without recomputing", kVelaPeak, once, PeakBytes, planner.Seconds());
  planner.Choose("mobilenet_v2.yaml", "hw_profiles/ethos_u65_256.yaml");
  const auto traffic = planner.Least("off_chip_bytes", {});
  PrintLine("MobileNetV2 on ethos_u65_256, feature bytes to and from DRAM", kVelaFeatures, traffic,
            FeatureBytes, planner.Seconds());
  planner.Choose("fsrcnn_same.yaml", "hw_profiles/edge_npu_1mib.yaml");
  const auto fused = planner.Least("off_chip_bytes", {});
  PrintLine("FSRCNN same on edge_npu_1mib, feature bytes off chip", kFusedFeatures, fused,
            FeatureBytes, planner.Seconds());
}

}  // namespace

int main(int argc, char** argv) {
  std::string root = ".";
  int threads = 2;
  for (int i = 1; i < argc; i += 2) {
    const std::string word = argv[i];
    if (i + 1 == argc || (word != "--root" && word != "--threads")) {
      std::fputs(kUsage, stderr);
      return 2;
    }
    if (word == "--root") root = argv[i + 1];
    if (word == "--threads") threads = std::max(1, std::atoi(argv[i + 1]));
  }
  Planner planner(root, threads);
  PrintMsfCnn(planner);
  PrintCompilers(planner);
  return 0;
}
