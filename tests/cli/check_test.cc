// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <functional>

#include "command_line.h"

// `tessera check` trusts no producer: it refuses a plan with one wrong entry, and the message names
// that entry.
namespace tessera::cli {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class CheckTest : public CommandLineTest {
 protected:
  // The patent's chain as one subgraph of one tile; weights come in slices. The plan is proven
  // best.
  CheckTest() {
    const Outcome outcome =
        PlanPatentChain("edge_npu_1mib", {"--transfers", "per-subgraph", "--output", "plan.json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
};

ordered_json& BufferOf(ordered_json& plan, const std::string& id) {
  for (ordered_json& buffer : plan["subgraphs"][0]["buffers"]) {
    if (buffer["id"] == id) return buffer;
  }
  ADD_FAILURE() << "no buffer " << id;
  return plan;
}

struct Corruption {
  std::string name;
  std::function<void(ordered_json&)> corrupt;
  std::string said;
};

void PrintTo(const Corruption& corruption, std::ostream* out) { *out << corruption.name; }

class CorruptedPlanTest : public CheckTest, public testing::WithParamInterface<Corruption> {};

TEST_P(CorruptedPlanTest, IsRefused) {
  ordered_json plan = ReadJson("plan.json");
  GetParam().corrupt(plan);
  Write("corrupted.json", plan.dump());
  const Outcome outcome = Run({"check", "corrupted.json"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("refused: "));
  EXPECT_THAT(outcome.out, HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    With, CorruptedPlanTest,
    testing::Values(
        Corruption{"shifted_offset",
                   [](ordered_json& plan) {
                     ordered_json& offset = BufferOf(plan, "s0/conv1@0")["offset"];
                     offset = offset.get<int64_t>() == 0 ? 16 : offset.get<int64_t>() - 16;
                   },
                   "overlap: buffers "},
        Corruption{"misaligned_offset",
                   [](ordered_json& plan) { BufferOf(plan, "s0/conv1@0")["offset"] = 8; },
                   "alignment: offset 8 of buffer 's0/conv1@0' is not a multiple of 16"},
        Corruption{
            "offset_beyond_the_memory",
            [](ordered_json& plan) { BufferOf(plan, "s0/conv1@0")["offset"] = 1'048'576; },
            "bounds: buffer 's0/conv1@0' of 1152 bytes at offset 1048576 is outside [0, 1048576)"},
        Corruption{"shortened_lifespan",
                   [](ordered_json& plan) {
                     BufferOf(plan, "s0/conv2@0")["lifespans"] = {{2, 3}};
                   },
                   "lifespan: buffer 's0/conv2@0' lives [2, 3) but is needed at step 3: it should "
                   "live [2, 4)"},
        Corruption{"smaller_size",
                   [](ordered_json& plan) { BufferOf(plan, "s0/conv2@0")["size"] = 767; },
                   "size: buffer 's0/conv2@0' has 767 bytes but needs 768"},
        Corruption{"dropped_buffer",
                   [](ordered_json& plan) {
                     ordered_json& buffers = plan["subgraphs"][0]["buffers"];
                     buffers.erase(0);
                   },
                   "buffer: buffer 's0/image@0' is missing"},
        Corruption{
            "dropped_access",
            [](ordered_json& plan) { BufferOf(plan, "s0/image@0")["accesses"].erase(1); },
            "access: buffer 's0/image@0' is read by 'npu' at step 1, which the plan does not say"},
        Corruption{"dropped_operator",
                   [](ordered_json& plan) { plan["subgraphs"][0]["operators"].erase(2); },
                   "coverage: operator 'conv3' is in no subgraph at its turn"},
        Corruption{"dropped_step",
                   [](ordered_json& plan) { plan["subgraphs"][0]["steps"].erase(1); },
                   "step: the plan has 4 steps where the program has 5"},
        Corruption{
            "wrong_count_of_tiles", [](ordered_json& plan) { plan["subgraphs"][0]["tiles"] = 2; },
            "tile: subgraph 0 states 2 tiles, but tiles of [1, 4, 4, 14] cut 'conv3' into 1"},
        Corruption{"fewer_off_chip_bytes",
                   [](ordered_json& plan) { plan["totals"]["off_chip_bytes"] = 1; },
                   "metric: the plan states 1 off-chip bytes where 2064 are counted"},
        Corruption{"lower_latency",
                   [](ordered_json& plan) { plan["totals"]["latency_cycles"] = 1000; },
                   "metric: the plan states 1000 cycles where "},
        Corruption{
            "lower_latency_throughout",
            [](ordered_json& plan) {
              for (ordered_json* metrics : {&plan["totals"], &plan["subgraphs"][0]["metrics"]})
                (*metrics)["latency_cycles"] = (*metrics)["latency_cycles"].get<int64_t>() - 1;
              plan["score"] = plan["totals"]["latency_cycles"];
            },
            "metric: subgraph 0 states 2865 cycles where 2866 are counted"},
        Corruption{"lower_bound_of_its_own",
                   [](ordered_json& plan) { plan["lower_bounds"]["latency_cycles"] = 1; },
                   "metric: the lower bound states 1 cycles where a simulation gives "},
        Corruption{"tensor_at_home_in_anothers_place",
                   [](ordered_json& plan) {
                     for (ordered_json& tensor : plan["homes"][0]["tensors"]) tensor["offset"] = 0;
                     plan["homes"][0].erase("peak");
                     int64_t peak = 0;
                     for (const ordered_json& tensor : plan["homes"][0]["tensors"])
                       peak = std::max(peak, tensor["size"].get<int64_t>());
                     plan["homes"][0]["peak"] = peak;
                   },
                   "allocation: home 'dram': overlap: "},
        Corruption{"lower_peak", [](ordered_json& plan) { plan["totals"]["peak_bytes"] = 100; },
                   "metric: the plan states 100 bytes of peak where "},
        Corruption{"score_of_its_own", [](ordered_json& plan) { plan["score"] = 1; },
                   "metric: the plan states a score of 1 where its parts give "},
        Corruption{"smaller_memory",
                   [](ordered_json& plan) {
                     plan["profile"]["memories"]["sram"]["capacity_bytes"] = 2048;
                   },
                   "is outside [0, 2048) of memory 0"}),
    [](const auto& info) { return info.param.name; });

TEST_F(CheckTest, AcceptsThePlanAsItWas) {
  const Outcome outcome = Run({"check", "plan.json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(
      outcome.out,
      "accepted: 7 buffers, peak 2880 of 1048576 bytes\n"
      "made again: status, score, baseline and largest tiles\n"
      "by the search alone: no plan has latency below 2866; the independent check says: there are "
      "more tiles and policies than an independent check tries\n"
      "not checked, for readers only: /time_ms, /notes, /subgraphs/*/rejected_alternatives, x-*\n");
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(CheckTest, WithoutTimeOrMemoryThePlanIsNeitherAcceptedNorRefused) {
  for (const std::string limit : {"timeout", "memory-limit"}) {
    const Outcome outcome = Run({"check", "plan.json", "--" + limit, "0"});
    EXPECT_EQ(outcome.exit_code, 10);
    EXPECT_EQ(outcome.out, "unknown: --" + limit +
                               " ended the check of the plan while it was made again; nothing is "
                               "wrong so far\n");
    EXPECT_EQ(Run({"check", "plan.json", "--no-search", "--" + limit, "0"}).exit_code, 0);
  }
  const Outcome executed =
      Run({"check", "plan.json", "--execute", "--timeout", "0", "--format", "json"});
  EXPECT_EQ(executed.exit_code, 10);
  const ordered_json answer = ordered_json::parse(executed.out);
  EXPECT_EQ(answer.at("status"), "unknown");
  EXPECT_EQ(answer.at("reason"),
            "--timeout ended the check of the plan while it was executed; nothing is wrong so far");
}

// A fault that was found before the end of the time is reported.
TEST_F(CheckTest, WithoutTimeAFaultIsStillAFault) {
  ordered_json plan = ReadJson("plan.json");
  plan["totals"]["peak_bytes"] = 100;
  Write("corrupted.json", plan.dump());
  EXPECT_EQ(Run({"check", "corrupted.json", "--timeout", "0"}).exit_code, 5);
}

// The search drops a limit that its own objective keeps anyway; the check does so too.
TEST_F(CheckTest, APlanWithItsOwnMetricAsItsLimitIsMadeAgain) {
  const Arguments arguments = {"plan",     Shipped("examples/networks/event_detector.yaml"),
                               "--hw",     Shipped("hw_profiles/edge_npu_64kib.yaml"),
                               "--output", "limited.json",
                               "--limit"};
  Arguments first = arguments;
  first.back() = "--seed";
  first.emplace_back("0");
  ASSERT_EQ(Run(first).exit_code, 0);
  const int64_t latency = ReadJson("limited.json").at("totals").at("latency_cycles");
  Arguments second = arguments;
  second.push_back("latency=" + std::to_string(latency));
  ASSERT_EQ(Run(second).exit_code, 0);
  const Outcome checked = Run({"check", "limited.json"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out;
  EXPECT_THAT(checked.out, HasSubstr("made again: "));
}

TEST_F(CheckTest, JsonListsViolations) {
  ordered_json plan = ReadJson("plan.json");
  BufferOf(plan, "s0/conv2@0")["size"] = 767;
  const auto refused = ParseJson(Run({"check", "-", "--format", "json"}, plan.dump()).out);
  EXPECT_EQ(refused.at("status"), "refused");
  EXPECT_EQ(refused.at("violations"),
            ordered_json({"size: buffer 's0/conv2@0' has 767 bytes but needs 768"}));
  const auto accepted = ParseJson(Run({"check", "plan.json", "--format", "json"}).out);
  EXPECT_EQ(accepted.at("status"), "accepted");
  EXPECT_THAT(accepted.at("violations"), IsEmpty());
  EXPECT_EQ(accepted.at("made_again"), true);
  EXPECT_EQ(accepted.at("exempt"),
            ordered_json({"/time_ms", "/notes", "/subgraphs/*/rejected_alternatives", "x-*"}));
}

TEST_F(CheckTest, SaysWhereTheSearchWasNotRepeated) {
  ordered_json plan = ReadJson("plan.json");
  plan["status"] = "feasible";
  Write("plan.json", plan.dump());
  const Outcome refused = Run({"check", "plan.json"});
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.out,
              HasSubstr("claim: the plan states status feasible where the search, repeated, gives "
                        "optimal\n"));
  const Outcome accepted = Run({"check", "plan.json", "--no-search"});
  EXPECT_EQ(accepted.exit_code, 0);
  EXPECT_THAT(
      accepted.out,
      HasSubstr("\nnot made again (--no-search): status, score, baseline and largest tiles\n"));
  EXPECT_EQ(ParseJson(Run({"check", "plan.json", "--no-search", "--format", "json"}).out)
                .at("made_again"),
            false);
}

TEST_F(CheckTest, EntriesForReadersMayBeAnything) {
  ordered_json plan = ReadJson("plan.json");
  plan["notes"] = {"made by hand"};
  plan["time_ms"] = 3;
  plan["x-reviewed"] = true;
  ASSERT_TRUE(plan["subgraphs"][0].contains("rejected_alternatives"));
  plan["subgraphs"][0].erase("rejected_alternatives");
  Write("plan.json", plan.dump());
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
}

TEST_F(CheckTest, AMovedAddressIsReportedAndCompleted) {
  ordered_json plan = ReadJson("plan.json");
  BufferOf(plan, "s0/conv1@0")["offset"] = 4096;
  plan["subgraphs"][0]["metrics"]["peak_bytes"] = plan["totals"]["peak_bytes"] = 4096 + 1152;
  Write("moved.json", plan.dump());
  const Outcome refused = Run({"check", "moved.json"});
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.out, HasSubstr("digest: the plan states fnv1a-"));
  EXPECT_EQ(Run({"eval", "moved.json", "--output", "whole.json"}).exit_code, 0);
  EXPECT_EQ(Run({"check", "whole.json"}).exit_code, 0);
  EXPECT_EQ(BufferOf(plan = ReadJson("whole.json"), "s0/conv1@0")["offset"], 4096);
}

// A plan includes its capacity. The command would silently ignore another one, so it refuses it.
TEST_F(CheckTest, APlanTakesNoCapacityAndNoLifetimes) {
  for (const std::string command : {"check", "show"}) {
    for (const Arguments& option : {Arguments{"--capacity", "10"}, {"--lifetimes", "inclusive"}}) {
      const Outcome outcome = Run({command, "plan.json", option[0], option[1]});
      EXPECT_EQ(outcome.exit_code, 3);
      EXPECT_THAT(outcome.err,
                  HasSubstr("hint: leave --capacity, --problem and --lifetimes out\n"));
    }
  }
}

TEST_F(CheckTest, CsvNeedsACapacity) {
  Write("answer.csv", "id,lower,upper,size,offset\na,0,2,16,0\n");
  const Outcome outcome = Run({"check", "answer.csv"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err,
            "answer.csv: error: a CSV does not say how large the memory is\n  hint: add --capacity "
            "BYTES\n");
}

TEST_F(CheckTest, CsvKeepsToTheCapacity) {
  Write("answer.csv", "id,lower,upper,size,offset\na,0,2,16,1\n");
  EXPECT_EQ(Run({"check", "answer.csv", "--capacity", "17"}).exit_code, 0);
  const Outcome outcome = Run({"check", "answer.csv", "--capacity", "16"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.out, HasSubstr("outside [0, 16)"));
}

TEST_F(CheckTest, CsvNeedsOffsets) {
  Write("buffers.csv", "id,lower,upper,size\na,0,2,16\n");
  const Outcome outcome = Run({"check", "buffers.csv", "--capacity", "16"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, StartsWith("buffers.csv: error: buffer 'a' has no offset\n"));
}

TEST_F(CheckTest, AllocationsNeedTheirProblem) {
  Write("buffers.csv", "id,lower,upper,size\na,0,2,16\n");
  Run({"alloc", "buffers.csv", "--output", "answer.json"});
  const Outcome outcome = Run({"check", "answer.json"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("hint: add --problem FILE\n"));
}

TEST_F(CheckTest, AnAllocationOfACandidateIsCheckedAgainstItsSizes) {
  const std::string ladder = Shipped("examples/problems/halo_candidates.json");
  Run({"alloc", ladder, "--candidate", "rows=3", "--output", "answer.json"});
  EXPECT_EQ(Run({"check", "answer.json", "--problem", ladder}).exit_code, 0);

  // The addresses of rows=2 leave no space for rows=3.
  Run({"alloc", ladder, "--candidate", "rows=2", "--output", "answer.json"});
  ordered_json answer = ReadJson("answer.json");
  answer["candidate"] = "rows=3";
  Write("answer.json", answer.dump());
  EXPECT_EQ(Run({"check", "answer.json", "--problem", ladder}).exit_code, 5);

  answer["candidate"] = "rows=5";
  Write("answer.json", answer.dump());
  const Outcome outcome = Run({"check", "answer.json", "--problem", ladder});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("halo_candidates.json has no candidate 'rows=5'\n"));
}

TEST_F(CheckTest, AnAlignmentIsThatOfThePlacedBuffer) {
  Write("aligned.csv", "id,lower,upper,size,alignment,offset\na,0,2,6,1,0\nb,0,2,6,4,6\n");
  const Outcome outcome = Run({"check", "aligned.csv", "--capacity", "16"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.out, HasSubstr("alignment: offset 6 of buffer 'b' is not a multiple of 4"));
}

TEST_F(CheckTest, AnAnswerWithoutAddressesIsNothingToCheck) {
  Write("buffers.csv", "id,lower,upper,size\na,0,2,16\n");
  Write("answer.json", R"({"format": "tessera-allocation", "version": 1, "status": "infeasible"})");
  const Outcome outcome = Run({"check", "answer.json", "--problem", "buffers.csv"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err, "answer.json: error: this is an answer without addresses: infeasible\n");
}

}  // namespace
}  // namespace tessera::cli
