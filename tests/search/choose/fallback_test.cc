// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/problem/problem.h"
#include "tessera/search/choose/choose.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"

// Choices with fallbacks, against all placements of all choices.
namespace tessera::search::choose {
namespace {

using problem::Buffer;
using problem::Bytes;
using problem::Fallback;
using problem::Fallbacks;
using problem::Problem;
using problem::Status;
using testing::HasSubstr;

base::Expected<Choice> Ask(const Problem& problem, const Fallbacks& fallbacks, int threads = 1) {
  const engines::greedy::GreedyEngine greedy;
  const engines::canonical::CanonicalEngine canonical{{}};
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical};
  ChooseOptions options;
  options.budget.units = 200'000;
  options.threads = threads;
  options.fallbacks = &fallbacks;
  return Choose(problem, engines, options);
}

struct Question {
  Problem problem;
  Fallbacks fallbacks;
};

// The second memory is small if `is_tight`, so that fallbacks may not fit there.
Question Draw(base::Random& random, bool is_tight) {
  Question question;
  Problem& problem = question.problem;
  problem.memories.resize(2);
  problem.memories[0].name = "sram";
  problem.memories[0].capacity = random.Uniform(4, 8);
  problem.memories[1].name = "dram";
  problem.memories[1].capacity = is_tight ? random.Uniform(2, 6) : 40;
  const auto count = random.Uniform(2, 6);
  for (int i = 0; i < count; ++i) {
    Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = "b" + std::to_string(i);
    buffer.size = random.Uniform(1, 4);
    buffer.alignment = random.Chance(0.2) ? 2 : 1;
    const auto lower = random.Uniform(0, 5);
    buffer.lifespans = {{lower, lower + random.Uniform(1, 4)}};
    buffer.memory = random.Chance(0.15) ? 1 : 0;
    std::optional<Fallback>& fallback = question.fallbacks.emplace_back();
    if (!random.Chance(0.85)) continue;
    buffer.value = random.Uniform(0, 9);
    if (!random.Chance(0.7)) continue;
    fallback.emplace();
    fallback->memory = random.Chance(0.5) ? 1 - buffer.memory : buffer.memory;
    const bool is_in_place = fallback->memory == buffer.memory;
    if (is_in_place && buffer.size == 1) {
      fallback.reset();
      continue;
    }
    fallback->size = random.Uniform(1, is_in_place ? buffer.size - 1 : 5);
    fallback->value = random.Uniform(0, *buffer.value);
  }
  return question;
}

// What lies where if buffer i is placed by ways[i]: 0 not at all, 1 itself, 2 its fallback.
struct Block {
  Bytes size, alignment;
  int memory;
  problem::Lifespan life;
};

bool Fits(const Problem& problem, const std::vector<Block>& blocks) {
  std::vector<Bytes> offsets(blocks.size());
  const std::function<bool(size_t)> place = [&](size_t i) {
    if (i == blocks.size()) return true;
    const Block& block = blocks[i];
    const Bytes capacity = problem.memories[static_cast<size_t>(block.memory)].capacity;
    for (Bytes at = 0; at + block.size <= capacity; at += block.alignment) {
      offsets[i] = at;
      bool is_free = true;
      for (size_t k = 0; k < i && is_free; ++k) {
        const Block& other = blocks[k];
        is_free = other.memory != block.memory || other.life.upper <= block.life.lower ||
                  block.life.upper <= other.life.lower || offsets[k] + other.size <= at ||
                  at + block.size <= offsets[k];
      }
      if (is_free && place(i + 1)) return true;
    }
    return false;
  };
  return place(0);
}

Block BlockOf(const Question& question, size_t i, bool stands_in) {
  const Buffer& buffer = question.problem.buffers[i];
  if (!stands_in) return {buffer.size, buffer.alignment, buffer.memory, buffer.lifespans[0]};
  const Fallback& fallback = *question.fallbacks[i];
  return {fallback.size, buffer.alignment, fallback.memory, buffer.lifespans[0]};
}

// -1: no choice fits.
int64_t GreatestValue(const Question& question) {
  const size_t count = question.problem.buffers.size();
  int64_t best = -1;
  for (unsigned bits = 0; bits < (1U << count); ++bits) {
    std::vector<Block> blocks;
    int64_t value = 0;
    bool has_all = true;
    for (size_t i = 0; i < count; ++i) {
      const Buffer& buffer = question.problem.buffers[i];
      const bool is_chosen = ((bits >> i) & 1U) != 0;
      if (!is_chosen && !buffer.value) has_all = false;
      if (is_chosen) value += buffer.value.value_or(0);
      if (!is_chosen && question.fallbacks[i]) value += question.fallbacks[i]->value;
      if (is_chosen || question.fallbacks[i]) blocks.push_back(BlockOf(question, i, !is_chosen));
    }
    if (has_all && value > best && Fits(question.problem, blocks)) best = value;
  }
  return best;
}

// The stated placement, byte by byte, and its value.
void ExpectRight(const Question& question, const Choice& choice) {
  int64_t value = 0;
  std::vector<std::pair<Block, Bytes>> placed;
  for (size_t i = 0; i < question.problem.buffers.size(); ++i) {
    const bool stands_in = choice.stands_in[i];
    EXPECT_EQ(stands_in, !choice.chosen[i] && question.fallbacks[i].has_value());
    EXPECT_TRUE(choice.chosen[i] || question.problem.buffers[i].value);
    if (stands_in) value += question.fallbacks[i]->value;
    if (choice.chosen[i]) value += question.problem.buffers[i].value.value_or(0);
    if (choice.chosen[i] || stands_in)
      placed.emplace_back(BlockOf(question, i, stands_in), choice.offsets[i]);
  }
  EXPECT_EQ(value, choice.value);
  for (size_t i = 0; i < placed.size(); ++i) {
    const auto& [block, at] = placed[i];
    EXPECT_EQ(at % block.alignment, 0);
    EXPECT_LE(at + block.size,
              question.problem.memories[static_cast<size_t>(block.memory)].capacity);
    for (size_t k = 0; k < i; ++k) {
      const auto& [other, there] = placed[k];
      EXPECT_FALSE(other.memory == block.memory && other.life.lower < block.life.upper &&
                   block.life.lower < other.life.upper && there < at + block.size &&
                   at < there + other.size);
    }
  }
}

// Where all fallbacks fit, the greatest value is proven.
TEST(Fallbacks, TheValueIsThatOfTheEnumerationOfAllChoices) {
  base::Random random(1);
  int feasible = 0, infeasible = 0, stand_ins = 0;
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE(round);
    const Question question = Draw(random, false);
    const int64_t best = GreatestValue(question);
    const auto choice = Ask(question.problem, question.fallbacks);
    ASSERT_TRUE(choice) << base::Format(choice.error());
    if (best < 0) {
      EXPECT_EQ(choice->status, Status::kInfeasible);
      ++infeasible;
      continue;
    }
    ASSERT_EQ(choice->status, Status::kOptimal) << choice->reason;
    EXPECT_EQ(choice->value, best);
    EXPECT_EQ(choice->bound, best);
    ExpectRight(question, *choice);
    ++feasible;
    stand_ins += std::count(choice->stands_in.begin(), choice->stands_in.end(), true) > 0 ? 1 : 0;
  }
  EXPECT_GE(feasible, 300);
  EXPECT_GE(infeasible, 5);
  EXPECT_GE(stand_ins, 150);
}

