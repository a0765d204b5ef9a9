#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/proof/axiom_checker.h"

namespace tessera::problem::proof {
namespace {

constexpr int64_t kMostTries = int64_t{1} << 16;

// Whether some multiple of `stride` in the range satisfies `good`; true if there are too many to
// try.
bool HasOffset(Range range, Bytes stride, const std::function<bool(Bytes)>& good) {
  const Bytes first = base::RoundUp(range.least, stride);
  if (first > range.greatest) return false;
  if ((range.greatest - first) / stride >= kMostTries) return true;
  for (Bytes offset = first; offset <= range.greatest; offset += stride) {
    if (good(offset)) return true;
  }
  return false;
}

Bytes Modulo(Bytes value, Bytes multiple) { return (value % multiple + multiple) % multiple; }

// Whether some multiple of `stride` in the range has the residue.
bool HasResidue(Range range, Bytes stride, Bytes multiple, Bytes residue) {
  Bytes offset = range.least + Modulo(residue - range.least, multiple);
  for (int64_t tries = 0; offset <= range.greatest; offset += multiple, ++tries) {
    if (offset % stride == 0 || tries >= kMostTries) return true;
  }
  return false;
}

}  // namespace

bool CanKeep(const Facts& facts, const Requirement& wanted, int buffer, Range range) {
  const Bytes stride = facts.StrideOf(buffer);
  const Bytes size = facts.SizeOf(buffer);
  switch (wanted.kind) {
    case RequirementKind::kOffset:
      return HasResidue(range, stride, wanted.multiple, wanted.residue);
    case RequirementKind::kNaturalAlignment:
      return HasResidue(range, stride,
                        static_cast<Bytes>(std::bit_ceil(static_cast<uint64_t>(size))), 0);
    case RequirementKind::kWindow:
      range.least = std::max(range.least, wanted.window.begin);
      range.greatest = std::min(range.greatest, wanted.window.end - size);
      return base::RoundUp(range.least, stride) <= range.greatest;
    case RequirementKind::kNoCrossing:
      return HasOffset(range, stride, [&](Bytes offset) {
        return offset / wanted.multiple == (offset + size - 1) / wanted.multiple;
      });
    case RequirementKind::kGuard: {
      const int memory = facts.BufferAt(buffer).memory;
      range.least = std::max(range.least, wanted.before);
      range.greatest = std::min(range.greatest, facts.CapacityOf(memory) - size - wanted.after);
      return HasOffset(range, stride, [&](Bytes offset) {
        return facts.ReservedWithin(memory, offset - wanted.before, offset + size + wanted.after) ==
               0;
      });
    }
    default:
      return true;
  }
}

bool CanKeep(const Facts& facts, const Requirement& wanted, int first, Range first_range,
             int second, Range second_range) {
  const Bytes stride = facts.StrideOf(second);
  switch (wanted.kind) {
    case RequirementKind::kDistance:
      return first_range.least + wanted.distance <= second_range.greatest &&
             first_range.greatest + wanted.distance >= second_range.least;
    case RequirementKind::kDifference:
      return HasOffset(first_range, facts.StrideOf(first), [&](Bytes offset) {
        return HasResidue(second_range, stride, wanted.multiple,
                          Modulo(offset + wanted.residue, wanted.multiple));
      });
    case RequirementKind::kXorDistance:
      return HasOffset(first_range, facts.StrideOf(first), [&](Bytes offset) {
        const Bytes other = offset ^ wanted.distance;
        return second_range.least <= other && other <= second_range.greatest && other % stride == 0;
      });
    default:
      return true;
  }
}

Bytes GuardBetween(const Facts& facts, const std::vector<Guard>& guards, int below, int above) {
  if (guards.empty() || !facts.LieApart(below, above)) return 0;
  if (!LiveTogether(facts.BufferAt(below), facts.BufferAt(above)) || facts.MayShare(below, above))
    return 0;
  return std::max(guards[static_cast<size_t>(below)].after,
                  guards[static_cast<size_t>(above)].before);
}

std::string AxiomChecker::FindFlawInRule(const Axiom& axiom) const {
  const auto& rules = facts_.problem().rules;
  if (!IsIndex(axiom.subjects[0], rules.size())) return "no such rule";
  const Rule& rule = rules[static_cast<size_t>(axiom.subjects[0])];
  const Requirement& wanted = rule.requirement;
  const auto item = static_cast<size_t>(axiom.subjects[1]);
  const auto holds_for = [&](int buffer) { return rule.sizes.Holds(facts_.SizeOf(buffer)); };
  if (IsPairwise(wanted.kind)) {
    if (!IsIndex(axiom.subjects[1], rule.pairs.size())) return "the rule has no such pair";
    const auto [first, second] = rule.pairs[item];
    if (!holds_for(first) || !holds_for(second)) return "the rule is about other sizes";
    const bool same = wanted.kind == RequirementKind::kSameBank;
    const bool about_banks = same || wanted.kind == RequirementKind::kDifferentBank;
    if (about_banks && BreaksBanks(same, first, second, axiom)) return "";
    const bool can =
        CanKeep(facts_, wanted, first, RangeOf(first, axiom), second, RangeOf(second, axiom));
    return can ? "the rule can be kept" : "";
  }
  if (!IsIndex(axiom.subjects[1], rule.buffers.size())) return "the rule has no such buffer";
  const int buffer = rule.buffers[item];
  if (!holds_for(buffer)) return "the rule is about other sizes";
  const bool leaves_banks =
      wanted.kind == RequirementKind::kBanks &&
      std::any_of(axiom.literals.begin(), axiom.literals.end(), [&](const ProofLiteral& literal) {
        return literal.kind == ProofLiteral::Kind::kTouch && literal.negated &&
               literal.first == buffer &&
               std::find(wanted.banks.begin(), wanted.banks.end(), literal.second) ==
                   wanted.banks.end();
      });
  if (leaves_banks || !CanKeep(facts_, wanted, buffer, RangeOf(buffer, axiom))) return "";
  return "the rule can be kept";
}

std::string AxiomChecker::FindFlawInDelta(const Axiom& axiom) const {
  const auto& rules = facts_.problem().rules;
  if (!IsIndex(axiom.subjects[0], rules.size())) return "no such rule";
  const Rule& rule = rules[static_cast<size_t>(axiom.subjects[0])];
  if (rule.requirement.kind != RequirementKind::kCommonDelta)
    return "the rule asks for no common distance";
  std::array<Range, 2> distances;  // from the first buffer of a pair to the second
  for (size_t k = 0; k < distances.size(); ++k) {
    if (!IsIndex(axiom.subjects[k + 1], rule.pairs.size())) return "the rule has no such pair";
    const auto [first, second] = rule.pairs[static_cast<size_t>(axiom.subjects[k + 1])];
    const bool about =
        rule.sizes.Holds(facts_.SizeOf(first)) && rule.sizes.Holds(facts_.SizeOf(second));
    if (!about) return "the rule is about other sizes";
    const Range from = RangeOf(first, axiom);
    const Range to = RangeOf(second, axiom);
    distances[k] = {to.least - from.greatest, to.greatest - from.least};
  }
  const bool apart =
      distances[0].least > distances[1].greatest || distances[1].least > distances[0].greatest;
  return apart ? "" : "both pairs can be as far apart";
}

}  // namespace tessera::problem::proof
