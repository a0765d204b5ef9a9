// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/proof/axiom_checker.h"
#include "tessera/problem/rule_check.h"

namespace tessera::problem::proof {

namespace {

constexpr Bytes kMostBytes = Bytes{1} << 60;

// Returns the union of the ranges: ascending, without empty ranges, with adjacent ones joined.
std::vector<AddressRange> Join(std::vector<AddressRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  std::vector<AddressRange> joined;
  for (const AddressRange& range : ranges) {
    if (range.begin >= range.end) continue;
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

// The parts of `windows` outside `holes`. Holes are ascending and disjoint.
std::vector<AddressRange> Subtract(const std::vector<AddressRange>& windows,
                                   const std::vector<AddressRange>& holes) {
  std::vector<AddressRange> left;
  for (const AddressRange& window : windows) {
    Bytes begin = window.begin;
    for (const AddressRange& hole : holes) {
      if (hole.end <= begin || hole.begin >= window.end) continue;
      if (begin < hole.begin) left.push_back({begin, hole.begin});
      begin = std::max(begin, hole.end);
    }
    if (begin < window.end) left.push_back({begin, window.end});
  }
  return left;
}

Bytes GreatestIn(const Requirement& wanted, const RequirementField& field) {
  if (const auto* number = std::get_if<Bytes Requirement::*>(&field.member)) return wanted.**number;
  const auto* window = std::get_if<AddressRange Requirement::*>(&field.member);
  return window == nullptr ? 0 : (wanted.**window).end;
}

std::pair<int, int> Ordered(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

}  // namespace

std::optional<std::string> Facts::CheckWellFormed(const Problem& problem, Bytes capacity) {
  if (capacity > kMostBytes) return "a capacity beyond 2^60 bytes";
  for (size_t m = 1; m < problem.memories.size(); ++m) {
    if (problem.memories[m].capacity > kMostBytes) return "a capacity beyond 2^60 bytes";
  }
  for (const Buffer& buffer : problem.buffers) {
    if (AlignmentOf(problem, buffer) > kMostBytes) return "an alignment beyond 2^60 bytes";
    if (buffer.offset.value_or(0) > kMostBytes) return "a fixed offset beyond 2^60 bytes";
  }
  for (const Relation& relation : problem.relations) {
    if (std::abs(relation.delta) > kMostBytes) return "a distance beyond 2^60 bytes";
  }
  for (const Rule& rule : problem.rules) {
    for (const RequirementField& field : TraitsOf(rule.requirement.kind).fields) {
      if (std::abs(GreatestIn(rule.requirement, field)) > kMostBytes)
        return "a rule that speaks of more than 2^60 bytes";
    }
  }
  return std::nullopt;
}

Facts::Facts(const Problem& problem, Bytes capacity) : problem_(problem) {
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    capacities_.push_back(m == 0 ? capacity : problem.memories[m].capacity);
    std::vector<AddressRange> reserved;
    for (const Reserved& range : problem.memories[m].reserved) reserved.push_back(range.range);
    reserved_.push_back(Join(std::move(reserved)));
  }
  for (const Relation& relation : problem.relations) {
    const auto pair = Ordered(relation.first, relation.second);
    if (relation.kind == RelationKind::kSeparate) separate_.insert(pair);
    if (relation.kind == RelationKind::kColocate || relation.kind == RelationKind::kExclusive) {
      may_share_.insert(pair);
    }
  }
  std::vector<Bytes> granularities;
  granularities.reserve(problem.memories.size());
  for (int m = 0; m < static_cast<int>(problem.memories.size()); ++m)
    granularities.push_back(GranularityOf(m));
  for (const Buffer& buffer : problem.buffers) {
    const Bytes alignment = AlignmentOf(problem, buffer);
    const Bytes stride =
        alignment > 1 ? alignment : granularities[static_cast<size_t>(buffer.memory)];
    const Bytes last = capacities_[static_cast<size_t>(buffer.memory)] - buffer.size;
    strides_.push_back(stride);
    lowest_.push_back(base::RoundUp(buffer.offset.value_or(0), stride));
    highest_.push_back(base::RoundDown(std::min(buffer.offset.value_or(last), last), stride));
  }
}

Bytes Facts::GranularityOf(int memory) const {
  Bytes granularity = 0;
  const auto divide = [&granularity](Bytes value) { granularity = std::gcd(granularity, value); };
  for (const Buffer& buffer : problem_.buffers) {
    if (buffer.memory != memory) continue;
    divide(buffer.size);
    divide(buffer.offset.value_or(0));
    if (const Bytes alignment = AlignmentOf(problem_, buffer); alignment > 1) divide(alignment);
  }
  const Memory& home = problem_.memories[static_cast<size_t>(memory)];
  for (const Reserved& reserved : home.reserved)
    divide(reserved.range.begin), divide(reserved.range.end);
  for (const Bank& bank : home.banks) divide(bank.range.begin), divide(bank.range.end);
  for (const Relation& relation : problem_.relations) {
    if (BufferAt(relation.first).memory != memory) continue;
    divide(relation.delta);
    const bool moves_nothing =
        relation.kind != RelationKind::kAdjacent && relation.kind != RelationKind::kSameBank;
    if (moves_nothing) continue;
    divide(AlignmentOf(problem_, BufferAt(relation.first)));
    divide(AlignmentOf(problem_, BufferAt(relation.second)));
  }
  for (const Rule& rule : problem_.rules) {
    if (BufferAt(ItemAt(rule, 0).first).memory != memory) continue;
    const RuleCheck& check = CheckOf(rule.requirement.kind);
    divide(check.divisor == nullptr ? 1 : check.divisor(problem_, rule));
  }
  return std::max<Bytes>(granularity, 1);
}

bool Facts::MayShare(int a, int b) const {
  return !may_share_.empty() && may_share_.contains(Ordered(a, b));
}

bool Facts::LieApart(int a, int b) const {
  if (a == b || BufferAt(a).memory != BufferAt(b).memory) return false;
  if (!separate_.empty() && separate_.contains(Ordered(a, b))) return true;
  return LiveTogether(BufferAt(a), BufferAt(b)) && !MayShare(a, b);
}

Bytes Facts::ReservedWithin(int memory, Bytes begin, Bytes end) const {
  Bytes bytes = 0;
  for (const AddressRange& range : reserved_[static_cast<size_t>(memory)]) {
    bytes += std::max<Bytes>(0, std::min(range.end, end) - std::max(range.begin, begin));
  }
  return bytes;
}

std::vector<AddressRange> Facts::WindowsOf(int buffer) const {
  const Buffer& own = BufferAt(buffer);
  const Memory& home = MemoryOf(buffer);
  std::vector<AddressRange> windows = {{0, CapacityOf(own.memory)}};
  const auto clear = [&](const std::vector<AddressRange>& ranges) {
    return Subtract(ranges, reserved_[static_cast<size_t>(own.memory)]);
  };
  if (home.banks.empty()) return clear(windows);
  std::vector<AddressRange> allowed;
  std::vector<AddressRange> denied;
  for (size_t bank = 0; bank < home.banks.size(); ++bank) {
    const bool may =
        own.allowed_banks.empty() || std::find(own.allowed_banks.begin(), own.allowed_banks.end(),
                                               static_cast<int>(bank)) != own.allowed_banks.end();
    (may ? allowed : denied).push_back(home.banks[bank].range);
  }
  if (own.span == Span::kAny) return clear(Subtract(windows, Join(std::move(denied))));
  return clear(own.span == Span::kSingle ? allowed : Join(allowed));
}

bool Facts::HasPlace(int buffer, Bytes first, Bytes last) const {
  first = std::max(first, LowestOf(buffer));
  last = std::min(last, HighestOf(buffer));
  const std::vector<AddressRange> windows = WindowsOf(buffer);
  return std::any_of(windows.begin(), windows.end(), [&](const AddressRange& window) {
    const Bytes begin = base::RoundUp(std::max(first, window.begin), StrideOf(buffer));
    return begin <= last && begin + SizeOf(buffer) <= window.end;
  });
}

namespace {

using Kind = ProofLiteral::Kind;

constexpr size_t kMostTruths = size_t{1} << 28;
constexpr Bytes kFarthest = Bytes{1}
                            << 61;  // any bound; sums with sizes and strides stay below 2^63

}  // namespace

Assignment::Assignment(const Facts& facts) : facts_(facts), horizon_(Horizon(facts.problem())) {
  const Problem& problem = facts.problem();
  count_ = problem.buffers.size() * problem.buffers.size();
  for (int i = 0; i < facts.Buffers(); ++i) {
    bounds_.insert(bounds_.end(), {facts.LowestOf(i), facts.HighestOf(i)});
    contradicts_ = contradicts_ || facts.LowestOf(i) > facts.HighestOf(i);
    first_touch_.push_back(count_);
    count_ += facts.MemoryOf(i).banks.size();
  }
  for (const Memory& memory : problem.memories) {
    first_mode_.push_back(count_);
    if (!memory.modes.empty()) {
      count_ += memory.modes.size() * static_cast<size_t>(horizon_.upper - horizon_.lower);
    }
  }
}

std::string Assignment::Understand(ProofLiteral& literal) const {
  if (literal.kind == Kind::kMode) return UnderstandMode(literal);
  const Problem& problem = facts_.problem();
  if (!IsIndex(literal.first, problem.buffers.size())) return "there is no such buffer";
  if (literal.kind == Kind::kOffset) return UnderstandOffset(literal);
  if (count_ > kMostTruths) return "the problem is too large for such literals";
  if (literal.kind == Kind::kTouch) {
    return IsIndex(literal.second, facts_.MemoryOf(literal.first).banks.size())
               ? ""
               : "there is no such bank";
  }
  if (!IsIndex(literal.second, problem.buffers.size())) return "there is no such buffer";
  return facts_.LieApart(literal.first, literal.second) ? "" : "the two buffers need not lie apart";
}

std::string Assignment::UnderstandOffset(ProofLiteral& literal) const {
  if (literal.value > kFarthest || literal.value < -kFarthest) return "the offset is beyond 2^61";
  literal.value = base::RoundUp(literal.value, facts_.StrideOf(literal.first));
  return "";
}

std::string Assignment::UnderstandMode(const ProofLiteral& literal) const {
  const Problem& problem = facts_.problem();
  if (!IsIndex(literal.first, problem.memories.size())) return "there is no such memory";
  if (count_ > kMostTruths) return "the problem is too large for such literals";
  if (!IsIndex(literal.second, problem.memories[static_cast<size_t>(literal.first)].modes.size())) {
    return "there is no such mode";
  }
  if (literal.value < horizon_.lower || literal.value >= horizon_.upper)
    return "there is no such step";
  return "";
}

// The index of a pair of buffers, of a buffer and a bank, or of a memory, a step and a mode.
size_t Assignment::IndexOf(const ProofLiteral& literal) const {
  const auto first = static_cast<size_t>(literal.first);
  const auto second = static_cast<size_t>(literal.second);
  if (literal.kind == Kind::kBelow) {
    return std::min(first, second) * facts_.problem().buffers.size() + std::max(first, second);
  }
  if (literal.kind == Kind::kTouch) return first_touch_[first] + second;
  const size_t modes = facts_.problem().memories[first].modes.size();
  return first_mode_[first] + static_cast<size_t>(literal.value - horizon_.lower) * modes + second;
}

bool Assignment::IsTrue(const ProofLiteral& literal) const {
  if (literal.kind == Kind::kOffset) {
    const size_t least = 2 * static_cast<size_t>(literal.first);
    return literal.negated ? bounds_[least + 1] < literal.value : bounds_[least] >= literal.value;
  }
  if (truths_.empty()) return false;
  const bool says_no =
      literal.kind == Kind::kBelow ? literal.first > literal.second : literal.negated;
  return truths_[IndexOf(literal)] == (says_no ? -1 : 1);
}

bool Assignment::Assert(const ProofLiteral& literal) {
  if (literal.kind == Kind::kOffset) {
    const size_t least = 2 * static_cast<size_t>(literal.first);
    const size_t changed = literal.negated ? least + 1 : least;
    trail_.push_back({true, changed, bounds_[changed]});
    bounds_[changed] =
        literal.negated ? literal.value - facts_.StrideOf(literal.first) : literal.value;
    return bounds_[least] <= bounds_[least + 1];
  }
  if (truths_.empty()) truths_.resize(count_);
  const bool says_no =
      literal.kind == Kind::kBelow ? literal.first > literal.second : literal.negated;
  const size_t index = IndexOf(literal);
  trail_.push_back({false, index, truths_[index]});
  truths_[index] = says_no ? -1 : 1;
  return true;
}

void Assignment::Undo() {
  for (; !trail_.empty(); trail_.pop_back()) {
    const Change& change = trail_.back();
    if (change.offset) {
      bounds_[change.index] = change.before;
    } else {
      truths_[change.index] = static_cast<int8_t>(change.before);
    }
  }
}

}  // namespace tessera::problem::proof
