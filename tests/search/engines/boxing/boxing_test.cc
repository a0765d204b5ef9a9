// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tessera/problem/generate/families.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/boxing/boxer.h"
#include "tessera/search/engines/boxing/boxing_engine.h"

namespace tessera::search::engines::boxing {
namespace {

using problem::Problem;
using problem::Status;
using testing::HasSubstr;

// Every combination of extensions.
std::vector<BoxingOptions> AllOptions() {
  std::vector<BoxingOptions> all;
  for (int bits = 0; bits < 32; ++bits) {
    BoxingOptions options;
    options.latent_invariants = (bits & 1) == 0;
    options.calibration = (bits & 2) == 0;
    options.critical_points = (bits & 4) == 0;
    options.unboxing = (bits & 8) == 0;
    options.dummy_job = (bits & 16) == 0;
    all.push_back(options);
  }
  return all;
}

std::vector<Instance> SomeInstances() {
  std::vector<Instance> instances;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    for (const Problem& problem :
         {problem::generate::MakeBroken({60, 80, 4096}, seed),
          problem::generate::MakeFlat(80, seed), problem::generate::MakeLogUniform(200, 20, seed),
          problem::generate::MakeCompilerLike(50, seed),
          problem::generate::MakeEqual(60, 10, seed)})
      instances.push_back(order_search::MakeInstance(problem, 0));
  }
  return instances;
}

BoxingSchedule ScheduleFor(const Instance& instance, const BoxingOptions& options) {
  std::vector<Bytes> heights = instance.size;
  std::sort(heights.begin(), heights.end());
  return MakeSchedule(heights, instance.greatest_load, options);
}

Boxing BoxOnce(const Instance& instance, const BoxingOptions& options, uint64_t seed) {
  base::Random random(seed);
  const base::Stop never;
  Effort effort(base::kMaxTotal, never);
  Boxing boxing;
  EXPECT_TRUE(BoxAll(instance, ScheduleFor(instance, options), options, random, effort, boxing));
  return boxing;
}

// Boxes hold their contents, in time and height, and contents that live together share no byte.
void ExpectSound(const Boxing& boxing, const Instance& instance) {
  std::vector<std::vector<int>> contents(boxing.jobs.size());
  const auto buffers = static_cast<size_t>(instance.Count());
  for (size_t i = 0; i < boxing.jobs.size(); ++i) {
    const Job& job = boxing.jobs[i];
    if (job.parent < 0) {
      EXPECT_GE(i, buffers) << "every buffer is in a box";
      continue;
    }
    const Job& box = boxing.jobs[static_cast<size_t>(job.parent)];
    EXPECT_GT(job.parent, static_cast<int>(i));
    EXPECT_GE(job.first, box.first);
    EXPECT_LE(job.last, box.last);
    EXPECT_GE(job.at, 0);
    EXPECT_LE(job.at + job.height, box.height) << "a box exceeds its height";
    contents[static_cast<size_t>(job.parent)].push_back(static_cast<int>(i));
  }
  for (size_t i = buffers + (boxing.dummy >= 0 ? 1 : 0); i < contents.size(); ++i) {
    EXPECT_FALSE(contents[i].empty()) << "an empty box";
    for (const int a : contents[i]) {
      for (const int b : contents[i]) {
        const Job& x = boxing.jobs[static_cast<size_t>(a)];
        const Job& y = boxing.jobs[static_cast<size_t>(b)];
        if (a >= b || x.last <= y.first || y.last <= x.first) continue;
        EXPECT_TRUE(x.at + x.height <= y.at || y.at + y.height <= x.at) << "contents overlap";
      }
    }
  }
}

// Offsets before the final first fit, which any placement may have.
void ExpectPlaced(const Instance& instance, const Offsets& offsets) {
  for (int i = 0; i < instance.Count(); ++i) {
    for (int j = 0; j < i; ++j) {
      const auto a = static_cast<size_t>(i), b = static_cast<size_t>(j);
      if (instance.last[a] <= instance.first[b] || instance.last[b] <= instance.first[a]) continue;
      EXPECT_TRUE(offsets[a] + instance.size[a] <= offsets[b] ||
                  offsets[b] + instance.size[b] <= offsets[a]);
    }
  }
}

TEST(Boxing, BoxesHoldTheirContentsWhateverExtensionsAreOff) {
  for (const Instance& instance : SomeInstances()) {
    for (const BoxingOptions& options : AllOptions()) {
      const Boxing boxing = BoxOnce(instance, options, 1);
      ExpectSound(boxing, instance);
      ExpectPlaced(instance, OffsetsOf(boxing));
    }
  }
}

// Interval colouring of the outermost boxes is optimal because they have one height.
TEST(Boxing, TheOutermostBoxesHaveOneHeight) {
  for (const Instance& instance : SomeInstances()) {
    const Boxing boxing = BoxOnce(instance, {}, 3);
    Bytes height = 0;
    for (const Job& job : boxing.jobs) {
      if (job.parent >= 0) continue;
      if (height == 0) height = job.height;
      EXPECT_EQ(job.height, height);
    }
  }
}

TEST(Boxing, SchedulesKeepTheLatentInvariants) {
  for (const Instance& instance : SomeInstances()) {
    const BoxingSchedule schedule = ScheduleFor(instance, {});
    for (const BoxingLevel& level : schedule.small) {
      EXPECT_LE(level.error, 0.6180339888);
      EXPECT_LE(static_cast<double>(level.most_height),
                level.error * static_cast<double>(level.box_height));
    }
    EXPECT_LE(schedule.last.error, 0.6180339888);
    const auto [least, most] = std::minmax_element(instance.size.begin(), instance.size.end());
    EXPECT_EQ(schedule.dummy > 0, *most <= 2216.53 * static_cast<double>(*least));
    EXPECT_GE(schedule.last.box_height, std::max(*most, schedule.dummy));
  }
}

TEST(Boxing, ColouringUsesAsManyRowsAsJobsThatMeet) {
  base::Random random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<Job> jobs;
    std::vector<int> order;
    for (int i = 0; i < 20; ++i) {
      const auto first = static_cast<int>(random.Uniform(0, 20));
      jobs.push_back({first, first + static_cast<int>(random.Uniform(1, 8)), 1, -1, 0});
      order.push_back(i);
    }
    const std::vector<int> rows = ColourRows(jobs, order);
    int most = 0;
    for (int section = 0; section < 30; ++section) {
      const auto meets = [&](const Job& job) { return job.first <= section && section < job.last; };
      most = std::max(most, static_cast<int>(std::count_if(jobs.begin(), jobs.end(), meets)));
    }
    EXPECT_EQ(*std::max_element(rows.begin(), rows.end()) + 1, most);
  }
}

