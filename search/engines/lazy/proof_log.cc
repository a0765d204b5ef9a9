// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/proof_log.h"

#include <algorithm>
#include <utility>

namespace tessera::search::engines::lazy {

namespace proof = problem::proof;

int32_t ProofLog::NoteLesson(const Lesson& lesson, Trail& trail, const ClauseDatabase& clauses) {
  NoteRoot(trail, clauses);
  hints_.clear();
  for (const Lesson::Step& step : lesson.derivation)
    AddStep(trail.At(step.change), step.needed, trail, clauses);
  AddConflict(trail, clauses);
  literals_.clear();
  for (const BoundLiteral literal : lesson.clause) literals_.push_back(Translate(literal));
  if (log_.Full()) Fail();
  return failed_ ? -1 : log_.AddClause(literals_, hints_).index;
}

void ProofLog::NoteRoot(const Trail& trail, const ClauseDatabase& clauses) {
  const int end = trail.Level() > 0 ? trail.LevelStart(1) : trail.Size();
  for (; noted_ < end; ++noted_) {
    const Change& change = trail.At(noted_);
    // Facts of the Problem and lessons need no further proof.
    if (change.reason.kind == Reason::Kind::kRoot || IsCeiling({change.view, 0})) continue;
    hints_.clear();
    AddStep(change, change.bound, trail, clauses);
    if (hints_.empty() || failed_) continue;
    literals_ = {Translate({change.view, change.bound})};
    log_.AddClause(literals_, hints_);
  }
}

void ProofLog::NoteRefutation(Trail& trail, const ClauseDatabase& clauses) {
  NoteRoot(trail, clauses);
  hints_.clear();
  AddConflict(trail, clauses);
  if (!failed_) log_.AddClause({}, hints_);
}

void ProofLog::AddStep(const Change& change, Bound needed, const Trail& trail,
                       const ClauseDatabase& clauses) {
  if (change.reason.kind == Reason::Kind::kClause) {
    hints_.push_back({clauses.ProofOf(change.reason.first), false});
    return;
  }
  given_.clear();
  trail.Explain(change.reason, change.bound, needed, given_);
  // A bound that follows from a ceiling alone needs no axiom, because the proof implies it.
  const auto is_ceiling = [this](BoundLiteral literal) { return IsCeiling(literal); };
  if (IsOffset({change.view, 0}) && std::all_of(given_.begin(), given_.end(), is_ceiling)) return;
  given_.push_back(trail.Not({change.view, needed}));
  AddAxiom(trail);
}

void ProofLog::AddConflict(Trail& trail, const ClauseDatabase& clauses) {
  if (trail.ConflictClause() >= 0) {
    hints_.push_back({clauses.ProofOf(trail.ConflictClause()), false});
    return;
  }
  given_ = trail.Conflict();
  AddAxiom(trail);
}

void ProofLog::AddAxiom(const Trail& trail) {
  proof::Ground ground = proof::Ground::kStack;
  if (failed_ || !FindGround(ground)) return Fail();
  literals_.clear();
  for (const BoundLiteral literal : given_) {
    const bool always = IsOffset(literal) && (literal.view & 1) == 0 && literal.bound <= 0;
    if (!always) literals_.push_back(Translate(trail.Not(literal)));
  }
  hints_.push_back(log_.AddAxiom(ground, subjects_, literals_));
}

void ProofLog::Fail() {
  failed_ = true;
  stop_.Request();
}

// Also fills in the subjects, and omits the ceilings, which are implicit in the proof.
bool ProofLog::FindGround(proof::Ground& ground) {
  subjects_.clear();
  const auto is_ceiling = [this](BoundLiteral literal) { return IsCeiling(literal); };
  if (!given_.empty() && std::all_of(given_.begin(), given_.end(), is_ceiling)) {
    ground = proof::Ground::kStack;
    FindHeaviestSection(IntegerOf(given_[0].view) - packing_.buffers);
  }
  std::erase_if(given_, is_ceiling);
  if (!subjects_.empty()) return true;
  std::vector<int> integers;
  for (const BoundLiteral literal : given_) integers.push_back(IntegerOf(literal.view));
  const int end = packing_.buffers + packing_.memories + static_cast<int>(packing_.pairs.size());
  const auto is_known = [end](int integer) { return integer < end; };
  if (given_.empty() || !std::all_of(integers.begin(), integers.end(), is_known)) return false;
  const auto is_bound = [this](BoundLiteral literal) { return IsOffset(literal); };
  if (std::none_of(given_.begin(), given_.end(), is_bound)) {
    ground = proof::Ground::kSectionPair;
    return FindSectionPair();
  }
  if (std::all_of(integers.begin(), integers.end(),
                  [&](int integer) { return integer == integers[0]; })) {
    ground = proof::Ground::kRoom;
    subjects_ = {integers[0]};
    return true;
  }
  const bool both_sides = given_.size() == 2 && (given_[0].view & 1) != (given_[1].view & 1);
  if (both_sides && std::all_of(given_.begin(), given_.end(), is_bound)) {
    ground = proof::Ground::kTie;
    subjects_ = {FindTie()};
    return subjects_[0] >= 0;
  }
  FindStack();
  return true;
}

// The buffers that stay between two sections can be too large without any others; the heaviest
// section is then too large as well.
void ProofLog::FindHeaviestSection(int memory) {
  problem::Bytes heaviest = 0;
  for (int section = 0; section < packing_.sections.Count(); ++section) {
    if (packing_.section_memory[static_cast<size_t>(section)] != memory) continue;
    const auto members = packing_.sections[section];
    problem::Bytes sum = 0;
    for (const int member : members) sum += problem_.buffers[static_cast<size_t>(member)].size;
    if (sum <= heaviest) continue;
    heaviest = sum;
    subjects_.assign(members.begin(), members.end());
  }
}

void ProofLog::FindStack() {
  std::vector<std::pair<int, int>> orders;
  std::vector<int64_t> from_bottom;
  std::vector<int64_t> from_top;
  for (const BoundLiteral literal : given_) {
    if (!IsOffset(literal)) {
      orders.push_back(packing_.OrderedPair(literal.view));
    } else {
      ((literal.view & 1) == 0 ? from_bottom : from_top).push_back(IntegerOf(literal.view));
    }
  }
  if (orders.empty()) {
    subjects_ = from_bottom.empty() ? from_top : from_bottom;
  } else if (orders.size() == 1 && from_bottom.empty()) {
    subjects_ = from_top;
    subjects_.push_back(orders[0].first);
  } else if (orders.size() == 1 && from_top.empty()) {
    subjects_ = from_bottom;
    subjects_.push_back(orders[0].second);
  } else {
    const bool under_one = orders.size() == 1 || orders[0].second == orders[1].second;
    for (const auto& [below, above] : orders) subjects_.push_back(under_one ? below : above);
  }
  std::sort(subjects_.begin(), subjects_.end());
  subjects_.erase(std::unique(subjects_.begin(), subjects_.end()), subjects_.end());
}

// Finds the buffer that all orders refer to, and the buffers that two sections have in common apart
// from those below and above it. Of all such sets it takes the heaviest.
bool ProofLog::FindSectionPair() {
  const auto [first, second] = packing_.OrderedPair(given_[0].view);
  Bound heaviest = 0;
  for (const int around : {first, second}) {
    std::vector<int> below;
    std::vector<int> above;
    for (const BoundLiteral literal : given_) {
      const auto pair = packing_.OrderedPair(literal.view);
      if (pair.second == around) below.push_back(pair.first);
      if (pair.first == around) above.push_back(pair.second);
    }
    if (below.size() + above.size() != given_.size()) continue;
    std::sort(below.begin(), below.end());
    std::sort(above.begin(), above.end());
    for (const int one : packing_.sections_of[around]) {
      const auto before = packing_.sections[one];
      if (!std::ranges::includes(before, below)) continue;
      for (const int other : packing_.sections_of[around]) {
        const auto after = packing_.sections[other];
        if (!std::ranges::includes(after, above)) continue;
        NoteStayers(around, below, above, before, after, heaviest);
      }
    }
  }
  return heaviest > 0;
}

void ProofLog::NoteStayers(int around, const std::vector<int>& below, const std::vector<int>& above,
                           std::span<const int> before, std::span<const int> after,
                           Bound& heaviest) {
  std::vector<int64_t> stayers = {around};
  Bound sum = 0;
  const auto is_in = [](const std::vector<int>& sorted, int buffer) {
    return std::binary_search(sorted.begin(), sorted.end(), buffer);
  };
  for (const int buffer : before) {
    if (is_in(below, buffer) || is_in(above, buffer) ||
        !std::binary_search(after.begin(), after.end(), buffer)) {
      continue;
    }
    sum += problem_.buffers[static_cast<size_t>(buffer)].size;
    if (buffer != around) stayers.push_back(buffer);
  }
  if (sum <= heaviest) return;
  heaviest = sum;
  subjects_ = std::move(stayers);
}

// Returns the relation that the two bounds contradict, one from below and one from above.
int ProofLog::FindTie() const {
  const bool in_order = (given_[0].view & 1) == 0;
  const BoundLiteral low = given_[in_order ? 0 : 1];
  const BoundLiteral high = given_[in_order ? 1 : 0];
  const problem::Bytes gap = (-high.bound - low.bound) * packing_.granularity;
  for (size_t r = 0; r < problem_.relations.size(); ++r) {
    const problem::Relation& relation = problem_.relations[r];
    problem::Bytes least = relation.delta;
    problem::Bytes greatest = relation.delta;
    if (relation.kind == problem::RelationKind::kAdjacent) {
      const problem::Buffer& second = problem_.buffers[static_cast<size_t>(relation.second)];
      least = problem_.buffers[static_cast<size_t>(relation.first)].size;
      greatest = least + problem::AlignmentOf(problem_, second) - 1;
    } else if (relation.kind != problem::RelationKind::kColocate) {
      continue;
    }
    const std::pair buffers(IntegerOf(low.view), IntegerOf(high.view));
    if (buffers == std::pair(relation.first, relation.second) && gap < least)
      return static_cast<int>(r);
    if (buffers == std::pair(relation.second, relation.first) && gap < -greatest)
      return static_cast<int>(r);
  }
  return -1;
}

bool ProofLog::IsCeiling(BoundLiteral literal) const {
  const int integer = IntegerOf(literal.view);
  return integer >= packing_.buffers && integer < packing_.buffers + packing_.memories;
}

proof::ProofLiteral ProofLog::Translate(BoundLiteral literal) const {
  if (!IsOffset(literal)) {
    const auto [below, above] = packing_.OrderedPair(literal.view);
    return proof::Below(below, above);
  }
  const int buffer = IntegerOf(literal.view);
  if ((literal.view & 1) == 0) return proof::AtLeast(buffer, literal.bound * packing_.granularity);
  const Bound greatest = -literal.bound;
  return proof::Under(
      buffer, (greatest + packing_.alignment[static_cast<size_t>(buffer)]) * packing_.granularity);
}

}  // namespace tessera::search::engines::lazy
