#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tessera/problem/validator.h"

// Overlaps by a sweep over time.
//
// Lifespans enter at their lower step and leave at their upper step; those that leave go first. The
// buffers that are alive at one step are kept in two parts:
//
//     address ^   |<- alive ->|
//             |  [== c ==]             `apart`: pairwise disjoint, ordered by offset; a new buffer
//             |  [== b ==]                      meets only its predecessor and those that begin
//             |       [== x ==]                 inside it
//             |  [== a ==]             `rest`:  those that met one in `apart` when they entered;
//             '------------------> step         a new buffer is compared with each of them
//
// Every pair that is alive together is compared when the later of the two enters, so no pair is
// missed. Against `apart` the neighbours are enough, because `apart` is disjoint. Against `rest`
// all pairs are compared. In a valid placement `rest` holds only buffers that the user allowed to
// overlap (colocated, exclusive), and the cost is that of a sorted set: O(n log n).
namespace tessera::problem {

namespace {

struct Event {
  Step step = 0;
  bool enters = false;  // leaving sorts before entering: lifespans are half-open
  size_t buffer = 0;
  friend bool operator<(const Event& a, const Event& b) {
    return std::tie(a.step, a.enters, a.buffer) < std::tie(b.step, b.enters, b.buffer);
  }
};

using Pair = std::pair<size_t, size_t>;

Pair Ordered(size_t a, size_t b) { return {std::min(a, b), std::max(a, b)}; }

std::set<Pair> PairsAllowedToOverlap(const Problem& problem) {
  std::set<Pair> pairs;
  for (const Relation& relation : problem.relations) {
    if (relation.kind != RelationKind::kColocate && relation.kind != RelationKind::kExclusive)
      continue;
    pairs.insert(
        Ordered(static_cast<size_t>(relation.first), static_cast<size_t>(relation.second)));
  }
  return pairs;
}

class Sweep {
 public:
  Sweep(const Problem& problem, const std::vector<Bytes>& offsets, size_t most)
      : problem_(problem),
        offsets_(offsets),
        most_(most),
        allowed_(PairsAllowedToOverlap(problem)) {}

  void Run(int memory) {
    apart_.clear();
    rest_.clear();
    for (const Event& event : EventsOf(memory)) {
      if (overlaps_.size() >= most_) return;
      event.enters ? Enter(event.buffer, event.step) : Leave(event.buffer);
    }
  }

  std::vector<Overlap> Take() {
    if (overlaps_.size() > most_) overlaps_.resize(most_);
    return std::move(overlaps_);
  }

 private:
  std::vector<Event> EventsOf(int memory) const {
    std::vector<Event> events;
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      if (problem_.buffers[i].memory != memory) continue;
      for (const Lifespan& life : problem_.buffers[i].lifespans) {
        events.push_back({life.lower, true, i});
        events.push_back({life.upper, false, i});
      }
    }
    std::sort(events.begin(), events.end());
    return events;
  }

  Bytes Begin(size_t buffer) const { return offsets_[buffer]; }
  Bytes End(size_t buffer) const { return offsets_[buffer] + problem_.buffers[buffer].size; }

  void Enter(size_t buffer, Step step) {
    for (const size_t other : rest_) Meet(buffer, other, step);
    bool met = false;
    auto it = apart_.lower_bound(Begin(buffer));
    if (it != apart_.begin()) met = Meet(buffer, std::prev(it)->second, step);
    for (; it != apart_.end() && it->first < End(buffer); ++it)
      met |= Meet(buffer, it->second, step);
    if (met) {
      rest_.insert(buffer);
    } else {
      apart_.emplace(Begin(buffer), buffer);
    }
  }

  void Leave(size_t buffer) {
    if (rest_.erase(buffer) == 0) apart_.erase(Begin(buffer));
  }

  // Whether the two share a byte. Records the pair unless it may overlap.
  bool Meet(size_t a, size_t b, Step step) {
    const AddressRange shared = {std::max(Begin(a), Begin(b)), std::min(End(a), End(b))};
    if (shared.begin >= shared.end) return false;
    const Pair pair = Ordered(a, b);
    if (allowed_.count(pair) == 0 && noted_.insert(pair).second) {
      overlaps_.push_back({pair.first, pair.second, step, shared});
    }
    return true;
  }

