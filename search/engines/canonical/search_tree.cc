// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/canonical/search_tree.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tessera/base/random.h"

namespace tessera::search::engines::canonical {

namespace {

using Key = std::array<double, 3>;

// Returns the sort key of a buffer. Measures are perturbed; points in time are not, because only
// their order matters.
Key KeyOf(const problem::Problem& problem, const allocate::ConflictModel& model,
          CanonicalStrategy strategy, int i, const std::vector<problem::Bytes>& loads,
          double shake) {
  const problem::Buffer& buffer =
      problem.buffers[static_cast<size_t>(model.buffers[static_cast<size_t>(i)])];
  double lifetime = 0;
  for (const problem::Lifespan& life : buffer.lifespans)
    lifetime += static_cast<double>(life.upper - life.lower);
  problem::Bytes greatest_load = 0;
  for (const int clique : model.cliques_of[i]) {
    greatest_load = std::max(greatest_load, loads[static_cast<size_t>(clique)]);
  }
  const double size = shake * static_cast<double>(buffer.size);
  const double sections = shake * static_cast<double>(model.cliques_of[i].size());
  const double load = shake * static_cast<double>(greatest_load);
  switch (strategy.order) {
    case CanonicalOrder::kSectionsAreaLoad:
      return {sections, lifetime * size, load};
    case CanonicalOrder::kSizeSectionsLoad:
      return {size, sections, load};
    case CanonicalOrder::kEndSize:
      return {strategy.direction == Direction::kForwards
                  ? static_cast<double>(buffer.lifespans.back().upper)
                  : -static_cast<double>(buffer.lifespans.front().lower),
              size, 0};
  }
  return {};
}

}  // namespace

std::vector<int> RankBuffers(const problem::Problem& problem, const allocate::ConflictModel& model,
                             CanonicalStrategy strategy, uint64_t seed) {
  std::vector<problem::Bytes> loads;
  for (int clique = 0; clique < model.CliqueCount(); ++clique) {
    problem::Bytes load = 0;
    for (const int i : model.members[clique]) load += model.sizes[static_cast<size_t>(i)];
    loads.push_back(load);
  }
  base::Random random(seed);
  std::vector<Key> keys;
  for (int i = 0; i < model.Count(); ++i) {
    const double shake = seed == 0 ? 1.0 : 0.7 + 0.6 * random.Real();
    keys.push_back(KeyOf(problem, model, strategy, i, loads, shake));
  }
  std::vector<int> sequence(keys.size());
  std::iota(sequence.begin(), sequence.end(), 0);
  std::sort(sequence.begin(), sequence.end(), [&](int a, int b) {
    const Key& key = keys[static_cast<size_t>(a)];
    const Key& other = keys[static_cast<size_t>(b)];
    return key != other ? key > other : a < b;
  });
  std::vector<int> ranks(keys.size());
  for (size_t rank = 0; rank < sequence.size(); ++rank) {
    ranks[static_cast<size_t>(sequence[rank])] = static_cast<int>(rank);
  }
  return ranks;
}

bool FailureCache::Holds(std::span<const problem::Bytes> state) const {
  const std::vector<problem::Bytes>& slot = slots_[SlotOf(state)];
  return !slot.empty() && std::equal(slot.begin(), slot.end(), state.begin(), state.end());
}

void FailureCache::Insert(std::span<const problem::Bytes> state) {
  std::vector<problem::Bytes>& slot = slots_[SlotOf(state)];
  if (words_ - slot.size() + state.size() > kMostWords) return;
  words_ += state.size() - slot.size();
  slot.assign(state.begin(), state.end());
  slot.shrink_to_fit();
}

size_t FailureCache::SlotOf(std::span<const problem::Bytes> state) {
  uint64_t hash = state.size();
  for (const problem::Bytes word : state) {
    hash = (hash ^ static_cast<uint64_t>(word)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29;
  }
  return static_cast<size_t>(hash % kSlots);
}

CanonicalTree::CanonicalTree(const allocate::ConflictModel& model, problem::Bytes capacity,
                             const CanonicalOptions& options)
    : model_(model),
      options_(options),
      capacity_(capacity),
      state_(model, capacity),
      propagator_(model, state_, capacity, options, work_) {
  contradiction_ =
      !model.contradiction.empty() || model.fixed_top > capacity || !propagator_.Start();
}

TreeOutcome CanonicalTree::Search(const std::vector<int>& ranks, Direction direction, int64_t limit,
                                  const base::Stop& stop) {
  work_ = base::PolledWork(&stop, kWorkBetweenStops);
  if (contradiction_) return TreeOutcome::kExhausted;
  state_.Undo(Mark{});
  direction_ = direction;
  decisions_.clear();
  ranges_ = {{0, model_.CliqueCount(), -1}};
  open_ = 0;
  SplitOpenRange(0, model_.CliqueCount());
  for (int64_t nodes = 0;; ++nodes) {
    const int buffer = Select(ranks);
    if (buffer < 0) return TreeOutcome::kPlaced;
    if (nodes >= limit) return TreeOutcome::kLimit;
    if (!work_.Continues(WorkOfNode())) return TreeOutcome::kStopped;
    ++statistics_.nodes;
    remembers_ = options_.cache && nodes >= options_.cache_after;
    if (remembers_ && !cache_) cache_.emplace();
    const bool failed = (remembers_ && IsKnownToFail()) || !Decide(buffer);
    const bool exhausted = failed && !work_.IsCutOff() && !Backtrack();
    if (work_.IsCutOff()) return TreeOutcome::kStopped;
    if (exhausted) return TreeOutcome::kExhausted;
  }
}

// Returns the work of a node, which considers all cliques and, to place a buffer, all buffers.
// Repetitions in propagation are counted there.
int64_t CanonicalTree::WorkOfNode() const {
  return std::max<int64_t>(model_.Count() + model_.CliqueCount() + 1, kLeastWorkOfNode);
}

int CanonicalTree::Select(const std::vector<int>& ranks) {
  for (; open_ >= 0; open_ = ranges_[static_cast<size_t>(open_)].next) {
    const int buffer = SelectIn(ranges_[static_cast<size_t>(open_)], ranks);
    if (buffer >= 0) return buffer;
  }
  return -1;
}

// Returns the clique on the lowest floor; among those, one with the fewest candidates, then with
// the least slack; -1 if none is open.
int CanonicalTree::SelectClique(const OpenRange& range) const {
  int best = -1;
  problem::Bytes best_slack = 0;
  const int step = direction_ == Direction::kForwards ? 1 : -1;
  int clique = step > 0 ? range.first : range.last - 1;
  for (int left = range.last - range.first; left > 0; --left, clique += step) {
    const auto at = static_cast<size_t>(clique);
    if (state_.unplaced[at] == 0) continue;
    const problem::Bytes slack =
        capacity_ - state_.floor[at] - state_.load[at] - BlockedAbove(clique, state_.floor[at]);
    const auto better = [&] {
      const auto rival = static_cast<size_t>(best);
      if (state_.floor[at] != state_.floor[rival]) return state_.floor[at] < state_.floor[rival];
      if (state_.candidates[at] != state_.candidates[rival])
        return state_.candidates[at] < state_.candidates[rival];
      return slack < best_slack;
    };
    if (best >= 0 && !better()) continue;
    best = clique;
    best_slack = slack;
  }
  return best;
}

problem::Bytes CanonicalTree::BlockedAbove(int clique, problem::Bytes floor) const {
  problem::Bytes bytes = 0;
  for (const problem::AddressRange& range : model_.blocked[static_cast<size_t>(clique)])
    bytes +=
        std::max<problem::Bytes>(0, std::min(range.end, capacity_) - std::max(range.begin, floor));
  return bytes;
}

int CanonicalTree::SelectIn(const OpenRange& range, const std::vector<int>& ranks) const {
  const int best = SelectClique(range);
  if (best < 0) return -1;
  int chosen = -1;
  for (const int i : model_.members[best]) {
    if (state_.least[static_cast<size_t>(i)] != state_.floor[static_cast<size_t>(best)]) continue;
    if (chosen < 0 || ranks[static_cast<size_t>(i)] < ranks[static_cast<size_t>(chosen)])
      chosen = i;
  }
  return chosen;
}

bool CanonicalTree::Decide(int buffer) {
  const int level = static_cast<int>(decisions_.size());
  decisions_.push_back({buffer, state_.BeginDecision(), open_, ranges_.size()});
  if (!propagator_.Place(buffer, level)) return false;
  const auto& [first, last] = model_.extents[static_cast<size_t>(buffer)];
  SplitOpenRange(first, last);
  return true;
}

// Undoes decisions until one that contributed to the failure can be turned into a valid delay.
// Returns false if there is none, and after a stop.
bool CanonicalTree::Backtrack() {
  LevelSet& blamed = propagator_.Analysis().Levels();
  ++statistics_.conflicts;
  while (!decisions_.empty()) {
    const Decision decision = decisions_.back();
    decisions_.pop_back();
    state_.Undo(decision.mark);
    ranges_.resize(decision.open_ranges);
    open_ = decision.open;
    const int level = static_cast<int>(decisions_.size());
    if (options_.backjumping && !blamed.Has(level)) continue;
    blamed.Remove(level);
    ++statistics_.backtracks;
    if (!work_.Continues(WorkOfNode())) return false;
    if (DelayAndRemember(decision.buffer)) return true;
    if (work_.IsCutOff()) return false;
  }
  return false;
}

// Delays the buffer whose placement failed. If that fails too, stores the state in which the buffer
// was selected.
bool CanonicalTree::DelayAndRemember(int buffer) {
  if (!remembers_) return propagator_.Delay(buffer);
  DescribeState();
  const bool holds = propagator_.Delay(buffer);
  if (!holds && !work_.IsCutOff()) cache_->Insert(described_);
  return holds;
}

// Returns whether the state is stored as failed. If so, blames the decisions that determine the
// unplaced buffers of the open range.
bool CanonicalTree::IsKnownToFail() {
  DescribeState();
  if (!cache_->Holds(described_)) return false;
  ConflictAnalysis& analysis = propagator_.Analysis();
  analysis.Levels().Clear();
  for (size_t i = 0; i < described_.size(); i += 3) {
    const int buffer = static_cast<int>(described_[i]);
    analysis.Need(buffer, described_[i + 1]);
    static_cast<void>(work_.Continues(static_cast<int64_t>(model_.neighbours[buffer].size())));
    for (const int e : model_.neighbours[buffer]) {
      if (state_.IsPlaced(e)) analysis.Levels().Add(state_.level[static_cast<size_t>(e)]);
    }
  }
  analysis.Resolve();
  return true;
}

// Lists the number, the least offset and the real top below of each unplaced buffer in the open
// range.
void CanonicalTree::DescribeState() {
  const OpenRange& range = ranges_[static_cast<size_t>(open_)];
  described_.clear();
  for (int i = 0; i < model_.Count(); ++i) {
    const auto at = static_cast<size_t>(i);
    const auto& extent = model_.extents[at];
    if (state_.IsPlaced(i) || extent.first < range.first || extent.second > range.last) continue;
    described_.insert(described_.end(), {i, state_.least[at], state_.top_below[at]});
  }
}

int CanonicalTree::CountUnplaced(int first, int last) const {
  int count = 0;
  for (int i = 0; i < model_.Count(); ++i) {
    const auto& extent = model_.extents[static_cast<size_t>(i)];
    if (!state_.IsPlaced(i) && first <= extent.first && extent.second <= last) ++count;
  }
  return count;
}

// Replaces the range at the head of the list by its independent parts, the one with the fewest
// buffers first, because it fails soonest. Considers only boundaries between cliques first and
// last.
void CanonicalTree::SplitOpenRange(int first, int last) {
  if (!options_.decomposition) return;
  const OpenRange range = ranges_[static_cast<size_t>(open_)];
  std::vector<int> boundaries;
  for (int boundary = std::max(first, range.first) + 1; boundary < std::min(last, range.last);
       ++boundary) {
    if (state_.crossings[static_cast<size_t>(boundary)] == 0) boundaries.push_back(boundary);
  }
  if (boundaries.empty()) return;
  boundaries.insert(boundaries.begin(), range.first);
  boundaries.push_back(range.last);

  struct Part {
    int buffers;
    int first;
    int last;
  };
  std::vector<Part> parts;
  for (size_t i = 0; i + 1 < boundaries.size(); ++i) {
    const int buffers = CountUnplaced(boundaries[i], boundaries[i + 1]);
    if (buffers > 0) parts.push_back({buffers, boundaries[i], boundaries[i + 1]});
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::pair(a.buffers, a.first) > std::pair(b.buffers, b.first);
  });
  open_ = range.next;
  for (const Part& part : parts) {
    ranges_.push_back({part.first, part.last, open_});
    open_ = static_cast<int>(ranges_.size()) - 1;
  }
}

}  // namespace tessera::search::engines::canonical
