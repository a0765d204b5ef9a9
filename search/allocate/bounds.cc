// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/bounds.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "tessera/base/arithmetic.h"
#include "tessera/search/allocate/composites.h"
#include "tessera/search/allocate/contraction.h"
#include "tessera/search/allocate/engine_session.h"
#include "tessera/search/allocate/needed_addresses.h"
#include "tessera/search/allocate/occupancy.h"
#include "tessera/search/allocate/separated_stacks.h"

// The load bound, computed by a sweep over the maximal sections.
//
// Buffers that live together lie one above the other. If all their offsets are multiples of g, each
// except the topmost takes its size rounded up to g. The topmost is unknown, so the greatest
// padding among them is subtracted:
//
//     peak >= sum of up(size, g) - max of (up(size, g) - size)
//
// With reserved ranges the load must fit into the free bytes below the peak. A reserved boundary
// need not be a multiple of g, so a buffer's padding may extend into a reserved range. In that case
// the sizes without padding count.
namespace tessera::search::allocate {

using problem::Buffer;
using problem::Bytes;
using problem::Memory;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;

namespace {

// Returns whether the distance of a colocate relation keeps its buffers apart, with the sizes of
// the Problem.
bool IsDisjoint(const Problem& problem, const Relation& relation) {
  return relation.delta >= problem.buffers[static_cast<size_t>(relation.first)].size ||
         -relation.delta >= problem.buffers[static_cast<size_t>(relation.second)].size;
}

constexpr int kAlone = -1;

// Returns for each buffer its group: buffers that may share addresses with others of the same step,
// directly or over further ones. Buffers of different groups, and those that are alone, share none.
// If sizes are fixed, colocated buffers that are apart share none either.
std::vector<int> FindGroups(const Problem& problem, bool sizes_are_fixed) {
  std::vector<size_t> parent(problem.buffers.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root_of = [&parent](int buffer) {
    auto i = static_cast<size_t>(buffer);
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  std::vector<int> members;
  for (const Relation& relation : problem.relations) {
    const bool colocates = relation.kind == RelationKind::kColocate;
    if (!colocates && relation.kind != RelationKind::kExclusive) continue;
    if (colocates && sizes_are_fixed && IsDisjoint(problem, relation)) continue;
    parent[root_of(relation.first)] = root_of(relation.second);
    members.insert(members.end(), {relation.first, relation.second});
  }
  std::vector<int> groups(problem.buffers.size(), kAlone);
  std::map<size_t, int> numbers;  // by root
  for (const int member : members) {
    const auto next = static_cast<int>(numbers.size());
    groups[static_cast<size_t>(member)] = numbers.try_emplace(root_of(member), next).first->second;
  }
  return groups;
}

// The load of one section, updated as buffers are born and die. Of a group, the largest buffer
// counts.
class Load {
 public:
  Load(Bytes granularity, int groups)
      : granularity_(granularity), alive_(static_cast<size_t>(groups)) {}

  void Insert(Bytes size, int group) {
    if (group == kAlone) return Count(size);
    std::multiset<Bytes>& alive = alive_[static_cast<size_t>(group)];
    if (alive.empty() || *alive.rbegin() < size) {
      if (!alive.empty()) Uncount(*alive.rbegin());
      Count(size);
    }
    alive.insert(size);
  }

  void Erase(Bytes size, int group) {
    if (group == kAlone) return Uncount(size);
    std::multiset<Bytes>& alive = alive_[static_cast<size_t>(group)];
    const Bytes largest = *alive.rbegin();
    alive.erase(alive.find(size));
    if (!alive.empty() && *alive.rbegin() == largest) return;
    Uncount(largest);
    if (!alive.empty()) Count(*alive.rbegin());
  }

  Bytes Total() const { return padded_ - (paddings_.empty() ? 0 : *paddings_.rbegin()); }

 private:
  Bytes PaddingOf(Bytes size) const { return base::RoundUp(size, granularity_) - size; }

  void Count(Bytes size) {
    padded_ += size + PaddingOf(size);
    if (granularity_ > 1) paddings_.insert(PaddingOf(size));
  }

  void Uncount(Bytes size) {
    padded_ -= size + PaddingOf(size);
    if (granularity_ > 1) paddings_.erase(paddings_.find(PaddingOf(size)));
  }

  Bytes granularity_;
  Bytes padded_ = 0;
  std::multiset<Bytes> paddings_;            // of the buffers that count
  std::vector<std::multiset<Bytes>> alive_;  // sizes, by group
};

// Returns the buffers that Load::Total counts at one step.
std::vector<int> CountedAt(const Problem& problem, int memory, problem::Step step,
                           std::span<const int> groups, std::span<const Bytes> sizes) {
  std::vector<int> counted;
  std::map<int, int> largest;  // by group
  for (const int i : BuffersOf(problem, memory)) {
    const Buffer& buffer = problem.buffers[static_cast<size_t>(i)];
    if (!problem::LivesAt(buffer, step)) continue;
    const int group = groups[static_cast<size_t>(i)];
    if (group == kAlone) {
      counted.push_back(i);
    } else if (int& of_group = largest.try_emplace(group, i).first->second;
               sizes[static_cast<size_t>(of_group)] < sizes[static_cast<size_t>(i)]) {
      of_group = i;
    }
  }
  for (const auto& [group, buffer] : largest) counted.push_back(buffer);
  std::sort(counted.begin(), counted.end());
  return counted;
}

// Returns the least peak with `load` unreserved bytes below it.
Bytes LiftOverReserved(const Memory& memory, Bytes load) {
  std::vector<AddressRange> free = {{0, kNoPosition}};
  for (const problem::Reserved& reserved : memory.reserved) Subtract(free, reserved.range);
  for (const AddressRange& range : free) {
    if (load <= range.end - range.begin) return load == 0 ? 0 : range.begin + load;
    load -= range.end - range.begin;
  }
  return kNoPosition;
}

// Returns how many unreserved bytes lie below the address.
Bytes FreeBelow(const Memory& memory, Bytes address) {
  std::vector<AddressRange> free = {{0, address}};
  for (const problem::Reserved& reserved : memory.reserved) Subtract(free, reserved.range);
  Bytes bytes = 0;
  for (const AddressRange& range : free) bytes += range.end - range.begin;
  return bytes;
}

// Returns the lowest end that the buffer alone can have with that size.
Bytes LowestTop(const Problem& problem, const Buffer& buffer, Bytes size) {
  const Memory& memory = problem.memories[static_cast<size_t>(buffer.memory)];
  if (buffer.offset) return *buffer.offset + size;
  if (memory.banks.empty() && memory.reserved.empty()) return size;
  Buffer sized = buffer;
  sized.size = size;
  const Positions positions(WindowsOf(problem, sized), problem::AlignmentOf(problem, sized), size);
  return positions.AtLeast(0) + size;
}

Bytes CommonAlignment(const Problem& problem, const Memory& home, std::span<const int> buffers) {
  Bytes granularity = 0;
  for (const int i : buffers)
    granularity = std::gcd(granularity,
                           problem::AlignmentOf(problem, problem.buffers[static_cast<size_t>(i)]));
  return !home.reserved.empty() || granularity == 0 ? 1 : granularity;
}

}  // namespace

// The buffers of `sections`, by position, sorted by the section at which their lives begin or end.
class SectionEvents {
 public:
  SectionEvents(const Sections& sections, int SectionRange::*end)
      : begin_(static_cast<size_t>(sections.Count()) + 2) {
    const auto visit = [&](auto&& see) {
      for (size_t number = 0; number < sections.ranges.size(); ++number) {
        for (const SectionRange& range : sections.ranges[number])
          see(static_cast<size_t>(range.*end), number);
      }
    };
    visit([this](size_t section, size_t) { ++begin_[section + 1]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    numbers_.resize(begin_.back());
    std::vector<size_t> next = begin_;
    visit([&](size_t section, size_t number) { numbers_[next[section]++] = number; });
  }

  std::span<const size_t> At(int section) const {
    const auto at = static_cast<size_t>(section);
    return std::span(numbers_).subspan(begin_[at], begin_[at + 1] - begin_[at]);
  }

 private:
  std::vector<size_t> begin_;  // by section, 0 to Count() included, and the end
  std::vector<size_t> numbers_;
};

struct BoundFinder::Lives {
  Lives(const Problem& problem, int memory, bool sizes_are_fixed)
      : buffers(BuffersOf(problem, memory)),
        groups(FindGroups(problem, sizes_are_fixed)),
        granularity(
            CommonAlignment(problem, problem.memories[static_cast<size_t>(memory)], buffers)),
        sections(FindSections(problem, buffers)),
        births(sections, &SectionRange::first),
        deaths(sections, &SectionRange::last) {}

  // Returns the greatest load and its step.
  Bound FindLoad(std::span<const Bytes> sizes) const {
    Bound bound;
    const auto most = std::max_element(groups.begin(), groups.end());
    Load load(granularity, most == groups.end() ? 0 : 1 + *most);
    for (int section = 0; section < sections.Count(); ++section) {
      for (const size_t number : deaths.At(section)) {
        const auto i = static_cast<size_t>(buffers[number]);
        load.Erase(sizes[i], groups[i]);
      }
      for (const size_t number : births.At(section)) {
        const auto i = static_cast<size_t>(buffers[number]);
        load.Insert(sizes[i], groups[i]);
      }
      if (load.Total() > bound.bytes) {
        bound.bytes = load.Total();
        bound.step = sections.steps[static_cast<size_t>(section)];
      }
    }
    return bound;
  }

  std::vector<int> buffers;  // of the memory
  std::vector<int> groups;   // by buffer
  Bytes granularity;
  Sections sections;
  SectionEvents births;
  SectionEvents deaths;
};

BoundFinder::BoundFinder(const Problem& problem, int memory, bool sizes_are_fixed)
    : problem_(&problem),
      memory_(memory),
      lives_(std::make_unique<const Lives>(problem, memory, sizes_are_fixed)) {}
BoundFinder::BoundFinder(BoundFinder&&) noexcept = default;
BoundFinder& BoundFinder::operator=(BoundFinder&&) noexcept = default;
BoundFinder::~BoundFinder() = default;

Bound BoundFinder::Find(std::span<const Bytes> sizes) const {
  if (ReachesTooFar(*problem_, sizes)) return {};
  Bound bound = lives_->FindLoad(sizes);
  bound.bytes = LiftOverReserved(problem_->memories[static_cast<size_t>(memory_)], bound.bytes);
  if (bound.step) bound.buffers = CountedAt(*problem_, memory_, *bound.step, lives_->groups, sizes);
  for (const int i : lives_->buffers) {
    const auto number = static_cast<size_t>(i);
    const Bytes top = LowestTop(*problem_, problem_->buffers[number], sizes[number]);
    if (top > bound.bytes) bound = {top, std::nullopt, {i}};
  }
  return bound;
}

namespace {

// Returns the greatest of the lowest tops of composites.
Bound FindTiedTop(const Problem& problem, int memory) {
  Bound bound;
  if (!HasFixedDistances(problem) || !problem.rules.empty()) return bound;
  const Composites composites = FindComposites(problem, memory);
  if (!composites.contradiction.empty()) return bound;
  for (size_t i = 0; i < composites.all.size(); ++i) {
    const Composite& composite = composites.all[i];
    const Bytes base =
        composite.fixed.value_or(NextOutside(composites.blocked[i], composite.AlignUp(0)));
    if (base + composite.extent <= bound.bytes) continue;
    const auto highest = std::max_element(
        composite.parts.begin(), composite.parts.end(),
        [&](const CompositePart& a, const CompositePart& b) {
          const auto end = [&](const CompositePart& part) {
            return part.at + problem.buffers[static_cast<size_t>(part.buffer)].size;
          };
          return end(a) < end(b);
        });
    bound = {base + composite.extent, std::nullopt, {highest->buffer}};
  }
  return bound;
}

}  // namespace

Bound FindBound(const Problem& problem, int memory, const base::Stop* stop) {
  const std::vector<Bytes> sizes = SizesOf(problem);
  Bound bound = BoundFinder(problem, memory, /*sizes_are_fixed=*/true).Find(sizes);
  if (ReachesTooFar(problem, sizes)) return bound;
  if (const Bound tied = FindTiedTop(problem, memory); tied.bytes > bound.bytes) bound = tied;
  const Memory& home = problem.memories[static_cast<size_t>(memory)];
  const Bytes granularity = CommonAlignment(problem, home, BuffersOf(problem, memory));
  // Only a greater load than these bytes lifts the bound.
  const Bytes known = FreeBelow(home, bound.bytes);
  for (std::vector<int>& stack : FindSeparatedStacks(problem, memory, granularity, known, stop)) {
    Load load(granularity, 0);
    for (const int i : stack) load.Insert(sizes[static_cast<size_t>(i)], kAlone);
    const Bytes top = LiftOverReserved(home, load.Total());
    if (top > bound.bytes) bound = {top, std::nullopt, std::move(stack)};
  }
  return bound;
}

std::string Explain(const Problem& problem, const Bound& bound, Bytes capacity,
                    std::string_view limit) {
  static constexpr size_t kMostNames = 12;
  const std::string holds = "; " + std::string(limit) + " " + std::to_string(capacity);
  std::string names;
  for (size_t i = 0; i < std::min(kMostNames, bound.buffers.size()); ++i) {
    if (i > 0) names += ", ";
    names += problem.buffers[static_cast<size_t>(bound.buffers[i])].id;
  }
  if (bound.buffers.size() > kMostNames) {
    names += " and " + std::to_string(bound.buffers.size() - kMostNames) + " more";
  }
  const bool alone = bound.buffers.size() == 1;
  if (!bound.step && !alone) {
    return "the buffers " + names + ", which live together or are separate, need " +
           std::to_string(bound.bytes) + " bytes together" + holds;
  }
  if (!bound.step || alone) {
    if (bound.bytes >= kNoPosition)
      return "the buffer " + names + " fits nowhere outside the reserved ranges";
    return "the buffer " + names + " alone reaches up to " + std::to_string(bound.bytes) + holds;
  }
  return "at step " + std::to_string(*bound.step) + " the buffers " + names + " need " +
         std::to_string(bound.bytes) + " bytes together" + holds;
}

problem::Result RefuteByBounds(const Problem& given, Bytes capacity, Bytes granularity,
                               const base::Stop* stop, std::string_view limit) {
  problem::Result result;
  const std::optional<Contraction> contraction = ContractColocated(given, nullptr);
  const Problem& problem = contraction ? contraction->problem : given;
  if (contraction && !contraction->contradiction.empty()) {
    result.status = problem::Status::kInfeasible;
    result.reason = contraction->contradiction;
    result.engine = "bound";
  }
  for (size_t memory = 0; memory < problem.memories.size(); ++memory) {
    const Bound bound = FindBound(problem, static_cast<int>(memory), stop);
    const Bytes room = memory == 0 ? capacity : problem.memories[memory].capacity;
    if (memory == 0) result.lower_bound = base::RoundUp(bound.bytes, granularity);
    if (result.status == problem::Status::kInfeasible || bound.bytes <= room) continue;
    result.status = problem::Status::kInfeasible;
    result.reason = Explain(problem, bound, room, memory == 0 ? limit : kMemoryHolds);
    result.engine = "bound";
  }
  return result;
}

Bytes GranularityOf(const Problem& problem) {
  if (!problem.rules.empty()) return 1;
  Bytes granularity = 0;
  const auto include = [&granularity](Bytes bytes) { granularity = std::gcd(granularity, bytes); };
  for (const Relation& relation : problem.relations) {
    if (relation.kind == RelationKind::kAdjacent || relation.kind == RelationKind::kSameBank)
      return 1;
    if (relation.kind == RelationKind::kColocate) include(relation.delta);
  }
  for (const int i : BuffersOf(problem, 0)) {
    const Buffer& buffer = problem.buffers[static_cast<size_t>(i)];
    const Bytes alignment = problem::AlignmentOf(problem, buffer);
    include(buffer.size);
    if (alignment > 1) include(alignment);
    if (buffer.offset) include(*buffer.offset);
  }
  for (const problem::Reserved& reserved : problem.memories[0].reserved) {
    include(reserved.range.begin);
    include(reserved.range.end);
  }
  for (const problem::Bank& bank : problem.memories[0].banks) {
    include(bank.range.begin);
    include(bank.range.end);
  }
  return std::max<Bytes>(granularity, 1);
}

}  // namespace tessera::search::allocate
