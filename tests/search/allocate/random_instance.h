// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/problem/problem.h"

// Small Problems, and an enumeration that tries every combination of offsets and infers nothing.
namespace tessera::search {

inline problem::Buffer MakeBuffer(std::string id, problem::Step lower, problem::Step upper,
                                  problem::Bytes size) {
  problem::Buffer buffer;
  buffer.id = std::move(id);
  buffer.lifespans = {{lower, upper}};
  buffer.size = size;
  return buffer;
}

inline problem::Problem MakeProblem(std::vector<problem::Buffer> buffers, problem::Bytes capacity) {
  problem::Problem problem;
  problem.buffers = std::move(buffers);
  problem.memories.emplace_back();
  problem.memories[0].name = "sram";
  problem.memories[0].capacity = capacity;
  return problem;
}

inline bool Related(const problem::Problem& problem, problem::RelationKind kind, int a, int b) {
  return std::any_of(problem.relations.begin(), problem.relations.end(),
                     [&](const problem::Relation& relation) {
                       return relation.kind == kind &&
                              std::minmax(relation.first, relation.second) == std::minmax(a, b);
                     });
}

// Whether a at offset `at_a` and b at `at_b` have the distance that colocate relations between them
// require.
inline bool Colocated(const problem::Problem& problem, int a, problem::Bytes at_a, int b,
                      problem::Bytes at_b) {
  return std::all_of(problem.relations.begin(), problem.relations.end(),
                     [&](const problem::Relation& relation) {
                       if (relation.kind != problem::RelationKind::kColocate) return true;
                       if (relation.first == a && relation.second == b)
                         return at_b == at_a + relation.delta;
                       if (relation.first == b && relation.second == a)
                         return at_a == at_b + relation.delta;
                       return true;
                     });
}

// Up to six buffers in up to twelve bytes; every feature of canonical search occurs in many of the
// instances.
inline problem::Problem RandomInstance(base::Random& random) {
  const auto capacity = random.Uniform(4, 12);
  problem::Problem problem = MakeProblem({}, capacity);
  const auto count = random.Uniform(2, 6);
  const bool aligned = random.Chance(0.4), gaps = random.Chance(0.3), fixed = random.Chance(0.2);
  for (int64_t i = 0; i < count; ++i) {
    const problem::Step lower = random.Uniform(0, 5);
    const problem::Step upper = lower + random.Uniform(1, 5);
    problem::Buffer buffer =
        MakeBuffer("b" + std::to_string(i), lower, upper, random.Uniform(1, (capacity + 2) / 2));
    if (aligned && random.Chance(0.6)) buffer.alignment = random.Uniform(2, 4);
    if (gaps && upper - lower >= 3 && random.Chance(0.6))
      buffer.lifespans = {{lower, lower + 1}, {upper - 1, upper}};
    if (fixed && random.Chance(0.3))
      buffer.offset = random.Uniform(0, capacity / 2) / buffer.alignment * buffer.alignment;
    if (random.Chance(0.2)) buffer.hint = random.Uniform(0, capacity);
    problem.buffers.push_back(buffer);
  }
  if (random.Chance(0.2)) {
    const auto begin = random.Uniform(0, capacity - 1);
    problem.memories[0].reserved.push_back({{begin, begin + random.Uniform(1, 2)}, "stack"});
  }
  if (random.Chance(0.2)) problem.memories[0].alignment = 2;
  if (problem.memories[0].alignment == 2) {
    for (problem::Buffer& buffer : problem.buffers) {
      if (buffer.offset)
        buffer.offset = *buffer.offset / (2 * buffer.alignment) * (2 * buffer.alignment);
    }
  }
  const auto relate = [&](problem::RelationKind kind) {
    for (int a = 0; a < static_cast<int>(count); ++a) {
      for (int b = a + 1; b < static_cast<int>(count); ++b) {
        if (!random.Chance(0.25) || Related(problem, problem::RelationKind::kSeparate, a, b))
          continue;
        problem.relations.push_back({kind, a, b, 0});
      }
    }
  };
  if (random.Chance(0.25)) relate(problem::RelationKind::kSeparate);
  if (random.Chance(0.25)) relate(problem::RelationKind::kExclusive);
  return problem;
}

// Relates some pairs as in-place operators do, mostly of one size and at distance 0.
inline void AddColocations(problem::Problem& problem, base::Random& random) {
  const auto count = static_cast<int64_t>(problem.buffers.size());
  for (int64_t i = random.Uniform(1, 3); i > 0; --i) {
    const auto a = static_cast<int>(random.Uniform(0, count - 1)),
               b = static_cast<int>(random.Uniform(0, count - 1));
    if (a == b || Related(problem, problem::RelationKind::kColocate, a, b)) continue;
    if (random.Chance(0.9)) {
      problem.buffers[static_cast<size_t>(b)].size = problem.buffers[static_cast<size_t>(a)].size;
    }
    problem.relations.push_back(
        {problem::RelationKind::kColocate, a, b, random.Chance(0.05) ? 1 : 0});
  }
}

// Calls `visit` with every correct assignment of offsets within the capacity, until it returns
// false.
inline void ForEachPlacement(const problem::Problem& problem, problem::Bytes capacity,
                             const std::function<bool(const std::vector<problem::Bytes>&)>& visit) {
  std::vector<problem::Bytes> offsets;
  const auto stands = [&](int i, problem::Bytes offset) {
    const problem::Buffer& buffer = problem.buffers[static_cast<size_t>(i)];
    const problem::Memory& memory = problem.memories[0];
    if (offset % buffer.alignment != 0 || offset % memory.alignment != 0) return false;
    if (offset + buffer.size > capacity || buffer.offset.value_or(offset) != offset) return false;
    for (const problem::Reserved& reserved : memory.reserved) {
      if (offset < reserved.range.end && reserved.range.begin < offset + buffer.size) return false;
    }
    for (int j = 0; j < i; ++j) {
      const problem::Buffer& other = problem.buffers[static_cast<size_t>(j)];
      const problem::Bytes there = offsets[static_cast<size_t>(j)];
      if (!Colocated(problem, j, there, i, offset)) return false;
      if (offset >= there + other.size || there >= offset + buffer.size) continue;
      if (Related(problem, problem::RelationKind::kSeparate, i, j)) return false;
      const bool may_overlap = Related(problem, problem::RelationKind::kExclusive, i, j) ||
                               Related(problem, problem::RelationKind::kColocate, i, j);
      if (!may_overlap && LiveTogether(buffer, other)) return false;
    }
    return true;
  };
  const std::function<bool(int)> place = [&](int i) {
    if (i == static_cast<int>(problem.buffers.size())) return visit(offsets);
    for (problem::Bytes offset = 0; offset <= capacity; ++offset) {
      if (!stands(i, offset)) continue;
      offsets.push_back(offset);
      const bool more = place(i + 1);
      offsets.pop_back();
      if (!more) return false;
    }
    return true;
  };
  place(0);
}

inline bool FitsByBruteForce(const problem::Problem& problem, problem::Bytes capacity) {
  bool fits = false;
  ForEachPlacement(problem, capacity, [&](const auto&) {
    fits = true;
    return false;
  });
  return fits;
}

// The least capacity up to `most` in which everything fits.
inline std::optional<problem::Bytes> LeastPeakByBruteForce(const problem::Problem& problem,
                                                           problem::Bytes most) {
  for (problem::Bytes capacity = 0; capacity <= most; ++capacity) {
    if (FitsByBruteForce(problem, capacity)) return capacity;
  }
  return std::nullopt;
}

}  // namespace tessera::search