// Where fallbacks crowd another memory, nothing is claimed that is not so.
TEST(Fallbacks, InATightMemoryNoClaimIsWrong) {
  base::Random random(2);
  int optimal = 0, infeasible = 0, open = 0;
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE(round);
    const Question question = Draw(random, true);
    const int64_t best = GreatestValue(question);
    const auto choice = Ask(question.problem, question.fallbacks);
    ASSERT_TRUE(choice) << base::Format(choice.error());
    if (choice->status == Status::kInfeasible) {
      EXPECT_EQ(best, -1);
      ++infeasible;
    } else if (choice->chosen.empty()) {
      EXPECT_EQ(choice->status, Status::kUnknown);
      ++open;
    } else {
      EXPECT_LE(choice->value, best);
      EXPECT_GE(choice->bound, best);
      EXPECT_EQ(choice->status == Status::kOptimal, choice->value == choice->bound);
      ExpectRight(question, *choice);
      optimal += choice->status == Status::kOptimal ? 1 : 0;
    }
  }
  EXPECT_GE(optimal, 200);
  EXPECT_GE(infeasible, 5);
  EXPECT_GE(open, 1);
}

TEST(Fallbacks, AreTheSameOnAnyNumberOfThreads) {
  base::Random random(3);
  for (int round = 0; round < 30; ++round) {
    const Question question = Draw(random, false);
    const auto one = Ask(question.problem, question.fallbacks, 1);
    const auto two = Ask(question.problem, question.fallbacks, 2);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(one->chosen, two->chosen);
    EXPECT_EQ(one->offsets, two->offsets);
  }
}

TEST(Fallbacks, ThatMakeNoSenseAreRefused) {
  base::Random random(4);
  Question question;
  do question = Draw(random, false);
  while (!question.problem.buffers[0].value || question.problem.buffers[0].size < 2);
  const auto fault_of = [&](const Fallback& fallback) {
    question.fallbacks.assign(question.problem.buffers.size(), std::nullopt);
    question.fallbacks[0] = fallback;
    const auto choice = Ask(question.problem, question.fallbacks);
    EXPECT_EQ(choice->status, Status::kInvalid);
    return choice->reason;
  };
  Buffer& buffer = question.problem.buffers[0];
  EXPECT_THAT(fault_of({buffer.size, buffer.memory, 0}), HasSubstr("no smaller"));
  EXPECT_THAT(fault_of({0, 1 - buffer.memory, 0}), HasSubstr("/buffers/0/fallback/size"));
  EXPECT_THAT(fault_of({1, 2, 0}), HasSubstr("/buffers/0/fallback/memory"));
  EXPECT_THAT(fault_of({1, 1 - buffer.memory, *buffer.value + 1}), HasSubstr("worth more"));
  buffer.value.reset();
  EXPECT_THAT(fault_of({1, 1 - buffer.memory, 0}), HasSubstr("without a value"));
}

}  // namespace
}  // namespace tessera::search::choose
