// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/random.h"
#include "tessera/search/allocate/composite_session.h"
#include "tessera/search/engines/canonical/canonical.h"

// Composites interlock, so "each rests on another" implies no order in which to place them: a low
// one may rest on a high one. The search therefore decides distances. A node holds for each
// composite the range of its base, and for each pair the range of d = base(b) - base(a):
//
//     d   [ least .....######......####........ most ]      #: forbidden for the pair
//
// Propagation moves `least` and `most` out of forbidden ranges and keeps bases consistent with
// them (bounds consistency of difference constraints). If the least bases of all composites make no
// pair collide, they are a placement. Otherwise a pair that collides there is divided at its
// forbidden range: d lies below it, or above it. Every placement lies on one of the two sides, so
// an exhausted search proves that there is none. Each division removes a forbidden range of a pair
// for good, so the search ends.
//
// Pairs that made propagation fail gain weight, and the heaviest collision is divided first
// (Boussemart et al., "Boosting systematic search by weighting constraints", 2004). Weights survive
// restarts, whose lengths follow Luby's sequence.
namespace tessera::search::engines::canonical {

using allocate::Composite;
using allocate::Composites;
using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

struct Bounds {
  Bytes least = 0;
  Bytes most = 0;
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

struct Node {
  std::vector<Bounds> bases;      // by composite
  std::vector<Bounds> distances;  // by pair
};

enum class Outcome : uint8_t { kPlaced, kExhausted, kLimit, kStopped };

class DistanceSearch {
 public:
  DistanceSearch(const Composites& composites, uint64_t seed)
      : composites_(composites), seed_(seed), pairs_of_(composites.all.size()) {
    for (size_t a = 0; a < composites.all.size(); ++a) {
      for (const Composites::Neighbour& neighbour : composites.neighbours[a]) {
        const auto b = static_cast<size_t>(neighbour.other);
        if (b < a) continue;
        const auto size =
            static_cast<double>(std::min(composites.all[a].extent, composites.all[b].extent));
        for (const size_t end : {a, b}) pairs_of_[end].push_back(pairs_.size());
        pairs_.push_back({a, b, &neighbour.forbidden, size});
        largest_ = std::max(largest_, size);
      }
    }
  }

  // Searches with restarts. `nodes` is reduced by the work.
  Outcome Search(Bytes capacity, int64_t& nodes, const base::Stop& stop) {
    Node root;
    stop_ = &stop;
    stopped_ = false;
    if (!OpenRoot(capacity, root)) return Outcome::kExhausted;
    for (int64_t round = 1;; ++round) {
      left_ = std::min(nodes, base::Luby(round) * kFirstLimit);
      const bool is_last = left_ == nodes;
      nodes -= left_;
      base::Random random(seed_ + static_cast<uint64_t>(rounds_));
      for (Pair& pair : pairs_) pair.shake = rounds_ == 0 ? 0 : random.Real();
      ++rounds_;
      Node node = root;
      const Outcome outcome = Descend(std::move(node), 1);
      nodes += std::max<int64_t>(left_, 0);
      if (stopped_) return Outcome::kStopped;
      if (outcome != Outcome::kLimit || is_last) return outcome;
    }
  }

  const std::vector<Bytes>& Bases() const { return bases_; }

 private:
  struct Pair {
    size_t a = 0;
    size_t b = 0;
    const allocate::RangeList* forbidden = nullptr;  // of base(b) - base(a)
    double size = 0;
    double weight = 0;
    double shake = 0;  // breaks ties differently in each round
  };

  static constexpr size_t kMostHeld = size_t{1} << 24;  // bounds of the nodes on a path
  static constexpr int64_t kFirstLimit = 200;           // nodes of the first round
  static constexpr int64_t kRevisionsPerNode = 1'000;   // of pairs, counted as a node

