// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tessera/problem/generate/families.h"

namespace tessera::problem {
namespace {

// Everything by its definition, step by step and pair by pair.
void ExpectAsDefined(const Problem& problem) {
  const Figures figures = FiguresOf(problem, 0);
  const Lifespan horizon = Horizon(problem);
  int64_t steps = 0, most_alive = 0;
  Bytes load = 0;
  double byte_steps = 0, buffer_steps = 0;
  std::vector<std::set<size_t>> alive_at;
  for (Step step = horizon.lower; step < horizon.upper; ++step) {
    Bytes here = 0;
    std::set<size_t> alive;
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      if (!LivesAt(problem.buffers[i], step)) continue;
      here += problem.buffers[i].size;
      alive.insert(i);
    }
    if (here > load) {
      load = here;
      EXPECT_TRUE(here < figures.load || step == figures.load_step);
    }
    steps += alive.empty() ? 0 : 1;
    most_alive = std::max(most_alive, static_cast<int64_t>(alive.size()));
    byte_steps += static_cast<double>(here);
    buffer_steps += static_cast<double>(alive.size());
    alive_at.push_back(std::move(alive));
  }
  EXPECT_EQ(figures.load, load);
  EXPECT_EQ(figures.steps, steps);
  EXPECT_EQ(figures.most_alive, most_alive);
  EXPECT_NEAR(figures.fill, byte_steps / static_cast<double>(steps * load), 1e-9);
  EXPECT_NEAR(figures.mean_alive, buffer_steps / static_cast<double>(steps), 1e-9);

  std::set<std::set<size_t>> maximal;
  for (const auto& alive : alive_at) {
    const bool is_part = std::any_of(alive_at.begin(), alive_at.end(), [&](const auto& other) {
      return other.size() > alive.size() &&
             std::includes(other.begin(), other.end(), alive.begin(), alive.end());
    });
    if (!is_part && !alive.empty()) maximal.insert(alive);
  }
  EXPECT_EQ(figures.sections, static_cast<int64_t>(maximal.size()));
  std::set<size_t> core;
  int64_t tight = 0;
  for (const auto& section : maximal) {
    Bytes bytes = 0;
    for (const size_t i : section) bytes += problem.buffers[i].size;
    if (static_cast<double>(bytes) < Figures::kTight * static_cast<double>(load)) continue;
    ++tight;
    core.insert(section.begin(), section.end());
  }
  EXPECT_EQ(figures.tight_sections, tight);
  EXPECT_EQ(figures.core, static_cast<int64_t>(core.size()));

  int64_t pairs = 0;
  std::set<Bytes> sizes;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    sizes.insert(problem.buffers[i].size);
    for (size_t j = 0; j < i; ++j)
      pairs += LiveTogether(problem.buffers[i], problem.buffers[j]) ? 1 : 0;
  }
  EXPECT_EQ(figures.pairs, pairs);
  EXPECT_EQ(figures.distinct_sizes, static_cast<int64_t>(sizes.size()));
  EXPECT_EQ(figures.sizes.least, *sizes.begin());
  EXPECT_EQ(figures.sizes.most, *sizes.rbegin());
}

TEST(FiguresTest, AreThoseOfTheDefinitions) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    ExpectAsDefined(generate::MakeFlat(30, seed));
    ExpectAsDefined(generate::MakeBroken({30, 40, 256}, seed));
    ExpectAsDefined(generate::MakeLogUniform(60, 5, seed));
    ExpectAsDefined(generate::MakeDisjoint(20, seed));
  }
}

TEST(FiguresTest, KnowsElementaryCases) {
  const auto case_of = [](const Problem& problem) {
    return ElementaryCaseOf(problem, FiguresOf(problem, 0));
  };
  EXPECT_EQ(case_of(generate::MakeDisjoint(20, 1)), Elementary::kDisjoint);
  EXPECT_EQ(case_of(generate::MakeEqual(20, 5, 1)), Elementary::kOneSize);
  EXPECT_EQ(case_of(generate::MakeFlat(20, 1)), Elementary::kNo);
  Problem fixed = generate::MakeEqual(20, 5, 1);
  fixed.buffers[3].offset = 1;
  EXPECT_EQ(case_of(fixed), Elementary::kNo);
}

TEST(FiguresTest, HardnessGrowsWithWhatMakesSearchesLong) {
  const auto hardness = [](const Problem& problem) {
    return PredictedHardness(problem, FiguresOf(problem, 0));
  };
  EXPECT_LT(hardness(generate::MakeEqual(1000, 50, 1)), 1);
  EXPECT_LT(hardness(generate::MakeCompilerLike(60, 1)), hardness(generate::MakeBroken({60}, 1)));
  EXPECT_LT(hardness(generate::MakeBroken({20}, 1)), hardness(generate::MakeBroken({80}, 1)));
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const double value = hardness(generate::MakeBroken({}, seed));
    EXPECT_GE(value, 0);
    EXPECT_LE(value, 6);
  }
}

TEST(FiguresTest, AMemoryWithoutBuffersHasNone) {
  Problem problem;
  problem.memories.resize(1);
  const Figures figures = FiguresOf(problem, 0);
  EXPECT_EQ(figures.buffers, 0);
  EXPECT_EQ(figures.load, 0);
  EXPECT_EQ(PredictedHardness(problem, figures), 0);
}

}  // namespace
}  // namespace tessera::problem
