// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/conflict_model.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "tessera/base/arithmetic.h"
#include "tessera/base/sorting.h"
#include "tessera/search/allocate/occupancy.h"

namespace tessera::search::allocate {

using problem::Buffer;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;

Conflicts::Conflicts(const Problem& problem) : problem_(&problem) {
  for (const Relation& relation : problem.relations) {
    const std::pair pair = std::minmax(relation.first, relation.second);
    if (relation.kind == RelationKind::kSeparate) separate_.insert(pair);
    if (relation.kind == RelationKind::kExclusive || relation.kind == RelationKind::kColocate)
      sharing_.insert(pair);
  }
}

bool Conflicts::operator()(int a, int b) const {
  const Buffer& first = problem_->buffers[static_cast<size_t>(a)];
  const Buffer& second = problem_->buffers[static_cast<size_t>(b)];
  if (first.memory != second.memory) return false;
  const std::pair pair = std::minmax(a, b);
  if (!separate_.empty() && separate_.contains(pair)) return true;
  if (!problem::LiveTogether(first, second)) return false;
  return sharing_.empty() || !sharing_.contains(pair);
}

std::vector<int> GrowClique(std::span<const int> candidates, int seed,
                            const std::function<bool(int, int)>& conflict) {
  std::vector<int> clique = {seed};
  for (const int candidate : candidates) {
    const bool fits =
        candidate != seed && std::all_of(clique.begin(), clique.end(),
                                         [&](int member) { return conflict(member, candidate); });
    if (fits) clique.push_back(candidate);
  }
  std::sort(clique.begin(), clique.end());
  return clique;
}

namespace {

class ModelBuilder {
 public:
  ModelBuilder(const Problem& problem, int memory, const base::Stop& stop)
      : problem_(problem),
        memory_(problem.memories[static_cast<size_t>(memory)]),
        conflict_(problem),
        work_(&stop, kWorkPerLook) {
    for (const int i : BuffersOf(problem, memory)) {
      (BufferAt(i).offset ? fixed_ : model_.buffers).push_back(i);
    }
    for (const Relation& relation : problem.relations)
      related_.insert({relation.first, relation.second});
  }

  // Returns nullopt after a stop.
  std::optional<ConflictModel> Build() {
    if (!CheckFixed() || !FindNeighbours() || !FindPositions() || !FindCliques())
      return std::nullopt;
    FindInterchangeable();
    return std::move(model_);
  }

 private:
  const Buffer& BufferAt(int i) const { return problem_.buffers[static_cast<size_t>(i)]; }
  const Buffer& Movable(int i) const { return BufferAt(model_.buffers[static_cast<size_t>(i)]); }

  // This and the next functions return false after a stop.
  bool CheckFixed() {
    for (size_t i = 0; i < fixed_.size() && model_.contradiction.empty(); ++i) {
      if (!work_.Continues(static_cast<int64_t>(i) + 1)) return false;
      const Buffer& a = BufferAt(fixed_[i]);
      const Bytes top = *a.offset + a.size;
      model_.fixed_top = std::max(model_.fixed_top, top);
      const Positions positions(WindowsOf(problem_, a), problem::AlignmentOf(problem_, a), a.size);
      if (positions.AtLeast(*a.offset) != *a.offset) {
        model_.contradiction = "the fixed offset " + std::to_string(*a.offset) + " of " + a.id +
                               " is not aligned or touches a reserved range";
      }
      for (size_t j = 0; j < i; ++j) {
        const Buffer& b = BufferAt(fixed_[j]);
        const bool overlap = *a.offset < *b.offset + b.size && *b.offset < top;
        if (overlap && conflict_(fixed_[i], fixed_[j])) {
          model_.contradiction =
              "the fixed offsets of " + b.id + " and " + a.id + " make them overlap";
        }
      }
    }
    return true;
  }

  bool FindNeighbours() {
    std::vector<std::vector<int>> neighbours(model_.buffers.size());
    std::vector<problem::Lifespan> lives;  // gaps included
    lives.reserve(model_.buffers.size());
    for (int i = 0; i < model_.Count(); ++i) {
      lives.push_back({Movable(i).lifespans.front().lower, Movable(i).lifespans.back().upper});
    }
    const auto meet = [&lives](int a, int b) {
      const problem::Lifespan &x = lives[static_cast<size_t>(a)],
                              &y = lives[static_cast<size_t>(b)];
      return x.lower < y.upper && y.lower < x.upper;
    };
    for (int a = 0; a < model_.Count(); ++a) {
      if (!work_.Continues(model_.Count() - a)) return false;
      for (int b = a + 1; b < model_.Count(); ++b) {
        if (!conflict_.AnySeparate() && !meet(a, b)) continue;
        if (!conflict_(model_.buffers[static_cast<size_t>(a)],
                       model_.buffers[static_cast<size_t>(b)]))
          continue;
        neighbours[static_cast<size_t>(a)].push_back(b);
        neighbours[static_cast<size_t>(b)].push_back(a);
      }
    }
    model_.neighbours = CompressedLists<int>(neighbours);
    return true;
  }

