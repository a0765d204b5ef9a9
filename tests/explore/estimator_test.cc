// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "fixture.h"
#include "tessera/base/command.h"
#include "tessera/explore/area.h"
#include "tessera/explore/request.h"
#include "tessera/explore/store.h"

// Areas from commands of the user.
namespace tessera::explore {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class EstimatorTest : public SpecTest {
 protected:
  // Its area is a thousandth of the capacity; `asked` gets a line for each call.
  void WriteEstimator() const {
    Write("area.sh",
          "cat > part; cat part >> asked\n"
          "sed 's/.*\"capacity_bytes\":\\([0-9]*\\).*/\\1e-3/' part\n");
  }

  static std::string SpecWith(const std::string& command) {
    return Heads() +
           "vary: {memories.sram.capacity_bytes: [16Ki, 64Ki], memories.dram.read_pj_per_byte: [1, "
           "2]}\n"
           "minimize: [latency, area]\narea:\n  memories.sram: {command: \"" +
           command + "\"}\n  memories.dram: 0\n  engines.*: 0\n  links.*: 0\n";
  }

  std::vector<std::string> Asked() const {
    std::vector<std::string> lines;
    std::ifstream file(PathOf("asked"));
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  base::Diagnostic FaultOf(const std::string& command) const {
    const auto spec = Read(SpecWith(command));
    EXPECT_TRUE(spec) << base::Format(spec.error());
    const auto document = Ask(*spec, *Store::Open(":memory:"), {}, {});
    EXPECT_FALSE(document);
    return document ? base::Diagnostic() : document.error();
  }
};

TEST_F(EstimatorTest, IsAskedOnceForEachPartAndTheStoreKeepsIt) {
  WriteEstimator();
  const Store store = *Store::Open(PathOf("store.db"));
  for (int run = 0; run < 2; ++run) {
    const auto spec = Read(SpecWith("sh area.sh"));
    ASSERT_TRUE(spec) << base::Format(spec.error());
    const auto document = Ask(*spec, store, {}, {});
    ASSERT_TRUE(document) << base::Format(document.error());
    std::set<double> areas;
    for (const Json& point : (**document).at("points"))
      areas.insert(point.at("area_mm2").get<double>());
    EXPECT_THAT(areas, ElementsAre(16.384, 65.536));
    EXPECT_EQ(Asked().size(), 2U);
  }
  const Json part = Json::parse(Asked().front());
  EXPECT_EQ(part.at("part"), "memories.sram");
  EXPECT_EQ(part.at("fields").at("capacity_bytes"), 16384);
  EXPECT_EQ(part.at("derived").at("banks"), 1);
  EXPECT_TRUE(part.at("derived").contains("accesses"));
}

TEST_F(EstimatorTest, FaultsHaveThePlaceOfTheRule) {
  const base::Diagnostic exit = FaultOf("exit 3");
  EXPECT_THAT(exit.message, HasSubstr("exit code 3"));
  EXPECT_EQ(exit.file, PathOf("spec.yaml"));
  EXPECT_EQ(exit.line, 7);
  EXPECT_THAT(FaultOf("kill -9 $$").message, HasSubstr("signal 9"));
  for (const char* answer : {"true", "echo -1", "echo nan", "echo 1 2", "echo big"}) {
    const base::Diagnostic fault = FaultOf(answer);
    EXPECT_EQ(fault.message, "the command gives no area") << answer;
    EXPECT_NE(fault.found, "") << answer;
  }
}

TEST_F(EstimatorTest, KeysAreChecked) {
  const auto spec = Read(SpecWith("true").replace(SpecWith("true").find("command"), 7, "comand"));
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().line, 7);
  EXPECT_THAT(spec.error().hint, HasSubstr("command"));
}

TEST_F(EstimatorTest, ACancellationEndsTheCommand) {
  const auto spec = Read(SpecWith("sleep 50; touch ended"));
  ASSERT_TRUE(spec);
  RunOptions options;
  std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    options.canceller.Cancel();
  });
  const auto document = Ask(*spec, *Store::Open(":memory:"), {}, options);
  ASSERT_TRUE(document);
  EXPECT_FALSE(*document);
  EXPECT_FALSE(std::filesystem::exists(PathOf("ended")));
}

TEST(RunCommand, GivesWhatIsWritten) {
  const auto never = [] { return false; };
  const std::string text(1 << 20, 'x');  // more than a pipe holds
  const auto same = base::RunCommand("cat", "", text, std::chrono::seconds(60), never);
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, text);
  EXPECT_EQ(*base::RunCommand("pwd", "/", "", std::chrono::seconds(60), never), "/\n");
  const auto late =
      base::RunCommand("sleep 50 | cat", "", "", std::chrono::milliseconds(20), never);
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("took more than"));
  const auto nowhere = base::RunCommand("true", "/no/such", "", std::chrono::seconds(60), never);
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message, HasSubstr("cannot start"));
}

}  // namespace
}  // namespace tessera::explore