TEST(Boxing, SearchesNeverGetWorseAndRepeatThemselves) {
  const Instance instance =
      order_search::MakeInstance(problem::generate::MakeLogUniform(300, 40, 1), 0);
  const auto run = [&](uint64_t seed) {
    const base::Stop never;
    Effort effort(base::kMaxTotal, never);
    BoxSearch search(instance, {}, seed, {});
    std::vector<Bytes> tops;
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(search.Iterate(effort));
      ExpectPlaced(instance, search.Best());
      EXPECT_EQ(search.Top(), order_search::TopOf(instance, search.Best()));
      tops.push_back(search.Top());
    }
    EXPECT_TRUE(std::is_sorted(tops.rbegin(), tops.rend()));
    return search.Best();
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(OffsetsOf(BoxOnce(instance, {}, 1)), OffsetsOf(BoxOnce(instance, {}, 2)));
}

problem::Result Ask(const Problem& problem, int64_t units, int threads = 1) {
  const BoxingEngine engine(1);
  const std::vector<const problem::Engine*> engines = {&engine};
  allocate::AllocateOptions options;
  options.minimize = true;
  options.budget.units = units;
  options.threads = threads;
  return *allocate::Allocate(problem, nullptr, 0, engines, options);
}

TEST(Boxing, TheEngineGivesTheSameAnswerOnAnyNumberOfThreads) {
  Problem problem = problem::generate::MakeLogUniform(400, 40, 2);
  const problem::Result one = Ask(problem, 2'000, 1);
  const problem::Result two = Ask(problem, 2'000, 2);
  ASSERT_TRUE(one.allocation);
  ASSERT_TRUE(two.allocation);
  EXPECT_EQ(one.allocation->offsets, two.allocation->offsets);
  EXPECT_GE(*one.peak, one.lower_bound);
  EXPECT_EQ(one.engine, "boxing");
}

TEST(Boxing, TheEngineHonoursAlignmentAndSeveralMemories) {
  Problem problem = problem::generate::MakeLogUniform(100, 20, 3);
  problem.memories.push_back(problem.memories[0]);
  problem.memories[1].name = "other";
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    problem.buffers[i].alignment = i % 3 == 0 ? 4096 : 64;
    problem.buffers[i].memory = i % 5 == 0 ? 1 : 0;
  }
  const problem::Result result = Ask(problem, 500);
  ASSERT_TRUE(result.allocation);
  EXPECT_TRUE(problem::Validate(problem, *result.allocation, *result.peak, 1).empty());
}

TEST(Boxing, ElementaryCasesAreOptimal) {
  for (const Problem& problem :
       {problem::generate::MakeEqual(200, 30, 1), problem::generate::MakeDisjoint(200, 1)})
    EXPECT_EQ(Ask(problem, 10).status, Status::kOptimal);
}

TEST(Boxing, SaysWhatItDoesNotHonour) {
  Problem problem = problem::generate::MakeFlat(10, 1);
  problem.buffers[3].offset = 0;
  const problem::Result result = Ask(problem, 10);
  EXPECT_EQ(result.status, Status::kUnsupported);
  EXPECT_THAT(result.reason, HasSubstr("boxing does not support the fixed offset of b3"));
}

}  // namespace
}  // namespace tessera::search::engines::boxing