  // A buffer takes its size rounded up to the common divisor of its alignment and those of all its
  // neighbours, because any buffer on top of it starts at a multiple of that divisor. Padding may
  // extend into a fixed or reserved hole, so it is omitted if there are holes.
  bool FindPositions() {
    const bool holes = !fixed_.empty() || !memory_.reserved.empty();
    std::vector<Bytes> alignments;
    for (const int i : model_.buffers)
      alignments.push_back(problem::AlignmentOf(problem_, BufferAt(i)));
    for (int i = 0; i < model_.Count(); ++i) {
      if (!work_.Continues(static_cast<int64_t>(fixed_.size()) + 1)) return false;
      const Buffer& buffer = Movable(i);
      std::vector<AddressRange> windows = WindowsOf(problem_, buffer);
      std::vector<AddressRange> taken;
      for (const int f : fixed_) {
        const Buffer& fixed = BufferAt(f);
        if (!conflict_(model_.buffers[static_cast<size_t>(i)], f)) continue;
        taken.push_back({*fixed.offset, *fixed.offset + fixed.size});
      }
      SubtractAll(windows, std::move(taken));
      Bytes granularity = alignments[static_cast<size_t>(i)];
      model_.positions.emplace_back(std::move(windows), granularity, buffer.size);
      for (const int e : model_.neighbours[i]) {
        if (granularity == 1) break;
        granularity = std::gcd(granularity, alignments[static_cast<size_t>(e)]);
      }
      model_.sizes.push_back(holes ? buffer.size : base::RoundUp(buffer.size, granularity));
    }
    return true;
  }

  bool FindCliques() {
    // Fixed buffers take part, so that the fixed buffers that block a section all live at its step.
    std::vector<int> all = model_.buffers;
    all.insert(all.end(), fixed_.begin(), fixed_.end());
    const Sections sections = FindSections(problem_, all);
    std::vector<std::vector<int>> living(static_cast<size_t>(sections.Count()));
    for (int i = 0; i < model_.Count(); ++i) {
      for (const SectionRange& range : sections.ranges[static_cast<size_t>(i)]) {
        for (int s = range.first; s < range.last; ++s) living[static_cast<size_t>(s)].push_back(i);
      }
    }

    std::vector<int> first_clique;  // of a section
    std::vector<std::vector<int>> cliques;
    for (size_t s = 0; s < living.size(); ++s) {
      if (!work_.Continues(static_cast<int64_t>(living[s].size() + fixed_.size()) + 1))
        return false;
      first_clique.push_back(static_cast<int>(cliques.size()));
      std::vector<std::vector<int>> cover = Cover(living[s]);
      if (work_.IsCutOff()) return false;
      std::move(cover.begin(), cover.end(), std::back_inserter(cliques));
      while (model_.blocked.size() < cliques.size()) {
        model_.blocked.push_back(BlockedFor(cliques[model_.blocked.size()], sections.steps[s]));
      }
    }
    first_clique.push_back(static_cast<int>(cliques.size()));

    std::vector<std::vector<int>> cliques_of(model_.buffers.size());
    for (size_t c = 0; c < cliques.size(); ++c) {
      Bytes overhang = 0;
      for (const int i : cliques[c]) {
        cliques_of[static_cast<size_t>(i)].push_back(static_cast<int>(c));
        overhang = std::max(overhang, model_.sizes[static_cast<size_t>(i)] - Movable(i).size);
      }
      model_.overhang.push_back(overhang);
    }
    model_.members = CompressedLists<int>(cliques);
    model_.cliques_of = CompressedLists<int>(cliques_of);
    FindExtents(sections, first_clique);
    return true;
  }

  // Returns cliques that together contain every member; after a stop some are missing. Without
  // exclusive pairs the section is the only clique.
  std::vector<std::vector<int>> Cover(const std::vector<int>& living) {
    if (living.empty()) return {};
    if (!conflict_.AnySharing()) return {living};
    std::vector<int> by_size = living;
    base::SortBy(by_size, [this](int i) { return -Movable(i).size; });
    std::set<int> uncovered(living.begin(), living.end());
    std::vector<std::vector<int>> cliques;
    const auto members = static_cast<int64_t>(living.size());
    while (!uncovered.empty() && work_.Continues(members * members)) {
      const int seed = *std::find_if(by_size.begin(), by_size.end(),
                                     [&](int i) { return uncovered.contains(i); });
      std::vector<int> clique =
          GrowClique(by_size, seed, [this](int a, int b) { return AreNeighbours(a, b); });
      for (const int i : clique) uncovered.erase(i);
      cliques.push_back(std::move(clique));
    }
    return cliques;
  }

