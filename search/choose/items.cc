// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/choose/items.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "tessera/search/allocate/occupancy.h"

namespace tessera::search::choose {

using problem::Buffer;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;

namespace {

// Groups of buffers, by union and find.
class Groups {
 public:
  explicit Groups(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }

  int Find(int i) {
    while (parent_[static_cast<size_t>(i)] != i) {
      int& parent = parent_[static_cast<size_t>(i)];
      parent = parent_[static_cast<size_t>(parent)];
      i = parent;
    }
    return i;
  }

  void Join(int a, int b) { parent_[static_cast<size_t>(Find(a))] = Find(b); }

 private:
  std::vector<int> parent_;
};

bool AreTied(const Relation& relation) {
  return relation.kind == RelationKind::kColocate || relation.kind == RelationKind::kAdjacent;
}

// Returns for each buffer whether its bytes certainly count in addition to those of all other
// counted buffers of its sections.
std::vector<bool> FindCounted(const Problem& problem) {
  std::vector<bool> counted(problem.buffers.size(), true);
  for (const Relation& relation : problem.relations) {
    const auto first = static_cast<size_t>(relation.first);
    const auto second = static_cast<size_t>(relation.second);
    if (relation.kind == RelationKind::kExclusive) counted[first] = counted[second] = false;
    if (relation.kind != RelationKind::kColocate) continue;
    const Buffer& low = problem.buffers[relation.delta >= 0 ? first : second];
    const bool is_apart = std::abs(relation.delta) >= low.size;
    if (!is_apart)
      counted[problem.buffers[first].size < problem.buffers[second].size ? first : second] = false;
  }
  return counted;
}

// Several distances may put two buffers of a group on the same bytes although no relation connects
// these two. Then only the largest buffer counts.
void CountLargest(const Problem& problem, const std::vector<int>& group,
                  std::vector<bool>& counted) {
  const auto size = [&](int i) { return problem.buffers[static_cast<size_t>(i)].size; };
  const int largest = *std::max_element(group.begin(), group.end(),
                                        [&](int a, int b) { return size(a) < size(b); });
  for (const int i : group) {
    if (i != largest) counted[static_cast<size_t>(i)] = false;
  }
}

// Whether the relations of a group, in their order, stack the other buffers above the same first
// buffer without overlap.
bool IsStack(const Problem& problem, const std::vector<const Relation*>& relations) {
  Bytes end = 0;
  for (const Relation* relation : relations) {
    if (relation->kind != RelationKind::kColocate) return false;
    if (relation->first != relations[0]->first) return false;
    if (end == 0) end = problem.buffers[static_cast<size_t>(relation->first)].size;
    if (relation->delta < end) return false;
    end = relation->delta + problem.buffers[static_cast<size_t>(relation->second)].size;
  }
  return true;
}

// Subtracts the fallbacks of an item in its own memory from the capacity, and from the bytes that
// the item adds.
void Reserve(const Problem& problem, const problem::Fallbacks& fallbacks, Item& item,
             std::vector<Bytes>& capacity) {
  size_t next = 0;
  for (const int i : item.buffers) {
    const Buffer& buffer = problem.buffers[static_cast<size_t>(i)];
    const auto& fallback = fallbacks[static_cast<size_t>(i)];
    for (size_t range = 0; range < buffer.lifespans.size(); ++range, ++next) {
      Piece& piece = item.pieces[next];
      if (piece.size == 0 || !fallback || fallback->memory != buffer.memory) continue;
      piece.size -= fallback->size;
      for (int section = piece.first; section < piece.last; ++section) {
        Bytes& free = capacity[static_cast<size_t>(section)];
        free = std::max<Bytes>(0, free - fallback->size);
      }
    }
  }
}

}  // namespace

Items FindItems(const Problem& problem, Bytes capacity, const problem::Fallbacks& fallbacks) {
  Groups groups(problem.buffers.size());
  for (const Relation& relation : problem.relations) {
    if (AreTied(relation)) groups.Join(relation.first, relation.second);
  }
  std::vector<std::vector<const Relation*>> ties(problem.buffers.size());
  for (const Relation& relation : problem.relations) {
    if (AreTied(relation))
      ties[static_cast<size_t>(groups.Find(relation.first))].push_back(&relation);
  }
  std::vector<bool> counted = FindCounted(problem);

  Items items;
  std::vector<Item> by_root(problem.buffers.size());
  for (size_t memory = 0; memory < problem.memories.size(); ++memory) {
    const std::vector<int> buffers = allocate::BuffersOf(problem, static_cast<int>(memory));
    const allocate::Sections sections = allocate::FindSections(problem, buffers);
    const auto base = static_cast<int>(items.capacity.size());
    const Bytes own = memory == 0 ? capacity : problem.memories[memory].capacity;
    items.capacity.resize(items.capacity.size() + static_cast<size_t>(sections.Count()), own);
    for (size_t number = 0; number < buffers.size(); ++number) {
      const Buffer& buffer = problem.buffers[static_cast<size_t>(buffers[number])];
      Item& item = by_root[static_cast<size_t>(groups.Find(buffers[number]))];
      item.buffers.push_back(buffers[number]);
      if (buffer.value) {
        const auto index = static_cast<size_t>(buffers[number]);
        const bool has_fallback = !fallbacks.empty() && fallbacks[index];
        const int64_t value = *buffer.value - (has_fallback ? fallbacks[index]->value : 0);
        item.is_optional = true;
        item.value += value;
        items.total += value;
      }
      for (const allocate::SectionRange& range : sections.ranges[number])
        item.pieces.push_back({base + range.first, base + range.last, buffer.size});
    }
  }
  for (size_t root = 0; root < by_root.size(); ++root) {
    Item& item = by_root[root];
    if (item.buffers.size() < 2 || IsStack(problem, ties[root])) continue;
    CountLargest(problem, item.buffers, counted);
  }
  for (Item& item : by_root) {
    if (item.buffers.empty()) continue;
    size_t next = 0;
    for (const int i : item.buffers) {
      for (size_t range = 0; range < problem.buffers[static_cast<size_t>(i)].lifespans.size();
           ++range, ++next) {
        if (!counted[static_cast<size_t>(i)]) item.pieces[next].size = 0;
      }
    }
    if (!fallbacks.empty()) Reserve(problem, fallbacks, item, items.capacity);
    items.all.push_back(std::move(item));
  }
  const auto key = [](const Item& item) {
    return std::tuple(item.pieces.front().first, item.buffers.front());
  };
  std::sort(items.all.begin(), items.all.end(),
            [&](const Item& a, const Item& b) { return key(a) < key(b); });
  return items;
}

std::vector<int> Admit(const Items& items, std::span<const int> order, std::vector<bool>& chosen) {
  std::vector<Bytes> free = items.capacity;
  const auto take = [&](const Item& item) {
    for (const Piece& piece : item.pieces) {
      for (int section = piece.first; section < piece.last; ++section)
        free[static_cast<size_t>(section)] -= piece.size;
    }
  };
  const auto has_room = [&](const Item& item) {
    return std::all_of(item.pieces.begin(), item.pieces.end(), [&](const Piece& piece) {
      return std::all_of(free.begin() + piece.first, free.begin() + piece.last,
                         [&](Bytes bytes) { return bytes >= piece.size; });
    });
  };
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) take(items.all[i]);
  }
  std::vector<int> admitted;
  for (const int i : order) {
    const Item& item = items.all[static_cast<size_t>(i)];
    if (!has_room(item)) continue;
    take(item);
    chosen[static_cast<size_t>(i)] = true;
    admitted.push_back(i);
  }
  return admitted;
}

