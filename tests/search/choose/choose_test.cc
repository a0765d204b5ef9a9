// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/choose/choose.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/problem/generate/families.h"
#include "tessera/problem/validator.h"
#include "tessera/search/choose/items.h"
#include "tessera/search/choose/subsets.h"
#include "tessera/search/choose/value_bound.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/engines/local_search/local_search.h"

namespace tessera::search::choose {
namespace {

using problem::Problem;
using problem::RelationKind;
using problem::Status;

base::Expected<Choice> Ask(const Problem& problem, int threads = 1) {
  const engines::greedy::GreedyEngine greedy;
  const engines::canonical::CanonicalEngine canonical{{}};
  const engines::local_search::LocalSearchEngine local(1);
  const engines::lazy::LazyEngine lazy{{}};
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical, &local, &lazy};
  ChooseOptions options;
  options.budget.units = 200'000;
  options.threads = threads;
  return Choose(problem, engines, options);
}

// Small, with everything that may stand between two buffers.
Problem RandomProblem(base::Random& random) {
  Problem problem;
  problem.memories.resize(random.Chance(0.2) ? 2 : 1);
  for (problem::Memory& memory : problem.memories) memory.capacity = random.Uniform(4, 8);
  const auto count = random.Uniform(2, 6);
  for (int i = 0; i < count; ++i) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = "b" + std::to_string(i);
    buffer.size = random.Uniform(1, 4);
    buffer.alignment = random.Chance(0.2) ? 2 : 1;
    const auto lower = random.Uniform(0, 5);
    buffer.lifespans = {{lower, lower + random.Uniform(1, 4)}};
    if (random.Chance(0.2)) buffer.lifespans.push_back({lower + 5, lower + 6});
    if (random.Chance(0.15)) buffer.offset = random.Uniform(0, 3) * buffer.alignment;
    if (random.Chance(0.85)) buffer.value = random.Uniform(0, 9);
    buffer.memory =
        static_cast<int>(random.Uniform(0, static_cast<int64_t>(problem.memories.size()) - 1));
  }
  for (int i = 1; i < count; ++i) {
    const auto first = static_cast<int>(random.Uniform(0, i - 1));
    if (problem.buffers[static_cast<size_t>(first)].memory !=
            problem.buffers[static_cast<size_t>(i)].memory ||
        !random.Chance(0.25))
      continue;
    const auto kind = random.Uniform(0, 2);
    if (kind == 0) problem.relations.push_back({RelationKind::kSeparate, first, i, 0});
    if (kind == 1) problem.relations.push_back({RelationKind::kExclusive, first, i, 0});
    if (kind == 2)
      problem.relations.push_back({RelationKind::kColocate, first, i, random.Uniform(-2, 3)});
  }
  return problem;
}

bool IsTied(const Problem& problem, const std::vector<bool>& chosen) {
  return std::all_of(problem.relations.begin(), problem.relations.end(), [&](const auto& relation) {
    return relation.kind != RelationKind::kColocate ||
           chosen[static_cast<size_t>(relation.first)] ==
               chosen[static_cast<size_t>(relation.second)];
  });
}

bool HasRelation(const Problem& problem, RelationKind kind, size_t a, size_t b) {
  return std::any_of(problem.relations.begin(), problem.relations.end(), [&](const auto& r) {
    const auto first = static_cast<size_t>(r.first), second = static_cast<size_t>(r.second);
    return r.kind == kind && std::minmax(first, second) == std::minmax(a, b);
  });
}

