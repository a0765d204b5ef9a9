// SPDX-License-Identifier: Apache-2.0

#include "draw_question.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "draw_network.h"
#include "draw_profile.h"
#include "draws.h"
#include "tessera/search/partition/rewriting.h"
#include "tessera/tests/draw_measured.h"

namespace tessera::audit {
namespace {

// Shrinks the tile memory until some operator does not fit, so that the network is planned in
// another form. In larger networks some other operator does not fit either.
void ShrinkUntilRewritten(PlanRequest& question) {
  hw_profiles::Memory& memory =
      question.profile.memories[static_cast<size_t>(question.profile.tile_memory)];
  if (!memory.banks.empty() || !memory.reserved.empty()) return;
  question.profile.tiling.axes = {{base::Axis::kRows, 1, false},
                                  {base::Axis::kColumns, 1, false},
                                  {base::Axis::kChannels, 1, false},
                                  {base::Axis::kBatch, 1, false}};
  const int64_t drawn = memory.capacity_bytes;
  while (memory.capacity_bytes > 4) {
    memory.capacity_bytes -= std::max<int64_t>(1, memory.capacity_bytes / 16);
    if (!search::partition::RewriteWhatDoesNotFit(question.network, question.profile)) continue;
    question.profile = AsRead(question.profile);
    return;
  }
  memory.capacity_bytes = drawn;
}

}  // namespace

PlanRequest DrawPlanRequest(base::Random& random, int most_operators) {
  PlanRequest question;
  const bool shrinks = random.Chance(0.15);
  const int64_t operators = random.Uniform(1, shrinks ? 1 : most_operators);
  question.network = DrawNetwork(random, static_cast<int>(operators));
  question.profile = DrawProfile(random, question.network);
  if (shrinks) ShrinkUntilRewritten(question);
  if (random.Chance(0.15)) DrawMeasured(random, question.profile, question.network);
  question.objective = DrawObjective(random);
  return question;
}

plan::Objective DrawObjective(base::Random& random) {
  static const std::array<std::string, 11> kMetrics = {
      "latency", "latency", "latency",        "energy",        "energy",        "off_chip_bytes",
      "peak",    "macs",    "bandwidth_peak", "off_chip_peak", "off_chip_bytes"};
  plan::Objective objective;
  objective.weights[OneOf(random, kMetrics)] = 1;
  if (random.Chance(0.2)) {
    objective.weights[OneOf(random, kMetrics)] = random.Chance(0.5) ? 1 : 0.25;
    objective.weights[OneOf(random, kMetrics)] = 0.5;
    if (random.Chance(0.3))
      objective.weights[std::string(OneOf(random, plan::kRatioMetrics)->name)] = 0.5;
  }
  if (objective.weights.size() == 1) objective.weights.begin()->second = 1;
  return objective;
}

void DrawLimits(base::Random& random, const plan::Metrics& totals, plan::Objective& objective) {
  std::map<std::string, double>& limits = objective.limits;
  for (int64_t count = random.Uniform(1, 3); count > 0; --count) {
    const auto names = plan::MetricNames();
    const std::string name(
        names[static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(names.size()) - 1))]);
    const double value = plan::ValueOf(totals, name);
    const double drawn =
        value * (random.Chance(0.25) ? 0.7 + 0.3 * random.Real() : 1 + 0.2 * random.Real());
    const double limit = drawn >= 100 ? std::floor(drawn) : drawn;
    if (limit > 0) limits[name] = limit;
  }
  // A ratio alone needs a limit on the latency.
  const bool ratio = random.Chance(0.25);
  const double most = random.Chance(0.5) ? 2 : 100;  // times the latency of some plan
  if (ratio)
    limits["latency"] =
        std::floor(plan::ValueOf(totals, "latency") * (1 + (most - 1) * random.Real()));
  if (ratio) objective.weights = {{std::string(OneOf(random, plan::kRatioMetrics)->name), 1}};
}

}  // namespace tessera::audit