  const Problem& problem_;
  const std::vector<Bytes>& offsets_;
  const size_t most_;
  const std::set<Pair> allowed_;
  std::map<Bytes, size_t> apart_;
  std::set<size_t> rest_;
  std::set<Pair> noted_;
  std::vector<Overlap> overlaps_;
};

}  // namespace

std::vector<Overlap> FindOverlaps(const Problem& problem, const std::vector<Bytes>& offsets,
                                  size_t most) {
  Sweep sweep(problem, offsets, most);
  for (size_t memory = 0; memory < problem.memories.size(); ++memory)
    sweep.Run(static_cast<int>(memory));
  return sweep.Take();
}

namespace {

class RuleChecks {
 public:
  RuleChecks(const Problem& problem, const std::vector<Bytes>& offsets, Bytes capacity)
      : problem_(problem), offsets_(offsets), capacity_(capacity) {}

  std::vector<std::string> Run() {
    for (const Rule& rule : problem_.rules) {
      for (const int buffer : BuffersUnder(rule, problem_)) {
        Note(rule, Place(buffer), FaultOf(rule.requirement, buffer));
      }
      const std::vector<std::pair<int, int>> pairs = PairsUnder(rule, problem_);
      for (const auto& [first, second] : pairs) {
        Note(rule, Place(first) + " and " + Place(second),
             FaultOf(rule.requirement, first, second, DistanceOf(pairs.front())));
      }
      if (rule.requirement.kind == RequirementKind::kGuard) CheckNeighbours(rule);
    }
    return std::move(faults_);
  }

 private:
  void Note(const Rule& rule, const std::string& who, const std::string& fault) {
    if (!fault.empty()) faults_.push_back(fmt::format("{}: {} {}", Describe(rule), who, fault));
  }

  const Buffer& BufferAt(int i) const { return problem_.buffers[static_cast<size_t>(i)]; }
  const Memory& MemoryOf(int i) const {
    return problem_.memories[static_cast<size_t>(BufferAt(i).memory)];
  }
  Bytes OffsetOf(int i) const { return offsets_[static_cast<size_t>(i)]; }
  AddressRange RangeOf(int i) const { return {OffsetOf(i), OffsetOf(i) + BufferAt(i).size}; }
  Bytes DistanceOf(const std::pair<int, int>& pair) const {
    return OffsetOf(pair.second) - OffsetOf(pair.first);
  }
  static AddressRange Widened(const AddressRange& range, const Requirement& guard) {
    return {range.begin - guard.before, range.end + guard.after};
  }

  std::string Place(int i) const {
    return fmt::format("buffer '{}' at [{}, {})", BufferAt(i).id, RangeOf(i).begin, RangeOf(i).end);
  }

  std::vector<int> TouchedBanks(int i) const {
    std::vector<int> touched;
    const std::vector<Bank>& banks = MemoryOf(i).banks;
    for (size_t bank = 0; bank < banks.size(); ++bank) {
      if (Intersect(RangeOf(i), banks[bank].range)) touched.push_back(static_cast<int>(bank));
    }
    return touched;
  }

  // The requirement that the buffer violates; empty if it satisfies it.
  std::string FaultOf(const Requirement& wanted, int i) const {
    const auto [begin, end] = RangeOf(i);
    switch (wanted.kind) {
      case RequirementKind::kOffset:
        if (begin % wanted.multiple == wanted.residue) return "";
        return fmt::format("leaves {} modulo {}, not {}", begin % wanted.multiple, wanted.multiple,
                           wanted.residue);
      case RequirementKind::kWindow:
        if (wanted.window.begin <= begin && end <= wanted.window.end) return "";
        return fmt::format("is outside [{}, {})", wanted.window.begin, wanted.window.end);
      case RequirementKind::kNoCrossing:
        if (begin / wanted.multiple == (end - 1) / wanted.multiple) return "";
        return fmt::format("crosses a multiple of {}", wanted.multiple);
      case RequirementKind::kNaturalAlignment: {
        const auto unit =
            static_cast<Bytes>(std::bit_ceil(static_cast<uint64_t>(BufferAt(i).size)));
        return begin % unit == 0 ? "" : fmt::format("is not at a multiple of {}", unit);
      }
      case RequirementKind::kBanks: {
        const std::vector<int> touched = TouchedBanks(i);
        if (std::includes(wanted.banks.begin(), wanted.banks.end(), touched.begin(), touched.end()))
          return "";
        return "touches a bank that is not among those allowed";
      }
      case RequirementKind::kGuard: {
        const AddressRange guarded = Widened(RangeOf(i), wanted);
        const Bytes limit = BufferAt(i).memory == 0 ? capacity_ : MemoryOf(i).capacity;
        if (guarded.begin < 0 || guarded.end > limit) {
          return fmt::format("has its guard [{}, {}) outside [0, {})", guarded.begin, guarded.end,
                             limit);
        }
        for (const Reserved& reserved : MemoryOf(i).reserved) {
          if (Intersect(guarded, reserved.range)) {
            return fmt::format("has its guard [{}, {}) in the range reserved for '{}'",
                               guarded.begin, guarded.end, reserved.reason);
          }
        }
        return "";
      }
      default:
        return "";
    }
  }

