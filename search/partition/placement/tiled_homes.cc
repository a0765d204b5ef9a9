// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/encoder/program/home_tiles.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/placement/home_and_joint_placement.h"

namespace tessera::search::partition::placement {

namespace {

using encoder::program::HomeProblem;
using problem::Bytes;

class Replacement {
 public:
  Replacement(plan::Plan& plan, const HomePins& pins, const off_chip::PlaceOptions& options)
      : plan_(plan),
        pins_(pins),
        options_(options),
        choices_(cost::ChoicesOf(plan.subgraphs, plan.kept)) {
    for (const plan::PlanConstraint& constraint : plan.constraints) {
      if (constraint.kind != plan::PlanConstraintKind::kAddress) continue;
      const graph::Tensor& tensor = plan.network.tensors[static_cast<size_t>(constraint.tensor)];
      pins_.emplace(std::pair(constraint.memory, tensor.id), constraint.offset);
    }
  }

  std::optional<base::Diagnostic> Replace(plan::Home& home) {
    const problem::Memory& memory = home.problem.memories.front();
    const HomeProblem stated = {home.memory, home.problem, home.tensors};
    if (!memory.banks.empty()) return Keep(memory, "the memory has banks");
    const auto tensors =
        encoder::program::TilesAtHome(plan_.network, plan_.profile, choices_, stated,
                                      options_.stop != nullptr ? *options_.stop : never_);
    if (!tensors) return Keep(memory, "its tiles are too many, or the search was stopped");
    std::vector<std::optional<Bytes>> pins;
    for (const problem::TiledTensor& tensor : *tensors) {
      const auto pin = pins_.find({memory.name, tensor.id});
      pins.push_back(pin == pins_.end() ? std::nullopt : std::optional(pin->second));
    }
    base::Expected<off_chip::TiledPlacement> placed =
        off_chip::Place(*tensors, memory, pins, options_);
    if (!placed) return placed.error();
    if (placed->bases.empty()) return Keep(memory, placed->reason);
    const Bytes before = plan::PeakOf(home);
    const bool is_pinned =
        std::any_of(pins.begin(), pins.end(), [](const auto& pin) { return pin.has_value(); });
    // A placement of whole tensors is also one by tiles.
    home.by_tiles = true;
    if (placed->peak < before || is_pinned || options_.method == plan::OffChip::kPaper)
      home.allocation.offsets = std::move(placed->bases);
    const Bytes peak = plan::PeakOf(home);
    // `check` can confirm the bound only by the same search.
    if (plan_.run.searched && !plan_.run.cut_off)
      home.lower_bound = std::min({placed->lower_bound, placed->peak, before});
    plan_.notes.push_back(fmt::format(
        "tensors in '{}' share addresses tile by tile: {} bytes{}", memory.name, peak,
        peak == before ? ", which gains nothing" : fmt::format(" instead of {}", before)));
    return std::nullopt;
  }

 private:
  std::optional<base::Diagnostic> Keep(const problem::Memory& memory, const std::string& why) {
    plan_.notes.push_back(
        fmt::format("tensors in '{}' share no addresses tile by tile: {}", memory.name, why));
    return std::nullopt;
  }

  const base::Stop never_;
  plan::Plan& plan_;
  HomePins pins_;
  const off_chip::PlaceOptions& options_;
  const std::vector<encoder::program::SubgraphChoice> choices_;
};

}  // namespace

base::Expected<void> PlaceHomesByTiles(plan::Plan& plan, const HomePins& pins,
                                       const off_chip::PlaceOptions& options) {
  Replacement replacement(plan, pins, options);
  for (plan::Home& home : plan.homes) {
    if (auto fault = replacement.Replace(home)) return base::Unexpected(*std::move(fault));
  }
  plan.totals.off_chip_peak_bytes = plan::OffChipPeakOf(plan.homes);
  return {};
}

}  // namespace tessera::search::partition::placement
