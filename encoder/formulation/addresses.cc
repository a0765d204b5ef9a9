// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <numeric>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/formulation/formulation.h"
#include "tessera/encoder/formulation/refinements.h"
#include "tessera/problem/structure.h"

// Sizes as assumptions
// --------------------
// Every buffer has two numbers, its start and its end. All constraints but one use only these two:
//
//     i and j share no byte    end_i <= offset_j  or  end_j <= offset_i
//     colocate                 offset_j = offset_i + delta
//     adjacent                 end_i <= offset_j < end_i + alignment_j
//     capacity                 end_i <= C
//     reserved [p, q), spans   end_i <= p  or  offset_i >= q
//     i touches bank [p, q)    offset_i < q  and  end_i > p
//
// One literal per pair, "i below j", selects one of the two halves of the first line.
//
// Only end_i = offset_i + size_i contains the size. If the size is the same for all candidates, the
// end is not a variable but the offset plus a constant. If it differs, the end is a separate
// integer, and each candidate r states, guarded by its selector,
//
//     candidate_r  ->  end_i = offset_i + size_i(r)
//
// So the next candidate costs two order constraints per buffer instead of two per pair, and no
// clause of liveness, banks or modes. Clauses that the solver learned from those stay; clauses
// learned from sizes contain the selector. The drawback: propagation between pairs takes one
// additional step. A capacity is a selector too: one binary clause per buffer.
//
// Cost: pairs * 2 order constraints, plus about ten clauses for each buffer and bank.
namespace tessera::encoder::formulation {
namespace {

using problem::Buffer;
using problem::Bytes;
using problem::Relation;
using problem::RelationKind;

// Sizes of one buffer for the candidates, in units of the granularity; one size without a ladder.
std::vector<Bytes> SizesInUnits(const FormulationInput& question, size_t buffer) {
  std::vector<Bytes> sizes = SizesOf(question.problem, question.ladder, buffer);
  for (Bytes& size : sizes) size /= question.GranularityOf(buffer);
  return sizes;
}

Bytes AlignmentOf(const FormulationInput& question, size_t buffer) {
  return std::max<Bytes>(1, problem::AlignmentOf(question.problem, question.BufferAt(buffer)) /
                                question.GranularityOf(buffer));
}

Bytes CapacityAround(const FormulationInput& question, size_t buffer) {
  const auto memory = static_cast<size_t>(question.BufferAt(buffer).memory);
  return question.CapacityOf(memory) / question.GranularityOf(buffer);
}

// The offsets that the buffer's grid allows, in units of the granularity. A grid of multiple 1 in
// bytes has multiple 1 in these units too.
Grid GridOf(const FormulationInput& question, size_t buffer) {
  const Grid& grid = question.address_constraints.grids[buffer];
  const Bytes granularity = question.GranularityOf(buffer);
  return {std::max<Bytes>(1, grid.multiple / granularity), grid.residue / granularity};
}

// The normal positions among these values, if there are fewer.
std::vector<int64_t> NormalPositionsIn(const FormulationInput& question, size_t buffer,
                                       const Domain& domain) {
  if (question.positions.empty()) return {};
  std::vector<int64_t> only;
  for (const Bytes position : question.positions[buffer]) {
    if (position <= domain.Last()) only.push_back(position);
  }
  if (static_cast<int64_t>(only.size()) >= domain.count) only.clear();
  return only;
}

// The values of the end of a buffer with several sizes, given the values of its offset.
Domain EndDomain(const FormulationInput& question, size_t buffer, const Domain& offset) {
  const std::vector<Bytes> sizes = SizesInUnits(question, buffer);
  const Bytes least = *std::min_element(sizes.begin(), sizes.end());
  Bytes step = offset.count > 1 ? offset.step : 0;
  for (const Bytes size : sizes) step = std::gcd(step, size - least);
  const Bytes first = offset.first + least;
  const Bytes greatest = std::min(CapacityAround(question, buffer),
                                  offset.Last() + *std::max_element(sizes.begin(), sizes.end()));
  Domain domain{first, step, (greatest - first) / step + 1};
  std::vector<int64_t> ends;
  for (const int64_t start : offset.only) {
    for (const Bytes size : sizes) {
      if (start + size <= greatest) ends.push_back(start + size);
    }
  }
  if (!ends.empty()) Restrict(domain, std::move(ends));
  return domain;
}

int64_t CountOf(const Domain& domain) {
  return domain.only.empty() ? domain.count : static_cast<int64_t>(domain.only.size());
}

// Whether some constraint uses the end of the buffer in another way than "at most".
bool NeedsExactEnd(const FormulationInput& question, size_t buffer) {
  if (!question.problem.rules.empty() || !question.problem.costs.empty()) return true;
  const auto names = [buffer](int first, int second) {
    return static_cast<size_t>(first) == buffer || static_cast<size_t>(second) == buffer;
  };
  return std::any_of(question.problem.relations.begin(), question.problem.relations.end(),
                     [&](const Relation& relation) {
                       const bool asks = relation.kind == RelationKind::kAdjacent ||
                                         relation.kind == RelationKind::kSameBank;
                       return asks && names(relation.first, relation.second);
                     });
}

bool SizeVaries(const std::vector<Bytes>& sizes) {
  return std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) != sizes.end();
}

}  // namespace