int64_t ValueOf(const Items& items, const std::vector<bool>& chosen) {
  int64_t value = 0;
  for (size_t i = 0; i < items.all.size(); ++i) value += chosen[i] ? items.all[i].value : 0;
  return value;
}

using problem::Problem;
using problem::Relation;

namespace {

void AddStandIns(const Problem& problem, const Items& items, const std::vector<bool>& chosen,
                 const problem::Fallbacks& fallbacks, StandIns which, Part& part) {
  for (size_t i = 0; i < items.all.size(); ++i) {
    if (chosen[i]) continue;
    for (const int index : items.all[i].buffers) {
      const problem::Buffer& buffer = problem.buffers[static_cast<size_t>(index)];
      const auto& fallback = fallbacks[static_cast<size_t>(index)];
      if (!fallback || (which == StandIns::kInPlace && fallback->memory != buffer.memory)) continue;
      part.problem.buffers.push_back(StandInFor(buffer, *fallback));
      part.buffers.push_back(index);
    }
  }
}

}  // namespace

Part PartOf(const Problem& problem, const Items& items, const std::vector<bool>& chosen,
            const problem::Fallbacks& fallbacks, StandIns which) {
  Part made;
  std::vector<int>& buffers = made.buffers;
  for (size_t i = 0; i < items.all.size(); ++i) {
    if (!chosen[i]) continue;
    buffers.insert(buffers.end(), items.all[i].buffers.begin(), items.all[i].buffers.end());
  }
  std::sort(buffers.begin(), buffers.end());
  std::vector<int> image(problem.buffers.size(), -1);
  Problem& part = made.problem;
  part.name = problem.name;
  part.memories = problem.memories;
  part.loops = problem.loops;
  for (size_t i = 0; i < buffers.size(); ++i) {
    image[static_cast<size_t>(buffers[i])] = static_cast<int>(i);
    part.buffers.push_back(problem.buffers[static_cast<size_t>(buffers[i])]);
  }
  const auto keeps = [&](int& first, int& second) {
    first = image[static_cast<size_t>(first)];
    second = image[static_cast<size_t>(second)];
    return first >= 0 && second >= 0;
  };
  for (Relation relation : problem.relations) {
    if (keeps(relation.first, relation.second)) part.relations.push_back(relation);
  }
  for (problem::Cost cost : problem.costs) {
    if (cost.kind != problem::CostKind::kReuse || keeps(cost.first, cost.second))
      part.costs.push_back(std::move(cost));
  }
  for (problem::Rule rule : problem.rules) {
    std::vector<int> kept;
    for (const int i : rule.buffers) {
      if (image[static_cast<size_t>(i)] >= 0) kept.push_back(image[static_cast<size_t>(i)]);
    }
    std::vector<std::pair<int, int>> pairs;
    for (auto [first, second] : rule.pairs) {
      if (keeps(first, second)) pairs.emplace_back(first, second);
    }
    if (kept.empty() && pairs.empty()) continue;
    rule.buffers = std::move(kept);
    rule.pairs = std::move(pairs);
    part.rules.push_back(std::move(rule));
  }
  made.chosen = buffers.size();
  if (!fallbacks.empty()) AddStandIns(problem, items, chosen, fallbacks, which, made);
  return made;
}

}  // namespace tessera::search::choose
