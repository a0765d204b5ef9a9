#include "tessera/problem/rule_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "tessera/problem/overlap.h"

namespace tessera::problem {
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
  const Memory& MemoryOf(int i) const { return problem_.memories[static_cast<size_t>(BufferAt(i).memory)]; }
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

  // What the buffer owes and does not keep; empty when it keeps it.
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
        const auto unit = static_cast<Bytes>(std::bit_ceil(static_cast<uint64_t>(BufferAt(i).size)));
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
          return fmt::format("has its guard [{}, {}) outside [0, {})", guarded.begin, guarded.end, limit);
        }
        for (const Reserved& reserved : MemoryOf(i).reserved) {
          if (Intersect(guarded, reserved.range)) {
            return fmt::format("has its guard [{}, {}) in the range reserved for '{}'", guarded.begin,
                               guarded.end, reserved.reason);
          }
        }
        return "";
      }
      default:
        return "";
    }
  }

  // The same for a pair; `common` is the distance of the rule's first pair.
  std::string FaultOf(const Requirement& wanted, int first, int second, Bytes common) const {
    const Bytes distance = DistanceOf({first, second});
    switch (wanted.kind) {
      case RequirementKind::kDifference: {
        const Bytes residue = (distance % wanted.multiple + wanted.multiple) % wanted.multiple;
        if (residue == wanted.residue) return "";
        return fmt::format("are {} apart modulo {}, not {}", residue, wanted.multiple, wanted.residue);
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
        return fmt::format("differ in the address bits {:#x}, not {:#x}", OffsetOf(first) ^ OffsetOf(second),
                           wanted.distance);
      case RequirementKind::kCommonDelta:
        if (distance == common) return "";
        return fmt::format("are {} apart, where another pair is {}", distance, common);
      default:
        return "";
    }
  }

  // Finds who touches a guard by letting every guarded buffer grow by its guard. Two that meet in their guards
  // alone are no fault.
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
    for (const Overlap& overlap : FindOverlaps(grown, offsets, std::numeric_limits<size_t>::max())) {
      CheckNeighbour(rule, guarded, overlap.first, overlap.second);
      CheckNeighbour(rule, guarded, overlap.second, overlap.first);
    }
  }

  void CheckNeighbour(const Rule& rule, const std::vector<bool>& guarded, size_t owner, size_t other) {
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
