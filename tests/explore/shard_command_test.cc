// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "command_line.h"

// `tessera explore --shard` and `tessera explore merge` end to end.
namespace tessera::cli {
namespace {

using testing::HasSubstr;

class ShardCommandTest : public CommandLineTest {
 protected:
  ShardCommandTest() {
    Write("space.yaml",
          "schema: 1\nnetworks: [" + Shipped("examples/networks/patent_chain.yaml") +
              "]\nprofile: " + Shipped("hw_profiles/edge_npu_64kib.yaml") +
              "\nvary:\n"
              "  memories.sram.capacity_bytes: {name: sram, values: [1Ki, 4Ki, 8Ki]}\n"
              "  memories.dram.port.bytes_per_cycle: [1, 4]\n"
              "minimize: [latency, energy, sram]\noptions: {max_operators: 2, budget: 500}\n");
    EXPECT_EQ(Run({"explore", "space.yaml", "--store", "whole.db"}).exit_code, 0);
    whole_ = Run({"explore", "export", "whole.db", "--canonical"}).out;
  }

  Outcome RunPiece(const std::string& piece, const std::string& store) const {
    return Run({"explore", "space.yaml", "--shard", piece, "--store", store});
  }

  // The exit code of the first piece where no file may be longer than so many blocks of 512 bytes,
  // as on a full disk. `output` receives what it prints.
  int RunWithFilesOf(int blocks, const std::string& output) const {
    const std::string command =
        "cd '" + Folder().string() + "' && ulimit -f " + std::to_string(blocks) + " && exec " +
        TESSERA_COMMAND + " explore space.yaml --shard 1/1 --store 1.db > " + output + " 2>&1";
    return WEXITSTATUS(std::system(("sh -c \"" + command + "\"").c_str()));
  }

  std::string Exported(const std::string& store) const {
    return Run({"explore", "export", store, "--canonical"}).out;
  }

  std::string whole_;
};

TEST_F(ShardCommandTest, MergedPiecesAreTheWhole) {
  EXPECT_THAT(RunPiece("1/2", "1.db").out, HasSubstr("piece 1/2: 3 pairs"));
  EXPECT_EQ(Run({"explore", "merge", "1.db", "--output", "all.db"}).exit_code, 11);
  EXPECT_EQ(RunPiece("2/2", "2.db").exit_code, 0);
  const Outcome merged = Run({"explore", "merge", "1.db", "2.db", "--output", "all.db"});
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_THAT(merged.out, HasSubstr("front of patent_chain"));
  EXPECT_EQ(Exported("all.db"), whole_);
}

TEST_F(ShardCommandTest, AKilledPieceGoesOn) {
  {
    Process process({"explore", "space.yaml", "--shard", "1/1", "--store", "1.db"}, Folder(),
                    Streams(), "");
    process.Signal(9);
  }
  EXPECT_EQ(RunPiece("1/1", "1.db").exit_code, 0);
  EXPECT_EQ(Run({"explore", "merge", "1.db", "--output", "all.db"}).exit_code, 0);
  EXPECT_EQ(Exported("all.db"), whole_);
}

TEST_F(ShardCommandTest, AFullDiskLosesNothing) {
  // 60 blocks hold the tables of a store and few answers.
  EXPECT_EQ(RunWithFilesOf(60, "full.txt"), 74);
  EXPECT_THAT(Read("full.txt"), HasSubstr("1.db: error:"));
  EXPECT_EQ(RunPiece("1/1", "1.db").exit_code, 0);
  EXPECT_EQ(Run({"explore", "merge", "1.db", "--output", "all.db"}).exit_code, 0);
  EXPECT_EQ(Exported("all.db"), whole_);
}

TEST_F(ShardCommandTest, AStoreThatCannotBeMadeLeavesNoFile) {
  EXPECT_EQ(RunWithFilesOf(0, "/dev/null"), 74);
  EXPECT_FALSE(std::filesystem::exists(Folder() / "1.db"));
}

TEST_F(ShardCommandTest, SaysWhatIsWrong) {
  EXPECT_EQ(RunPiece("3/2", "1.db").exit_code, 2);
  EXPECT_EQ(Run({"explore", "space.yaml", "--shard", "1/2"}).exit_code, 2);
  EXPECT_EQ(Run({"explore", "merge", "none.db", "--output", "all.db"}).exit_code, 3);
  EXPECT_EQ(Run({"explore", "merge", "whole.db", "--output", "no/all.db"}).exit_code, 74);
  EXPECT_EQ(Run({"explore", "merge", "whole.db"}).exit_code, 2);
  for (const Arguments& more : {Arguments{"--output", "a.json"}, Arguments{"--format", "json"}}) {
    Arguments arguments = {"explore", "space.yaml", "--shard", "1/2", "--store", "1.db"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("`tessera explore merge`"));
  }
}

// An array of one job is not one piece: the number of pieces is an argument.
TEST_F(ShardCommandTest, AJobOfAnArrayMakesItsPieceAgain) {
  const std::string script = "cd '" + Folder().string() +
                             "' && unset SLURM_ARRAY_TASK_MAX && TESSERA='" + TESSERA_COMMAND +
                             "' SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_ID=2 sh " +
                             Shipped("examples/cluster/slurm.sh") + " space.yaml ";
  EXPECT_EQ(std::system((script + "3 > piece.txt").c_str()), 0);
  EXPECT_THAT(Read("piece.txt"), HasSubstr("piece 2/3: "));
  EXPECT_NE(std::system((script + "2> none.txt").c_str()), 0);
  EXPECT_THAT(Read("none.txt"), HasSubstr("slurm.sh SPEC N"));
}

}  // namespace
}  // namespace tessera::cli