  // Returns false if some composite has no base or propagation fails.
  bool OpenRoot(Bytes capacity, Node& node) {
    for (size_t i = 0; i < composites_.all.size(); ++i) {
      const Composite& composite = composites_.all[i];
      Bounds bounds = {composite.fixed.value_or(0),
                       composite.fixed.value_or(capacity - composite.extent)};
      bounds.most = std::min(bounds.most, capacity - composite.extent);
      if (bounds.most < 0 || !Tighten(i, bounds)) return false;
      node.bases.push_back(bounds);
    }
    constexpr Bytes kFar = allocate::kNoPosition;
    node.distances.assign(pairs_.size(), Bounds{-kFar, kFar});
    std::vector<size_t> all(composites_.all.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    left_ = std::numeric_limits<int64_t>::max();
    return Propagate(node, std::move(all));
  }

  // Rounds the bounds of a base to the alignment and out of reserved ranges. Returns false if no
  // base is left.
  bool Tighten(size_t number, Bounds& bounds) const {
    const Composite& composite = composites_.all[number];
    const allocate::RangeList& blocked = composites_.blocked[number];
    for (Bytes before = -1; before != bounds.least;) {
      before = bounds.least;
      bounds.least = allocate::NextOutside(blocked, composite.AlignUp(bounds.least));
    }
    for (Bytes before = -1; before != bounds.most && bounds.most >= 0;) {
      before = bounds.most;
      bounds.most = allocate::LastOutside(blocked, composite.AlignDown(bounds.most));
    }
    return bounds.least <= bounds.most;
  }

  // Propagates to a fixpoint, from composites whose bounds changed. Returns false if a pair has no
  // distance left or a composite has no base left.
  bool Propagate(Node& node, std::vector<size_t> changed) {
    std::vector<char> waits(composites_.all.size(), 0);
    for (const size_t i : changed) waits[i] = 1;
    for (size_t next = 0; next < changed.size(); ++next) {
      const size_t at = changed[next];
      waits[at] = 0;
      for (const size_t number : pairs_of_[at]) {
        if (++revisions_ % kRevisionsPerNode == 0 && !Continues()) return true;
        Pair& pair = pairs_[number];
        const Bounds a = node.bases[pair.a], b = node.bases[pair.b];
        if (!Revise(pair, node.distances[number], node.bases[pair.a], node.bases[pair.b])) {
          pair.weight += 1;
          return false;
        }
        for (const auto& [end, before] : {std::pair(pair.a, a), std::pair(pair.b, b)}) {
          if (node.bases[end] == before || waits[end] != 0) continue;
          waits[end] = 1;
          changed.push_back(end);
        }
      }
    }
    return true;
  }

  bool Revise(const Pair& pair, Bounds& distance, Bounds& a, Bounds& b) const {
    distance.least =
        allocate::NextOutside(*pair.forbidden, std::max(distance.least, b.least - a.most));
    distance.most =
        allocate::LastOutside(*pair.forbidden, std::min(distance.most, b.most - a.least));
    if (distance.least > distance.most) return false;
    Bounds first = {std::max(a.least, b.least - distance.most),
                    std::min(a.most, b.most - distance.least)};
    Bounds second = {std::max(b.least, a.least + distance.least),
                     std::min(b.most, a.most + distance.most)};
    if (!(first == a) && !Tighten(pair.a, first)) return false;
    if (!(second == b) && !Tighten(pair.b, second)) return false;
    a = first;
    b = second;
    return true;
  }

  // The pair to divide, and its forbidden range at the least bases.
  struct Collision {
    size_t pair = 0;
    problem::AddressRange range;
  };

  std::optional<Collision> FindCollision(const Node& node) const {
    std::optional<Collision> found;
    double best = -1;
    for (size_t number = 0; number < pairs_.size(); ++number) {
      const Pair& pair = pairs_[number];
      const Bytes d = node.bases[pair.b].least - node.bases[pair.a].least;
      const Bytes end = allocate::NextOutside(*pair.forbidden, d);
      if (end == d) continue;
      const double score = (1 + pair.weight) * (pair.size / largest_ + pair.shake);
      if (score <= best) continue;
      best = score;
      found = Collision{number, {allocate::LastOutside(*pair.forbidden, d) + 1, end}};
    }
    return found;
  }

  // Counts a node. Returns false at the limit and after a stop.
  bool Continues() {
    stopped_ = stopped_ || (left_ % kNodesPerLook == 0 && stop_->Requested());
    if (stopped_) left_ = 0;
    return --left_ > 0;
  }

  // Searches the side that raises bases less first. kLimit also stands for a stop, and for a search
  // so deep that the nodes on the path need too much memory.
  Outcome Descend(Node node, size_t depth) {
    if (depth * (pairs_.size() + composites_.all.size()) > kMostHeld) return Outcome::kLimit;
    while (true) {
      if (!Continues()) return Outcome::kLimit;
      const std::optional<Collision> collision = FindCollision(node);
      if (!collision) {
        bases_.clear();
        for (const Bounds& bounds : node.bases) bases_.push_back(bounds.least);
        return Outcome::kPlaced;
      }
      const Pair& pair = pairs_[collision->pair];
      const Bytes d = node.bases[pair.b].least - node.bases[pair.a].least;
      const bool raises_b = collision->range.end - d <= d - collision->range.begin + 1;
      Node child = node;
      if (Enter(child, *collision, raises_b)) {
        const Outcome outcome = Descend(std::move(child), depth + 1);
        if (outcome != Outcome::kExhausted) return outcome;
      }
      if (left_ <= 0) return Outcome::kLimit;
      if (!Enter(node, *collision, !raises_b))
        return left_ <= 0 ? Outcome::kLimit : Outcome::kExhausted;
    }
  }

  // Returns false if the side is empty. The caller detects a limit within propagation.
  bool Enter(Node& node, const Collision& collision, bool above) {
    const Pair& pair = pairs_[collision.pair];
    Bounds& distance = node.distances[collision.pair];
    if (above) {
      distance.least = std::max(distance.least, collision.range.end);
    } else {
      distance.most = std::min(distance.most, collision.range.begin - 1);
    }
    return Propagate(node, {pair.a});
  }

  static constexpr int64_t kNodesPerLook = 16;

  const Composites& composites_;
  uint64_t seed_;
  std::vector<Pair> pairs_;
  std::vector<std::vector<size_t>> pairs_of_;  // by composite
  double largest_ = 1;
  int64_t rounds_ = 0;
  int64_t revisions_ = 0;
  int64_t left_ = 0;  // nodes of this round
  const base::Stop* stop_ = nullptr;
  bool stopped_ = false;
  std::vector<Bytes> bases_;
};

class CompositeSearch final : public allocate::CompositeSession {
 public:
  CompositeSearch(const Problem& problem, const problem::Ladder* ladder, uint64_t seed)
      : allocate::CompositeSession("canonical", problem, ladder), seed_(seed) {}

