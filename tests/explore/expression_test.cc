// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/expression.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tessera/base/random.h"

// Arithmetic over named numbers, and its intervals.
namespace tessera::explore {
namespace {

using testing::HasSubstr;

std::optional<NumberInterval> Find(const std::map<std::string, NumberInterval>& names,
                                   std::string_view name) {
  const auto found = names.find(std::string(name));
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

double ValueOf(const std::string& text) {
  const auto expression = Expression::Parse(text);
  EXPECT_TRUE(expression) << text;
  if (!expression) return NAN;
  const std::map<std::string, NumberInterval> names = {{"a", NumberInterval::Of(3)},
                                                       {"b.c", NumberInterval::Of(-2)},
                                                       {"min", NumberInterval::Of(7)}};
  const auto value = expression->Evaluate([&](std::string_view name) { return Find(names, name); });
  EXPECT_TRUE(value) << text;
  EXPECT_TRUE(value && value->IsPoint()) << text;
  return value ? value->low : NAN;
}

TEST(Expression, HasTheUsualPrecedence) {
  EXPECT_EQ(ValueOf("1 + 2 * 3"), 7);
  EXPECT_EQ(ValueOf("(1 + 2) * 3"), 9);
  EXPECT_EQ(ValueOf("7 - 2 - 1"), 4);
  EXPECT_EQ(ValueOf("12 / 2 / 3"), 2);
  EXPECT_EQ(ValueOf("2 ^ 3 ^ 2"), 512);
  EXPECT_EQ(ValueOf("-2 ^ 2"), -4);
  EXPECT_EQ(ValueOf("2 * -a"), -6);
  EXPECT_EQ(ValueOf("1 < 2 and 2 < 1 or 3 >= 3"), 1);
  EXPECT_EQ(ValueOf("not 1 < 2 or 0"), 0);
  EXPECT_EQ(ValueOf("a == 3 and a != 4"), 1);
}

TEST(Expression, KnowsQuantitiesNamesAndFunctions) {
  EXPECT_EQ(ValueOf("128Ki"), 131072);
  EXPECT_EQ(ValueOf("2Mi + 1"), 2097153);
  EXPECT_EQ(ValueOf("1.5e3"), 1500);
  EXPECT_EQ(ValueOf("1e-3"), 0.001);
  EXPECT_EQ(ValueOf("1_000"), 1000);
  EXPECT_EQ(ValueOf("a * b.c"), -6);
  EXPECT_EQ(ValueOf("max(1, a, 2) + min(4, 2)"), 5);
  EXPECT_EQ(ValueOf("min + 1"), 8);
  EXPECT_EQ(ValueOf("ceil(1.2) + floor(1.8) + log2(8) + sqrt(16)"), 10);
}

TEST(Expression, ListsItsNames) {
  const auto expression = Expression::Parse("power * engines.*.mac_pj + operators.conv.start");
  ASSERT_TRUE(expression);
  EXPECT_THAT(expression->NamesUsed(),
              testing::ElementsAre("engines.*.mac_pj", "operators.conv.start", "power"));
}

TEST(Expression, SaysWhereItCannotBeRead) {
  const std::vector<std::pair<std::string, int>> faults = {
      {"", 1}, {"1 +", 4}, {"(1", 3}, {"1 2", 3}, {"a $ b", 3}, {"sqrt(1, 2)", 7}, {"12abc", 1}};
  for (const auto& [text, column] : faults) {
    const auto expression = Expression::Parse(text);
    ASSERT_FALSE(expression) << text;
    EXPECT_EQ(expression.error().column, column) << text;
    EXPECT_NE(expression.error().expected, "") << text;
  }
  EXPECT_FALSE(Expression::Parse(std::string(100'000, '(')));
}

TEST(Expression, HasAtMostAThousandOperations) {
  const auto repeated = [](const std::string& part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  };
  EXPECT_EQ(ValueOf("0" + repeated(" + 1", 1000)), 1000);
  for (const std::string& text :
       {"0" + repeated(" + 1", 1001), "0" + repeated(" / 1", 300'000),
        "0" + repeated(" or 1", 300'000), repeated("not ", 300'000) + "1"}) {
    const auto expression = Expression::Parse(text);
    ASSERT_FALSE(expression);
    EXPECT_EQ(expression.error().expected, "at most 1000 operations");
  }
}

TEST(Expression, NamesANameWithoutANumber) {
  const auto value = Expression::Parse("1 + lanes")->Evaluate([](std::string_view) {
    return std::optional<NumberInterval>();
  });
  ASSERT_FALSE(value);
  EXPECT_THAT(value.error().message, HasSubstr("'lanes'"));
}

// A random expression over x, y and z.
std::string Draw(base::Random& random, int depth) {
  if (depth == 0) {
    const int which = static_cast<int>(random.Uniform(0, 3));
    return which == 3 ? std::to_string(random.Uniform(-3, 5)) : std::string(1, "xyz"[which]);
  }
  const std::string a = Draw(random, depth - 1);
  const std::string b = Draw(random, depth - 1);
  static const std::vector<std::string> kSigns = {" + ",  " - ",  " * ",   " / ", " < ",
                                                  " <= ", " == ", " and ", " or "};
  const auto which = static_cast<size_t>(random.Uniform(0, 12));
  if (which < kSigns.size()) return "(" + a + kSigns[which] + b + ")";
  static const std::vector<std::string> kFunctions = {"min", "max"};
  if (which < 11) return kFunctions[which - 9] + "(" + a + ", " + b + ")";
  return which == 11 ? "ceil(" + a + ")" : "-" + a;
}

TEST(Expression, IntervalsEncloseEveryValue) {
  base::Random random(1);
  int compared = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::string text = Draw(random, static_cast<int>(random.Uniform(1, 3)));
    const auto expression = Expression::Parse(text);
    ASSERT_TRUE(expression) << text;
    std::map<std::string, NumberInterval> ranges;
    std::map<std::string, NumberInterval> points;
    for (const char* name : {"x", "y", "z"}) {
      const double low = static_cast<double>(random.Uniform(-3, 6));
      const double width = static_cast<double>(random.Uniform(0, 5));
      ranges[name] =
          random.Chance(0.2) ? NumberInterval::From(low) : NumberInterval{low, low + width};
      points[name] = NumberInterval::Of(low + random.Real() * width);
    }
    const auto range = expression->Evaluate([&](std::string_view n) { return Find(ranges, n); });
    const auto point = expression->Evaluate([&](std::string_view n) { return Find(points, n); });
    ASSERT_TRUE(range && point);
    if (!point->IsPoint() || !std::isfinite(point->low)) continue;  // a division by 0
    ++compared;
    EXPECT_LE(range->low, point->low) << text;
    EXPECT_GE(range->high, point->low) << text;
  }
  EXPECT_GT(compared, 3000);
}

}  // namespace
}  // namespace tessera::explore
