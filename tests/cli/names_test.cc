// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <filesystem>

#include "command_line.h"
#include "tessera/base/text.h"

// Names from files in all output of the command. No terminal may obey them, no reader of a format
// may fail on them, and a line break in a name may not forge a line.
namespace tessera::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A colour, a title, a line that looks like an answer, CSI in one character, DEL, right-to-left,
// characters that XML forbids, and characters of markup and quoting. The string is JSON, which YAML
// reads in the same way.
constexpr const char* kHostile =
    R"(\u001b[31mred\u001b]0;title\u0007\r\noptimal, checked\n\u009b2J\u007f\u202e\uffff</text><script>&\"',|)";

// The name after a word that distinguishes names.
std::string Hostile(const std::string& word) { return '"' + word + kHostile + '"'; }

// Characters that control a terminal. Line breaks and tabs of the text itself stay.
std::string Steering(const std::string& text) {
  return base::Printable(text, "\n\t") == text ? "" : base::Printable(text, "\n\t");
}

class NamesTest : public CommandLineTest {
 protected:
  NamesTest() {
    Write("net.json", R"({"schema": 1, "name": )" + Hostile("net") + R"(, "inputs": [{"id": )" +
                          Hostile("x") + R"(, "shape": [1, 4, 8, 8]}], "operators": [{"id": )" +
                          Hostile("y") + R"(, "kind": "pool", "inputs": [)" + Hostile("x") +
                          R"(], "kernel": 2, "stride": 2}, {"id": )" + Hostile("z") +
                          R"(, "kind": "pool", "inputs": [)" + Hostile("y") +
                          R"(], "kernel": 2, "stride": 2}], "outputs": [)" + Hostile("z") + "]}");
    Write("buffers.json", R"({"format": "tessera-problem", "version": 1, "memories": [{"name": )" +
                              Hostile("sram") + R"(, "capacity": 64, "banks": [{"name": )" +
                              Hostile("low") + R"(, "range": [0, 32]}, {"name": )" +
                              Hostile("high") + R"(, "range": [32, 64]}]}], "buffers": [{"id": )" +
                              Hostile("a") + R"(, "role": )" + Hostile("role") +
                              R"(, "lifespans": [[0, 2]], "size": 24}, {"id": )" + Hostile("b") +
                              R"(, "lifespans": [[1, 3]], "size": 24}]})");
  }

  // Checks all output of a run for control characters and for a forged line.
  Outcome RunTame(const Arguments& arguments, int exit_code) const {
    Outcome outcome = Run(arguments);
    std::string words;
    for (const std::string& argument : arguments) words += argument + ' ';
    EXPECT_EQ(outcome.exit_code, exit_code) << words << outcome.err;
    ExpectTame(outcome.out, words + "(stdout)");
    ExpectTame(outcome.err, words + "(stderr)");
    return outcome;
  }

  static void ExpectTame(const std::string& text, const std::string& where) {
    EXPECT_THAT(Steering(text), IsEmpty()) << where;
    EXPECT_TRUE(base::IsUtf8(text)) << where;
    EXPECT_THAT('\n' + text, Not(HasSubstr("\noptimal, checked\n"))) << where;
    EXPECT_THAT('\n' + text, Not(HasSubstr("\noptimal, checked\\n"))) << where;
  }

  void ExpectFileTame(const std::string& name) const { ExpectTame(Read(name), name); }
};

