#include "tessera/search/allocate/canonical_state.h"

namespace tessera::search {

CanonicalState::CanonicalState(const CanonicalModel& model, Bytes capacity)
    : model_(model), words_(LevelSet(model.Count()).Words().size()) {
  const auto buffers = static_cast<size_t>(model.Count());
  const auto cliques = static_cast<size_t>(model.CliqueCount());
  top_below.assign(buffers, 0);
  offset.assign(buffers, 0);
  level.assign(buffers, -1);
  placed_at.assign(buffers, 0);
  rises.resize(buffers);
  load.assign(cliques, 0);
  floor.assign(cliques, 0);
  candidates.assign(cliques, 0);
  floor_saved_in_.assign(cliques, -1);
  unplaced.assign(cliques, 0);
  crossings.assign(cliques + 1, 0);
  for (int i = 0; i < model.Count(); ++i) {
    const Positions& positions = model.positions[static_cast<size_t>(i)];
    least.push_back(positions.AtLeast(0));
    highest.push_back(capacity - positions.Size());
    for (const int clique : model.cliques_of[i]) {
      load[static_cast<size_t>(clique)] += model.sizes[static_cast<size_t>(i)];
      ++unplaced[static_cast<size_t>(clique)];
    }
    const auto& [first, last] = model.extents[static_cast<size_t>(i)];
    for (int border = first + 1; border < last; ++border) ++crossings[static_cast<size_t>(border)];
  }
  root = least;
}

void CanonicalState::MarkPlaced(int buffer, int at_level) {
  const auto at = static_cast<size_t>(buffer);
  offset[at] = least[at];
  level[at] = at_level;
  placed_at[at] = changes.size();
  least[at] = kNowhere;
  placed_.push_back(buffer);
  for (const int clique : model_.cliques_of[buffer]) {
    load[static_cast<size_t>(clique)] -= model_.sizes[at];
    --unplaced[static_cast<size_t>(clique)];
  }
  const auto& [first, last] = model_.extents[at];
  for (int border = first + 1; border < last; ++border) --crossings[static_cast<size_t>(border)];
}

void CanonicalState::Undo(const Mark& mark) {
  ++decision_;
  for (; saved_.size() > mark.saved; saved_.pop_back()) {
    top_below[static_cast<size_t>(saved_.back().buffer)] = saved_.back().top;
  }
  for (; saved_floors_.size() > mark.saved_floors; saved_floors_.pop_back()) {
    const auto at = static_cast<size_t>(saved_floors_.back().clique);
    floor[at] = saved_floors_.back().floor;
    candidates[at] = saved_floors_.back().candidates;
  }
  // A buffer is never raised once placed, so its offset is the bound from which earlier ones are taken back.
  for (; placed_.size() > mark.placed; placed_.pop_back()) {
    const int buffer = placed_.back();
    const auto at = static_cast<size_t>(buffer);
    least[at] = offset[at];
    level[at] = -1;
    for (const int clique : model_.cliques_of[buffer]) {
      load[static_cast<size_t>(clique)] += model_.sizes[at];
      ++unplaced[static_cast<size_t>(clique)];
    }
    const auto& [first, last] = model_.extents[at];
    for (int border = first + 1; border < last; ++border) ++crossings[static_cast<size_t>(border)];
  }
  for (; changes.size() > mark.changes; changes.pop_back()) {
    const auto at = static_cast<size_t>(changes.back().buffer);
    least[at] = changes.back().before;
    rises[at].pop_back();
  }
  delayed.resize(mark.delayed);
  reasons_.resize(mark.delayed * words_);
}

void CanonicalState::FixRoot() {
  changes.clear();
  saved_.clear();
  saved_floors_.clear();
  for (std::vector<Rise>& rise : rises) rise.clear();
  root = least;
}

}  // namespace tessera::search