const problem::Memory& FormulationInput::MemoryOf(size_t buffer) const {
  return problem.memories[static_cast<size_t>(BufferAt(buffer).memory)];
}

Bytes FormulationInput::GranularityOf(size_t buffer) const {
  return address_constraints.granularities[static_cast<size_t>(BufferAt(buffer).memory)];
}

Addresses::Addresses(const FormulationInput& question, ClauseSink& clauses, IntegerSink& integers)
    : question_(question), clauses_(clauses), integers_(integers) {}

std::optional<Domain> Addresses::DomainOf(const FormulationInput& question, size_t buffer) {
  const std::vector<Bytes> sizes = SizesInUnits(question, buffer);
  const Bytes last =
      CapacityAround(question, buffer) - *std::min_element(sizes.begin(), sizes.end());
  const auto [multiple, residue] = GridOf(question, buffer);
  if (last < residue) return std::nullopt;
  const std::optional<Bytes>& fixed = question.BufferAt(buffer).offset;
  if (!fixed) {
    Domain domain{residue, multiple, (last - residue) / multiple + 1};
    domain.only = NormalPositionsIn(question, buffer, domain);
    return domain;
  }
  const Bytes offset = *fixed / question.GranularityOf(buffer);
  if (*fixed < 0 || offset > last || offset % multiple != residue) return std::nullopt;
  return Domain{offset, 1, 1};
}

Magnitude Addresses::Measure(const FormulationInput& question) {
  Magnitude magnitude;
  magnitude.pairs = static_cast<int64_t>(question.address_constraints.disjoint.size());
  magnitude.ladder = question.ladder != nullptr;
  magnitude.banked =
      question.refinements.bank_sums &&
      std::any_of(question.problem.memories.begin(), question.problem.memories.end(),
                  [](const problem::Memory& memory) { return memory.banks.size() > 1; });
  for (size_t i = 0; i < question.problem.buffers.size(); ++i) {
    const std::optional<Domain> offset = DomainOf(question, i);
    if (!offset) continue;
    magnitude.positions = std::max(magnitude.positions, CountOf(*offset));
    if (SizeVaries(SizesInUnits(question, i))) {
      magnitude.positions = std::max(magnitude.positions, CountOf(EndDomain(question, i, *offset)));
    }
    magnitude.greatest = std::max(magnitude.greatest, CapacityAround(question, i));
  }
  for (const problem::Rule& rule : question.problem.rules) {
    for (const problem::RuleItem& item : ItemsOf(rule)) {
      const auto first = static_cast<size_t>(item.first);
      for (const problem::Restriction& restriction :
           RestrictionsOn(question.problem, rule, item, question.BufferAt(first).size)) {
        if (std::holds_alternative<problem::CommonDistance>(restriction)) ++magnitude.sums;
        if (!std::holds_alternative<problem::Margins>(restriction) || rule.sizes.HoldsAll())
          continue;
        magnitude.positions = std::max(magnitude.positions, CapacityAround(question, first) + 1);
      }
    }
  }
  const CostScale costs = ScaleOf(question.problem);
  magnitude.positions = std::max(magnitude.positions, costs.most + 1);
  magnitude.greatest = std::max(magnitude.greatest, costs.most);
  return magnitude;
}

void Addresses::Write() {
  for (size_t i = 0; i < question_.problem.buffers.size() && !clauses_.Full(); ++i) {
    WriteBuffer(i);
    WriteForbidden(i);
  }
  if (clauses_.Full()) return;
  WriteDisjoint();
  clauses_.Enter(Topic::kRelations);
  for (const Relation& relation : question_.problem.relations) WriteRelation(relation);
}

