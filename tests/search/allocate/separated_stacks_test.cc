// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/separated_stacks.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "random_instance.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/engine_queries.h"
#include "tessera/search/allocate/heaviest_stack.h"

namespace tessera::search {
namespace {

using allocate::StackGraph;
using problem::Bytes;
using problem::Problem;
using problem::RelationKind;
using testing::IsEmpty;

// The greatest load of all sets of at most 12 positions that pairwise conflict.
Bytes HeaviestByBruteForce(const StackGraph& graph) {
  Bytes heaviest = 0;
  for (size_t set = 1; set < size_t{1} << graph.sizes.size(); ++set) {
    std::vector<size_t> members;
    for (size_t i = 0; i < graph.sizes.size(); ++i) {
      if ((set >> i & 1) != 0) members.push_back(i);
    }
    const auto meets_all = [&](size_t i) {
      const std::vector<size_t>& near = graph.near[i];
      return std::all_of(members.begin(), members.end(), [&](size_t j) {
        return i == j || std::find(near.begin(), near.end(), j) != near.end();
      });
    };
    if (!std::all_of(members.begin(), members.end(), meets_all)) continue;
    heaviest = std::max(heaviest, allocate::LoadOfStack(graph, members));
  }
  return heaviest;
}

// The conflicts of all buffers, from their definition.
std::vector<std::vector<size_t>> ConflictsOf(const Problem& problem) {
  std::vector<std::vector<size_t>> near(problem.buffers.size());
  for (size_t i = 0; i < near.size(); ++i) {
    for (size_t j = 0; j < near.size(); ++j) {
      const auto a = static_cast<int>(i), b = static_cast<int>(j);
      const bool meet = LiveTogether(problem.buffers[i], problem.buffers[j]) &&
                        !Related(problem, RelationKind::kExclusive, a, b);
      if (i != j && (meet || Related(problem, RelationKind::kSeparate, a, b))) near[i].push_back(j);
    }
  }
  return near;
}

// Up to twelve buffers, of which some pairs are separate or exclusive. All offsets are multiples of
// two, if `is_aligned`.
Problem DrawSeparated(base::Random& random, bool is_aligned) {
  Problem problem = MakeProblem({}, 1'000);
  if (is_aligned) problem.memories[0].alignment = 2;
  const auto count = static_cast<int>(random.Uniform(2, 12));
  const double separate = random.Chance(0.5) ? 0.3 : 0.7;
  for (int i = 0; i < count; ++i) {
    const problem::Step lower = random.Uniform(0, 20);
    const problem::Step upper = lower + random.Uniform(1, 8);
    problem::Buffer& buffer = problem.buffers.emplace_back(
        MakeBuffer("b" + std::to_string(i), lower, upper, random.Uniform(1, 9)));
    if (upper - lower >= 3 && random.Chance(0.3))
      buffer.lifespans = {{lower, lower + 1}, {upper - 1, upper}};
    for (int j = 0; j < i; ++j) {
      if (random.Chance(separate)) {
        problem.relations.push_back({RelationKind::kSeparate, j, i});
      } else if (random.Chance(0.1)) {
        problem.relations.push_back({RelationKind::kExclusive, j, i});
      }
    }
  }
  problem.relations.push_back({RelationKind::kSeparate, 0, 1});
  return problem;
}

TEST(SeparatedStacks, TheBoundIsTheHeaviestOfAllStacks) {
  base::Random random(29);
  base::Stop stopped;
  stopped.Request();
  for (int round = 0; round < 500; ++round) {
    const bool is_aligned = random.Chance(0.5);
    const Problem problem = DrawSeparated(random, is_aligned);
    std::vector<Bytes> sizes;
    for (const problem::Buffer& buffer : problem.buffers) sizes.push_back(buffer.size);
    const auto near = ConflictsOf(problem);
    const Bytes heaviest = HeaviestByBruteForce({sizes, near, is_aligned ? 2 : 1});
    ASSERT_EQ(allocate::FindBound(problem, 0).bytes, heaviest) << "round " << round;
    ASSERT_LE(allocate::FindBound(problem, 0, &stopped).bytes, heaviest) << "round " << round;

    const auto certified = allocate::Certify(problem, heaviest - 1, {}, {}, base::Stop(), {});
    ASSERT_TRUE(certified.proof.has_value()) << "round " << round << ": " << certified.reason;
  }
}

// The sizes of drawn graphs differ much, so a size is divided among many colours.
TEST(SeparatedStacks, TheSearchOverAGraphIsExact) {
  base::Random random(30);
  for (int round = 0; round < 500; ++round) {
    const auto count = static_cast<size_t>(random.Uniform(0, 12));
    std::vector<Bytes> sizes;
    for (size_t i = 0; i < count; ++i) sizes.push_back(random.Uniform(1, 100));
    std::vector<std::vector<size_t>> near(count);
    const double density = 0.1 * static_cast<double>(random.Uniform(1, 9));
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (!random.Chance(density)) continue;
        near[i].push_back(j);
        near[j].push_back(i);
      }
    }
    const StackGraph graph{sizes, near, random.Uniform(1, 40)};
    const Bytes heaviest = HeaviestByBruteForce(graph);
    const auto above = [&](Bytes known) {
      return allocate::FindHeaviestStack(graph, known, nullptr);
    };
    ASSERT_EQ(allocate::LoadOfStack(graph, above(0)), heaviest) << "round " << round;
    ASSERT_THAT(above(heaviest), IsEmpty()) << "round " << round;
    if (heaviest == 0) continue;
    ASSERT_EQ(allocate::LoadOfStack(graph, above(heaviest - 1)), heaviest) << "round " << round;
  }
}

// Four groups of a buffer of 3 bytes and a triangle with two tips:
//
//     q3 - d4 - l4      q conflicts with the q of all other groups, and with d and both l of its
//      \ \ |            own; d conflicts with both l. The heaviest stack is the four q, 12 bytes.
//       \  l4           From every seed a greedy choice adds d, as d and its l promise more bytes
//                       than the other q, and ends with q, d and one l, 11 bytes.
TEST(SeparatedStacks, FindsWhatGreedyChoicesMiss) {
  Problem problem = MakeProblem({}, 1'000);
  const auto separate = [&](int first, int second) {
    problem.relations.push_back({RelationKind::kSeparate, first, second});
  };
  for (int group = 0; group < 4; ++group) {
    const int q = 4 * group;
    for (const Bytes size : {3, 4, 4, 4}) {
      const auto step = static_cast<problem::Step>(problem.buffers.size());
      problem.buffers.push_back(
          MakeBuffer("b" + std::to_string(step), step, step + 1, size));  // none live together
    }
    for (const int other : {q + 1, q + 2, q + 3}) separate(q, other);
    for (const int leaf : {q + 2, q + 3}) separate(q + 1, leaf);
    for (int other = 0; other < q; other += 4) separate(other, q);
  }
  base::Stop stopped;
  stopped.Request();
  EXPECT_EQ(allocate::FindBound(problem, 0, &stopped).bytes, 11);
  const allocate::Bound bound = allocate::FindBound(problem, 0);
  EXPECT_EQ(bound.bytes, 12);
  EXPECT_THAT(bound.buffers, testing::ElementsAre(0, 4, 8, 12));
  EXPECT_THAT(allocate::FindSeparatedStacks(problem, 0, 1, 12),
              testing::Each(testing::SizeIs(testing::Le(3))));
}

TEST(SeparatedStacks, AHardGraphEndsAtTheLimit) {
  base::Random random(31);
  constexpr size_t kCount = 400;
  std::vector<Bytes> sizes;
  std::vector<std::vector<size_t>> near(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    sizes.push_back(random.Uniform(1, 5'000));
    for (size_t j = 0; j < i; ++j) {
      if (!random.Chance(0.9)) continue;
      near[i].push_back(j);
      near[j].push_back(i);
    }
  }
  const StackGraph graph{sizes, near, 1};
  const std::vector<size_t> stack = allocate::FindHeaviestStack(graph, 0, nullptr);
  for (const size_t i : stack) {
    for (const size_t j : stack)
      EXPECT_TRUE(i == j || std::find(near[i].begin(), near[i].end(), j) != near[i].end());
  }
  EXPECT_GT(allocate::LoadOfStack(graph, stack), 0);
  EXPECT_EQ(allocate::FindHeaviestStack(graph, 0, nullptr), stack);
  base::Stop once(base::Stop::AtPoll{3});
  EXPECT_LE(allocate::LoadOfStack(graph, allocate::FindHeaviestStack(graph, 0, &once)),
            allocate::LoadOfStack(graph, stack));
  EXPECT_EQ(once.Polls(), 3);
}

}  // namespace
}  // namespace tessera::search