// Whether the chosen buffers have offsets, by trying all.
bool Fits(const Problem& problem, const std::vector<bool>& chosen) {
  std::vector<Bytes> offsets(problem.buffers.size(), 0);
  const auto agree = [&](size_t a, size_t b) {
    const auto& x = problem.buffers[a];
    const auto& y = problem.buffers[b];
    for (const problem::Relation& relation : problem.relations) {
      if (relation.kind != RelationKind::kColocate) continue;
      const auto first = static_cast<size_t>(relation.first);
      const auto second = static_cast<size_t>(relation.second);
      if (std::minmax(first, second) != std::minmax(a, b)) continue;
      if (offsets[second] - offsets[first] != relation.delta) return false;
    }
    if (x.memory != y.memory) return true;
    const bool overlap = offsets[a] < offsets[b] + y.size && offsets[b] < offsets[a] + x.size;
    if (HasRelation(problem, RelationKind::kSeparate, a, b)) return !overlap;
    if (HasRelation(problem, RelationKind::kExclusive, a, b) ||
        HasRelation(problem, RelationKind::kColocate, a, b))
      return true;
    return !overlap || !LiveTogether(x, y);
  };
  const std::function<bool(size_t)> place = [&](size_t i) {
    if (i == chosen.size()) return true;
    if (!chosen[i]) return place(i + 1);
    const problem::Buffer& buffer = problem.buffers[i];
    const Bytes capacity = problem.memories[static_cast<size_t>(buffer.memory)].capacity;
    for (Bytes at = 0; at + buffer.size <= capacity; at += buffer.alignment) {
      if (buffer.offset && *buffer.offset != at) continue;
      offsets[i] = at;
      bool fits = true;
      for (size_t j = 0; j < i && fits; ++j) fits = !chosen[j] || agree(i, j);
      if (fits && place(i + 1)) return true;
    }
    return false;
  };
  return place(0);
}

// -1 if what must be placed does not fit.
int64_t GreatestValue(const Problem& problem) {
  int64_t best = -1;
  for (unsigned bits = 0; bits < (1U << problem.buffers.size()); ++bits) {
    std::vector<bool> chosen;
    int64_t value = 0;
    bool has_all = true;
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      chosen.push_back(((bits >> i) & 1U) != 0);
      value += chosen[i] ? problem.buffers[i].value.value_or(0) : 0;
    }
    // A group is required only if none of its buffers has a value.
    const Items items = FindItems(problem, problem.memories[0].capacity);
    for (const Item& item : items.all)
      has_all = has_all && (item.is_optional || chosen[static_cast<size_t>(item.buffers[0])]);
    if (value > best && has_all && IsTied(problem, chosen) && Fits(problem, chosen)) best = value;
  }
  return best;
}

TEST(Choose, TheValueIsThatOfTheEnumerationOfAllSubsets) {
  base::Random random(1);
  int feasible = 0, infeasible = 0, cut = 0;
  for (int round = 0; round < 400; ++round) {
    const Problem problem = RandomProblem(random);
    const int64_t best = GreatestValue(problem);
    const auto choice = Ask(problem);
    ASSERT_TRUE(choice) << base::Format(choice.error());
    if (best < 0) {
      EXPECT_EQ(choice->status, Status::kInfeasible) << "round " << round;
      ++infeasible;
      continue;
    }
    ASSERT_EQ(choice->status, Status::kOptimal) << "round " << round << " " << choice->reason;
    EXPECT_EQ(choice->value, best) << "round " << round;
    EXPECT_EQ(choice->bound, best) << "round " << round;
    EXPECT_TRUE(Fits(problem, choice->chosen));
    int64_t value = 0;
    for (size_t i = 0; i < problem.buffers.size(); ++i)
      value += choice->chosen[i] ? problem.buffers[i].value.value_or(0) : 0;
    EXPECT_EQ(value, best);
    ++feasible;
    cut += std::count(choice->chosen.begin(), choice->chosen.end(), false) > 0 ? 1 : 0;
  }
  EXPECT_GE(feasible, 250);
  EXPECT_GE(infeasible, 5);
  EXPECT_GE(cut, 100);
}

