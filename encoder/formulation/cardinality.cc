// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/formulation/cardinality.h"

#include <algorithm>
#include <map>
#include <vector>

namespace tessera::encoder::formulation {

// The sequential counter (Sinz, CP 2005): count[k] after literal i means "more than k of the first
// i + 1 hold".
//
//     literals      x0      x1      x2      x3
//     count > 0     o ----- o ----- o -.
//     count > 1             o ----- o -+--> ~x3
//
// Each step carries the counts on and adds its literal to them. A literal that would raise the
// count above the limit is false. So unit propagation alone makes the rest false as soon as `most`
// literals hold.
void AddAtMost(ClauseSink& sink, std::span<const Literal> literals, int most, const Tally& tally) {
  std::vector<Literal> open;  // constants reduce the limit
  for (const Literal literal : literals) {
    if (literal == kTrue) --most;
    if (literal != kTrue && literal != kFalse) open.push_back(literal);
  }
  if (most < 0) return sink.Add({});
  if (open.size() <= static_cast<size_t>(most)) return;
  if (most == 0) {
    for (const Literal literal : open) sink.Add({~literal});
    return;
  }
  const auto limit = static_cast<size_t>(most);
  std::vector<Literal> count(limit, kFalse);
  for (size_t i = 0; i < open.size(); ++i) {
    sink.Add({~open[i], ~count[limit - 1]});
    if (i + 1 == open.size()) break;
    std::vector<Literal> next(limit, kFalse);
    for (size_t k = 0; k < std::min(limit, i + 1); ++k) {
      next[k] = sink.NewVariable();
      if (tally) sink.Explain(next[k], tally(static_cast<int>(k) + 1, static_cast<int>(i) + 1));
      sink.Add({~count[k], next[k]});
      sink.Add({~open[i], k == 0 ? kFalse : ~count[k - 1], next[k]});
    }
    count = std::move(next);
  }
}

// A decision diagram, written as clauses (Een and Sorensson 2006; Abio et al. 2012)
// ---------------------------------------------------------------------------------
// Terms are decided in sequence, the heaviest first. A node represents the rest of the limit; it
// holds if the terms below it respect that rest:
//
//     left 9      5 a + 4 b + 3 c <= 9
//       |   \            a:  left 4             each node n, with child h if its literal holds and
//       |    '---------.                        child l if not:
//     left 9 (true)    left 4 -- b --> left 0 ...     n and literal -> h        n -> l
//
// A node with enough space for all remaining terms is true and needs no clause; one with a negative
// rest is false. Nodes of one level for which the same subsets of the remaining terms fit are one
// node. Each is stored with the interval of `left` for which this holds, from the greatest sum of
// the remaining terms that fits to just below the least that does not. So equal sizes collapse.
// Only implications downwards are written, because no query asks whether a sum is exceeded. They
// are arc consistent, because a node implies its children.

namespace {

constexpr int64_t kFar = int64_t{1} << 62;

struct Node {
  Literal literal;
  int64_t least;  // the least rest for which the node is the same...
  int64_t most;   // ... and the greatest
};

class Diagram {
 public:
  Diagram(ClauseSink& sink, std::vector<Weighted> terms, size_t most_nodes)
      : sink_(sink),
        terms_(std::move(terms)),
        rest_(terms_.size() + 1, 0),
        nodes_(terms_.size()),
        most_(most_nodes) {
    for (size_t k = terms_.size(); k-- > 0;) rest_[k] = rest_[k + 1] + terms_[k].weight;
  }

  // Whether the diagram is small enough. Writes nothing.
  bool Fits(int64_t limit) {
    Visit(0, limit, /*write=*/false);
    const bool fits = count_ <= most_;
    for (auto& level : nodes_) level.clear();
    return fits;
  }

  void Write(int64_t limit) { sink_.Add({Visit(0, limit, /*write=*/true).literal}); }

 private:
  Node Visit(size_t level, int64_t left, bool write) {
    if (left < 0) return {kFalse, -kFar, -1};
    if (rest_[level] <= left) return {kTrue, rest_[level], kFar};
    const auto known = nodes_[level].lower_bound(left);  // by `most`
    if (known != nodes_[level].end() && known->second.least <= left) return known->second;
    if (!write && ++count_ > most_) return {kFalse, left, left};
    const Weighted& term = terms_[level];
    const Node without = Visit(level + 1, left, write);
    const Node with = Visit(level + 1, left - term.weight, write);
    Node node{kTrue, std::max(without.least, with.least + term.weight),
              std::min(without.most, with.most == kFar ? kFar : with.most + term.weight)};
    if (write) {
      node.literal = sink_.NewVariable();
      sink_.Add({~node.literal, without.literal});
      sink_.Add({~node.literal, ~term.literal, with.literal});
    }
    nodes_[level].emplace(node.most, node);
    return node;
  }

  ClauseSink& sink_;
  std::vector<Weighted> terms_;
  std::vector<int64_t> rest_;                   // the weights from a level on
  std::vector<std::map<int64_t, Node>> nodes_;  // by level and `most`
  size_t most_;
  size_t count_ = 0;
};

}  // namespace

bool AddSumAtMost(ClauseSink& sink, std::span<const Weighted> terms, int64_t limit,
                  size_t most_nodes) {
  std::vector<Weighted> open;
  for (const Weighted& term : terms) {
    if (term.literal == kTrue) limit -= term.weight;
    if (term.literal != kTrue && term.literal != kFalse) open.push_back(term);
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const Weighted& a, const Weighted& b) { return a.weight > b.weight; });
  Diagram diagram(sink, std::move(open), most_nodes);
  if (!diagram.Fits(limit)) return false;
  diagram.Write(limit);
  return true;
}

}  // namespace tessera::encoder::formulation