// Each of several interchangeable buffers lies below the next. This orders the whole group.
void Addresses::WriteDisjoint() {
  clauses_.Enter(Topic::kLiveness);
  // buffer to its group and its index in the group
  std::map<int, std::pair<size_t, size_t>> interchangeable;
  if (question_.refinements.symmetry) {
    const std::vector<std::vector<int>> groups =
        FindInterchangeable(question_.problem, question_.ladder);
    for (size_t group = 0; group < groups.size(); ++group) {
      for (size_t k = 0; k < groups[group].size(); ++k)
        interchangeable.emplace(groups[group][k], std::pair(group, k));
    }
  }
  for (const auto& [i, j] : question_.address_constraints.disjoint) {
    if (clauses_.Full()) return;
    const Place& first = places_[static_cast<size_t>(i)];
    const Place& second = places_[static_cast<size_t>(j)];
    const auto one = interchangeable.find(i);
    const auto other = interchangeable.find(j);
    if (one != interchangeable.end() && other != interchangeable.end() &&
        one->second.first == other->second.first) {
      const size_t rank = one->second.second;
      const size_t other_rank = other->second.second;
      if (rank + 1 == other_rank) integers_.AddOrder(kTrue, first.end, {second.offset});
      if (other_rank + 1 == rank) integers_.AddOrder(kTrue, second.end, {first.offset});
      below_.emplace(std::pair(i, j), rank < other_rank ? kTrue : kFalse);
      continue;
    }
    const Literal below = clauses_.NewVariable();
    clauses_.Explain(below, LiesBelow{i, j});
    below_.emplace(std::pair(i, j), below);
    PreferOrder(below, question_.BufferAt(static_cast<size_t>(i)),
                question_.BufferAt(static_cast<size_t>(j)));
    integers_.AddOrder(below, first.end, {second.offset});
    integers_.AddOrder(~below, second.end, {first.offset});
  }
}

// The hints of two buffers suggest which one lies below.
void Addresses::PreferOrder(Literal below, const Buffer& first, const Buffer& second) {
  if (first.hint && second.hint) clauses_.Prefer(*first.hint < *second.hint ? below : ~below);
}

void Addresses::WriteBuffer(size_t buffer) {
  clauses_.Enter(Topic::kOffsets);
  std::optional<Domain> domain = DomainOf(question_, buffer);
  if (!domain) {
    clauses_.Add({});
    domain = Domain{};
  }
  Place place;
  place.offset = integers_.NewInteger(*domain);
  const auto quantity = [&](Quantity::Kind kind) {
    return Quantity{kind, static_cast<int>(buffer), question_.GranularityOf(buffer), 0};
  };
  integers_.Explain(place.offset, quantity(Quantity::Kind::kOffset));
  if (const std::optional<Bytes>& hint = question_.BufferAt(buffer).hint; hint && *hint >= 0) {
    integers_.Prefer(place.offset, *hint / question_.GranularityOf(buffer));
  }
  const std::vector<Bytes> sizes = SizesInUnits(question_, buffer);
  place.sized_by_candidate = SizeVaries(sizes);
  place.exact_end = !question_.refinements.loose_ends || NeedsExactEnd(question_, buffer);
  place.end = place.sized_by_candidate ? Term{NewEnd(place.offset, buffer, *domain)}
                                       : Term{place.offset, sizes.front()};
  if (place.sized_by_candidate) integers_.Explain(place.end.base, quantity(Quantity::Kind::kEnd));
  place.top = place.end;
  places_.push_back(place);
  touches_.emplace_back(question_.MemoryOf(buffer).banks.size());
}

Integer Addresses::NewEnd(Integer offset, size_t buffer, const Domain& domain) {
  std::vector<Bytes> sizes = SizesInUnits(question_, buffer);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return integers_.NewEnd(offset, sizes, EndDomain(question_, buffer, domain));
}

void Addresses::WriteForbidden(size_t buffer) {
  clauses_.Enter(Topic::kAddresses);
  const Place& place = places_[buffer];
  const Bytes granularity = question_.GranularityOf(buffer);
  for (const problem::AddressRange& range : question_.address_constraints.forbidden[buffer]) {
    clauses_.Add({~integers_.AtLeast(place.end, range.begin / granularity + 1),
                  integers_.AtLeast({place.offset}, range.end / granularity)});
  }
}

void Addresses::WriteRelation(const Relation& relation) {
  const auto second_index = static_cast<size_t>(relation.second);
  const Place& first = places_[static_cast<size_t>(relation.first)];
  const Place& second = places_[second_index];
  if (relation.kind == RelationKind::kColocate) {
    const Bytes delta = relation.delta / question_.GranularityOf(second_index);
    integers_.AddOrder(kTrue, {first.offset, delta}, {second.offset});
    integers_.AddOrder(kTrue, {second.offset}, {first.offset, delta});
  }
  if (relation.kind == RelationKind::kAdjacent) {
    const Bytes slack = AlignmentOf(question_, second_index) - 1;
    integers_.AddOrder(kTrue, first.end, {second.offset});
    integers_.AddOrder(kTrue, {second.offset}, {first.end.base, first.end.shift + slack});
    const bool ordered = relation.first < relation.second;
    below_.emplace(std::minmax(relation.first, relation.second), ordered ? kTrue : kFalse);
  }
}

