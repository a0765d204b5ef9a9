// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/packing.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/structure.h"

namespace tessera::search::engines::lazy {

namespace {

constexpr int64_t kPairsPerLook = 1 << 16;  // between two polls of the stop

using Members = std::vector<int>;
using Conflict = std::function<bool(int, int)>;

struct Event {
  problem::Step step = 0;
  bool enters = false;  // leaving events first: lifespans are half-open
  int buffer = 0;
  friend bool operator<(const Event& a, const Event& b) {
    return std::tie(a.step, a.enters, a.buffer) < std::tie(b.step, b.enters, b.buffer);
  }
};

// Returns the sets of buffers alive just before a buffer leaves after another one entered. Between
// two such moments the set only grows or only shrinks, so no other set can be maximal.
std::vector<Members> FindLiveSets(const problem::Problem& problem, int memory) {
  std::vector<Event> events;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].memory != memory) continue;
    for (const problem::Lifespan& life : problem.buffers[i].lifespans) {
      events.push_back({life.lower, true, static_cast<int>(i)});
      events.push_back({life.upper, false, static_cast<int>(i)});
    }
  }
  std::sort(events.begin(), events.end());
  std::vector<Members> live_sets;
  std::set<int> alive;
  bool grew = false;
  for (const Event& event : events) {
    if (!event.enters && grew) live_sets.emplace_back(alive.begin(), alive.end());
    grew = event.enters;
    event.enters ? static_cast<void>(alive.insert(event.buffer))
                 : static_cast<void>(alive.erase(event.buffer));
  }
  return live_sets;
}

void AddCliques(const problem::Problem& problem, const Members& live_set, const Conflict& conflict,
                const base::Stop& stop, std::vector<Members>& sections) {
  Members by_size = live_set;
  std::stable_sort(by_size.begin(), by_size.end(), [&](int a, int b) {
    return problem.buffers[static_cast<size_t>(a)].size >
           problem.buffers[static_cast<size_t>(b)].size;
  });
  for (const int seed : live_set) {
    if (stop.Requested()) return;
    sections.push_back(allocate::GrowClique(by_size, seed, conflict));
  }
}

