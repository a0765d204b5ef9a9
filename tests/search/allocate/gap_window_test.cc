// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tessera/api/parts/engine_set.h"
#include "tessera/base/random.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/search/allocate/portfolio.h"

// Gaps with windows, from the text of a CSV to the answer, against an enumeration of all offsets
// that knows the text alone.
namespace tessera::search::allocate {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Status;

constexpr int kSteps = 6;
constexpr Bytes kMostSize = 4;
constexpr Bytes kMostPeak = 12;

// A line of the file: the bytes [from, to) that live at each step.
struct Line {
  std::string text;
  Bytes size = 0;
  std::array<problem::AddressRange, kSteps> alive = {};
};

Line RandomLine(base::Random& random, int number) {
  Line line;
  line.size = random.Uniform(1, kMostSize);
  const auto lower = random.Uniform(0, kSteps - 2);
  const auto upper = random.Uniform(lower + 1, kSteps);
  for (auto step = lower; step < upper; ++step)
    line.alive[static_cast<size_t>(step)] = {0, line.size};
  line.text = "b" + std::to_string(number) + "," + std::to_string(lower) + "," +
              std::to_string(upper) + "," + std::to_string(line.size) + ",";
  for (auto step = lower + random.Uniform(0, 2); step < upper;) {
    const auto end = random.Uniform(step + 1, upper);
    line.text += " " + std::to_string(step) + "-" + std::to_string(end);
    problem::AddressRange window;
    if (random.Chance(0.8)) {
      window.begin = random.Uniform(0, line.size - 1);
      window.end = random.Uniform(window.begin + 1, line.size);
      line.text += "@" + std::to_string(window.begin) + ":" + std::to_string(window.end);
    }
    for (; step < end; ++step) line.alive[static_cast<size_t>(step)] = window;
    step += random.Uniform(0, 2);
  }
  return line;
}

bool Collide(const Line& a, Bytes at_a, const Line& b, Bytes at_b) {
  for (size_t step = 0; step < kSteps; ++step) {
    for (Bytes i = a.alive[step].begin; i < a.alive[step].end; ++i) {
      for (Bytes j = b.alive[step].begin; j < b.alive[step].end; ++j) {
        if (at_a + i == at_b + j) return true;
      }
    }
  }
  return false;
}

// The least capacity in which all lines have offsets.
Bytes LeastPeak(const std::vector<Line>& lines) {
  std::vector<Bytes> offsets;
  Bytes best = kMostPeak + 1;
  const std::function<void(Bytes)> place = [&](Bytes peak) {
    if (peak >= best) return;
    if (offsets.size() == lines.size()) {
      best = peak;
      return;
    }
    const Line& line = lines[offsets.size()];
    for (Bytes at = 0; at + line.size <= kMostPeak; ++at) {
      bool fits = true;
      for (size_t i = 0; i < offsets.size() && fits; ++i)
        fits = !Collide(lines[i], offsets[i], line, at);
      if (!fits) continue;
      offsets.push_back(at);
      place(std::max(peak, at + line.size));
      offsets.pop_back();
    }
  };
  place(0);
  return best;
}

struct Instance {
  std::vector<Line> lines;
  std::string text = "id,lower,upper,size,gaps\n";
};

// Some bytes of a line may live at no step: such lines are refused, and drawn again.
Instance RandomLines(base::Random& random) {
  Instance instance;
  const auto count = random.Uniform(2, 4);
  for (int i = 0; i < count; ++i) {
    const Line line = RandomLine(random, i);
    const std::string text = instance.text + line.text + "\n";
    if (!problem::files::ReadCsv(text, "gaps.csv")) continue;
    instance.lines.push_back(line);
    instance.text = text;
  }
  return instance;
}

// The offsets of the lines, from those of their first chunks.
std::vector<Bytes> OffsetsOf(const Problem& problem, const problem::Allocation& allocation) {
  std::vector<Bytes> offsets;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const std::string& id = problem.buffers[i].id;
    if (id.find('[') == std::string::npos || id.ends_with("[0]"))
      offsets.push_back(allocation.offsets[i]);
  }
  return offsets;
}