Problem WithValues(Problem problem, uint64_t seed, int64_t capacity) {
  base::Random random(seed);
  for (problem::Buffer& buffer : problem.buffers) buffer.value = random.Uniform(1, 1'000);
  problem.memories[0].capacity = capacity;
  return problem;
}

TEST(Choose, NoPriceBreaksTheBound) {
  base::Random random(2);
  const base::Stop never;
  for (int round = 0; round < 300; ++round) {
    const Problem problem = RandomProblem(random);
    const int64_t best = GreatestValue(problem);
    if (best < 0) continue;
    const Items items = FindItems(problem, problem.memories[0].capacity);
    for (const int rounds : {0, 1, 10, 1000})
      EXPECT_GE(Prices(items, rounds, never).Bound(), best) << "round " << round;
  }
}

// Subsets by bytes alone, against the enumeration of all subsets.
TEST(Choose, TheBestSubsetOverfillsNoSectionAndContainsNoCore) {
  base::Random random(3);
  const base::Stop never;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem problem =
        WithValues(problem::generate::MakeLogUniform(10, 4, seed), seed, 4 << 20);
    const Items items = FindItems(problem, problem.memories[0].capacity);
    std::vector<Core> cores;
    for (int i = 0; i < 4; ++i) {
      Core core;
      for (int item = 0; item < 10; ++item) {
        if (random.Chance(0.3)) core.push_back(item);
      }
      if (!core.empty()) cores.push_back(core);
    }
    int64_t best = -1;
    for (unsigned bits = 0; bits < 1024; ++bits) {
      std::vector<Bytes> load(items.capacity.size(), 0);
      int64_t value = 0;
      for (size_t i = 0; i < 10; ++i) {
        if (((bits >> i) & 1U) == 0) continue;
        value += items.all[i].value;
        for (const Piece& piece : items.all[i].pieces) {
          for (int at = piece.first; at < piece.last; ++at)
            load[static_cast<size_t>(at)] += piece.size;
        }
      }
      bool fits = *std::max_element(load.begin(), load.end()) <= problem.memories[0].capacity;
      for (const Core& core : cores) {
        fits = fits && !std::all_of(core.begin(), core.end(),
                                    [&](int item) { return ((bits >> item) & 1U) != 0; });
      }
      if (fits) best = std::max(best, value);
    }
    const Prices prices(items, 200, never);
    SubsetQuery query;
    query.cores = &cores;
    const BestSubset found = FindBestSubset(items, prices, query, never);
    ASSERT_TRUE(found.is_complete);
    ASSERT_TRUE(found.items);
    EXPECT_EQ(found.value, best);
    EXPECT_EQ(ValueOf(items, *found.items), best);
    query.more_than = best;
    const BestSubset none = FindBestSubset(items, prices, query, never);
    EXPECT_TRUE(none.is_complete);
    EXPECT_FALSE(none.items);
    query.more_than = -1;
    query.most_states = 24;
    EXPECT_FALSE(FindBestSubset(items, prices, query, never).is_complete);
  }
}

TEST(Choose, SixtyBuffersAreOptimalAndTheSameOnAnyNumberOfThreads) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const Problem problem =
        WithValues(problem::generate::MakeCompilerLike(60, seed), seed, 300'000);
    const auto one = Ask(problem, 1), two = Ask(problem, 2);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(one->status, Status::kOptimal) << one->reason;
    EXPECT_EQ(one->chosen, two->chosen);
    EXPECT_EQ(one->offsets, two->offsets);
  }
}

TEST(Choose, AStopLeavesAValidChoice) {
  const Problem problem = WithValues(problem::generate::MakeLogUniform(80, 15, 1), 1, 20 << 20);
  const engines::greedy::GreedyEngine greedy;
  const engines::canonical::CanonicalEngine canonical{{}};
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical};
  for (int64_t k = 1; k < 3'000; k = k * 2 + 1) {
    base::Stop stop{base::Stop::AtPoll{k}};
    ChooseOptions options;
    options.budget.units = 20'000;
    options.stop = &stop;
    const auto choice = Choose(problem, engines, options);
    ASSERT_TRUE(choice) << base::Format(choice.error());
    EXPECT_LE(choice->value, choice->bound);
    EXPECT_NE(choice->status, Status::kInfeasible);
  }
}