// Returns false after a stop.
bool IsClique(const Members& live_set, const Conflict& conflict, base::PolledWork& work) {
  for (size_t a = 0; a < live_set.size(); ++a) {
    if (!work.Continues(static_cast<int64_t>(live_set.size() - a))) return false;
    for (size_t b = a + 1; b < live_set.size(); ++b) {
      if (!conflict(live_set[a], live_set[b])) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<Members> FindSections(const problem::Problem& problem, int memory,
                                  const Conflict& conflict, const base::Stop& stop) {
  std::vector<Members> sections;
  base::PolledWork work(&stop, kPairsPerLook);
  for (const Members& live_set : FindLiveSets(problem, memory)) {
    const bool is_clique = IsClique(live_set, conflict, work);
    if (work.IsCutOff() || stop.Requested()) return sections;
    if (is_clique) {
      sections.push_back(live_set);
    } else {
      AddCliques(problem, live_set, conflict, stop, sections);
    }
  }
  std::set<Members> seen;
  std::erase_if(sections, [&](const Members& members) { return !seen.insert(members).second; });
  return sections;
}

namespace {

using problem::Buffer;
using problem::Bytes;
using problem::Ladder;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;
using Pair = std::pair<int, int>;

bool Has(const Problem& problem, RelationKind kind) {
  return std::any_of(problem.relations.begin(), problem.relations.end(),
                     [&](const Relation& relation) { return relation.kind == kind; });
}

// Rounding every offset down to a multiple of the granularity preserves all constraints, except
// that a buffer adjacent to another may then not be the next aligned one.
Bytes GranularityOf(const Problem& problem, const Ladder* ladder) {
  if (Has(problem, RelationKind::kAdjacent)) return 1;
  Bytes granularity = 0;
  const auto divide = [&](Bytes value) { granularity = std::gcd(granularity, value); };
  for (const Buffer& buffer : problem.buffers) {
    const Bytes alignment = problem::AlignmentOf(problem, buffer);
    if (alignment > 1) divide(alignment);
    if (ladder == nullptr) divide(buffer.size);
    if (buffer.offset) divide(*buffer.offset);
  }
  if (ladder != nullptr) {
    for (const problem::CandidateSizes& candidate : ladder->candidates)
      std::for_each(candidate.sizes.begin(), candidate.sizes.end(), divide);
  }
  for (const problem::Memory& memory : problem.memories) {
    for (const problem::Reserved& reserved : memory.reserved) {
      divide(reserved.range.begin);
      divide(reserved.range.end);
    }
  }
  for (const Relation& relation : problem.relations) divide(relation.delta);
  return std::max<Bytes>(granularity, 1);
}

void FillBuffers(const Problem& problem, Packing& packing) {
  for (const Buffer& buffer : problem.buffers) {
    packing.memory.push_back(buffer.memory);
    packing.alignment.push_back(
        std::max<Bytes>(problem::AlignmentOf(problem, buffer) / packing.granularity, 1));
    Bound duration = 0;
    for (const problem::Lifespan& life : buffer.lifespans) duration += life.upper - life.lower;
    packing.duration.push_back(duration);
    packing.fixed.push_back(buffer.offset ? std::optional(*buffer.offset / packing.granularity)
                                          : std::nullopt);
    packing.hint.push_back(buffer.hint ? std::optional(*buffer.hint / packing.granularity)
                                       : std::nullopt);
  }
}

// The result is incomplete after a stop.
void FillPairs(const Problem& problem, const base::Stop& stop, Packing& packing) {
  const allocate::Conflicts conflict(problem);
  const auto n = static_cast<size_t>(packing.buffers);
  packing.below.assign(n * n, -1);
  std::vector<std::vector<Neighbour>> neighbours(n);
  base::PolledWork work(&stop, kPairsPerLook);
  for (int i = 0; i < packing.buffers; ++i) {
    if (!work.Continues(packing.buffers - i)) return;
    for (int j = i + 1; j < packing.buffers; ++j) {
      if (!conflict(i, j)) continue;
      const View view =
          2 * (packing.buffers + packing.memories + static_cast<int>(packing.pairs.size()));
      packing.pairs.emplace_back(i, j);
      packing.below[static_cast<size_t>(i) * n + static_cast<size_t>(j)] = view;
      packing.below[static_cast<size_t>(j) * n + static_cast<size_t>(i)] = Opposite(view);
      neighbours[static_cast<size_t>(i)].push_back({j, view});
      neighbours[static_cast<size_t>(j)].push_back({i, Opposite(view)});
    }
  }
  packing.neighbours = CompressedLists<Neighbour>(neighbours);
}

void FillSections(const Problem& problem, const base::Stop& stop, Packing& packing) {
  std::vector<std::vector<int>> sections;
  std::vector<std::vector<int>> sections_of(problem.buffers.size());
  for (int m = 0; m < packing.memories; ++m) {
    auto found = FindSections(
        problem, m, [&](int i, int j) { return packing.BelowView(i, j) >= 0; }, stop);
    for (auto& members : found) {
      if (members.size() < 2) continue;
      for (const int i : members)
        sections_of[static_cast<size_t>(i)].push_back(static_cast<int>(sections.size()));
      sections.push_back(std::move(members));
      packing.section_memory.push_back(m);
    }
  }
  packing.sections = CompressedLists<int>(sections);
  packing.sections_of = CompressedLists<int>(sections_of);
}

void FillHoles(const Problem& problem, Packing& packing) {
  std::vector<std::vector<Hole>> holes(problem.memories.size());
  for (size_t m = 0; m < holes.size(); ++m) {
    std::vector<Hole> reserved;
    for (const problem::Reserved& range : problem.memories[m].reserved) {
      if (range.range.begin < range.range.end) {
        reserved.push_back(
            {range.range.begin / packing.granularity, range.range.end / packing.granularity});
      }
    }
    std::sort(reserved.begin(), reserved.end(),
              [](const Hole& a, const Hole& b) { return a.begin < b.begin; });
    for (const Hole& hole : reserved) {
      if (!holes[m].empty() && hole.begin <= holes[m].back().end) {
        holes[m].back().end = std::max(holes[m].back().end, hole.end);
      } else {
        holes[m].push_back(hole);
      }
    }
  }
  packing.holes = CompressedLists<Hole>(holes);
}

// Adds an inequality twice: on the offsets and on their negatives.
void AddDifference(Packing& packing, int from, int to, Bound distance, int sized, bool negative) {
  packing.differences.push_back({2 * from, 2 * to, distance, sized, negative});
  packing.differences.push_back({2 * to + 1, 2 * from + 1, distance, sized, negative});
}

void FillDifferences(const Problem& problem, Packing& packing) {
  for (const Relation& relation : problem.relations) {
    const int a = relation.first;
    const int b = relation.second;
    if (relation.kind == RelationKind::kColocate) {
      const Bound delta = relation.delta / packing.granularity;
      AddDifference(packing, a, b, delta, -1, false);
      AddDifference(packing, b, a, -delta, -1, false);
    } else if (relation.kind == RelationKind::kAdjacent) {
      const Bound padding = packing.alignment[static_cast<size_t>(b)] - 1;
      AddDifference(packing, a, b, 0, a, false);
      AddDifference(packing, b, a, -padding, a, true);
    }
  }
}

// The properties that two buffers must share so that exchanging their offsets in a solution yields
// a solution: memory, alignment, lifespans, and the size for each candidate.
using InterchangeKey = std::tuple<int, Bound, std::vector<std::pair<problem::Step, problem::Step>>,
                                  std::vector<Bytes>>;

InterchangeKey InterchangeKeyOf(const Problem& problem, const Ladder* ladder,
                                const Packing& packing, size_t i) {
  std::vector<std::pair<problem::Step, problem::Step>> lifespans;
  for (const problem::Lifespan& life : problem.buffers[i].lifespans)
    lifespans.emplace_back(life.lower, life.upper);
  return {packing.memory[i], packing.alignment[i], std::move(lifespans),
          problem::SizesOf(problem, ladder, i)};
}

// Mirroring a memory exchanges "below" and "above" everywhere. For a pair without interchangeable
// buffers either order may then be imposed, and sorting interchangeable buffers afterwards does not
// affect it. Selects the heaviest pair.
void AddMirroredPair(const Problem& problem, int m, const std::vector<bool>& unlike,
                     Packing& packing) {
  if (!packing.holes[m].empty() || !packing.differences.empty()) return;
  const auto weight = [&](int i) {
    return static_cast<double>(problem.buffers[static_cast<size_t>(i)].size) *
           static_cast<double>(packing.duration[static_cast<size_t>(i)]);
  };
  std::optional<Pair> heaviest;
  for (const auto& [i, j] : packing.pairs) {
    if (packing.memory[static_cast<size_t>(i)] != m) continue;
    if (!unlike[static_cast<size_t>(i)] || !unlike[static_cast<size_t>(j)]) continue;
    if (!heaviest || weight(i) * weight(j) > weight(heaviest->first) * weight(heaviest->second))
      heaviest = {i, j};
  }
  if (heaviest) packing.mirrored.push_back(*heaviest);
}

void FillSymmetries(const Problem& problem, const Ladder* ladder, Packing& packing) {
  std::vector<bool> bound(problem.buffers.size());
  for (const Relation& relation : problem.relations) {
    bound[static_cast<size_t>(relation.first)] = bound[static_cast<size_t>(relation.second)] = true;
  }
  std::map<InterchangeKey, std::vector<int>> interchangeable;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (bound[i] || problem.buffers[i].offset) continue;
    interchangeable[InterchangeKeyOf(problem, ladder, packing, i)].push_back(static_cast<int>(i));
  }
  std::vector<bool> unlike(problem.buffers.size());
  for (const auto& [interchange_key, members] : interchangeable) {
    if (members.size() == 1) unlike[static_cast<size_t>(members[0])] = true;
    for (size_t k = 1; k < members.size(); ++k) {
      for (size_t l = 0; l < k; ++l) packing.interchangeable.emplace_back(members[l], members[k]);
    }
  }
  for (int m = 0; m < packing.memories; ++m) {
    bool turns = true;
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      turns = turns && (packing.memory[i] != m || (packing.alignment[i] == 1 && !packing.fixed[i]));
    }
    if (turns) AddMirroredPair(problem, m, unlike, packing);
  }
}

}  // namespace

std::optional<Packing> MakePacking(const Problem& problem, const Ladder* ladder,
                                   const base::Stop& stop, Bytes unit) {
  Packing packing;
  packing.buffers = static_cast<int>(problem.buffers.size());
  packing.memories = static_cast<int>(problem.memories.size());
  packing.granularity = std::gcd(GranularityOf(problem, ladder), unit);
  FillBuffers(problem, packing);
  FillPairs(problem, stop, packing);
  if (stop.Requested()) return std::nullopt;
  FillSections(problem, stop, packing);
  if (stop.Requested()) return std::nullopt;
  FillHoles(problem, packing);
  FillDifferences(problem, packing);
  FillSymmetries(problem, ladder, packing);
  if (packing.differences.empty()) {
    packing.reach =
        base::CeilDiv(HeightThatSuffices(problem, ladder).value_or(kFarthest), packing.granularity);
  }
  return packing;
}

std::vector<Bound> SizesOf(const Packing& packing, const Problem& problem, const Ladder* ladder,
                           size_t candidate) {
  std::vector<Bound> sizes;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Bytes size =
        ladder != nullptr ? ladder->candidates[candidate].sizes[i] : problem.buffers[i].size;
    sizes.push_back(size / packing.granularity);
  }
  return sizes;
}

}  // namespace tessera::search::engines::lazy