 private:
  void Restart(size_t memories) override {
    searches_.clear();
    searches_.resize(memories);
  }

  std::optional<std::vector<Bytes>> Place(size_t memory, const Composites& composites,
                                          Bytes capacity, int64_t units, const base::Stop& stop,
                                          Result& result) override {
    std::optional<DistanceSearch>& search = searches_[memory];
    if (!search) search.emplace(composites, seed_);
    int64_t left = units;
    const Outcome outcome = search->Search(capacity, left, stop);
    result.statistics.nodes += units - left;
    switch (outcome) {
      case Outcome::kPlaced:
        return search->Bases();
      case Outcome::kExhausted:
        result.status = Status::kInfeasible;
        result.reason = "canonical search exhausted every distance in memory '" +
                        Sized().memories[memory].name + "' of " + std::to_string(capacity) +
                        " bytes";
        break;
      case Outcome::kLimit:
        result.reason = "canonical search reached its limit of " + std::to_string(units) + " nodes";
        break;
      case Outcome::kStopped:
        result.reason = "canonical search was stopped";
        break;
    }
    return std::nullopt;
  }

  uint64_t seed_;
  std::vector<std::optional<DistanceSearch>> searches_;  // for the current sizes, by memory
};

}  // namespace

std::unique_ptr<problem::Session> OpenCompositeSearch(const Problem& problem,
                                                      const problem::Ladder* ladder,
                                                      uint64_t seed) {
  return std::make_unique<CompositeSearch>(problem, ladder, seed);
}

}  // namespace tessera::search::engines::canonical