// The search for prices takes thousands of polls here.
TEST(Choose, TheFirstChoiceDoesNotAwaitThePrices) {
  const Problem problem = WithValues(problem::generate::MakeLogUniform(80, 15, 1), 1, 20 << 20);
  const engines::greedy::GreedyEngine greedy;
  const std::vector<const problem::Engine*> engines = {&greedy};
  base::Stop stop{base::Stop::AtPoll{40}};
  ChooseOptions options;
  options.stop = &stop;
  const auto choice = Choose(problem, engines, options);
  ASSERT_TRUE(choice) << base::Format(choice.error());
  EXPECT_EQ(choice->status, Status::kFeasible);
  EXPECT_GT(choice->value, choice->bound / 2);
}

TEST(Choose, PricesFoundInPartsAreThoseFoundAtOnce) {
  const base::Stop never;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Problem problem =
        WithValues(problem::generate::MakeLogUniform(60, 10, seed), seed, 8 << 20);
    const Items items = FindItems(problem, problem.memories[0].capacity);
    const Prices at_once(items, 300, never);
    Prices in_parts(items, 7, never);
    EXPECT_GE(in_parts.Bound(), at_once.Bound());
    in_parts.Improve(100, never);
    in_parts.Improve(193, never);
    EXPECT_EQ(in_parts.Bound(), at_once.Bound());
    for (size_t i = 0; i < items.all.size(); ++i)
      EXPECT_TRUE(in_parts.Surplus(i) == at_once.Surplus(i));
  }
}

// Greedy honours no ports.
TEST(Choose, WhatNoEngineSupportsIsNotCalledUnproven) {
  Problem problem;
  problem.memories.resize(1);
  problem.memories[0].capacity = 8;
  problem.memories[0].banks.resize(1);
  problem.memories[0].banks[0].range = {0, 8};
  problem.memories[0].banks[0].ports.total = 1;
  for (int i = 0; i < 2; ++i) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = std::string(1, static_cast<char>('a' + i));
    buffer.size = 3;
    buffer.lifespans = {{0, 2}};
    buffer.value = 5;
    buffer.accesses = {{i, "pe", problem::AccessKind::kRead}};
  }
  const engines::greedy::GreedyEngine greedy;
  const std::vector<const problem::Engine*> engines = {&greedy};
  const auto none = Choose(problem, engines, {});
  ASSERT_TRUE(none) << base::Format(none.error());
  EXPECT_EQ(none->status, Status::kUnsupported);
  EXPECT_TRUE(none->chosen.empty());
  EXPECT_THAT(none->reason, testing::HasSubstr("greedy engine does not support"));

  // What is placed all the same is a choice; the reason says why there is no more.
  problem.memories[0].banks.clear();
  problem.relations.push_back({RelationKind::kDifferentBank, 0, 1, 0});
  const auto one = Choose(problem, engines, {});
  ASSERT_TRUE(one) << base::Format(one.error());
  EXPECT_EQ(one->status, Status::kFeasible);
  EXPECT_EQ(one->value, 5);
  EXPECT_THAT(one->reason, testing::HasSubstr("does not support"));
}

TEST(Choose, WithoutValuesEverythingMustBePlaced) {
  Problem problem = problem::generate::MakeFlat(20, 1);
  const auto all = Ask(problem);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->status, Status::kOptimal);
  EXPECT_EQ(std::count(all->chosen.begin(), all->chosen.end(), true), 20);
  problem.memories[0].capacity = problem.memories[0].capacity / 2;
  EXPECT_EQ(Ask(problem)->status, Status::kInfeasible);
}

}  // namespace
}  // namespace tessera::search::choose