TEST_F(NamesTest, OfANetworkInEverythingThatPlanWrites) {
  const std::string profile = Shipped("hw_profiles/mcu_320k.yaml");
  const Arguments outputs = {
      "--output",        "plan.json", "--output",   "plan.svg",        "--report",
      "plan.html",       "--trace",   "t.json",     "--emit-header",   "plan.h",
      "--dump-problems", "asked",     "--lowering", "--max-operators", "1"};
  Arguments plan = {"plan", "net.json", "--hw", profile};
  plan.insert(plan.end(), outputs.begin(), outputs.end());
  const Outcome text = RunTame(plan, 0);
  EXPECT_THAT(text.out, HasSubstr("net\\u001b[31mred"));
  for (const char* file : {"plan.json", "plan.svg", "plan.html", "t.json", "plan.h"})
    ExpectFileTame(file);
  for (const auto& entry : std::filesystem::directory_iterator(Folder() / "asked"))
    ExpectFileTame("asked/" + entry.path().filename().string());

  // JSON holds the names unchanged.
  const auto network = ReadJson("net.json");
  EXPECT_EQ(ReadJson("plan.json").at("network").at("name"), network.at("name"));
  EXPECT_EQ(ReadJson("t.json").at("otherData").at("network"), network.at("name"));
  EXPECT_THAT(Read("plan.svg"), Not(HasSubstr("<script>")));
  EXPECT_THAT(Read("plan.html"), Not(HasSubstr("red</text>")));

  RunTame({"plan", "net.json", "--hw", profile, "--pareto"}, 0);
  RunTame(
      {"plan", "net.json", "--hw", profile, "--sensitivity", "--minimize", "energy", "--verbose"},
      0);
  RunTame({"plan", "net.json", "--hw", profile, "--limit", "peak=1"}, 20);
  RunTame({"plan", "net.json", "--hw", profile, "--limit", "peak=1", "--format", "json"}, 20);
  RunTame({"plan", "net.json", "--hw", profile, "--limit", "peak=200", "--certificate", "proof"},
          20);
  ExpectFileTame("proof/refutation.json");
  RunTame({"check", "--certificate", "proof"}, 0);
  RunTame({"plan", "net.json", "--hw", profile, "--apart", "nothing"}, 3);
  RunTame({"tile", "net.json", "--hw", profile, "--all"}, 0);
  RunTame({"tile", "net.json", "--hw", profile, "--ops", "nothing"}, 3);
  RunTame({"tile", "net.json", "--hw", profile, "--format", "json"}, 0);
  RunTame({"check", "plan.json"}, 0);
  RunTame({"show", "plan.json"}, 0);
  RunTame({"show", "plan.json", "--format", "text"}, 0);
  RunTame({"eval", "plan.json"}, 0);
  RunTame({"encode", "net.json", "--hw", profile, "--format", "dimacs", "--problem", "tile.json"},
          0);
  ExpectFileTame("tile.json");

  auto broken = ReadJson("plan.json");
  broken["buffers"][0]["offset"] = broken["buffers"][0]["offset"].get<int64_t>() + 1;
  Write("broken.json", broken.dump());
  RunTame({"check", "broken.json"}, 5);
  RunTame({"check", "broken.json", "--format", "json"}, 5);
  RunTame({"diff", "plan.json", "broken.json"}, 0);
  RunTame({"diff", "plan.json", "broken.json", "--format", "json"}, 0);
}

TEST_F(NamesTest, OfAProblemInEverythingThatAllocAndEncodeWrite) {
  const Outcome text = RunTame({"alloc", "buffers.json", "--output", "a.json", "--output", "a.svg",
                                "--certificate", "proof"},
                               0);
  for (const char* file : {"a.json", "a.svg", "proof/problem.json", "proof/manifest.json"})
    ExpectFileTame(file);
  EXPECT_EQ(Run({"check", "a.json", "--problem", "buffers.json"}).exit_code, 0);
  RunTame({"show", "a.json", "--problem", "buffers.json", "--format", "text"}, 0);
  EXPECT_THAT(RunTame({"stats", "buffers.json"}, 0).out, HasSubstr("sram\\u001b[31mred"));
  RunTame({"alloc", "buffers.json", "--capacity", "47", "--output", "no.svg"}, 20);
  RunTame({"alloc", "buffers.json", "--capacity", "47", "--format", "json"}, 20);
  ExpectFileTame("no.svg");
  for (const char* format : {"dimacs", "smtlib", "text"}) {
    RunTame({"encode", "buffers.json", "--format", format}, 0);
    RunTame({"encode", "buffers.json", "--format", format, "--output", "formula"}, 0);
    ExpectFileTame("formula");
    EXPECT_THAT('\n' + Read("formula"), Not(HasSubstr("\noptimal"))) << format;
  }
}

