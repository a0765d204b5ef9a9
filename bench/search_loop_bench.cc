// SPDX-License-Identifier: Apache-2.0

// Measures how many networks of a space an Evaluator handles in a second, as in a search loop.
//
//   search_loop_bench SOURCE [CANDIDATES]
//
// Times are processor times of one thread, so that a busy machine changes them little. Prints a
// Markdown table:
//
//   fresh      MakePlan of every tenth candidate of the mix of examples/nas, on its two profiles
//   mix        the same candidates with EvaluateAtMost; the mix is a walk of two edits a step
//              through mcunet_like, where one of four candidates has been evaluated before
//   edits      Evaluate after an edit of one parameter of a block, and of width or resolution
//   rejections EvaluateAtMost of networks of mobilenet_v3_like with a latency that none has
//   equal      drawn edits whose evaluation equals a fresh plan
#include <tessera/tessera.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tessera::bench {
namespace {

using Choice = std::vector<std::pair<std::string, std::int64_t>>;

double Seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <typename T>
T OrExit(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.Error().text.c_str());
  std::exit(3);
}

class Walk {
 public:
  explicit Walk(const NetworkSpace& space) : space_(space) {
    for (const SpaceParameter& parameter : space.Parameters())
      choice_.emplace_back(parameter.name, parameter.values.front());
  }

  const Choice& Get() const { return choice_; }
  Network Make() const { return OrExit(space_.Make(choice_)); }

  // Changes one parameter that `wanted` accepts to another value.
  template <typename Wanted>
  void Edit(const Wanted& wanted) {
    while (true) {
      const std::size_t at = random_() % choice_.size();
      const SpaceParameter& parameter = space_.Parameters()[at];
      const std::int64_t value = parameter.values[random_() % parameter.values.size()];
      if (!wanted(parameter.name) || value == choice_[at].second) continue;
      choice_[at].second = value;
      return;
    }
  }

  void Edit() {
    Edit([](const std::string&) { return true; });
  }

  bool Repeats() { return random_() % 4 == 0; }

 private:
  const NetworkSpace& space_;
  Choice choice_;
  std::mt19937 random_{28};
};

PlanOptions OptionsOfTheMix() {
  PlanOptions options;
  options.max_operators = 2;
  options.keep_order = true;
  options.budget = 500;
  return options;
}

bool AreEqual(const Evaluation& found, const PlanAnswer& fresh) {
  const std::size_t count = fresh.plan ? fresh.plan->Metrics().size() : 0;
  if (found.outcome != fresh.outcome || found.metrics.size() != count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const PlanMetric& metric = fresh.plan->Metrics()[i];
    if (found.metrics[i].value != metric.value ||
        found.metrics[i].lower_bound != metric.lower_bound)
      return false;
  }
  return true;
}

void MeasureMix(const NetworkSpace& space, const std::vector<Profile>& profiles, int count) {
  const std::vector<std::vector<MetricValue>> limits = {{{"latency", 200e3}},
                                                        {{"latency", 5e6}, {"peak", 96 * 1024.0}}};
  Walk walk(space);
  std::vector<Network> candidates;
  for (int i = 0; i < count; ++i) {
    const bool repeats = i > 0 && walk.Repeats();
    if (repeats) {
      candidates.push_back(candidates[candidates.size() / 2]);
      continue;
    }
    walk.Edit();
    walk.Edit();
    candidates.push_back(walk.Make());
  }
  double start = Seconds();
  int planned = 0;  // a tenth: fresh plans take long, above all where limits fail
  for (std::size_t at = 0; at < candidates.size(); at += 10, ++planned) {
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      PlanOptions options = OptionsOfTheMix();
      options.limits = limits[i];
      if (!OrExit(MakePlan(candidates[at], profiles[i], options)).plan) break;
    }
  }
  const double fresh = (Seconds() - start) / planned * count;
  const Evaluator evaluator = OrExit(Evaluator::Make(profiles, {OptionsOfTheMix()}));
  int refused = 0;
  start = Seconds();
  for (const Network& candidate : candidates) {
    const auto found = OrExit(evaluator.EvaluateAtMost(candidate, limits));
    refused += found.back().metrics.empty() ? 1 : 0;
  }
  const double kept = Seconds() - start;
  std::printf("| fresh, candidates a second and thread | %.1f |\n", count / fresh);
  std::printf("| mix, candidates a second and thread | %.1f, %d of %d refused |\n", count / kept,
              refused, count);
  std::printf("| mix over fresh | %.1f |\n", fresh / kept);
}

double PercentileOf(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void MeasureEdits(const NetworkSpace& space, const Profile& profile, int count) {
  for (const bool in_block : {true, false}) {
    const Evaluator evaluator = OrExit(Evaluator::Make({profile}, {OptionsOfTheMix()}));
    Walk walk(space);
    OrExit(evaluator.Evaluate(walk.Make()));
    std::vector<double> edited;
    double fresh = 0;
    int equal = 0;
    for (int i = 0; i < count; ++i) {
      walk.Edit(
          [in_block](const std::string& name) { return (name.find("stage") == 0) == in_block; });
      const Network network = walk.Make();
      double start = Seconds();
      const Evaluation found = OrExit(evaluator.Evaluate(network)).front();
      edited.push_back(Seconds() - start);
      start = Seconds();
      equal += AreEqual(found, OrExit(MakePlan(network, profile, OptionsOfTheMix()))) ? 1 : 0;
      fresh += Seconds() - start;
    }
    std::printf("| edits of %s: median, 99 %%, fresh mean | %.1f, %.1f, %.1f ms |\n",
                in_block ? "one block" : "width or resolution", PercentileOf(edited, 0.5) * 1e3,
                PercentileOf(edited, 0.99) * 1e3, fresh / count * 1e3);
    std::printf("| equal to fresh | %d of %d |\n", equal, count);
  }
}

void MeasureRejections(const NetworkSpace& space, const Profile& profile, int count) {
  const Evaluator evaluator = OrExit(Evaluator::Make({profile}));
  Walk walk(space);
  std::vector<Network> networks;
  for (int i = 0; i < count; ++i) {
    walk.Edit();
    networks.push_back(walk.Make());
  }
  const double start = Seconds();
  for (const Network& network : networks)
    OrExit(evaluator.EvaluateAtMost(network, {{{"latency", 10}}}));
  std::printf("| rejections a second and thread | %.0f |\n", count / (Seconds() - start));
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  using namespace tessera;
  using namespace tessera::bench;
  if (argc < 2) {
    std::fprintf(stderr, "usage: search_loop_bench SOURCE [CANDIDATES]\n");
    return 2;
  }
  const std::string source = argv[1];
  const int count = argc > 2 ? std::atoi(argv[2]) : 100;
  const auto mcunet = OrExit(NetworkSpace::Load(source + "/examples/nas/mcunet_like.space"));
  const auto mobilenet =
      OrExit(NetworkSpace::Load(source + "/examples/nas/mobilenet_v3_like.space"));
  const std::vector<Profile> profiles = {
      OrExit(Profile::Load(source + "/hw_profiles/edge_npu_64kib.yaml")),
      OrExit(Profile::Load(source + "/hw_profiles/mcu_320k.yaml"))};
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("| what | measured |\n|---|---|\n");
  MeasureMix(mcunet, profiles, count);
  MeasureEdits(mcunet, profiles.front(), count / 2);
  MeasureRejections(mobilenet, profiles.front(), 10 * count);
}
