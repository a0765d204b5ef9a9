// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "tessera/encoder/program/homes.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/partition/analysis/analyses.h"

// Placements do not depend on energies, so every answer that an engine gave for one profile holds
// for the others.
namespace tessera::search::partition::analysis {
namespace {

using hw_profiles::Profile;

// Sums of energies in different orders differ by less than this share.
constexpr double kRounding = 1e-9;

struct Variant {
  std::string what;
  double factor = 1;
  Profile profile;
};

void AddVariants(const Profile& profile, const std::string& what,
                 const std::function<void(Profile&, double)>& scale,
                 std::vector<Variant>& variants) {
  for (const double factor : {0.5, 2.0}) {
    Variant& variant = variants.emplace_back(Variant{what, factor, profile});
    scale(variant.profile, factor);
  }
}

std::vector<Variant> VariantsOf(const Profile& profile) {
  std::vector<Variant> variants;
  for (size_t i = 0; i < profile.memories.size(); ++i) {
    const hw_profiles::Memory& memory = profile.memories[i];
    const bool free = memory.read_pj_per_byte == 0 && memory.write_pj_per_byte == 0;
    if (static_cast<int>(i) == profile.tile_memory || free) continue;
    AddVariants(
        profile, "the energy of " + memory.name,
        [i](Profile& changed, double factor) {
          changed.memories[i].read_pj_per_byte *= factor;
          changed.memories[i].write_pj_per_byte *= factor;
        },
        variants);
  }
  const bool free = std::all_of(
      profile.engines.begin(), profile.engines.end(),
      [](const hw_profiles::Engine& engine) { return hw_profiles::MacPicojoules(engine) == 0; });
  if (free) return variants;
  AddVariants(
      profile, "the energy of a multiply-accumulate",
      [](Profile& changed, double factor) {
        for (hw_profiles::Engine& engine : changed.engines) {
          engine.mac_pj *= factor;
          engine.operand_pj *= factor;
        }
      },
      variants);
  return variants;
}

// Returns the metrics of the plan on another profile. The addresses do not affect the other
// metrics, so the peaks stay.
plan::Metrics PriceUnder(const Profile& profile, const plan::Plan& plan) {
  const cost::Simulator simulator(plan.network, profile);
  plan::Metrics totals;
  for (size_t i = 0; i < plan.subgraphs.size(); ++i)
    plan::Accumulate(totals,
                     cost::PriceOf(plan.network, profile, simulator, plan.subgraphs, i, plan.kept));
  totals.peak_bytes = plan.totals.peak_bytes;
  totals.off_chip_peak_bytes = plan.totals.off_chip_peak_bytes;
  return totals;
}

}  // namespace

bool LooksAtEnergy(const plan::Objective& objective) {
  return std::any_of(plan::kMetrics.begin(), plan::kMetrics.end(), [&](const plan::Metric& metric) {
    const auto* energy = std::get_if<double plan::Metrics::*>(&metric.value);
    if (energy == nullptr || *energy != &plan::Metrics::energy_pj) return false;
    const std::string name(metric.name);
    const auto weight = objective.weights.find(name);
    return (weight != objective.weights.end() && weight->second > 0) ||
           objective.limits.contains(name);
  });
}

base::Expected<std::vector<Sensitivity>> FindSensitivities(
    const graph::Graph& graph, const plan::Plan& plan, const answer::PartitionOptions& options) {
  std::vector<Sensitivity> sensitivities;
  if (!LooksAtEnergy(options.objective)) return sensitivities;
  const tiling::CachedEngines remembering(
      tiling::Engines(options.engines.begin(), options.engines.end()));
  answer::PartitionOptions again = options;
  if (again.cached == nullptr) again.cached = &remembering;
  for (const Variant& variant : VariantsOf(plan.profile)) {
    const base::Expected<cost::Scale> scale =
        cost::Scale::Make(options.objective,
                          cost::FindLowerBounds(encoder::program::WithHomes(graph, variant.profile),
                                                variant.profile));
    if (!scale) return base::Unexpected(scale.error());
    const plan::Metrics totals = PriceUnder(variant.profile, plan);
    Sensitivity& found = sensitivities.emplace_back();
    found.what = variant.what;
    found.factor = variant.factor;
    found.within = scale->WithinLimits(scale->CostOf(totals));
    found.score = scale->ScoreOf(totals);
    found.best_score = found.score;
    const base::Expected<answer::PartitionResult> best =
        SearchPartition(graph, variant.profile, again);
    if (!best) return base::Unexpected(best.error());
    const bool better = best->plan && best->plan->score < found.score * (1 - kRounding);
    const bool stopped = options.stop != nullptr && options.stop->Requested();
    found.undecided = !better && (stopped || best->status == problem::Status::kUnknown);
    if (better || (best->plan && !found.within)) found.best_score = best->plan->score;
  }
  return sensitivities;
}

std::string Describe(const Sensitivity& sensitivity) {
  std::string text =
      fmt::format("with {} {} ", sensitivity.what, sensitivity.factor < 1 ? "halved" : "doubled");
  if (!sensitivity.within) return text + "this plan breaks a limit of the objective";
  if (sensitivity.undecided) return text + "no better choice was found before the limit";
  if (sensitivity.Survives()) return text + "the choice survives";
  const double gain = 100 * (sensitivity.score - sensitivity.best_score) / sensitivity.score;
  return text + fmt::format("another choice is {:.2g} % better", gain);
}

}  // namespace tessera::search::partition::analysis
