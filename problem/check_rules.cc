// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "tessera/problem/rule_check.h"
#include "tessera/problem/validator.h"

// The rules of a Problem, checked on an allocation: each item with the check of the rule's kind.
namespace tessera::problem {

#define TESSERA_DECLARE(code, ...) extern const RuleCheck k##code##Check;
TESSERA_RULE_KINDS(TESSERA_DECLARE)
#undef TESSERA_DECLARE

const RuleCheck& CheckOf(RequirementKind kind) {
  static const std::array<const RuleCheck*, kRequirementKinds> kChecks = {
#define TESSERA_ADDRESS(code, ...) &k##code##Check,
      TESSERA_RULE_KINDS(TESSERA_ADDRESS)
#undef TESSERA_ADDRESS
  };
  return *kChecks[static_cast<size_t>(kind)];
}

bool HasResidue(const KnownPlace& place, Bytes multiple, Bytes residue) {
  Bytes offset = place.least + Modulo(residue - place.least, multiple);
  for (int64_t tries = 0; offset <= place.greatest; offset += multiple, ++tries) {
    if (offset % place.stride == 0 || tries >= kMostTries) return true;
  }
  return false;
}

Bytes CommonAlignment(const Problem& problem, const Rule& rule) {
  Bytes divisor = 0;
  const auto divide = [&](int buffer) {
    const Bytes alignment = AlignmentOf(problem, problem.buffers[static_cast<size_t>(buffer)]);
    divisor = std::gcd(divisor, alignment);
  };
  for (const RuleItem& item : ItemsOf(rule)) {
    divide(item.first);
    if (item.IsPair()) divide(item.second);
  }
  return divisor;
}

namespace {

class RuleChecks {
 public:
  RuleChecks(const Problem& problem, const std::vector<Bytes>& offsets, Bytes capacity)
      : problem_(problem), offsets_(offsets), capacity_(capacity) {}

  std::vector<std::string> Run() {
    for (const Rule& rule : problem_.rules) {
      CheckItems(rule);
      if (TraitsOf(rule.requirement.kind).guards) CheckNeighbours(rule);
    }
    return std::move(faults_);
  }

 private:
  void Note(const Rule& rule, const std::string& who, const std::string& fault) {
    faults_.push_back(fmt::format("{}: {} {}", Describe(rule), who, fault));
  }

  const Buffer& BufferAt(int i) const { return problem_.buffers[static_cast<size_t>(i)]; }
  const Memory& MemoryOf(int i) const {
    return problem_.memories[static_cast<size_t>(BufferAt(i).memory)];
  }
  AddressRange RangeOf(int i) const {
    const Bytes offset = offsets_[static_cast<size_t>(i)];
    return {offset, offset + BufferAt(i).size};
  }
  static AddressRange Widened(const AddressRange& range, const Requirement& guard) {
    return {range.begin - guard.before, range.end + guard.after};
  }

  std::string Place(int i) const {
    return fmt::format("buffer '{}' at [{}, {})", BufferAt(i).id, RangeOf(i).begin, RangeOf(i).end);
  }

  KnownPlace PlaceOf(int i) const {
    KnownPlace place;
    place.size = BufferAt(i).size;
    place.least = place.greatest = RangeOf(i).begin;
    for (const Bank& bank : MemoryOf(i).banks) {
      place.touched.push_back(Intersect(RangeOf(i), bank.range));
      place.untouched.push_back(!place.touched.back());
    }
    return place;
  }

  // If the kind compares pairs, each pair is compared with the first one to which the rule applies.
  void CheckItems(const Rule& rule) {
    const RuleCheck& check = CheckOf(rule.requirement.kind);
    std::optional<std::array<KnownPlace, 2>> other;
    for (const RuleItem& item : ItemsOf(rule)) {
      if (!AppliesTo(rule, item, problem_)) continue;
      KnownItem known{
          rule.requirement, MemoryOf(item.first), CapacityFor(item.first), PlaceOf(item.first), {}};
      if (item.IsPair()) known.second = PlaceOf(item.second);
      if (check.compares_pairs && !other) other = {known.first, known.second};
      if (other) known.other = &*other;
      if (check.can_hold(known)) continue;
      const std::string second = item.IsPair() ? " and " + Place(item.second) : "";
      Note(rule, Place(item.first) + second, check.fault(known));
    }
  }

  Bytes CapacityFor(int i) const {
    return BufferAt(i).memory == 0 ? capacity_ : MemoryOf(i).capacity;
  }

  // Finds buffers that touch a guard: every guarded buffer is extended by its guard. The guards of
  // two buffers may overlap each other.
  void CheckNeighbours(const Rule& rule) {
    Problem grown = problem_;
    std::vector<Bytes> offsets = offsets_;
    std::vector<bool> guarded(offsets.size(), false);
    for (const RuleItem& item : ItemsOf(rule)) {
      if (!AppliesTo(rule, item, problem_)) continue;
      const auto at = static_cast<size_t>(item.first);
      const AddressRange wide = Widened(RangeOf(item.first), rule.requirement);
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