void ExpectPlaced(const Instance& instance, const std::vector<Bytes>& offsets, Bytes capacity) {
  ASSERT_EQ(offsets.size(), instance.lines.size());
  for (size_t i = 0; i < offsets.size(); ++i) {
    EXPECT_GE(offsets[i], 0);
    EXPECT_LE(offsets[i] + instance.lines[i].size, capacity);
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(Collide(instance.lines[i], offsets[i], instance.lines[j], offsets[j]))
          << instance.text;
  }
}

TEST(GapWindows, EveryEngineHonoursThemOrSaysThatItDoesNot) {
  base::Random random(11);
  std::set<std::string> supporting, unsupporting;
  int windowed = 0;
  for (int round = 0; round < 600; ++round) {
    const Instance instance = RandomLines(random);
    const Problem problem = *problem::files::ReadCsv(instance.text, "gaps.csv");
    if (problem.relations.empty()) continue;
    ++windowed;
    const Bytes least = LeastPeak(instance.lines);
    for (const std::string& name : api::parts::EngineSet::Names()) {
      if (name == "z3" && round % 40 > 0) continue;  // slow
      const std::vector<std::string> names = {name};
      const api::parts::EngineSet engines(names, {}, 1);
      for (const Bytes capacity : {least, least - 1}) {
        if (capacity < 1) continue;
        AllocateOptions options;
        options.capacity = capacity;
        options.budget.units = 20'000;
        const auto result = Allocate(problem, nullptr, 0, engines.Pointers(), options);
        ASSERT_TRUE(result) << name << "\n" << instance.text;
        if (result->status == Status::kUnsupported) {
          unsupporting.insert(name);
          continue;
        }
        if (result->status == Status::kUnknown) continue;
        if (result->engine != "bound") supporting.insert(name);
        ASSERT_EQ(result->allocation.has_value(), capacity == least)
            << name << " at " << capacity << "\n"
            << instance.text;
        if (result->allocation)
          ExpectPlaced(instance, OffsetsOf(problem, *result->allocation), capacity);
      }
    }
  }
  EXPECT_GE(windowed, 300);
  EXPECT_THAT(supporting, testing::IsSupersetOf({"greedy", "canonical", "lazy", "cadical", "z3"}));
  EXPECT_THAT(unsupporting, testing::IsSubsetOf({"local-search", "order-search", "boxing"}));
}

TEST(GapWindows, TheLeastPeakIsThatOfTheEnumeration) {
  base::Random random(12);
  const auto names = api::parts::EngineSet::NamesOfWanted("");
  const api::parts::EngineSet engines(names, {}, 1);
  for (int round = 0; round < 150; ++round) {
    const Instance instance = RandomLines(random);
    const Problem problem = *problem::files::ReadCsv(instance.text, "gaps.csv");
    AllocateOptions options;
    options.minimize = true;
    const auto result = Allocate(problem, nullptr, 0, engines.Pointers(), options);
    ASSERT_TRUE(result);
    ASSERT_EQ(result->status, Status::kOptimal) << instance.text;
    EXPECT_EQ(*result->peak, LeastPeak(instance.lines)) << instance.text;
    ExpectPlaced(instance, OffsetsOf(problem, *result->allocation), *result->peak);
  }
}

TEST(GapWindows, AFileLeadsBackToItself) {
  base::Random random(13);
  for (int round = 0; round < 500; ++round) {
    const Instance instance = RandomLines(random);
    const Problem problem = *problem::files::ReadCsv(instance.text, "gaps.csv");
    const auto text = problem::files::WriteCsv(problem);
    ASSERT_TRUE(text) << base::Format(text.error());
    const auto again = problem::files::ReadCsv(*text, "again.csv");
    ASSERT_TRUE(again) << base::Format(again.error());
    EXPECT_EQ(problem::files::WriteProblem(*again), problem::files::WriteProblem(problem))
        << instance.text << *text;
  }
}

}  // namespace
}  // namespace tessera::search::allocate
