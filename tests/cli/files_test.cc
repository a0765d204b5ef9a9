// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "command_line.h"

// Output files: faults that are found before the work, the fate of each file when another one
// fails, and pipes, links, full disks and folders without permission.
namespace tessera::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class FilesTest : public CommandLineTest {
 protected:
  FilesTest() {
    Write("net.yaml",
          "schema: 1\nname: small\ninputs: [{id: x, shape: [1, 4, 8, 8]}]\n"
          "operators: [{id: y, kind: pool, inputs: [x], kernel: 2, stride: 2}]\noutputs: [y]\n");
    Write("two.csv", "id,lower,upper,size\na,0,2,8\nb,1,3,8\n");
  }

  static Arguments Plan(const Arguments& more) {
    Arguments arguments = {"plan", "net.yaml", "--hw", Shipped("hw_profiles/mcu_320k.yaml")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Outcome RunPlan(const Arguments& more) const { return Run(Plan(more)); }

  // The exit code of a shell that runs the text in the folder. $T is the command, $P the command
  // with a plan to make.
  int Shell(const std::string& text) const {
    Write("shell.sh", "T='" TESSERA_COMMAND "'\nP=\"$T plan net.yaml --hw " +
                          Shipped("hw_profiles/mcu_320k.yaml") + "\"\n" + text + '\n');
    const std::string command = "cd '" + Folder().string() + "' && bash shell.sh";
    const int status =
        std::system(command.c_str());  // NOLINT(cert-env33-c): the test is about a shell
    std::filesystem::remove(Folder() / "shell.sh");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  mode_t ModeOf(const std::string& name) const {
    struct stat found {};
    EXPECT_EQ(stat((Folder() / name).c_str(), &found), 0) << name;
    return found.st_mode & 07777;
  }

  // Expects that no file with a temporary name is left.
  void ExpectNoDrafts() const {
    for (const std::string& name : Files()) EXPECT_THAT(name, Not(HasSubstr("tessera"))) << name;
  }
};

TEST_F(FilesTest, AnOutputMustNotBeAnInput) {
  std::filesystem::create_hard_link(Folder() / "net.yaml", Folder() / "hard.json");
  std::filesystem::create_symlink("net.yaml", Folder() / "soft.json");
  const std::string network = Read("net.yaml");
  for (const char* name : {"hard.json", "soft.json", "./hard.json"}) {
    const Outcome outcome = RunPlan({"--output", name});
    EXPECT_EQ(outcome.exit_code, 2) << name;
    EXPECT_EQ(outcome.err, std::string("--output ") + name + ": this is the input net.yaml\n");
    EXPECT_THAT(outcome.out, IsEmpty());
  }
  EXPECT_EQ(RunPlan({"--trace", "net.yaml"}).exit_code, 2);
  EXPECT_EQ(Run({"alloc", "two.csv", "--output", "two.csv"}).exit_code, 2);
  EXPECT_EQ(Read("net.yaml"), network);
}

TEST_F(FilesTest, AnOutputMustNotBeWhatTheProfileExtends) {
  std::filesystem::copy_file(Shipped("hw_profiles/mcu_320k.yaml"), Folder() / "base.json");
  Write("own.yaml", "schema: 1\nextends: base.json\nname: own\n");
  const Outcome outcome = Run({"plan", "net.yaml", "--hw", "own.yaml", "--output", "base.json"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--output base.json: this is the input --hw "));
}

TEST_F(FilesTest, TwoOutputsMustNotBeOneFile) {
  EXPECT_EQ(RunPlan({"--output", "a.json", "--output", "./a.json"}).exit_code, 2);
  const Outcome outcome = RunPlan({"--output", "a.html", "--report", "a.html"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err, "--report a.html: this is the same file as --output a.html\n");
  std::filesystem::create_symlink("a.json", Folder() / "b.json");
  EXPECT_EQ(RunPlan({"--output", "a.json", "--output", "b.json"}).exit_code, 2);
  EXPECT_EQ(Shell("$P --output a.json > a.json 2> /dev/null"), 2);
  EXPECT_EQ(RunPlan({"--report", "/dev/null", "--trace", "/dev/null"}).exit_code, 0);
}

TEST_F(FilesTest, AFolderThatIsWrittenHoldsNoInput) {
  ASSERT_EQ(Run({"alloc", "two.csv", "--certificate", "proof"}).exit_code, 0);
  const Outcome outcome = Run({"alloc", "proof/problem.json", "--certificate", "proof"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err, "--certificate proof: the input proof/problem.json lies in this folder\n");
  EXPECT_EQ(Run({"alloc", "two.csv", "--certificate", "proof", "--output", "proof/problem.json"})
                .exit_code,
            2);
  EXPECT_EQ(Run({"alloc", "two.csv", "--certificate", "two.csv"}).exit_code, 74);
}

TEST_F(FilesTest, AFolderThatIsWrittenHoldsNoFileThatIsLinked) {
  ASSERT_EQ(Run({"alloc", "two.csv", "--certificate", "proof"}).exit_code, 0);
  const std::string problem = Read("proof/problem.json");
  std::filesystem::create_symlink("proof/problem.json", Folder() / "soft.json");
  std::filesystem::create_hard_link(Folder() / "proof/problem.json", Folder() / "hard.json");
  for (const std::string name : {"soft.json", "hard.json"}) {
    const Outcome written = Run({"alloc", "two.csv", "--certificate", "proof", "--output", name});
    EXPECT_EQ(written.exit_code, 2);
    EXPECT_EQ(written.err, "--output " + name + ": --certificate proof writes this file\n");
    const Outcome read = Run({"alloc", name, "--certificate", "proof"});
    EXPECT_EQ(read.exit_code, 2);
    EXPECT_EQ(read.err,
              "--certificate proof: the input " + name + " is a link to a file of this folder\n");
  }
  EXPECT_EQ(Read("proof/problem.json"), problem);
}

// The search would take long. The command must report the fault of an output before it.
TEST_F(FilesTest, OutputsAreCheckedBeforeTheInputsAreRead) {
  const Outcome outcome = Run({"alloc", "nothing.csv", "--output", "missing/answer.json"});
  EXPECT_EQ(outcome.exit_code, 74);
  EXPECT_THAT(outcome.err,
              HasSubstr("missing/answer.json: error: cannot write: No such file or directory"));
  EXPECT_EQ(RunPlan({"--certificate", "net.yaml/proof"}).exit_code, 74);
  EXPECT_EQ(RunPlan({"--dump-problems", "net.yaml"}).exit_code, 74);
}

// Root may write everywhere, so the test runs the command as another user.
TEST_F(FilesTest, AFolderWithoutPermissionIs74) {
  const std::string user = geteuid() == 0 ? "setpriv --reuid=65534 --clear-groups " : "";
  std::filesystem::permissions(Streams(), std::filesystem::perms(0755));
  std::filesystem::create_directory(Folder() / "locked");
  Write("locked/old.json", "old");
  std::filesystem::permissions(Folder() / "locked", std::filesystem::perms(0555));
  std::filesystem::create_directory(Folder() / "open");
  Write("open/old.json", "old");
  std::filesystem::permissions(Folder() / "open" / "old.json", std::filesystem::perms(0444));
  std::filesystem::permissions(Folder() / "open", std::filesystem::perms(0777));
  ASSERT_EQ(Shell(user + "true"), 0) << "cannot become another user";
  EXPECT_EQ(Shell(user + "$T alloc two.csv --output open/new.json > /dev/null"), 0);
  EXPECT_EQ(Shell(user + "$T alloc two.csv --output locked/new.json > /dev/null 2>&1"), 74);
  EXPECT_EQ(Shell(user + "$T alloc two.csv --output locked/old.json > /dev/null 2>&1"), 74);
  EXPECT_EQ(Shell(user + "$T alloc two.csv --output open/old.json > /dev/null 2>&1"), 74);
  EXPECT_EQ(Shell(user + "$T alloc two.csv --certificate locked/proof > /dev/null 2>&1"), 74);
  EXPECT_EQ(Read("locked/old.json") + Read("open/old.json"), "oldold");
  std::filesystem::permissions(Folder() / "locked", std::filesystem::perms(0755));
}

TEST_F(FilesTest, OneFailingOutputLosesNoOther) {
  std::filesystem::create_symlink("/dev/full", Folder() / "full.svg");
  const Outcome outcome =
      RunPlan({"--output", "full.svg", "--output", "plan.json", "--report", "r.html"});
  EXPECT_EQ(outcome.exit_code, 74);
  EXPECT_THAT(outcome.err, HasSubstr("full.svg: error: cannot write: No space left on device\n"));
  EXPECT_THAT(outcome.out, HasSubstr("small on mcu_320k"));
  EXPECT_THAT(Files(), ElementsAre("full.svg", "net.yaml", "plan.json", "r.html", "two.csv"));
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);

  std::filesystem::create_symlink("/dev/full", Folder() / "full.json");
  const Outcome alloc = Run({"alloc", "two.csv", "--output", "full.json", "--output", "a.csv"});
  EXPECT_EQ(alloc.exit_code, 74);
  EXPECT_THAT(alloc.out, HasSubstr("optimal"));
  EXPECT_THAT(Files(), Contains("a.csv"));
}

// A limit on file sizes acts like a full disk: writing fails in the middle.
TEST_F(FilesTest, AFileThatDoesNotFitLeavesTheOldOne) {
  Write("plan.html", "old");
  EXPECT_EQ(Shell("ulimit -f 8; $P --output plan.html --output plan.svg > out.txt 2> err.txt"), 74);
  EXPECT_EQ(Read("plan.html"), "old");
  EXPECT_THAT(Read("err.txt"), HasSubstr("plan.html: error: cannot write: File too large"));
  EXPECT_THAT(Read("err.txt"),
              HasSubstr("the file at plan.html is from an earlier run and was left as it was\n"));
  EXPECT_THAT(Read("plan.svg"), EndsWith("</svg>\n"));
  EXPECT_THAT(Read("out.txt"), HasSubstr("small on mcu_320k"));
  ExpectNoDrafts();
}

TEST_F(FilesTest, ADumpThatFailsLosesNoPlan) {
  ASSERT_EQ(RunPlan({"--dump-problems", "asked"}).exit_code, 0);
  const std::filesystem::path first = *std::filesystem::directory_iterator(Folder() / "asked");
  std::filesystem::remove(first);
  std::filesystem::create_directory(first);
  const Outcome outcome = RunPlan({"--dump-problems", "asked", "--output", "plan.json"});
  EXPECT_EQ(outcome.exit_code, 74);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write: this is a folder"));
  EXPECT_THAT(outcome.out, HasSubstr("small on mcu_320k"));
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
}

TEST_F(FilesTest, FoldersThatAreMadeForNothingAreRemoved) {
  std::filesystem::create_directory(Folder() / "old");
  for (const std::string folder : {"new/asked", "old", "old/asked"})
    EXPECT_EQ(Shell("ulimit -f 0; $P --dump-problems " + folder + " > /dev/null 2> /dev/null"), 74);
  EXPECT_FALSE(std::filesystem::exists(Folder() / "new"));
  EXPECT_TRUE(std::filesystem::is_empty(Folder() / "old"));
}

TEST_F(FilesTest, AReplacedFileKeepsItsModeAndANewOneFollowsTheUmask) {
  Write("old.json", "old");
  std::filesystem::permissions(Folder() / "old.json", std::filesystem::perms(0640));
  EXPECT_EQ(Shell("umask 027; $P --output old.json --output new.json > /dev/null"), 0);
  EXPECT_EQ(ModeOf("old.json"), 0640U);
  EXPECT_EQ(ModeOf("new.json"), 0640U);
  std::filesystem::permissions(Folder() / "old.json", std::filesystem::perms(0604));
  EXPECT_EQ(Shell("umask 077; $P --output old.json > /dev/null; $P --report new.html > /dev/null"),
            0);
  EXPECT_EQ(ModeOf("old.json"), 0604U);
  EXPECT_EQ(ModeOf("new.html"), 0600U);
  ExpectNoDrafts();
}

// A process that reads the old file keeps it: the new file takes the name, not the inode.
TEST_F(FilesTest, FilesAreReplacedInOneStep) {
  Write("plan.json", "old");
  EXPECT_EQ(
      Shell("exec 5< plan.json; $P --output plan.json > /dev/null; test \"$(cat <&5)\" = old"), 0);
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
}

TEST_F(FilesTest, ALinkStaysAndItsTargetIsReplacedInItsOwnFolder) {
  std::filesystem::create_directory(Folder() / "there");
  Write("there/old.json", "old");
  std::filesystem::permissions(Folder() / "there" / "old.json", std::filesystem::perms(0600));
  std::filesystem::create_symlink("there/old.json", Folder() / "first.json");
  std::filesystem::create_symlink("first.json", Folder() / "second.json");
  std::filesystem::create_symlink("there/new.json", Folder() / "dangling.json");
  EXPECT_EQ(
      Shell("exec 5< there/old.json; $P --output second.json --output dangling.json > /dev/null; "
            "test \"$(cat <&5)\" = old"),
      0);
  for (const char* link : {"first.json", "second.json", "dangling.json"})
    EXPECT_TRUE(std::filesystem::is_symlink(Folder() / link)) << link;
  EXPECT_EQ(ModeOf("there/old.json"), 0600U);
  EXPECT_EQ(Run({"check", "there/old.json"}).exit_code, 0);
  EXPECT_EQ(Run({"check", "there/new.json"}).exit_code, 0);

  std::filesystem::create_symlink("round.json", Folder() / "round.json");
  EXPECT_EQ(RunPlan({"--output", "round.json"}).exit_code, 74);
  std::filesystem::create_symlink("missing/x.json", Folder() / "nowhere.json");
  EXPECT_EQ(RunPlan({"--output", "nowhere.json"}).exit_code, 74);
}

TEST_F(FilesTest, AnOlderFileIsNamedWhereTheCallHasNoAnswer) {
  Write("old.json", "old");
  const std::string left = "the file at old.json is from an earlier run and was left as it was\n";
  const Outcome infeasible =
      RunPlan({"--limit", "peak=1", "--output", "old.json", "--output", "new.json"});
  EXPECT_EQ(infeasible.exit_code, 20);
  EXPECT_THAT(infeasible.err, EndsWith(left));
  EXPECT_THAT(infeasible.err, Not(HasSubstr("new.json")));
  const Outcome limit = Run({"alloc", "two.csv", "--timeout", "0", "--output", "old.json"});
  EXPECT_EQ(limit.exit_code, 10);
  EXPECT_THAT(limit.err, EndsWith(left));
  const Outcome bad = Run({"alloc", "missing.csv", "--output", "old.json"});
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_THAT(bad.err, EndsWith(left));
  const Outcome usage = Run({"alloc", "two.csv", "--capacty", "9", "--output=old.json"});
  EXPECT_EQ(usage.exit_code, 2);
  EXPECT_THAT(usage.err, EndsWith(left));
  EXPECT_EQ(Read("old.json"), "old");
  const Outcome answer = RunPlan({"--output", "old.json"});
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.err, Not(HasSubstr("earlier")));
}

TEST_F(FilesTest, AnOlderCertificateIsNamed) {
  ASSERT_EQ(Run({"alloc", "two.csv", "--certificate", "proof"}).exit_code, 0);
  const Outcome outcome = Run({"alloc", "two.csv", "--timeout", "0", "--certificate", "proof"});
  EXPECT_EQ(outcome.exit_code, 10);
  EXPECT_THAT(outcome.err,
              EndsWith("the files in proof are from an earlier run and were left as they were\n"));
}

TEST_F(FilesTest, AFullStandardOutputIsNamedAndLosesNoFile) {
  EXPECT_EQ(Shell("$P --output plan.json > /dev/full 2> err.txt"), 74);
  EXPECT_EQ(Read("err.txt"), "standard output: error: cannot write: No space left on device\n");
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
  EXPECT_EQ(Shell("$T --help > /dev/full 2> err.txt"), 74);
  EXPECT_EQ(Read("err.txt"), "standard output: error: cannot write: No space left on device\n");
}

// 141 is the exit code of a shell for a process that SIGPIPE ended. The reader ends before the
// command starts.
TEST_F(FilesTest, APipeThatClosesEarlyEndsQuietly) {
  EXPECT_EQ(Shell("exec 6> >(exit); wait $!; $P --format json --output plan.json >&6 2> err.txt"),
            141);
  EXPECT_THAT(Read("err.txt"), IsEmpty());
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
}

TEST_F(FilesTest, AStreamThatIsClosedTakesNoFilesPlace) {
  EXPECT_EQ(Shell("$P --output plan.json >&- 2> err.txt"), 74);
  EXPECT_EQ(Read("err.txt"), "standard output: error: cannot write: Bad file descriptor\n");
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
  EXPECT_EQ(Shell("$P --output again.json >&- 2>&- <&-"), 74);
  EXPECT_EQ(Read("again.json"), Read("plan.json"));
}

TEST_F(FilesTest, StreamsAreWrittenToAndNotReplaced) {
  EXPECT_EQ(Shell("$P --output plan.json --trace /dev/stdout --report /dev/null > out.txt"), 0);
  EXPECT_THAT(Read("out.txt"), testing::StartsWith("{\"displayTimeUnit\""));
  EXPECT_THAT(Read("out.txt"), HasSubstr("small on mcu_320k"));
  EXPECT_EQ(Shell("$P --trace /dev/fd/7 7> seven.txt > /dev/null"), 0);
  EXPECT_THAT(Read("seven.txt"), EndsWith("]}\n"));
  EXPECT_EQ(
      Shell(
          "mkfifo pipe.json; cat pipe.json > got.json & $P --output pipe.json > /dev/null && wait"),
      0);
  EXPECT_EQ(Read("got.json"), Read("plan.json"));
  EXPECT_TRUE(std::filesystem::is_fifo(Folder() / "pipe.json"));
}

TEST_F(FilesTest, StreamsWithoutASuffixTakeJson) {
  EXPECT_EQ(Shell("$P --output plan.json --output /dev/fd/7 7> seven.txt > /dev/null"), 0);
  EXPECT_EQ(Read("seven.txt"), Read("plan.json"));
  EXPECT_EQ(Shell("mkfifo pipe; cat pipe > got.json & $P --output pipe > /dev/null && wait"), 0);
  EXPECT_EQ(Read("got.json"), Read("plan.json"));
  EXPECT_EQ(Shell("$P --output plan > /dev/null 2> err.txt"), 2);
  EXPECT_THAT(Read("err.txt"), HasSubstr("--output plan: expected a name that ends in .json"));
}

TEST_F(FilesTest, APipeWithoutAReaderIsGivenUp) {
  EXPECT_EQ(Shell("mkfifo pipe.json; $P --output pipe.json > out.txt 2> err.txt"), 74);
  EXPECT_THAT(Read("err.txt"),
              HasSubstr("pipe.json: error: cannot write: no process reads this pipe\n"));
  EXPECT_THAT(Read("out.txt"), HasSubstr("small on mcu_320k"));
}

TEST_F(FilesTest, APipeThatBreaksLosesNoOther) {
  EXPECT_EQ(Shell("exec 6> >(exit); wait $!; "
                  "$P --report /dev/fd/6 --output plan.json > out.txt 2> err.txt"),
            74);
  EXPECT_THAT(Read("err.txt"), HasSubstr("/dev/fd/6: error: cannot write: Broken pipe\n"));
  EXPECT_THAT(Read("out.txt"), HasSubstr("small on mcu_320k"));
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
}

TEST_F(FilesTest, ASuffixThatNamesNoFormatIsRefused) {
  ASSERT_EQ(RunPlan({"--output", "plan.json"}).exit_code, 0);
  const std::vector<std::string> before = Files();
  const Outcome show = Run({"show", "plan.json", "--output", "x.png"});
  EXPECT_EQ(show.exit_code, 2);
  EXPECT_EQ(show.err,
            "--output x.png: expected a name that ends in .svg, or in .txt for letters\n");
  EXPECT_EQ(Run({"show", "plan.json", "--format", "text", "--output", "x.svg"}).exit_code, 2);
  EXPECT_EQ(Run({"encode", "two.csv", "--capacity", "16", "--output", "x.png"}).exit_code, 2);
  EXPECT_EQ(
      Run({"encode", "two.csv", "--capacity", "16", "--format", "smtlib", "--output", "x.cnf"})
          .exit_code,
      2);
  EXPECT_EQ(Run({"alloc", "two.csv", "--output", "x.png"}).exit_code, 2);
  EXPECT_EQ(RunPlan({"--output", "x.png"}).exit_code, 2);
  EXPECT_EQ(Run({"eval", "plan.json", "--output", "x.png"}).exit_code, 2);
  const std::string banks = Shipped("examples/problems/patent_five_banks.json");
  EXPECT_EQ(Run({"modes", banks, "--output", "x.png"}).exit_code, 2);
  EXPECT_EQ(Run({"modes", banks, "--output", "x.yaml"}).exit_code, 2);
  EXPECT_EQ(Files(), before);
  EXPECT_EQ(Run({"show", "plan.json", "--output", "x.txt"}).exit_code, 0);
  EXPECT_EQ(Read("x.txt"), Run({"show", "plan.json", "--format", "text"}).out);
}

}  // namespace
}  // namespace tessera::cli
