// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>

#include "command_line.h"

// `tessera profile fit`.
namespace tessera::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ProfileTest : public CommandLineTest {
 protected:
  Outcome Fit(const std::string& rows, const Arguments& more = {}) const {
    Write("net.yaml", R"(
schema: 1
name: chain
dtype: int8
inputs:
  - {id: x, shape: [1, 16, 32, 32]}
operators:
  - {id: a, kind: conv, inputs: [x], out_channels: 16, kernel: 3, pads: same}
  - {id: b, kind: conv, inputs: [a], out_channels: 32, kernel: 1}
outputs: [b]
)");
    Write("measured.csv", "network,operators,rows,weights,cycles\n" + rows);
    Arguments arguments = {"profile", "fit", Shipped("hw_profiles/edge_npu_1mib.yaml"),
                           "measured.csv"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }

  static std::string Rows() {
    std::string rows;
    for (const int height : {1, 2, 4, 8, 16, 32}) {
      for (const char* operators : {"a", "b", "a..b"})
        rows += "net.yaml," + std::string(operators) + "," + std::to_string(height) + ",," +
                std::to_string(20'000 + 40'000 / height) + "\n";
    }
    return rows;
  }
};

TEST_F(ProfileTest, FitsAndSaysHowFarOff) {
  const Outcome outcome = Fit(Rows(), {"--output", "fitted.json", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto document = ParseJson(outcome.out);
  EXPECT_EQ(document.at("measurements"), 18);
  EXPECT_EQ(document.at("complete"), true);
  EXPECT_LE(document.at("errors").at("after").at("median"),
            document.at("errors").at("before").at("median"));
  EXPECT_TRUE(document.at("errors").contains("held_out"));
  EXPECT_FALSE(document.at("constants").empty());
  EXPECT_THAT(Fit(Rows()).out, HasSubstr("left out of their fit"));
}

TEST_F(ProfileTest, AFittedProfileStatesTheErrorOfMeasurementsThatWereLeftOut) {
  const Outcome outcome = Fit(Rows(), {"--output", "fitted.json", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto held_out = ParseJson(outcome.out).at("errors").at("held_out");
  const auto known = ParseJson(Read("fitted.json")).at("known_error");
  EXPECT_EQ(known.at("source"), "measurements left out of its fit: measured.csv");
  EXPECT_EQ(known.at("median"), held_out.at("median"));
  const Outcome planned = Run({"plan", "net.yaml", "--hw", "fitted.json", "--output", "plan.html"});
  EXPECT_EQ(planned.exit_code, 0);
  EXPECT_THAT(planned.out, HasSubstr("known error of cycles on this profile: half of them within"));
  EXPECT_THAT(planned.out, HasSubstr("(measurements left out of its fit: measured.csv)"));
  EXPECT_THAT(Read("plan.html"), HasSubstr("known error of cycles on this profile: half of them"));
}

TEST_F(ProfileTest, FewMeasurementsSayNothingAboutOthers) {
  Fit("net.yaml,a,4,,5000\n");
  const std::string before = Shipped("hw_profiles/ethos_u55_256.yaml");
  EXPECT_THAT(Run({"plan", "net.yaml", "--hw", before}).out, HasSubstr("(Arm Vela 3.10)"));
  ASSERT_EQ(Run({"profile", "fit", before, "measured.csv", "--output", "fitted.json"}).exit_code,
            0);
  EXPECT_FALSE(ParseJson(Read("fitted.json")).contains("known_error"));
  EXPECT_THAT(Run({"plan", "net.yaml", "--hw", "fitted.json"}).out,
              testing::Not(HasSubstr("known error")));
}

TEST_F(ProfileTest, AFaultInTheMeasurementsHasAPlace) {
  const Outcome outcome = Fit("net.yaml,c,,,5\n", {"--output", "fitted.json"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("measured.csv:2:10"));
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_EQ(Fit("other.yaml,a,,,5\n").exit_code, 3);
}

TEST_F(ProfileTest, ANetworkThatCannotBeReadHasItsCell) {
  const Outcome missing = Fit("net.yaml,a,,,5\nother.yaml,a,,,5\n");
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("measured.csv:3:1: error: the network cannot be read"));
  const Outcome input = Fit("-,a,,,5\n");
  EXPECT_EQ(input.exit_code, 3);
  EXPECT_THAT(input.err, HasSubstr("measured.csv:2:1: error: the network cannot be read"));
}

TEST_F(ProfileTest, AStopStatesNoErrorThatWasNotComputed) {
  const Outcome outcome = Fit(Rows(), {"--timeout", "0.000001", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 10) << outcome.err;
  const auto document = ParseJson(outcome.out);
  EXPECT_EQ(document.at("complete"), false);
  EXPECT_TRUE(document.at("errors").empty()) << document;
  const std::string text = Fit(Rows(), {"--timeout", "0.000001"}).out;
  EXPECT_THAT(text, HasSubstr("Stopped early"));
  EXPECT_THAT(text, testing::Not(HasSubstr("0.0 %")));
  EXPECT_THAT(text, testing::Not(HasSubstr("Too few measurements")));
}

TEST_F(ProfileTest, ReplacesNoInput) {
  const Outcome network = Fit(Rows(), {"--output", "net.yaml"});
  EXPECT_EQ(network.exit_code, 2);
  EXPECT_THAT(network.err, HasSubstr("--output net.yaml: this is the input net.yaml"));
  EXPECT_THAT(Read("net.yaml"), HasSubstr("name: chain"));
  Write("mine.yaml",
        "extends: " + Shipped("hw_profiles/edge_npu_1mib.yaml") + "\nschema: 1\nname: mine\n");
  const Outcome profile =
      Run({"profile", "fit", "mine.yaml", "measured.csv", "--output", "mine.yaml"});
  EXPECT_EQ(profile.exit_code, 2);
  EXPECT_THAT(profile.err, HasSubstr("this is the input mine.yaml"));
}

TEST_F(ProfileTest, DescriptionsOfOperatorsAreNotLost) {
  Fit(Rows());
  Write("ops.yaml", "extends: " + Shipped("hw_profiles/edge_npu_1mib.yaml") +
                        "\nschema: 1\nname: mine\nops: {mine: {like: relu}}\n");
  const Outcome outcome =
      Run({"profile", "fit", "ops.yaml", "measured.csv", "--output", "fitted.json"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("ops.yaml:4:1"));
}

TEST_F(ProfileTest, WritesNoFormatButThatOfProfiles) {
  const Outcome outcome = Fit(Rows(), {"--output", "fitted.csv"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("expected a name that ends in .yaml or .json"));
  EXPECT_FALSE(std::filesystem::exists(Folder() / "fitted.csv"));
}

TEST_F(ProfileTest, NeedsAnAction) { EXPECT_EQ(Run({"profile", "guess"}).exit_code, 2); }

}  // namespace
}  // namespace tessera::cli