  // The same for a pair. `common` is the distance of the rule's first pair.
  std::string FaultOf(const Requirement& wanted, int first, int second, Bytes common) const {
    const Bytes distance = DistanceOf({first, second});
    switch (wanted.kind) {
      case RequirementKind::kDifference: {
        const Bytes residue = (distance % wanted.multiple + wanted.multiple) % wanted.multiple;
        if (residue == wanted.residue) return "";
        return fmt::format("are {} apart modulo {}, not {}", residue, wanted.multiple,
                           wanted.residue);
      }
      case RequirementKind::kSameBank:
        return TouchedBanks(first) == TouchedBanks(second) ? "" : "do not touch the same banks";
      case RequirementKind::kDifferentBank: {
        const std::vector<int> a = TouchedBanks(first);
        const std::vector<int> b = TouchedBanks(second);
        const bool apart = std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) == a.end();
        return apart ? "" : "touch the same bank";
      }
      case RequirementKind::kDistance:
        if (distance == wanted.distance) return "";
        return fmt::format("are {} apart, not {}", distance, wanted.distance);
      case RequirementKind::kXorDistance:
        if ((OffsetOf(first) ^ OffsetOf(second)) == wanted.distance) return "";
        return fmt::format("differ in the address bits {:#x}, not {:#x}",
                           OffsetOf(first) ^ OffsetOf(second), wanted.distance);
      case RequirementKind::kCommonDelta:
        if (distance == common) return "";
        return fmt::format("are {} apart, where another pair is {}", distance, common);
      default:
        return "";
    }
  }

  // Finds buffers that touch a guard: every guarded buffer is extended by its guard. Two buffers
  // may meet in their guards alone.
  void CheckNeighbours(const Rule& rule) {
    Problem grown = problem_;
    std::vector<Bytes> offsets = offsets_;
    std::vector<bool> guarded(offsets.size(), false);
    for (const int i : BuffersUnder(rule, problem_)) {
      const auto at = static_cast<size_t>(i);
      const AddressRange wide = Widened(RangeOf(i), rule.requirement);
      guarded[at] = true;
      offsets[at] = wide.begin;
      grown.buffers[at].size = wide.end - wide.begin;
    }
    for (const Overlap& overlap :
         FindOverlaps(grown, offsets, std::numeric_limits<size_t>::max())) {
      CheckNeighbour(rule, guarded, overlap.first, overlap.second);
      CheckNeighbour(rule, guarded, overlap.second, overlap.first);
    }
  }

  void CheckNeighbour(const Rule& rule, const std::vector<bool>& guarded, size_t owner,
                      size_t other) {
    if (!guarded[owner]) return;
    const AddressRange guard = Widened(RangeOf(static_cast<int>(owner)), rule.requirement);
    if (!Intersect(guard, RangeOf(static_cast<int>(other)))) return;
    Note(rule, Place(static_cast<int>(other)),
         fmt::format("lies in the guard [{}, {}) of buffer '{}'", guard.begin, guard.end,
                     problem_.buffers[owner].id));
  }

  const Problem& problem_;
  const std::vector<Bytes>& offsets_;
  const Bytes capacity_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> FindBrokenRules(const Problem& problem, const std::vector<Bytes>& offsets,
                                         Bytes capacity) {
  return RuleChecks(problem, offsets, capacity).Run();
}

}  // namespace tessera::problem