  bool AreNeighbours(int a, int b) const {
    const std::span<const int> list = model_.neighbours[a];
    return std::binary_search(list.begin(), list.end(), b);
  }

  // Returns the bytes that no member can use: they are reserved, or occupied by a fixed buffer that
  // conflicts with all members.
  std::vector<AddressRange> BlockedFor(const std::vector<int>& clique, problem::Step step) const {
    std::vector<AddressRange> free = {{0, kNoPosition}};
    for (const problem::Reserved& reserved : memory_.reserved) Subtract(free, reserved.range);
    for (const int f : fixed_) {
      const Buffer& fixed = BufferAt(f);
      if (!problem::LivesAt(fixed, step)) continue;
      const bool blocks = std::all_of(clique.begin(), clique.end(), [&](int i) {
        return conflict_(model_.buffers[static_cast<size_t>(i)], f);
      });
      if (blocks) Subtract(free, {*fixed.offset, *fixed.offset + fixed.size});
    }
    std::vector<AddressRange> blocked = {{0, kNoPosition}};
    for (const AddressRange& range : free) Subtract(blocked, range);
    return blocked;
  }

  // Finds the extent of each buffer: from the first clique of its first section to the last clique
  // of its last section, including those of partners in other sections.
  void FindExtents(const Sections& sections, const std::vector<int>& first_clique) {
    for (size_t i = 0; i < model_.buffers.size(); ++i) {
      const std::vector<SectionRange>& ranges = sections.ranges[i];
      model_.extents.emplace_back(first_clique[static_cast<size_t>(ranges.front().first)],
                                  first_clique[static_cast<size_t>(ranges.back().last)]);
    }
    const auto own = model_.extents;
    if (!conflict_.AnySeparate()) return;
    for (int i = 0; i < model_.Count(); ++i) {
      auto& [first, last] = model_.extents[static_cast<size_t>(i)];
      for (const int e : model_.neighbours[i]) {
        // Partners that share a section need no extension; a separate partner may live elsewhere.
        const bool apart = !problem::LiveTogether(Movable(i), Movable(e));
        if (!apart) continue;
        first = std::min(first, own[static_cast<size_t>(e)].first);
        last = std::max(last, own[static_cast<size_t>(e)].second);
      }
    }
  }

  void FindInterchangeable() {
    model_.interchangeable_below.assign(model_.buffers.size(), -1);
    model_.interchangeable_above.assign(model_.buffers.size(), -1);
    using Key = std::tuple<std::vector<std::pair<problem::Step, problem::Step>>, Bytes, Bytes>;
    std::map<Key, int> last;
    for (int i = 0; i < model_.Count(); ++i) {
      if (related_.contains(model_.buffers[static_cast<size_t>(i)])) continue;
      const Buffer& buffer = Movable(i);
      Key key;
      for (const problem::Lifespan& life : buffer.lifespans)
        std::get<0>(key).emplace_back(life.lower, life.upper);
      std::get<1>(key) = buffer.size;
      std::get<2>(key) = problem::AlignmentOf(problem_, buffer);
      const auto [found, inserted] = last.try_emplace(std::move(key), i);
      if (inserted) continue;
      model_.interchangeable_below[static_cast<size_t>(i)] = found->second;
      model_.interchangeable_above[static_cast<size_t>(found->second)] = i;
      found->second = i;
    }
  }

  static constexpr int64_t kWorkPerLook = 1 << 16;  // about a millisecond, in pairs of buffers

  const Problem& problem_;
  const problem::Memory& memory_;
  const Conflicts conflict_;
  base::PolledWork work_;
  ConflictModel model_;
  std::vector<int> fixed_;
  std::set<int> related_;
};

}  // namespace

std::optional<std::string> FindOversize(const Problem& problem, int memory,
                                        const base::Stop& stop) {
  constexpr size_t kMostBuffers = 8192;
  constexpr int64_t kMostMeetings = 16'000'000;
  // In the lists of neighbours, of cliques and of their members.
  constexpr int64_t kBytesPerMeeting = 64;
  const std::string name = "memory '" + problem.memories[static_cast<size_t>(memory)].name + "'";
  if (BuffersOf(problem, memory).size() > kMostBuffers)
    return "more than " + std::to_string(kMostBuffers) + " buffers in " + name;
  const int64_t most = std::min(kMostMeetings, stop.MemoryLimit() / 6 / kBytesPerMeeting);
  const int64_t meetings = problem::CountMeetings(problem, memory);
  if (meetings <= most) return std::nullopt;
  if (meetings <= kMostMeetings) stop.NoteDeclined();
  return "more than " + std::to_string(most) + " pairs of buffers that live together in " + name;
}

std::optional<ConflictModel> BuildModel(const Problem& problem, int memory,
                                        const base::Stop& stop) {
  return ModelBuilder(problem, memory, stop).Build();
}

}  // namespace tessera::search::allocate
