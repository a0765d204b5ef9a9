// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <cstdlib>

#include "command_line.h"

// Compares docs/schemas with the files that the command writes, so that a schema cannot fall behind
// the program.
namespace tessera::cli {
namespace {

// Debian's python3 has Debian's packages, also where another python3 comes first in the path.
constexpr const char* kPython = "/usr/bin/python3";

constexpr const char* kJudge = R"(
import fastjsonschema, json, os, sys
folder = sys.argv[1]
load = lambda name: json.load(open(os.path.join(folder, os.path.basename(name))))
for path in sys.argv[2:]:
    document = json.load(open(path))
    schema = load(document["format"].removeprefix("tessera-") + ".schema.json")
    try:
        fastjsonschema.compile(schema, handlers={"": load})(document)
    except fastjsonschema.JsonSchemaException as fault:
        sys.exit(f"{path}: {fault.message}")
)";

class SchemaTest : public CommandLineTest {
 protected:
  void SetUp() override {
    const std::string probe = std::string(kPython) + " -c 'import fastjsonschema' 2> /dev/null";
    if (std::system(probe.c_str()) != 0)  // NOLINT(cert-env33-c): only our own words reach it
      GTEST_SKIP() << "python3-fastjsonschema is not installed";
    Write("judge.py", kJudge);
  }

  // Whether the files, named from the work folder, follow their schemas.
  bool Accepts(const std::string& files) const {
    const std::string command = "cd '" + Folder().string() + "' && " + kPython + " judge.py '" +
                                Shipped("docs/schemas") + "' " + files;
    return std::system(command.c_str()) == 0;  // NOLINT(cert-env33-c)
  }
};

TEST_F(SchemaTest, PlansKeepTheirs) {
  for (const char* profile :
       {"edge_npu_1mib", "three_bank_two_mode", "ethos_u55_256", "tpu_like"}) {
    const Outcome outcome = Run({"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                                 Shipped(std::string("hw_profiles/") + profile + ".yaml"),
                                 "--lowering", "--output", std::string(profile) + ".json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(Accepts(std::string(profile) + ".json")) << profile;
  }
}

// Every metric as a weight or a limit.
TEST_F(SchemaTest, APlanWithEveryMetricKeepsIts) {
  std::string limits;
  for (const std::string metric : {"latency", "energy", "off_chip_bytes", "peak", "macs",
                                   "bandwidth_average", "bandwidth_peak", "off_chip_peak"})
    limits += (limits.empty() ? "" : ",") + metric + "=1e12";
  const Outcome outcome =
      Run({"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
           Shipped("hw_profiles/edge_npu_1mib.yaml"), "--minimize", "power", "--limit", limits,
           "--off-chip", "tile-aware", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(ReadJson("plan.json").at("objective").at("limits").size(), 8U);
  EXPECT_TRUE(Accepts("plan.json"));
}

TEST_F(SchemaTest, APlanWithAnAreaKeepsIts) {
  Write("hw.yaml", "extends: " + Shipped("hw_profiles/edge_npu_1mib.yaml") +
                       "\nschema: 1\nname: sized\nmemories: {sram: {area_mm2: 1.25}}\n");
  const Outcome outcome = Run({"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                               "hw.yaml", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(Accepts("plan.json"));
}

TEST_F(SchemaTest, APlanUnderConstraintsKeepsIts) {
  Write("constraints.yaml",
        "schema: 1\n"
        "together: [[conv1, conv2]]\n"
        "apart: [conv3]\n"
        "subgraphs:\n"
        "  - {operators: [conv3], weights: resident, in_place: false, halo: recompute, addresses: "
        "{conv3@0: "
        "4Ki}}\n"
        "keep: [conv1]\n"
        "spill: [conv2]\n"
        "addresses: [{tensor: image, memory: dram, offset: 0x1000}]\n");
  const Outcome outcome = Run({"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                               Shipped("hw_profiles/edge_npu_1mib.yaml"), "--constraints",
                               "constraints.yaml", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(ReadJson("plan.json").at("constraints").size(), 7U);
  EXPECT_TRUE(Accepts("plan.json"));
}

// Pads around whole buffers.
TEST_F(SchemaTest, APlanWithStoredPadsKeepsIts) {
  Write("padded.yaml", "extends: " + Shipped("hw_profiles/mcu_320k.yaml") +
                           "\nname: padded\ntiling: {implicit_padding: false}\n");
  Write("net.yaml",
        "schema: 1\nname: n\ninputs: [{id: x, shape: [1, 4, 8, 8]}]\n"
        "operators:\n"
        "  - {id: a, kind: pool, inputs: [x], kernel: 3, pads: same}\n"
        "  - {id: b, kind: pool, inputs: [a], kernel: 3, pads: same}\n");
  const Outcome outcome =
      Run({"plan", "net.yaml", "--hw", "padded.yaml", "--lowering", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(Read("plan.json").find("\"padded_around\": true"), std::string::npos);
  EXPECT_TRUE(Accepts("plan.json"));
  EXPECT_EQ(Run({"check", "--execute", "plan.json"}).exit_code, 0);
}

// Slices along K, and kept rows.
TEST_F(SchemaTest, APlanOfSplitKSumsKeepsIts) {
  const Outcome outcome =
      Run({"plan", Shipped("examples/networks/transformer_encoder.yaml"), "--hw",
           Shipped("hw_profiles/edge_npu_64kib.yaml"), "--lowering", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string plan = Read("plan.json");
  for (const char* word : {"\"split_k\"", "\"accumulator\"", "\"addend\"", "\"k_extent\""})
    EXPECT_NE(plan.find(word), std::string::npos) << word;
  EXPECT_TRUE(Accepts("plan.json"));
}

TEST_F(SchemaTest, ProblemsAndAllocationsKeepTheirs) {
  for (const std::string name :
       {"patent_three_banks.json", "patent_five_banks.json", "minimalloc_example.csv"}) {
    const Outcome outcome =
        Run({"alloc", Shipped("examples/problems/" + name), "--format", "json"});
    Write("answer.json", outcome.out);
    EXPECT_TRUE(Accepts("answer.json")) << name;
    if (name.ends_with(".json")) {
      EXPECT_TRUE(Accepts(Shipped("examples/problems/" + name)));
    }
  }
  EXPECT_TRUE(Accepts(Shipped("examples/problems/halo_candidates.json")));
  PlanPatentChain("three_bank_two_mode", {"--dump-problems", "asked"});
  EXPECT_TRUE(Accepts("asked/*.json"));
}

TEST_F(SchemaTest, WhatTheReaderRefusesIsRefused) {
  Write("problem.json",
        R"({"format": "tessera-problem", "version": 1, "memories": [{"capacity": 8}],
                            "buffers": [{"id": "a", "size": 0, "lifespans": [[0, 1]]}]})");
  EXPECT_EQ(Run({"alloc", "problem.json"}).exit_code, 3);
  EXPECT_FALSE(Accepts("problem.json 2> /dev/null"));
  Write("answer.json", R"({"format": "tessera-allocation", "version": 1, "ofsets": {}})");
  EXPECT_FALSE(Accepts("answer.json 2> /dev/null"));
}

}  // namespace
}  // namespace tessera::cli
