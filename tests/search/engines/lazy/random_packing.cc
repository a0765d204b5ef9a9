// SPDX-License-Identifier: Apache-2.0

#include "random_packing.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tessera::encoder {
namespace {

using base::Random;
using problem::Buffer;
using problem::Bytes;
using problem::Lifespan;
using problem::Memory;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;
using problem::Step;

constexpr Step kSteps = 6;

int Draw(Random& random, int lower, int upper) {
  return static_cast<int>(random.Uniform(lower, upper));
}

std::vector<Lifespan> DrawLifespans(Random& random) {
  const Step lower = random.Uniform(0, kSteps - 1);
  const Step upper = random.Uniform(lower + 1, kSteps);
  if (upper - lower < 3 || !random.Chance(0.2)) return {{lower, upper}};
  const Step gap = random.Uniform(lower + 1, upper - 2);
  return {{lower, gap}, {gap + 1, upper}};
}

Buffer DrawBuffer(Random& random, int index, int memories) {
  Buffer buffer;
  buffer.id = std::string(1, static_cast<char>('a' + index));
  buffer.size = random.Uniform(1, 5);
  buffer.lifespans = DrawLifespans(random);
  if (random.Chance(0.15)) buffer.alignment = random.Uniform(2, 3);
  if (random.Chance(0.2)) buffer.hint = random.Uniform(0, 8);
  if (random.Chance(0.08)) buffer.offset = random.Uniform(0, 4);
  buffer.memory = Draw(random, 0, memories - 1);
  return buffer;
}

// A duplicate makes buffers interchangeable.
void AddBuffers(Random& random, Problem& problem) {
  const int count = Draw(random, 2, 6);
  const int memories = static_cast<int>(problem.memories.size());
  for (int i = 0; i < count; ++i) {
    Buffer buffer = DrawBuffer(random, i, memories);
    if (i > 0 && random.Chance(0.15)) {
      const std::string id = buffer.id;
      buffer = problem.buffers.back();
      buffer.id = id;
    }
    problem.buffers.push_back(std::move(buffer));
  }
}

void AddRelations(Random& random, Problem& problem) {
  static constexpr RelationKind kKinds[] = {RelationKind::kColocate, RelationKind::kAdjacent,
                                            RelationKind::kSeparate, RelationKind::kExclusive};
  const int last = static_cast<int>(problem.buffers.size()) - 1;
  for (int count = Draw(random, 0, 2); count > 0; --count) {
    Relation relation{kKinds[Draw(random, 0, 3)], Draw(random, 0, last), Draw(random, 0, last), 0};
    const auto memory_of = [&](int i) { return problem.buffers[static_cast<size_t>(i)].memory; };
    if (relation.first == relation.second ||
        memory_of(relation.first) != memory_of(relation.second))
      continue;
    if (relation.kind == RelationKind::kColocate) relation.delta = random.Uniform(-2, 2);
    problem.relations.push_back(relation);
  }
}

Bytes LoadOf(const Problem& problem, int memory) {
  Bytes heaviest = 1;
  for (Step step = 0; step < kSteps; ++step) {
    Bytes load = 0;
    for (const Buffer& buffer : problem.buffers) {
      if (buffer.memory == memory && problem::LivesAt(buffer, step)) load += buffer.size;
    }
    heaviest = std::max(heaviest, load);
  }
  return heaviest;
}

}  // namespace

Problem DrawPacking(Random& random) {
  Problem problem;
  problem.memories.resize(random.Chance(0.2) ? 2 : 1);
  AddBuffers(random, problem);
  if (random.Chance(0.4)) AddRelations(random, problem);
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    Memory& memory = problem.memories[m];
    memory.name = std::string(1, static_cast<char>('m' + m));
    memory.capacity =
        std::clamp<Bytes>(LoadOf(problem, static_cast<int>(m)) + random.Uniform(-1, 1), 1, 14);
    if (random.Chance(0.1)) memory.alignment = 2;
    if (random.Chance(0.2)) {
      const Bytes begin = random.Uniform(0, memory.capacity - 1);
      memory.reserved.push_back({{begin, random.Uniform(begin + 1, memory.capacity)}, "drawn"});
    }
  }
  return problem;
}

problem::Ladder DrawLadder(Random& random, const Problem& problem) {
  problem::Ladder ladder;
  problem::CandidateSizes candidate;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    candidate.sizes.push_back(random.Uniform(1, 2));
  for (int count = Draw(random, 2, 4); count > 0; --count) {
    candidate.name = std::to_string(ladder.candidates.size());
    ladder.candidates.push_back(candidate);
    for (Bytes& size : candidate.sizes) size += random.Uniform(0, 2);
  }
  return ladder;
}

search::engines::lazy::LazyOptions DrawOptions(Random& random) {
  search::engines::lazy::LazyOptions options;
  options.seed = static_cast<uint64_t>(random.Uniform(0, 3));
  options.edge_finding = random.Chance(0.5);
  options.section_pair_cuts = Draw(random, 0, 3);
  options.section_energy = random.Chance(0.5);
  options.energy_slack_percent = random.Chance(0.5) ? 100 : 1;
  options.bottom_left = random.Chance(0.5);
  options.order_interchangeable = random.Chance(0.5);
  options.break_mirror = random.Chance(0.5);
  options.minimize_clauses = random.Chance(0.5);
  options.reduce_clauses = random.Chance(0.5);
  options.orders_every = Draw(random, 0, 3);
  options.follow_hints = random.Chance(0.5);
  options.restart_base = Draw(random, 0, 2);
  options.assume_capacity = random.Chance(0.5);
  options.keep_clauses = random.Chance(0.5);
  return options;
}

}  // namespace tessera::encoder
