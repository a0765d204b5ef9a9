// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "command_line.h"

// The plan that README shows is the one that the command prints.
namespace tessera::cli {
namespace {

using testing::HasSubstr;

class ReadmeTest : public CommandLineTest {
 protected:
  static std::string WithSingleBlanks(const std::string& text) {
    return std::regex_replace(text, std::regex(" +"), " ");
  }
};

TEST_F(ReadmeTest, ShowsThePlanOfTheQuickStart) {
  std::ostringstream text;
  text << std::ifstream(Shipped("README.md")).rdbuf();
  const std::string readme = text.str();
  const size_t begin = readme.find("## Quick start");
  const size_t end = readme.find("Most of the time goes");
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos);
  const Outcome outcome = Run({"plan", Shipped("examples/networks/mobilenet_v2.yaml"), "--hw",
                               Shipped("hw_profiles/ethos_u65_256.yaml")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string printed = WithSingleBlanks(outcome.out);
  std::istringstream lines(readme.substr(begin, end - begin));
  const std::regex count("prints (\\d+) subgraphs for (\\d+) operators");
  int counts = 0;
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (std::smatch found; std::regex_search(line, found, count)) {
      EXPECT_THAT(printed,
                  HasSubstr(found[2].str() + " operators in " + found[1].str() + " subgraphs"));
      ++counts;
    }
    if (!line.starts_with("    ") || line.find('#') != std::string::npos || line == "    ...")
      continue;
    // The number of a row stands before both parts of the table.
    const std::string row = WithSingleBlanks(std::regex_replace(line, std::regex("^ +\\d  "), ""));
    EXPECT_THAT(printed, HasSubstr(row.substr(row.find_first_not_of(' '))));
    ++rows;
  }
  EXPECT_EQ(counts, 1);
  EXPECT_EQ(rows, 10);
}

}  // namespace
}  // namespace tessera::cli
