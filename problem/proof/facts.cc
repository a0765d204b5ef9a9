#include "tessera/problem/proof/facts.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "tessera/base/checked.h"

namespace tessera::problem::proof {
namespace {

constexpr Bytes kMostBytes = Bytes{1} << 60;

// Ascending, without empty ranges, touching ones joined.
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

// What is left of `windows` outside `holes`; holes are ascending and disjoint.
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

std::pair<int, int> Ordered(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

}  // namespace

std::optional<std::string> Facts::FindFault(const Problem& problem, Bytes capacity) {
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
    const Requirement& wanted = rule.requirement;
    for (const Bytes bytes :
         {wanted.multiple, wanted.window.end, std::abs(wanted.distance), wanted.before, wanted.after}) {
      if (bytes > kMostBytes) return "a rule that speaks of more than 2^60 bytes";
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
  std::vector<Bytes> granules;
  granules.reserve(problem.memories.size());
  for (int m = 0; m < static_cast<int>(problem.memories.size()); ++m) granules.push_back(GranuleOf(m));
  for (const Buffer& buffer : problem.buffers) {
    const Bytes alignment = AlignmentOf(problem, buffer);
    const Bytes stride = alignment > 1 ? alignment : granules[static_cast<size_t>(buffer.memory)];
    const Bytes last = capacities_[static_cast<size_t>(buffer.memory)] - buffer.size;
    strides_.push_back(stride);
    lowest_.push_back(base::RoundUp(buffer.offset.value_or(0), stride));
    highest_.push_back(base::RoundDown(std::min(buffer.offset.value_or(last), last), stride));
  }
}

Bytes Facts::GranuleOf(int memory) const {
  Bytes granule = 0;
  const auto divide = [&granule](Bytes value) { granule = std::gcd(granule, value); };
  for (const Buffer& buffer : problem_.buffers) {
    if (buffer.memory != memory) continue;
    divide(buffer.size);
    divide(buffer.offset.value_or(0));
    if (const Bytes alignment = AlignmentOf(problem_, buffer); alignment > 1) divide(alignment);
  }
  const Memory& home = problem_.memories[static_cast<size_t>(memory)];
  for (const Reserved& reserved : home.reserved) divide(reserved.range.begin), divide(reserved.range.end);
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
  bool flips_bits = false;
  for (const Rule& rule : problem_.rules) {
    const int member = rule.pairs.empty() ? rule.buffers.front() : rule.pairs.front().first;
    if (BufferAt(member).memory != memory) continue;
    divide(DivisorOf(rule));
    flips_bits = flips_bits || rule.requirement.kind == RequirementKind::kXorDistance;
  }
  granule = std::max<Bytes>(granule, 1);
  return flips_bits ? granule & -granule : granule;
}

// What the granule must divide for the rule's sake; 0 when anything will do.
Bytes Facts::DivisorOf(const Rule& rule) const {
  const Requirement& wanted = rule.requirement;
  Bytes divisor = 0;
  switch (wanted.kind) {
    case RequirementKind::kOffset:
    case RequirementKind::kDifference:
      return wanted.multiple == 1 ? 0 : std::gcd(wanted.multiple, wanted.residue);
    case RequirementKind::kNoCrossing:
      return wanted.multiple;
    case RequirementKind::kWindow:
      return wanted.window.begin;
    case RequirementKind::kDistance:
    case RequirementKind::kXorDistance:
      return wanted.distance;
    case RequirementKind::kGuard:
      return std::gcd(wanted.before, wanted.after);
    case RequirementKind::kNaturalAlignment:
      for (const int i : rule.buffers) {
        divisor = std::gcd(divisor, static_cast<Bytes>(std::bit_ceil(static_cast<uint64_t>(SizeOf(i)))));
      }
      return divisor;
    case RequirementKind::kSameBank:
    case RequirementKind::kCommonDelta:
      for (const auto& [first, second] : rule.pairs) {
        divisor = std::gcd(divisor, AlignmentOf(problem_, BufferAt(first)));
        divisor = std::gcd(divisor, AlignmentOf(problem_, BufferAt(second)));
      }
      return divisor;
    case RequirementKind::kBanks:
    case RequirementKind::kDifferentBank:
      return 0;
  }
  return 1;
}

bool Facts::MayShare(int a, int b) const { return !may_share_.empty() && may_share_.contains(Ordered(a, b)); }

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
    const bool may = own.allowed_banks.empty() ||
                     std::find(own.allowed_banks.begin(), own.allowed_banks.end(), static_cast<int>(bank)) !=
                         own.allowed_banks.end();
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

}  // namespace tessera::problem::proof
