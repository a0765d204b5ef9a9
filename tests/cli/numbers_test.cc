// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <filesystem>

#include "command_line.h"

// Numbers on the command line are decimal, integers where they count something, and refused where
// the program cannot compute with them.
namespace tessera::cli {
namespace {

using testing::HasSubstr;

class NumbersTest : public CommandLineTest {
 protected:
  NumbersTest() { Write("two.csv", "id,lower,upper,size\na,0,2,6\nb,1,3,6\n"); }

  Outcome Alloc(const std::string& option, const std::string& value) const {
    return Run({"alloc", "two.csv", option, value, "--format", "json"});
  }
};

TEST_F(NumbersTest, LeadingZerosAreNotOctal) {
  const Outcome twelve = Alloc("--capacity", "012");
  EXPECT_EQ(twelve.exit_code, 0) << twelve.err;
  EXPECT_EQ(ParseJson(twelve.out).at("capacity"), 12);
  EXPECT_EQ(Alloc("--capacity", "08").exit_code, 20);
  EXPECT_EQ(ParseJson(Alloc("--seed", "010").out).at("seed"), 10);
  EXPECT_EQ(Alloc("--threads", "08").exit_code, 0);
  EXPECT_EQ(Alloc("--budget", "09").exit_code, 0);
  EXPECT_EQ(PlanPatentChain("mcu_320k", {"--max-operators", "09"}).exit_code, 0);
  EXPECT_EQ(PlanPatentChain("mcu_320k", {"--pareto", "--points", "02"}).exit_code, 0);
}

TEST_F(NumbersTest, BytesHaveUnits) {
  const auto capacity = [&](const std::string& value) {
    return ParseJson(Alloc("--capacity", value).out).at("capacity").get<int64_t>();
  };
  EXPECT_EQ(capacity("384Ki"), 393216);
  EXPECT_EQ(capacity("1MiB"), 1048576);
  EXPECT_EQ(capacity("010kb"), 10240);
  EXPECT_EQ(capacity("64 b"), 64);
  EXPECT_EQ(capacity("0x20"), 32);
  EXPECT_EQ(capacity("4Ei"), int64_t{1} << 62);
}

TEST_F(NumbersTest, WhatIsNoNumberIsRefusedWithItsOption) {
  for (const std::string option : {"--capacity", "--threads", "--seed", "--budget", "--timeout"}) {
    for (const std::string value :
         {"nan", "inf", "-1", "1e400", "", "x", "12x", "0x", "0x-1", "--", "1,2"}) {
      const Outcome outcome = Alloc(option, value);
      EXPECT_EQ(outcome.exit_code, 2) << option << " '" << value << "': " << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr(option)) << value;
    }
  }
  for (const std::string option : {"--capacity", "--threads", "--seed", "--budget"}) {
    for (const std::string value : {"1e308", "99999999999999999999", "9223372036854775808", "1.5"})
      EXPECT_EQ(Alloc(option, value).exit_code, 2) << option << ' ' << value;
  }
  for (const std::string value :
       {"8Ei", "16Ei", "9223372036854775807", "5z", "1.5Ki", "99999999999Gi"})
    EXPECT_EQ(Alloc("--capacity", value).exit_code, 2) << value;
}

// Every command that takes bytes reads them in the same way.
TEST_F(NumbersTest, CapacitiesAreReadInTheSameWayEverywhere) {
  Write("placed.csv", "id,lower,upper,size,offset\na,0,2,6,0\nb,1,3,6,6\n");
  for (const char* command : {"check", "show"}) {
    EXPECT_EQ(Run({command, "placed.csv", "--capacity", "012"}).exit_code, 0) << command;
    EXPECT_EQ(Run({command, "placed.csv", "--capacity", "99999999999999999999"}).exit_code, 2)
        << command;
  }
  EXPECT_THAT(Run({"encode", "two.csv", "--capacity", "012"}).out, HasSubstr("\"capacity\":12,"));
}

TEST_F(NumbersTest, WeightsAndLimitsBeyondArithmeticAreRefused) {
  for (const std::string option : {"--score", "--limit"}) {
    for (const std::string value :
         {"latency=1e308", "latency=1e308,energy=1e308", "latency=1e-320", "latency=1e400",
          "latency=nan", "latency=inf", "latency=-1", "latency=", "latency=0x10", "1e308"}) {
      const Outcome outcome = PlanPatentChain("mcu_320k", {option, value});
      EXPECT_EQ(outcome.exit_code, 2) << option << ' ' << value << outcome.out;
      EXPECT_THAT(outcome.err, HasSubstr("error: " + option + ": "));
    }
  }
  EXPECT_EQ(PlanPatentChain("mcu_320k", {"--score", "latency=0"}).exit_code, 2);
  const Outcome ratio = PlanPatentChain("mcu_320k", {"--minimize", "power"});
  EXPECT_EQ(ratio.exit_code, 2);
  EXPECT_THAT(ratio.err,
              HasSubstr("power falls as the latency rises, and the latency has no limit"));
  EXPECT_EQ(PlanPatentChain("mcu_320k", {"--limit", "latency=0"}).exit_code, 20);
  EXPECT_EQ(PlanPatentChain("mcu_320k", {"--score", "latency=1e100,energy=1e-100"}).exit_code, 0);
  EXPECT_EQ(PlanPatentChain("mcu_320k", {"--score", "latency=01.50,energy=+2"}).exit_code, 0);
}

// Profiles with numbers at the end of the range: an answer or a refusal, never a fault of the
// program.
TEST_F(NumbersTest, ProfilesAtTheEndOfTheRange) {
  const Outcome first = PlanPatentChain("mcu_320k", {"--output", "plan.json"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const auto plan = [&](const std::string& pointer, double value, bool whole) {
    auto profile = ReadJson("plan.json").at("profile");
    auto& entry = profile.at(nlohmann::ordered_json::json_pointer(pointer));
    if (whole) {
      entry = static_cast<int64_t>(value);
    } else {
      entry = value;
    }
    Write("profile.json", profile.dump());
    return Run({"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw", "profile.json",
                "--minimize", "energy", "--timeout", "5"});
  };
  for (const char* pointer : {"/engines/cpu/operators/conv/cycles_per_step",
                              "/engines/cpu/operators/conv/cycles_per_output"}) {
    EXPECT_EQ(plan(pointer, 1e18, false).exit_code, 0) << pointer;
    const Outcome refused = plan(pointer, 1e308, false);
    EXPECT_EQ(refused.exit_code, 3) << pointer;
    EXPECT_THAT(refused.err, HasSubstr("cycles_per_"));
  }
  const Outcome vast = plan("/memories/sram/capacity_bytes", 0x1p62, true);
  EXPECT_EQ(vast.exit_code, 0) << vast.err;
}

}  // namespace
}  // namespace tessera::cli