void Addresses::WriteBankRelation(const Relation& relation, Literal guard, Topic topic) {
  const auto first = static_cast<size_t>(relation.first);
  const auto second = static_cast<size_t>(relation.second);
  for (size_t bank = 0; bank < question_.MemoryOf(first).banks.size(); ++bank) {
    const Literal a = Touches(first, bank);
    const Literal b = Touches(second, bank);
    clauses_.Enter(topic);
    if (relation.kind == RelationKind::kDifferentBank) clauses_.Add({~guard, ~a, ~b});
    if (relation.kind != RelationKind::kSameBank) continue;
    clauses_.Add({~guard, ~a, b});
    clauses_.Add({~guard, a, ~b});
  }
}

std::optional<Literal> Addresses::Below(size_t first, size_t second) const {
  const auto known = below_.find(std::minmax(static_cast<int>(first), static_cast<int>(second)));
  if (known == below_.end()) return std::nullopt;
  return first < second ? known->second : ~known->second;
}

void Addresses::ExpectGuard(size_t buffer) {
  Place& place = places_[buffer];
  if (place.top.base.index != place.end.base.index) return;
  const Term top{integers_.NewInteger({0, 1, CapacityAround(question_, buffer) + 1})};
  integers_.AddOrder(kTrue, place.top, top);
  place.top = top;
}

void Addresses::Guard(Literal guard, size_t buffer, Bytes before, Bytes after) {
  Place& place = places_[buffer];
  const Term guarded{place.end.base, place.end.shift + after};
  clauses_.Add({~guard, integers_.AtLeast({place.offset}, before)});
  clauses_.Add({~guard, ~integers_.AtLeast(guarded, CapacityAround(question_, buffer) + 1)});
  if (place.top.base.index != place.end.base.index) {
    integers_.AddOrder(guard, guarded, place.top);
  } else {
    place.top.shift = std::max(place.top.shift, guarded.shift);
  }
}

Literal Addresses::Touches(size_t buffer, size_t bank) {
  std::optional<Literal>& touches = touches_[buffer][bank];
  if (!touches) {
    clauses_.Enter(Topic::kBanks);
    const Place& place = places_[buffer];
    const Bytes granularity = question_.GranularityOf(buffer);
    const problem::AddressRange& range = question_.MemoryOf(buffer).banks[bank].range;
    touches = And(clauses_, ~integers_.AtLeast({place.offset}, range.end / granularity),
                  integers_.AtLeast(place.end, range.begin / granularity + 1));
    clauses_.Explain(*touches, BankTouch{static_cast<int>(buffer), static_cast<int>(bank)});
  }
  return *touches;
}

Literal Addresses::SelectCandidate(size_t candidate) {
  if (question_.ladder == nullptr) return kTrue;
  if (const auto known = candidates_.find(candidate); known != candidates_.end())
    return known->second;
  clauses_.Enter(Topic::kSizes);
  const Literal selected = clauses_.NewVariable();
  clauses_.Explain(selected, CandidateChoice{static_cast<int>(candidate)});
  clauses_.Prefer(~selected);  // another candidate is selected
  for (size_t i = 0; i < places_.size() && !clauses_.Full(); ++i) {
    const Place& place = places_[i];
    if (!place.sized_by_candidate) continue;
    const Bytes size =
        question_.ladder->candidates[candidate].sizes[i] / question_.GranularityOf(i);
    integers_.ChooseSize(selected, place.offset, size, place.end.base, place.exact_end);
  }
  return candidates_[candidate] = selected;
}

Literal Addresses::SelectCapacity(Bytes capacity) {
  if (places_.empty() || question_.ceiling == capacity) return kTrue;
  const Bytes granularities = capacity / question_.address_constraints.granularities.front();
  if (const auto known = capacities_.find(granularities); known != capacities_.end())
    return known->second;
  clauses_.Enter(Topic::kCapacity);
  const Literal selected = clauses_.NewVariable();
  clauses_.Explain(selected, CapacityChoice{capacity});
  clauses_.Prefer(~selected);
  for (size_t i = 0; i < places_.size() && !clauses_.Full(); ++i) {
    if (question_.BufferAt(i).memory != 0) continue;
    clauses_.Add({~selected, ~integers_.AtLeast(places_[i].top, granularities + 1)});
  }
  return capacities_[granularities] = selected;
}

Bytes Addresses::PlacedAt(size_t buffer) const {
  return integers_.ValueOf(places_[buffer].offset) * question_.GranularityOf(buffer);
}

}  // namespace tessera::encoder::formulation
