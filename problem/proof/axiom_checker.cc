// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/proof/axiom_checker.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "tessera/base/arithmetic.h"

namespace tessera::problem::proof {
namespace {

using Kind = ProofLiteral::Kind;

// The minimum number of subjects between a ground's name and the colon.
size_t SubjectsOf(Ground ground) {
  switch (ground) {
    case Ground::kStack:
    case Ground::kSectionPair:
    case Ground::kRoom:
    case Ground::kTie:
    case Ground::kBanks:
      return 1;
    case Ground::kTouch:
    case Ground::kMode:
    case Ground::kRule:
    case Ground::kGuard:
      return 2;
    default:
      return 3;
  }
}

bool Has(const Axiom& axiom, const ProofLiteral& literal) {
  return std::find(axiom.literals.begin(), axiom.literals.end(), literal) != axiom.literals.end();
}

// The modes that the axiom's literals forbid to the memory at the step; the negation assumes them.
std::vector<int> ModesAt(const Axiom& axiom, int memory, Step step) {
  std::vector<int> modes;
  for (const ProofLiteral& literal : axiom.literals) {
    const bool here =
        literal.kind == Kind::kMode && literal.first == memory && literal.value == step;
    if (here && literal.negated) modes.push_back(literal.second);
  }
  return modes;
}

bool Permits(const BankMode& bank, const Access& access) {
  return std::any_of(bank.allowed.begin(), bank.allowed.end(), [&](const Permission& permission) {
    return permission.kind == access.kind &&
           (permission.engine.empty() || permission.engine == access.engine);
  });
}

// Whether a buffer may lie in a bank in this state at a step at which it lives.
bool Serves(const BankMode& bank, const Buffer& buffer, Step step) {
  return !bank.off &&
         std::all_of(buffer.accesses.begin(), buffer.accesses.end(), [&](const Access& access) {
           return access.step != step || Permits(bank, access);
         });
}

}  // namespace

AxiomChecker::AxiomChecker(const Facts& facts) : facts_(facts), guards_(GuardsOf(facts.problem())) {
  const bool limited =
      std::any_of(facts.problem().memories.begin(), facts.problem().memories.end(),
                  [](const Memory& memory) { return memory.transitions.has_value(); });
  if (limited) successions_ = Successions(facts.problem());
}

std::string AxiomChecker::FindFlaw(const Axiom& axiom) const {
  const size_t wanted = SubjectsOf(axiom.ground);
  const bool takes_more = axiom.ground == Ground::kStack || axiom.ground == Ground::kSectionPair;
  if (axiom.subjects.size() < wanted || (!takes_more && axiom.subjects.size() > wanted)) {
    return "the ground '" + std::string(kGroundNames[static_cast<size_t>(axiom.ground)]) +
           "' takes " + (takes_more ? "buffers" : std::to_string(wanted) + " numbers");
  }
  switch (axiom.ground) {
    case Ground::kStack:
      return FindFlawInStack(axiom);
    case Ground::kRoom:
      return FindFlawInRoom(axiom);
    case Ground::kTie:
      return FindFlawInTie(axiom);
    case Ground::kTouch:
      return FindFlawInTouch(axiom);
    case Ground::kBanks:
      return FindFlawInBanks(axiom);
    case Ground::kMode:
      return FindFlawInMode(axiom);
    case Ground::kFollow:
      return FindFlawInFollow(axiom);
    case Ground::kAccess:
      return FindFlawInAccess(axiom);
    case Ground::kPorts:
      return FindFlawInPorts(axiom);
    case Ground::kRule:
      return FindFlawInRule(axiom);
    case Ground::kGuard:
      return FindFlawInGuard(axiom);
    case Ground::kSectionPair:
      return FindFlawInSectionPair(axiom);
    case Ground::kDelta:
      return FindFlawInDelta(axiom);
  }
  return "no such ground";
}

// The range of the buffer under the negation of the literals.
Range AxiomChecker::RangeOf(int buffer, const Axiom& axiom) const {
  Range range{facts_.LowestOf(buffer), facts_.HighestOf(buffer)};
  for (const ProofLiteral& literal : axiom.literals) {
    if (literal.kind != Kind::kOffset || literal.first != buffer) continue;
    if (literal.negated) {
      range.least = std::max(range.least, literal.value);
    } else {
      range.greatest = std::min(range.greatest, literal.value - facts_.StrideOf(buffer));
    }
  }
  return range;
}

std::string AxiomChecker::FindFlawInStack(const Axiom& axiom) const {
  std::vector<int> members;
  if (!FindMembers(axiom, members)) return "the buffers of a stack must pairwise lie apart";
  Range room = PlaceOf(members.front(), axiom);
  for (const int member : members) {
    const Range place = PlaceOf(member, axiom);
    room = {std::min(room.least, place.least), std::max(room.greatest, place.greatest)};
  }
  if (Overflows(members, room.least, room.greatest)) return "";
  return "the stack fits between " + std::to_string(room.least) + " and " +
         std::to_string(room.greatest);
}

// The least begin and the greatest end of the buffer, by its own bounds and by those of the buffers
// that the negation places below and above it.
Range AxiomChecker::PlaceOf(int buffer, const Axiom& axiom) const {
  Range place = RangeOf(buffer, axiom);
  place.greatest += facts_.SizeOf(buffer);
  for (const ProofLiteral& literal : axiom.literals) {
    if (literal.kind != Kind::kBelow) continue;
    const int below = literal.second;
    const int above = literal.first;
    if (above == buffer) {
      place.least = std::max(place.least, RangeOf(below, axiom).least + facts_.SizeOf(below));
    } else if (below == buffer) {
      place.greatest = std::min(place.greatest, RangeOf(above, axiom).greatest);
    }
  }
  return place;
}

bool AxiomChecker::FindMembers(const Axiom& axiom, std::vector<int>& members) const {
  for (const int64_t subject : axiom.subjects) {
    if (!IsIndex(subject, facts_.problem().buffers.size())) return false;
    members.push_back(static_cast<int>(subject));
  }
  return LieApart(members);
}

bool AxiomChecker::LieApart(const std::vector<int>& members) const {
  for (size_t a = 0; a < members.size(); ++a) {
    for (size_t b = a + 1; b < members.size(); ++b) {
      if (!facts_.LieApart(members[a], members[b])) return false;
    }
  }
  return true;
}

bool AxiomChecker::Overflows(const std::vector<int>& members, Bytes begin, Bytes end) const {
  const Bytes room = end - begin;
  Bytes sum = 0;
  Bytes stride = facts_.StrideOf(members.front());
  for (const int member : members) {
    sum += facts_.SizeOf(member);
    stride = std::gcd(stride, facts_.StrideOf(member));
  }
  const int memory = facts_.BufferAt(members.front()).memory;
  if (sum > room || sum > room - facts_.ReservedWithin(memory, begin, end)) return true;
  Bytes padded = 0;
  Bytes widest = 0;
  for (const int member : members) {
    const Bytes padding =
        base::RoundUp(facts_.SizeOf(member), std::max<Bytes>(stride, 1)) - facts_.SizeOf(member);
    padded += facts_.SizeOf(member) + padding;
    widest = std::max(widest, padding);
  }
  return padded - widest > room;
}

std::string AxiomChecker::FindFlawInRoom(const Axiom& axiom) const {
  if (!IsIndex(axiom.subjects[0], facts_.problem().buffers.size())) return "no such buffer";
  const int buffer = static_cast<int>(axiom.subjects[0]);
  const Range range = RangeOf(buffer, axiom);
  return facts_.HasPlace(buffer, range.least, range.greatest) ? "the buffer has a place there" : "";
}

std::string AxiomChecker::FindFlawInTie(const Axiom& axiom) const {
  const auto& relations = facts_.problem().relations;
  if (!IsIndex(axiom.subjects[0], relations.size())) return "no such relation";
  const Relation& relation = relations[static_cast<size_t>(axiom.subjects[0])];
  Bytes least = relation.delta;
  Bytes greatest = relation.delta;
  if (relation.kind == RelationKind::kAdjacent) {
    least = facts_.SizeOf(relation.first);
    greatest = least + AlignmentOf(facts_.problem(), facts_.BufferAt(relation.second)) - 1;
  } else if (relation.kind != RelationKind::kColocate) {
    return "the relation prescribes no distance";
  }
  const Range first = RangeOf(relation.first, axiom);
  const Range second = RangeOf(relation.second, axiom);
  const bool broken =
      first.least + least > second.greatest || first.greatest + greatest < second.least;
  return broken ? "" : "the distance can be kept";
}

std::string AxiomChecker::FindFlawInTouch(const Axiom& axiom) const {
  if (!IsIndex(axiom.subjects[0], facts_.problem().buffers.size())) return "no such buffer";
  const int buffer = static_cast<int>(axiom.subjects[0]);
  const std::vector<Bank>& banks = facts_.MemoryOf(buffer).banks;
  if (!IsIndex(axiom.subjects[1], banks.size())) return "no such bank";
  const AddressRange bank = banks[static_cast<size_t>(axiom.subjects[1])].range;
  const ProofLiteral touches = Touches(buffer, static_cast<int>(axiom.subjects[1]));
  const Range range = RangeOf(buffer, axiom);
  const bool outside =
      range.least >= bank.end || range.greatest + facts_.SizeOf(buffer) <= bank.begin;
  const bool within = range.least + facts_.SizeOf(buffer) > bank.begin && range.greatest < bank.end;
  if ((outside && Has(axiom, ~touches)) || (within && Has(axiom, touches))) return "";
  return "where the buffer lies does not decide whether it touches the bank";
}

std::string AxiomChecker::FindFlawInBanks(const Axiom& axiom) const {
  const auto& relations = facts_.problem().relations;
  if (!IsIndex(axiom.subjects[0], relations.size())) return "no such relation";
  const Relation& relation = relations[static_cast<size_t>(axiom.subjects[0])];
  const bool same = relation.kind == RelationKind::kSameBank;
  const bool about_banks = same || relation.kind == RelationKind::kDifferentBank;
  if (about_banks && BreaksBanks(same, relation.first, relation.second, axiom)) return "";
  return "the relation says nothing about these banks";
}

// Whether the negation states that both touch one bank or, if the banks must be the same, that only
// one of them does.
bool AxiomChecker::BreaksBanks(bool same, int first, int second, const Axiom& axiom) const {
  const size_t banks = facts_.MemoryOf(first).banks.size();
  for (int bank = 0; bank < static_cast<int>(banks); ++bank) {
    const ProofLiteral a = Touches(first, bank);
    const ProofLiteral b = Touches(second, bank);
    if (!same && Has(axiom, ~a) && Has(axiom, ~b)) return true;
    if (same && ((Has(axiom, ~a) && Has(axiom, b)) || (Has(axiom, a) && Has(axiom, ~b))))
      return true;
  }
  return false;
}

std::string AxiomChecker::FindFlawInMode(const Axiom& axiom) const {
  const auto& memories = facts_.problem().memories;
  if (!IsIndex(axiom.subjects[0], memories.size())) return "no such memory";
  const int memory = static_cast<int>(axiom.subjects[0]);
  const size_t modes = memories[static_cast<size_t>(memory)].modes.size();
  const Step step = axiom.subjects[1];
  if (modes == 0) return "the memory has no modes";
  std::vector<int> taken = ModesAt(axiom, memory, step);
  std::sort(taken.begin(), taken.end());
  if (!taken.empty() && taken.front() != taken.back()) return "";
  for (int mode = 0; mode < static_cast<int>(modes); ++mode) {
    if (!Has(axiom, InMode(memory, step, mode))) return "the memory can be in one mode there";
  }
  return "";
}

std::string AxiomChecker::FindFlawInFollow(const Axiom& axiom) const {
  const auto& memories = facts_.problem().memories;
  if (!IsIndex(axiom.subjects[0], memories.size())) return "no such memory";
  const int memory = static_cast<int>(axiom.subjects[0]);
  const auto& transitions = memories[static_cast<size_t>(memory)].transitions;
  const std::pair<Step, Step> steps{axiom.subjects[1], axiom.subjects[2]};
  if (!std::binary_search(successions_.begin(), successions_.end(), steps)) {
    return "the second step never follows the first";
  }
  for (const int from : ModesAt(axiom, memory, steps.first)) {
    for (const int to : ModesAt(axiom, memory, steps.second)) {
      const bool allowed = from == to || !transitions ||
                           std::find(transitions->begin(), transitions->end(),
                                     std::pair(from, to)) != transitions->end();
      if (!allowed) return "";
    }
  }
  return "the modes may follow each other";
}

std::string AxiomChecker::FindFlawInAccess(const Axiom& axiom) const {
  if (!IsIndex(axiom.subjects[0], facts_.problem().buffers.size())) return "no such buffer";
  const int buffer = static_cast<int>(axiom.subjects[0]);
  const Buffer& own = facts_.BufferAt(buffer);
  const Memory& home = facts_.MemoryOf(buffer);
  if (!IsIndex(axiom.subjects[1], home.banks.size())) return "no such bank";
  const int bank = static_cast<int>(axiom.subjects[1]);
  const Step step = axiom.subjects[2];
  if (!LivesAt(own, step)) return "the buffer does not live at the step";
  if (!Has(axiom, ~Touches(buffer, bank))) return "the buffer need not touch the bank";
  for (const int mode : ModesAt(axiom, own.memory, step)) {
    if (!Serves(home.modes[static_cast<size_t>(mode)].banks[static_cast<size_t>(bank)], own, step))
      return "";
  }
  return "the mode allows what the buffer does";
}

std::string AxiomChecker::FindFlawInPorts(const Axiom& axiom) const {
  const auto& memories = facts_.problem().memories;
  if (!IsIndex(axiom.subjects[0], memories.size())) return "no such memory";
  const auto memory = static_cast<size_t>(axiom.subjects[0]);
  if (!IsIndex(axiom.subjects[1], memories[memory].banks.size())) return "no such bank";
  const int bank = static_cast<int>(axiom.subjects[1]);
  const Step step = axiom.subjects[2];
  std::set<int> all;
  std::set<int> reads;
  std::set<int> writes;
  for (const ProofLiteral& literal : axiom.literals) {
    if (literal.kind != Kind::kTouch || !literal.negated || literal.second != bank) continue;
    const Buffer& buffer = facts_.BufferAt(literal.first);
    if (static_cast<size_t>(buffer.memory) != memory) continue;
    for (const Access& access : buffer.accesses) {
      if (access.step != step) continue;
      all.insert(literal.first);
      (access.kind == AccessKind::kRead ? reads : writes).insert(literal.first);
    }
  }
  const Ports& ports = memories[memory].banks[static_cast<size_t>(bank)].ports;
  const auto exceeds = [](const std::set<int>& users, const std::optional<int>& most) {
    return most && users.size() > static_cast<size_t>(*most);
  };
  const bool too_many =
      exceeds(all, ports.total) || exceeds(reads, ports.reads) || exceeds(writes, ports.writes);
  return too_many ? "" : "the bank serves as many buffers";
}

std::string AxiomChecker::FindFlawInGuard(const Axiom& axiom) const {
  for (const int64_t subject : axiom.subjects) {
    if (!IsIndex(subject, facts_.problem().buffers.size())) return "no such buffer";
  }
  const int below = static_cast<int>(axiom.subjects[0]);
  const int above = static_cast<int>(axiom.subjects[1]);
  if (!Has(axiom, Below(above, below))) return "the first need not lie below the second";
  const Bytes end = RangeOf(below, axiom).least + facts_.SizeOf(below);
  const Bytes between = GuardBetween(facts_, guards_, below, above);
  return end + between > RangeOf(above, axiom).greatest ? "" : "there is room for the guards";
}

std::string AxiomChecker::FindFlawInSectionPair(const Axiom& axiom) const {
  std::vector<int> stayers;
  if (!FindMembers(axiom, stayers)) return "the buffers that stay must pairwise lie apart";
  const int around = stayers.front();
  std::vector<int> below = stayers;
  std::vector<int> above = stayers;
  for (const ProofLiteral& literal : axiom.literals) {
    if (literal.kind != Kind::kBelow) continue;
    if (literal.first == around) below.push_back(literal.second);  // in the negation
    if (literal.second == around) above.push_back(literal.first);
  }
  if (!LieApart(below) || !LieApart(above))
    return "the buffers below and above must lie apart from those that stay";
  Bytes sum = 0;
  for (const int member : below) sum += facts_.SizeOf(member);
  for (size_t k = stayers.size(); k < above.size(); ++k) sum += facts_.SizeOf(above[k]);
  return sum > facts_.CapacityOf(facts_.BufferAt(around).memory) ? "" : "all of them fit";
}

}  // namespace tessera::problem::proof
