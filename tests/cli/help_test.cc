// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "command_line.h"

// The help of the command, and its messages about invalid command lines.
namespace tessera::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class HelpTest : public CommandLineTest {};

TEST_F(HelpTest, VersionIsOneLine) {
  const Outcome outcome = Run({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, testing::MatchesRegex("tessera [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(HelpTest, NamesEverySubcommandAndExitCode) {
  const Outcome outcome = Run({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* name : {"  plan ", "  tile ", "  alloc ", "  encode ", "  decode ", "  check ",
                           "  eval ", "  diff ", "  show ", "  modes ", "  explore ", "  serve "}) {
    EXPECT_THAT(outcome.out, HasSubstr(name));
  }
  for (const char* code :
       {"0 answer", "2 usage", "3 bad input", "4 unsupported", "5 check refused", "10 limit",
        "11 a part", "20 proven infeasible", "70 internal", "74 cannot write", "130 interrupted"}) {
    EXPECT_THAT(outcome.out, HasSubstr(code));
  }
}

TEST_F(HelpTest, VersionReportNamesTheSolvers) {
  const Outcome outcome = Run({"--version", "--verbose"});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* part : {"tessera ", "\nCaDiCaL ", "\nZ3 ", "\nnetwork formats ",
                           "\nyaml-cpp        0.", "\nSQLite          3.", " canonical "})
    EXPECT_THAT(outcome.out, HasSubstr(part));
}

// The lines of --help that begin an option: "  -h,--help  ...", "  --hw TEXT ...".
std::vector<std::string> LongOptionsIn(const std::string& help) {
  std::vector<std::string> options;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find("--");
    if (line.starts_with("  -") && begin != std::string::npos)
      options.push_back(line.substr(begin, line.find_first_of(" ,", begin) - begin));
  }
  return options;
}

TEST_F(HelpTest, ManualAndCompletionsNameEveryOption) {
  const std::string bash = Run({"--completion", "bash"}).out;
  const std::string zsh = Run({"--completion", "zsh"}).out;
  const std::string fish = Run({"--completion", "fish"}).out;
  const std::vector<std::string> options = LongOptionsIn(Run({"plan", "--help"}).out);
  EXPECT_GE(options.size(), 30u);
  std::string manual = Run({"--manual", "plan"}).out;
  std::erase(manual, '\\');
  for (const std::string& option : options) {
    EXPECT_THAT(bash, HasSubstr(option));
    EXPECT_THAT(zsh, HasSubstr(option));
    EXPECT_THAT(fish, HasSubstr("-l " + option.substr(2)));
    EXPECT_THAT(manual, HasSubstr("fB" + option + "fR"));
  }
}

TEST_F(HelpTest, ManualAndCompletionsNameOptionsOfParts) {
  std::string manual = Run({"--manual", "explore"}).out;
  std::erase(manual, '\\');
  EXPECT_THAT(manual, HasSubstr("SS explore check store"));
  EXPECT_THAT(manual, HasSubstr("fB--samplefR"));
  EXPECT_THAT(Run({"--completion", "zsh"}).out, HasSubstr("--sample["));
  EXPECT_THAT(Run({"--completion", "fish"}).out, HasSubstr("-l sample"));
}

TEST_F(HelpTest, BashCompletesCommandsOptionsAndChoices) {
  Write("complete.sh", Run({"--completion", "bash"}).out);
  const auto completions = [this](const std::string& words, const std::string& index) {
    Write("ask.sh", "source ./complete.sh; COMP_WORDS=(" + words + "); COMP_CWORD=" + index +
                        "; _tessera; echo \"${COMPREPLY[*]}\"");
    const std::string line = "cd '" + Folder().string() + "' && bash ask.sh > completed";
    EXPECT_EQ(std::system(line.c_str()), 0);  // NOLINT(cert-env33-c)
    return Read("completed");
  };
  EXPECT_EQ(completions("tessera al", "1"), "alloc\n");
  EXPECT_EQ(completions("tessera plan --max", "2"), "--max-operators\n");
  EXPECT_EQ(completions("tessera plan --order g", "3"), "given\n");
  EXPECT_EQ(completions("tessera plan net.yaml", "2"), "\n");
  EXPECT_EQ(completions("tessera explore ex", "2"), "export\n");
  EXPECT_EQ(completions("tessera explore export --can", "3"), "--canonical\n");
  EXPECT_EQ(completions("tessera explore --canonical", "2"), "\n");
}

TEST_F(HelpTest, ManualOfAnUnknownCommandIsRefused) {
  EXPECT_EQ(Run({"--manual", "dance"}).exit_code, 2);
}

class SubcommandHelpTest : public HelpTest, public testing::WithParamInterface<std::string> {};

TEST_P(SubcommandHelpTest, ShowsExamples) {
  const Outcome outcome = Run({GetParam(), "--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("Examples:\n  tessera " + GetParam() + " "));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_P(SubcommandHelpTest, RefusesAnUnknownOption) {
  const Outcome outcome = Run({GetParam(), "file", "--colour", "red"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("--help"));
}

INSTANTIATE_TEST_SUITE_P(Of, SubcommandHelpTest,
                         testing::Values("plan", "tile", "alloc", "encode", "decode", "check",
                                         "eval", "diff", "show", "modes", "convert", "generate",
                                         "stats", "explore", "serve", "profile"),
                         [](const auto& info) { return info.param; });

// The command refuses these lines before it reads any file: none of the files named here exists.
struct Nonsense {
  std::string name;
  Arguments arguments;
  std::string said;
};

void PrintTo(const Nonsense& nonsense, std::ostream* out) { *out << nonsense.name; }

class UsageTest : public HelpTest, public testing::WithParamInterface<Nonsense> {};

TEST_P(UsageTest, ExitsWith2AndSaysWhy) {
  const Outcome outcome = Run(GetParam().arguments);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    Of, UsageTest,
    testing::Values(
        Nonsense{"nothing", {}, "subcommand is required"},
        Nonsense{"unknown_subcommand", {"paln"}, "did you mean 'plan'?"},
        Nonsense{"alloc_without_file", {"alloc"}, "file is required"},
        Nonsense{"negative_capacity",
                 {"alloc", "a.csv", "--capacity", "-1"},
                 "--capacity: expected bytes from 0 to 4Ei, as 393216 or 384Ki, found -1"},
        Nonsense{"capacity_beyond_2_to_62",
                 {"alloc", "a.csv", "--capacity", "4611686018427387905"},
                 "--capacity: expected bytes from 0 to 4Ei, as 393216 or 384Ki, found "
                 "4611686018427387905"},
        Nonsense{"capacity_beyond_64_bits",
                 {"alloc", "a.csv", "--capacity", "99999999999999999999"},
                 "--capacity: "},
        Nonsense{
            "unit_that_is_none", {"alloc", "a.csv", "--capacity", "12 stones"}, "--capacity: "},
        Nonsense{"negative_seed", {"alloc", "a.csv", "--seed", "-1"}, "--seed: "},
        Nonsense{"negative_budget", {"alloc", "a.csv", "--budget", "-1"}, "--budget: "},
        Nonsense{
            "timeout_that_is_no_number", {"alloc", "a.csv", "--timeout", "nan"}, "--timeout: "},
        Nonsense{"negative_timeout", {"alloc", "a.csv", "--timeout", "-0.5"}, "--timeout: "},
        Nonsense{"unknown_engine", {"alloc", "a.csv", "--engine", "gurobi"}, "cadical"},
        Nonsense{"unknown_format", {"alloc", "a.csv", "--format", "xml"}, "--format: "},
        Nonsense{"allocation_of_unknown_suffix",
                 {"alloc", "a.csv", "--output", "map.png"},
                 "--output map.png: expected a name that ends in .csv, .json or .svg"},
        Nonsense{"plan_of_unknown_suffix",
                 {"plan", "n.yaml", "--hw", "h.yaml", "--output", "plan.png"},
                 "--output plan.png: expected a name that ends in .json, .svg, .html or .csv"},
        Nonsense{"edited_plan_of_unknown_suffix",
                 {"eval", "plan.json", "--output", "plan.yaml"},
                 "--output plan.yaml: expected a name that ends in .json, .svg, .html or .csv"},
        Nonsense{"diff_of_one", {"diff", "plan.json"}, "second is required"},
        Nonsense{"plan_without_profile", {"plan", "n.yaml"}, "--hw is required"},
        Nonsense{"two_objectives",
                 {"plan", "n.yaml", "--hw", "h.yaml", "--minimize", "peak", "--score", "peak=1"},
                 "--score"},
        Nonsense{"unknown_metric",
                 {"plan", "n.yaml", "--hw", "h.yaml", "--minimize", "latencey"},
                 "did you mean 'latency'?"},
        Nonsense{"weight_of_zero",
                 {"plan", "n.yaml", "--hw", "h.yaml", "--score", "latency=0"},
                 "latency=NUMBER, above 0"},
        Nonsense{"limit_given_twice",
                 {"plan", "n.yaml", "--hw", "h.yaml", "--limit", "peak=1,peak=2"},
                 "peak is given twice"},
        Nonsense{
            "tile_without_anything", {"tile"}, "expected a network with --hw, or --candidates"},
        Nonsense{"tile_of_network_and_ladder",
                 {"tile", "n.yaml", "--hw", "h.yaml", "--candidates", "l.json"},
                 "excludes"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tessera::cli
