// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/needed_addresses.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/structure.h"
#include "tessera/search/allocate/engine_session.h"
#include "tessera/search/allocate/occupancy.h"

// Plain buffers fit if they are stacked one above another. A stack may break relations and rules,
// so with these a placement is shortened instead. Take any placement, and a gap in it: addresses
// that no buffer uses at any step, above all reserved ranges, banks, fixed buffers and begins of
// windows.
//
//     |#### landmarks ####|..gap..|##a##|......gap......|##b##|.gap.|##c##|
//     |#### landmarks ####|##a##|.|##b##|##c##|             gaps of less than a step are left
//
// Everything above a gap moves down by a multiple of the *step*, a common multiple of all
// alignments, boundaries and moduli. That breaks no rule about one address or about addresses
// modulo a number. A pair at a fixed distance, or a buffer and its guard, may span a gap, which
// then keeps its length; but these gaps together are no longer than all distances and guards. Every
// other gap becomes shorter than a step, and there is at most one below each buffer. So the top is
// at most
//
//     landmarks + sizes + distances + guards + step * buffers
//
// If distances of several pairs must be equal, one gap cannot be shortened alone. If a rule is
// about bits of addresses, the step would have to be a power of two above them. For both, the same
// sum with each distance counted twice is a guess. Sums saturate at 2^62. Cost: linear.
namespace tessera::search::allocate {

using problem::Buffer;
using problem::Bytes;
using problem::Memory;
using problem::Problem;
using problem::Relation;

bool ReachesTooFar(const Problem& problem) { return ReachesTooFar(problem, SizesOf(problem)); }

bool ReachesTooFar(const Problem& problem, std::span<const Bytes> sizes) {
  Bytes total = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] >= kNoPosition || problem.buffers[i].offset.value_or(0) >= kNoPosition - sizes[i])
      return true;
    total += sizes[i];
    if (total >= kNoPosition) return true;
  }
  for (const problem::Relation& relation : problem.relations) {
    if (relation.kind != problem::RelationKind::kColocate) continue;
    if (std::abs(relation.delta) > kNoPosition - total) return true;
    total += std::abs(relation.delta);
  }
  return std::any_of(problem.memories.begin(), problem.memories.end(), [](const Memory& memory) {
    return std::any_of(
        memory.reserved.begin(), memory.reserved.end(), [&](const problem::Reserved& reserved) {
          return reserved.range.end > kNoPosition && reserved.range.end < memory.capacity;
        });
  });
}

namespace {

// Returns the top of memories[0] if its buffers are stacked in their order above all fixed buffers
// and reserved ranges, as if all lived together; nullopt if rules, relations or banks restrict
// them, or if the top is too high.
std::optional<Bytes> StackedTop(const Problem& problem) {
  const problem::Memory& memory = problem.memories[0];
  const bool may_stack = problem.rules.empty() && problem.relations.empty() &&
                         memory.banks.empty() && memory.modes.empty();
  if (!may_stack) return std::nullopt;
  const std::vector<int> buffers = BuffersOf(problem, 0);
  Bytes top = 0;
  for (const problem::Reserved& reserved : memory.reserved) top = std::max(top, reserved.range.end);
  for (const int i : buffers) {
    const Buffer& buffer = problem.buffers[static_cast<size_t>(i)];
    if (buffer.offset) top = std::max(top, *buffer.offset + buffer.size);
  }
  for (const int i : buffers) {
    const Buffer& buffer = problem.buffers[static_cast<size_t>(i)];
    if (buffer.offset) continue;
    const Bytes alignment = problem::AlignmentOf(problem, buffer);
    if (top >= kNoPosition || alignment > kNoPosition - top) return std::nullopt;
    top = base::RoundUp(top, alignment);
    if (top >= kNoPosition - buffer.size) return std::nullopt;
    top += buffer.size;
  }
  return top < kNoPosition ? std::optional(top) : std::nullopt;
}

void AddTimes(Bytes& sum, size_t count, Bytes each) {
  base::Accumulate(sum, base::SaturatingMul(static_cast<Bytes>(count), std::abs(each)));
}

}  // namespace

NeededAddresses FarthestNeeded(const Problem& problem) {
  if (const std::optional<Bytes> top = StackedTop(problem)) return {*top};
  NeededAddresses needed;
  Bytes& sum = needed.end;
  Bytes step = 1;  // by multiples of which the buffers above a gap move down
  const auto keep = [&step](Bytes multiple) {
    step = base::SaturatingMul(step / std::gcd(step, multiple), multiple);
  };
  size_t parts = problem.buffers.size() + problem.rules.size();
  for (const Memory& memory : problem.memories) {
    for (const problem::Reserved& reserved : memory.reserved) AddTimes(sum, 1, reserved.range.end);
    for (const problem::Bank& bank : memory.banks) AddTimes(sum, 1, bank.range.end);
    parts += memory.reserved.size() + memory.banks.size();
  }
  for (const Buffer& buffer : problem.buffers) {
    AddTimes(sum, 1, buffer.size);
    AddTimes(sum, 1, buffer.offset.value_or(0));
    keep(problem::AlignmentOf(problem, buffer));
  }
  for (const Relation& relation : problem.relations) AddTimes(sum, 1, relation.delta);
  for (const problem::Rule& rule : problem.rules) {
    const problem::Requirement& required = rule.requirement;
    needed.is_guess |= required.kind == problem::RequirementKind::kCommonDelta ||
                       required.kind == problem::RequirementKind::kXorDistance;
    keep(required.multiple);
    AddTimes(sum, 2 * rule.pairs.size(), required.distance);
    AddTimes(sum, rule.buffers.size(), required.before);
    AddTimes(sum, rule.buffers.size(), required.after);
    AddTimes(sum, 1, required.window.begin);
    if (required.kind != problem::RequirementKind::kNaturalAlignment) continue;
    for (const int buffer : rule.buffers)
      keep(problem::NaturalAlignmentOf(problem.buffers[static_cast<size_t>(buffer)].size));
  }
  AddTimes(sum, parts, step);
  sum = std::min(sum, kNoPosition);
  return needed;
}

Room RoomFor(const Problem& problem, Bytes stated, bool exact, bool may_guess) {
  Room room{.capacity = std::min(stated, kNoPosition - 1)};
  if (exact && stated < kNoPosition) return room;
  const NeededAddresses needed = FarthestNeeded(problem);
  room.refutes = stated < kNoPosition || (needed.end < kNoPosition && !needed.is_guess);
  if (exact || needed.end >= room.capacity || (needed.is_guess && !may_guess)) return room;
  room.capacity = needed.end;
  room.is_guess = needed.is_guess;
  room.is_stated = false;
  return room;
}

void Qualify(const Room& room, const Problem& problem, problem::Result& result) {
  if (result.status != problem::Status::kInfeasible || room.is_guess || room.refutes) return;
  result.status =
      ReachesTooFar(problem) ? problem::Status::kUnsupported : problem::Status::kUnknown;
  result.reason = "addresses of 2^61 bytes and more, which no engine searches, may be needed";
}

}  // namespace tessera::search::allocate
