// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/off_chip/place.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/off_chip/tile_aware.h"

namespace tessera::search::off_chip {

namespace {

using plan::OffChip;
using problem::Memory;
using Pins = std::span<const std::optional<Bytes>>;

class Placer {
 public:
  Placer(const Memory& memory, Pins pins, const PlaceOptions& options)
      : memory_(memory),
        options_(options),
        stop_(options.stop != nullptr ? *options.stop : never_),
        pins_(pins.begin(), pins.end()) {
    is_pinned_ =
        std::any_of(pins.begin(), pins.end(), [](const auto& pin) { return pin.has_value(); });
    is_free_ = memory.reserved.empty() && !is_pinned_;
  }

  base::Expected<TiledPlacement> Run(std::span<const TiledTensor> tensors) {
    TiledPlacement placement;
    placement.lower_bound = problem::GreatestLoad(tensors);
    for (const TiledTensor& tensor : tensors) {
      aligned_.push_back(tensor);
      aligned_.back().alignment = std::lcm(tensor.alignment, memory_.alignment);
    }
    bases_.assign(tensors.size(), 0);
    const Bytes floor = is_free_ ? StackLasting() : Bytes{0};
    if (auto fault = PlaceRest(floor, placement)) return base::Unexpected(*std::move(fault));
    if (!placement.reason.empty()) return placement;
    placement.peak = PeakOf(aligned_, bases_);
    if (placement.peak > memory_.capacity) {
      placement.reason = "no placement by tiles that was found is low enough";
      return placement;
    }
    placement.bases = std::move(bases_);
    return placement;
  }

 private:
  // Stacks the tensors that are whole as long as any tensor lives, from address 0 on. Returns the
  // address from which the other tensors may be placed.
  Bytes StackLasting() {
    problem::Lifespan all = {std::numeric_limits<problem::Step>::max(),
                             std::numeric_limits<problem::Step>::min()};
    for (const TiledTensor& tensor : aligned_) {
      all.lower = std::min(all.lower, tensor.Life().lower);
      all.upper = std::max(all.upper, tensor.Life().upper);
    }
    Bytes top = 0, alignment = 1;
    for (size_t i = 0; i < aligned_.size(); ++i) {
      if (!(aligned_[i].whole == all)) {
        rest_.push_back(i);
        alignment = std::max(alignment, aligned_[i].alignment);
        continue;
      }
      bases_[i] = base::RoundUp(top, aligned_[i].alignment);
      top = bases_[i] + aligned_[i].size;
      is_stacked_ = true;
    }
    return base::RoundUp(top, alignment);
  }

  // Fills in the bases of the remaining tensors, or the reason why there are none.
  std::optional<base::Diagnostic> PlaceRest(Bytes floor, TiledPlacement& placement) {
    if (!is_free_) {
      rest_.resize(aligned_.size());
      std::iota(rest_.begin(), rest_.end(), size_t{0});
    }
    std::vector<TiledTensor> tensors;
    for (const size_t i : rest_) tensors.push_back(aligned_[i]);
    std::optional<std::vector<Bytes>> best;
    if (is_free_) best = PlaceTileAware(tensors, stop_);
    if (options_.method == OffChip::kPaper && !best)
      placement.reason = is_free_ ? "its tiles are too many, or the search was stopped"
                                  : "the published method knows no given addresses and no reserved "
                                    "ranges";
    if (options_.method == OffChip::kTileAware) {
      if (auto fault = Improve(tensors, floor, best, placement)) return fault;
    }
    if (best) {
      for (size_t i = 0; i < rest_.size(); ++i) bases_[rest_[i]] = floor + (*best)[i];
    }
    return std::nullopt;
  }

  // Searches with the engines for a placement below the best one.
  std::optional<base::Diagnostic> Improve(const std::vector<TiledTensor>& tensors, Bytes floor,
                                          std::optional<std::vector<Bytes>>& best,
                                          TiledPlacement& placement) {
    if (tensors.empty()) return std::nullopt;
    Memory memory = memory_;
    memory.alignment = 1;
    memory.capacity = std::max<Bytes>(0, memory_.capacity - floor);
    problem::TiledProblem tiled = problem::ProblemOfChunks(tensors, memory);
    if (best && PeakOf(tensors, *best) <= problem::GreatestLoad(tensors)) return std::nullopt;
    for (size_t i = 0; !pins_.empty() && i < rest_.size(); ++i)
      tiled.problem.buffers[tiled.first_chunk[i]].offset = pins_[rest_[i]];
    allocate::AllocateOptions allocate;
    allocate.minimize = true;
    if (best) allocate.capacity = std::min(memory.capacity, PeakOf(tensors, *best) - 1);
    allocate.budget = options_.budget;
    allocate.threads = options_.threads;
    allocate.stop = &stop_;
    base::Expected<problem::Result> result =
        allocate::Allocate(tiled.problem, nullptr, 0, options_.engines, allocate);
    if (!result) return result.error();
    if (tiled.exact && !is_stacked_ && !is_pinned_) {
      const bool best_is_least = best && result->status == problem::Status::kInfeasible;
      placement.lower_bound = std::max(
          placement.lower_bound, best_is_least ? *allocate.capacity + 1 : result->lower_bound);
    }
    if (result->allocation) {
      best.emplace();
      for (const size_t chunk : tiled.first_chunk)
        best->push_back(result->allocation->offsets[chunk]);
    } else if (!best) {
      placement.reason = result->reason;
    }
    return std::nullopt;
  }

  const base::Stop never_;
  const Memory& memory_;
  const PlaceOptions& options_;
  const base::Stop& stop_;
  std::vector<std::optional<Bytes>> pins_;
  bool is_pinned_ = false;  // bounds from engines then hold for the given addresses alone
  bool is_free_ = true;
  bool is_stacked_ = false;
  std::vector<TiledTensor> aligned_;  // with the memory's alignment
  std::vector<size_t> rest_;          // tensors that are not stacked
  std::vector<Bytes> bases_;
};

}  // namespace

base::Expected<TiledPlacement> Place(std::span<const TiledTensor> tensors, const Memory& memory,
                                     Pins pins, const PlaceOptions& options) {
  return Placer(memory, pins, options).Run(tensors);
}

}  // namespace tessera::search::off_chip