TEST_F(NamesTest, InCsv) {
  Write(
      "odd.json",
      R"({"format": "tessera-problem", "version": 1, "memories": [{"capacity": 64}], "buffers": [{"id": "a,\"q\"", "lifespans": [[0, 2]], "size": 8},
        {"id": )" +
          Hostile("b") + R"(, "lifespans": [[1, 3]], "size": 8}]})");
  RunTame({"alloc", "odd.json", "--output", "odd.csv"}, 0);
  ExpectFileTame("odd.csv");
  EXPECT_THAT(Read("odd.csv"), HasSubstr("\n\"a,\"\"q\"\"\",0,2,8,"));
  EXPECT_THAT(Read("odd.csv"), HasSubstr("\n\"b\\u001b[31mred"));
  EXPECT_EQ(Run({"check", "odd.csv", "--capacity", "64"}).exit_code, 0);
}

// Latin-1, and two ids that differ only in such bytes.
TEST_F(NamesTest, ThatAreNoUtf8) {
  Write("latin.csv", "id,lower,upper,size\nn\xe4me,0,2,8\nn\xeame,1,3,8\n\x1b[31m,1,3,8\n");
  RunTame({"alloc", "latin.csv", "--output", "a.json", "--output", "a.csv", "--output", "a.svg",
           "--format", "json"},
          0);
  for (const char* file : {"a.json", "a.csv", "a.svg"}) ExpectFileTame(file);
  EXPECT_TRUE(ReadJson("a.json").at("offsets").contains("n\\xe4me")) << Read("a.json");
  EXPECT_EQ(Run({"check", "a.json", "--problem", "latin.csv"}).exit_code, 0);
  EXPECT_EQ(Run({"check", "a.csv", "--capacity", "24"}).exit_code, 0);
  RunTame({"alloc", "latin.csv", "--capacity", "23"}, 20);

  Write("latin.yaml",
        "schema: 1\nname: \"n\xe4\"\ninputs: [{id: \"x\xe4\", shape: [1, 4, 8, 8]}, {id: "
        "\"x\xea\", shape: "
        "[1, 4, 8, 8]}]\n"
        "operators: [{id: \"y\xff\", kind: elementwise, function: add, inputs: [\"x\xe4\", "
        "\"x\xea\"]}]\n");
  RunTame({"plan", "latin.yaml", "--hw", Shipped("hw_profiles/mcu_320k.yaml"), "--output",
           "plan.json", "--output", "plan.svg"},
          0);
  for (const char* file : {"plan.json", "plan.svg"}) ExpectFileTame(file);
  EXPECT_EQ(ReadJson("plan.json").at("network").at("inputs").at(1).at("id"), "x\\xea");
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
}

TEST_F(NamesTest, InMessagesAboutFilesAndOptions) {
  RunTame({"plan", "\x1b[31m\xff.yaml", "--hw", "x"}, 3);
  RunTame({"alloc", "a.csv", "--output", "\x1b]0;x\x07.png"}, 2);
  RunTame({"\x1b[31m"}, 2);
  RunTame({"alloc", "a.csv", "--capacity", "\x1b[31m\xff"}, 2);
  Write("bad.csv", "id,lower,upper,size\n\x1b[31m\xff,0,\x1b[31m,1\n");
  RunTame({"alloc", "bad.csv"}, 3);
  Write("bad.yaml", "schema: 1\n\"\\e[31m\\n\": 1\n");
  RunTame({"plan", "bad.yaml", "--hw", Shipped("hw_profiles/mcu_320k.yaml")}, 3);
  Write("bad.json", "{\"schema\": 1, \"\\u001b[31m\\u009b\": 1}");
  RunTame({"alloc", "bad.json"}, 3);
}

}  // namespace
}  // namespace tessera::cli
