// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/stop.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/partition/choices/interval_choices.h"

// Finds choices for a first plan if a stop came before there was one: those of a previous plan, and
// for each operator a tile that fits, in little time. Because the stop has come, engines are not
// called (ExpandAsBefore) or are called with another stop (ExpandInHaste).
namespace tessera::search::partition::choices {

void IntervalChoices::ExpandAsBefore() {
  const graph::tiling::TileShape* tile =
      context_->previous == nullptr ? nullptr : context_->previous->TileOf(interval_);
  if (tile == nullptr || encoder::program::CheckWellFormed(context_->graph, interval_, *tile))
    return;
  std::unique_ptr<Expanded> priced;
  if (!IsFormulated()) {
    priced = std::move(expanded_);
    BeginInHaste();
  }
  if (expanded_->refusal) return;
  const auto is_as_before = [this](const Choice& choice) { return ChangeOf(choice) == 0; };
  // The stop may have come before the tile, which is tried already, was formulated.
  if (std::none_of(expanded_->choices.begin(), expanded_->choices.end(), is_as_before)) {
    const base::Stop never;
    AddShapes({*tile}, never);
    DropConfigs();
  }
  base::Stop ended;
  ended.Request();
  bool fits = false;
  for (size_t i = 0; i < expanded_->choices.size(); ++i) {
    if (!is_as_before(expanded_->choices[i])) continue;
    Decide(i, ended);
    fits = fits || expanded_->choices[i].verdict == ChoiceStatus::kFits;
  }
  if (!fits && priced) expanded_ = std::move(priced);
}

void IntervalChoices::BeginInHaste() {
  base::FreeUnlessAtEnd(std::move(expanded_), context_->stop);
  expanded_ = std::make_unique<Expanded>(Grid(Cut()));
  expanded_->formulated = true;
  expanded_->lost_shapes = true;
}

// Tries the shapes that a search begins with; the others only if none of these fits, and later axes
// only if no shape fits.
void IntervalChoices::ExpandInHaste(const base::Stop& stop) {
  BeginInHaste();
  if (FindsOneThatFits(FirstShapes(), stop) || stop.Requested() ||
      FindsOneThatFits(expanded_->shapes.Rest(kFewShapes), stop) || stop.Requested() ||
      has_every_axis_)
    return;
  if (!FindsOneThatFits(TakeEveryAxis(), stop) && !stop.Requested())
    FindsOneThatFits(expanded_->shapes.Rest(kFewShapes), stop);
}

// Tries shapes with few tiles first. Of those cut along the same axes, each next one has at least
// half as many tiles again as the last, which reaches small tiles soon.
bool IntervalChoices::FindsOneThatFits(std::vector<graph::tiling::TileShape> tiles,
                                       const base::Stop& stop) {
  struct Shape {
    int64_t tiles = 1;
    uint64_t axes = 0;  // that are cut, a bit each
    graph::tiling::TileShape tile;
  };
  std::vector<Shape> shapes;
  const graph::Operator& last = context_->graph.operators[static_cast<size_t>(interval_.last)];
  const graph::Shape& output =
      context_->graph.tensors[static_cast<size_t>(last.outputs.front())].shape;
  for (graph::tiling::TileShape& tile : tiles) {
    Shape& shape = shapes.emplace_back();
    for (size_t axis = 0; axis < tile.size(); ++axis) {
      shape.tiles *= base::CeilDiv(output[axis], tile[axis]);
      if (tile[axis] < output[axis]) shape.axes |= uint64_t{1} << axis;
    }
    shape.tile = std::move(tile);
  }
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const Shape& a, const Shape& b) { return a.tiles < b.tiles; });
  std::map<uint64_t, int64_t> tried;  // tiles, by axes
  int64_t looked_at = 0;
  for (const Shape& shape : shapes) {
    int64_t& before = tried[shape.axes];
    if (2 * shape.tiles < 3 * before) continue;
    before = shape.tiles;
    looked_at += shape.tiles;
    if (looked_at > kFewTiles || expanded_->refusal || stop.Requested()) return false;
    const size_t first = expanded_->choices.size();
    AddShapes({shape.tile}, stop);
    DropConfigs();
    for (size_t i = first; i < expanded_->choices.size(); ++i) {
      Decide(i, stop);
      if (expanded_->choices[i].verdict == ChoiceStatus::kFits) return true;
    }
  }
  return false;
}

}  // namespace tessera::search::partition::choices
