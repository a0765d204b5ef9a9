// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "alterations.h"
#include "command_line.h"
#include "tessera/api/parts/plan_check.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/inputs.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/draws.h"

// `tessera check` accepts no altered claim. The tests alter plans of many kinds entry by entry, and
// every altered plan must be refused.
//
// Every run takes the first alterations of each kind of entry and one in four of the others;
// `scripts/test long` takes all.
//
// The test skips the entries that plan/files/plan_files.h lists. It accepts a document that states
// the same plan: reading and writing it gives the bytes of the original. No alteration of a value
// and no removed or doubled element may do so. Only a member with a default may be left out or
// spelled out (docs/plan-format.md, docs/network-format.md, docs/profile-format.md). So a plan with
// another correct address is refused too, because the digest covers addresses and modes. An entry
// that only the digest protects must be a given entry (plan/files/plan_files.h). All entries that
// follow from the given ones are refused because they do not follow.
namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::IsEmpty;

api::parts::PlanVerdict Check(const plan::Plan& plan, const api::parts::PlanCheckOptions& options) {
  base::Stop never;
  return api::parts::CheckPlan(plan, options, never);
}

// A DRAM and a small SRAM; tiles that keep rows, weights in slices, transfers that overlap compute.
const std::string kTight = R"(schema: 1
name: tight
clock_hz: 1e9
memories:
  sram:
    capacity_bytes: 4Ki
    alignment_bytes: 16
    port: {bytes_per_cycle: 16, read_latency_cycles: 4, write_latency_cycles: 4, burst_bytes: 16}
    read_pj_per_byte: 1.63
    write_pj_per_byte: 1.48
    leakage_mw: 1
    area_mm2: 0.25
  dram:
    capacity_bytes: 64Ki
    alignment_bytes: 16
    port: {bytes_per_cycle: 2, read_latency_cycles: 50, write_latency_cycles: 25, burst_bytes: 16}
    read_pj_per_byte: 64
    write_pj_per_byte: 64
tile_memory: sram
engines:
  npu:
    mac_pj: 0.04
    area_mm2: 0.5
    idle_cycles_between_tiles: 6
    operators:
      conv: {unroll: {out_channels: 8}, start_cycles: 10}
      depthwise: {unroll: {out_channels: 8}, start_cycles: 10}
      matmul: {unroll: {out_channels: 8}, start_cycles: 10}
      elementwise: {cycles_per_output: 0.25, start_cycles: 10}
links:
  dma: {between: [dram, sram], setup_cycles: 20, alignment_bytes: 16, dims: 4, outstanding: 4}
roles:
  network_input: {home: dram, alignment_bytes: 16}
  network_output: {home: dram, alignment_bytes: 16}
  boundary: {home: dram, alignment_bytes: 16}
  feature: {home: sram, alignment_bytes: 16}
  constant: {home: dram, alignment_bytes: 16}
  state: {home: sram, alignment_bytes: 16}
tiling:
  axes: [rows, {axis: channels, granularity: 8}]
  halo: [recompute, rolling_buffer, line_buffer, adjacent]
  weights: [resident, streamed, split_k]
  dma: double_buffered
  implicit_padding: true
  in_place: [elementwise]
  weight_granularity_channels: 8
  k_granularity: 64
table_bytes_per_channel: 4
)";

// One SRAM for all maps, weights read from flash.
const std::string kOneMemory = R"(schema: 1
name: one_memory
clock_hz: 1e9
memories:
  sram:
    capacity_bytes: 1500
    alignment_bytes: 4
    port: {bytes_per_cycle: 4}
    read_pj_per_byte: 0.4
    write_pj_per_byte: 0.5
  flash:
    capacity_bytes: 4Ki
    writable: false
    direct_read: true
    port: {bytes_per_cycle: 0.25, read_latency_cycles: 64, burst_bytes: 32}
    read_pj_per_byte: 64
tile_memory: sram
engines:
  cpu:
    mac_pj: 10
    operators:
      conv: {cycles_per_step: 1.73, start_cycles: 500}
      matmul: {cycles_per_step: 1.73, start_cycles: 500}
      elementwise: {cycles_per_output: 8, start_cycles: 500}
      concat: {cycles_per_output: 1, start_cycles: 500}
roles:
  network_input: {home: sram, alignment_bytes: 4}
  network_output: {home: sram, alignment_bytes: 4}
  boundary: {home: sram, alignment_bytes: 4}
  feature: {home: sram, alignment_bytes: 4}
  constant: {home: flash, alignment_bytes: 4}
  state: {home: sram, alignment_bytes: 4}
tiling:
  axes: [rows]
  halo: [recompute]
  weights: [direct]
  dma: serialized
  implicit_padding: true
  in_place: [elementwise]
scratch:
  conv: {bytes: 4, factors: [kernel_rows, kernel_columns, in_channels]}
table_bytes_per_channel: 8
)";

const std::string kChain = R"(schema: 1
name: chain
inputs:
  - {id: x, shape: [1, 8, 24, 16]}
operators:
  - {id: a, kind: conv, inputs: [x], out_channels: 8, kernel: 3, pads: same}
  - {id: b, kind: depthwise, inputs: [a], kernel: 3, pads: same}
  - {id: c, kind: conv, inputs: [b], out_channels: 8, kernel: 1}
  - {id: d, kind: elementwise, function: add, inputs: [x, c]}
  - {id: e, kind: conv, inputs: [d], out_channels: 16, kernel: 3, stride: 2, pads: same}
outputs: [e]
)";

// In the order of the file both wide maps live at the same time.
const std::string kForks = R"(schema: 1
name: forks
inputs:
  - {id: x, shape: [1, 4, 8, 8]}
operators:
  - {id: a, kind: conv, inputs: [x], out_channels: 16, kernel: 1}
  - {id: b, kind: conv, inputs: [x], out_channels: 16, kernel: 1}
  - {id: c, kind: conv, inputs: [a], out_channels: 2, kernel: 1}
  - {id: d, kind: conv, inputs: [b], out_channels: 2, kernel: 1}
  - {id: e, kind: elementwise, function: add, inputs: [c, d]}
outputs: [e]
)";

const std::string kRecurrent = R"(schema: 1
name: recurrent
inputs:
  - {id: x, shape: [4, 8]}
  - {id: past, shape: [12, 8], state: true}
  - {id: total, shape: [4, 8], state: true, next: sum}
operators:
  - {id: grown, kind: concat, axis: 0, inputs: [past, x]}
  - {id: mixed, kind: matmul, inputs: [x], columns: 8}
  - {id: sum, kind: elementwise, function: add, inputs: [total, mixed]}
outputs: [grown, sum]
)";

const std::string kDeep = R"(schema: 1
name: deep
inputs:
  - {id: row, shape: [1, 4096]}
operators:
  - {id: product, kind: matmul, inputs: [row], columns: 8}
outputs: [product]
)";

// Given entries: they follow from no other entry.
constexpr std::array<std::string_view, 15> kGiven = {"/made_by",
                                                     "/digest",
                                                     "/objective",
                                                     "/constraints",
                                                     "/seed",
                                                     "/run",
                                                     "/network",
                                                     "/profile",
                                                     "/kept",
                                                     "/subgraphs/*/tile",
                                                     "/subgraphs/*/policies",
                                                     "/subgraphs/*/steps/*/mode",
                                                     "/subgraphs/*/buffers/*/offset",
                                                     "/buffers/*/offset",
                                                     "/homes/*/tensors/*/offset"};

template <size_t n>
bool IsAmong(const std::string& pattern, const std::array<std::string_view, n>& entries) {
  return std::any_of(entries.begin(), entries.end(), [&](std::string_view entry) {
    return pattern == entry || pattern.starts_with(std::string(entry) + '/');
  });
}

bool IsExempt(const std::string& pattern) {
  return IsAmong(pattern, plan::files::kExempt) || pattern.find("/x-") != std::string::npos;
}

enum class Inputs : uint8_t { kSome, kAll };

enum class Answer : uint8_t { kRefused, kByDigestAlone, kSame, kAccepted };

// A plan as a document, and its text to compare other documents with.
struct Original {
  Json document;
  std::string written;  // as written after reading
};

Answer Judge(const Original& original, const Json& altered) {
  const base::Expected<plan::Plan> plan = plan::files::ReadPlanJson(altered.dump(), "");
  if (!plan) return Answer::kRefused;
  const std::vector<std::string> cheaply = Check(*plan, {.search = false, .around = {}}).violations;
  if (!cheaply.empty())
    return cheaply.front().starts_with("digest: ") ? Answer::kByDigestAlone : Answer::kRefused;
  if (plan->digest == original.document.at("digest") &&
      plan::files::WritePlanJson(*plan) == original.written)
    return Answer::kSame;
  return Check(*plan, {}).violations.empty() ? Answer::kAccepted : Answer::kRefused;
}

// Decides which alterations a run takes: all in a long run, otherwise the first kAlways of each
// pattern and one in kShare of the others.
class Sample {
 public:
  bool Takes(const std::string& pattern) {
    const size_t seen = seen_[pattern]++;
    return IsLongRun() || seen < kAlways || seen % kShare == 0;
  }

  // Of tests that expect `whole` alterations in a long run.
  static size_t Least(size_t whole) { return IsLongRun() ? whole : whole / kShare; }

 private:
  static constexpr size_t kAlways = 8;
  static constexpr size_t kShare = 4;

  std::map<std::string, size_t> seen_;
};

class ClaimsTest : public CommandLineTest {
 protected:
  ClaimsTest() {
    Write("tight.yaml", kTight);
    Write("roomy.yaml", Replace(kTight, "capacity_bytes: 4Ki", "capacity_bytes: 6Ki"));
    Write("one.yaml", kOneMemory);
    Write("chain.yaml", kChain);
    Write("forks.yaml", kForks);
    Write("recurrent.yaml", kRecurrent);
    Write("deep.yaml", kDeep);
  }

  void Plan(const std::string& network, const std::string& profile, const Arguments& more = {}) {
    Arguments arguments = {"plan",     network + ".yaml", "--hw", profile + ".yaml",
                           "--output", "plan.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = Run(arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  }

  // Words that the plan must contain for the test to have a subject.
  void ExpectInPlan(const std::vector<std::string>& words) const {
    for (const std::string& word : words) EXPECT_THAT(Read("plan.json"), HasSubstr(word));
  }

  // The violations of the plan in a document whose digest was computed anew.
  static std::string RefusalsOfForged(const Json& document) {
    const base::Expected<plan::Plan> read = plan::files::ReadPlanJson(document.dump(), "");
    EXPECT_TRUE(read) << read.error().message;
    const base::Expected<plan::Plan> plan =
        plan::files::ReadPlanJson(plan::files::WritePlanJson(*read), "");
    return fmt::format("{}", fmt::join(Check(*plan, {}).violations, "\n"));
  }

  void RunAltered(size_t least) const {
    const Json document = ReadJson("plan.json");
    size_t run = 0;
    Sample sample;
    for (const Alteration& alteration : AlterationsOf(document)) {
      const std::string pattern = PatternOf(alteration);
      if (!pattern.starts_with("/subgraphs") && !pattern.starts_with("/lowering")) continue;
      if (!sample.Takes(pattern)) continue;
      const base::Expected<plan::Plan> plan =
          plan::files::ReadPlanJson(Apply(document, alteration).dump(), "");
      if (!plan) continue;
      ++run;
      EXPECT_NO_THROW(Check(*plan, {.execute = true, .search = false, .around = {}}))
          << Describe(alteration);
    }
    fmt::print("{} altered plans run\n", run);
    EXPECT_GE(run, Sample::Least(least));
  }

  // Alters plan.json in at least `least` ways (a share of them, see Sample), exempt entries not
  // counted. All plans guard the embedded network and profile by the same digest; of these, kSome
  // takes one alteration of eight.
  void Alter(size_t least, Inputs inputs = Inputs::kSome) const {
    Original original{ReadJson("plan.json"), ""};
    const base::Expected<plan::Plan> plan = plan::files::ReadPlanJson(original.document.dump(), "");
    ASSERT_TRUE(plan) << plan.error().message;
    original.written = plan::files::WritePlanJson(*plan);
    const api::parts::PlanVerdict verdict = Check(*plan, {});
    ASSERT_THAT(verdict.violations, IsEmpty());
    ASSERT_TRUE(verdict.searched_again);
    size_t altered = 0;
    size_t same = 0;
    size_t exempt = 0;
    size_t inputs_seen = 0;
    Sample sample;
    for (const Alteration& alteration : AlterationsOf(original.document)) {
      const std::string pattern = PatternOf(alteration);
      if (IsExempt(pattern)) {
        ++exempt;
        continue;
      }
      const bool is_input = pattern.starts_with("/network") || pattern.starts_with("/profile");
      if (is_input && inputs == Inputs::kSome && ++inputs_seen % 8 != 0) continue;
      if (!sample.Takes(pattern)) continue;
      ++altered;
      const Answer answer = Judge(original, Apply(original.document, alteration));
      // A plan without a lowering claims less, and is valid. So does one that was cut off without a
      // baseline.
      const bool claims_less =
          (pattern == "/lowering" || (pattern == "/baseline" && plan->run.cut_off)) &&
          alteration.edit == Edit::kRemove;
      EXPECT_EQ(answer == Answer::kAccepted, claims_less) << Describe(alteration);
      if (answer == Answer::kByDigestAlone) {
        EXPECT_TRUE(IsAmong(pattern, kGiven))
            << Describe(alteration) << ": what refuses it but the digest?";
      }
      if (answer != Answer::kSame) continue;
      ++same;
      EXPECT_TRUE(alteration.edit == Edit::kRemove || alteration.edit == Edit::kAddKey)
          << Describe(alteration);
      EXPECT_FALSE(pattern.ends_with("/*")) << Describe(alteration);
    }
    EXPECT_GE(altered - same, Sample::Least(least));
    fmt::print("{} alterations refused; {} that spell out a default or leave it out, {} exempt\n",
               altered - same, same, exempt);
  }
};

// Execution of an altered plan ends with findings, whatever the alteration.
TEST_F(ClaimsTest, AlteredPlansCanBeRun) {
  Plan("deep", "tight", {"--lowering"});
  RunAltered(1500);
  Plan("chain", "tight", {"--max-operators", "2"});
  RunAltered(3000);
}

// Two memories outside the tile memory share the tensors of roles with several homes.
TEST_F(ClaimsTest, SeveralHomes) {
  std::string listed =
      Replace(kTight, "  dram:\n",
              "  tcm: {capacity_bytes: 1200, alignment_bytes: 16, port: {bytes_per_cycle: 8}}\n"
              "  dram:\n");
  listed =
      Replace(listed, "links:\n", "links:\n  dma2: {between: [tcm, sram], alignment_bytes: 16}\n");
  listed = Replace(listed, "constant: {home: dram", "constant: {home: [tcm, dram]");
  Write("listed.yaml", Replace(listed, "boundary: {home: dram", "boundary: {home: [tcm, dram]"));
  Plan("chain", "listed", {"--max-operators", "2"});
  ExpectInPlan({"\"tensor_homes\"", "\": \"tcm\"", "\": \"dram\""});
  Alter(3000);
}

TEST_F(ClaimsTest, RowsInRollingBuffers) {
  Plan("chain", "tight");
  ExpectInPlan({"\"halo\": \"rolling_buffer\"", "\"weights\": \"streamed\"", "\"in_place\": true",
                "\"exits\""});
  Alter(5500, Inputs::kAll);
}

TEST_F(ClaimsTest, KeptBoundariesSeveralMetricsAndALimit) {
  Plan("chain", "roomy",
       {"--score", "latency=1,energy=2,off_chip_bytes=4", "--limit", "peak=6144", "--max-operators",
        "1", "--seed", "3"});
  ExpectInPlan({"\"kept\"", "\"max_operators\": 1"});
  Alter(3000);
}

TEST_F(ClaimsTest, PrefetchedConstants) {
  Plan("chain", "tight", {"--max-operators", "2"});
  ExpectInPlan({"\"prefetch\": true"});
  Alter(3000);
}

TEST_F(ClaimsTest, Constraints) {
  Plan("chain", "tight",
       {"--together", "b..c", "--apart", "d", "--spill", "c", "--no-keep", "--order", "given",
        "--switch-off", "mirror", "--minimize", "off_chip_bytes"});
  ExpectInPlan({"\"together\"", "\"apart\"", "\"spill\"", "\"switched_off\""});
  Alter(3000);
}

TEST_F(ClaimsTest, AnotherOrderAndDirectWeights) {
  Plan("forks", "one", {"--max-operators", "1"});
  ExpectInPlan({"\"file_order\"", "\"weights\": \"direct\"", "\"scratch\""});
  Alter(3000);
}

TEST_F(ClaimsTest, StatesAndALowering) {
  Plan("recurrent", "one", {"--lowering"});
  ExpectInPlan({"\"role\": \"state\"", "\"lowering\"", "\"colocate\""});
  Alter(2000);
}

TEST_F(ClaimsTest, SplitKSumsAndALowering) {
  Plan("deep", "tight", {"--lowering"});
  ExpectInPlan({"\"split_k\"", "\"accumulator\"", "\"lowering\""});
  Alter(3000);
}

TEST_F(ClaimsTest, BanksWithModesAsShipped) {
  Write("banked.yaml",
        "extends: " + Shipped("hw_profiles/three_bank_two_mode.yaml") + "\nname: banked\n");
  Plan("chain", "banked");
  ExpectInPlan({"\"mode\": \"forward\"", "\"mode\": \"reverse\""});
  Alter(3000, Inputs::kAll);
}

TEST_F(ClaimsTest, AnOlderPlanThatWasToChangeLittle) {
  Plan("deep", "tight");
  Write("older.json", Read("plan.json"));
  Plan("deep", "tight", {"--previous", "older.json"});
  ExpectInPlan({"\"before\""});
  Alter(3000);
}

TEST_F(ClaimsTest, APartitionThatWasGiven) {
  Plan("chain", "tight");
  ASSERT_EQ(Run({"eval", "plan.json", "--output", "given.json"}).exit_code, 0);
  std::filesystem::rename(Folder() / "given.json", Folder() / "plan.json");
  ExpectInPlan({"\"partition\": \"given\""});
  Alter(3000);
}

// A request ends the search once the first subgraphs are decided. Such a plan makes no claim that
// depends on how far the search came.
TEST_F(ClaimsTest, ASearchThatWasCutOff) {
  const base::Expected<graph::Graph> network =
      graph::import::yaml::ReadNetwork(kChain, "chain.yaml");
  const base::Expected<hw_profiles::Profile> profile =
      LoadProfile((Folder() / "tight.yaml").string());
  ASSERT_TRUE(network && profile);
  const api::parts::EngineSet engines = SearchOptions{}.Engines();
  base::Stop stop;
  int reports = 0;
  search::partition::answer::PartitionOptions options;
  options.engines = engines.Pointers();
  options.budget = {200'000};
  options.stop = &stop;
  options.progress = [&](std::string_view) {
    if (++reports == 8) stop.Request();
  };
  const auto found = search::partition::SearchPartition(*network, *profile, options);
  ASSERT_TRUE(found && found->plan);
  EXPECT_EQ(found->plan->status, "feasible");
  Write("plan.json", plan::files::WritePlanJson(*found->plan));
  ExpectInPlan({"\"cut_off\": true"});
  Alter(3000);

  // Without `cut_off` the plan would have to be the result of the whole search.
  Json forged = ReadJson("plan.json");
  forged["run"]["cut_off"] = false;
  EXPECT_THAT(RefusalsOfForged(forged), HasSubstr("where the search, repeated, gives "));
}

// Each document gets a new digest, so its claims must hold of the altered input.
TEST_F(ClaimsTest, NoClaimRestsOnTheDigest) {
  Plan("chain", "tight", {"--score", "latency=1,energy=2", "--transfers", "per-subgraph"});
  const Json plan = ReadJson("plan.json");
  ASSERT_EQ(plan["status"], "optimal");
  EXPECT_THAT(RefusalsOfForged(plan), IsEmpty());
  const auto forge = [&](const std::string& pointer, const Json& value) {
    Json forged = plan;
    forged[Json::json_pointer(pointer)] = value;
    return RefusalsOfForged(forged);
  };
  EXPECT_THAT(forge("/status", "feasible"),
              HasSubstr("claim: the plan states status feasible where"));
  EXPECT_THAT(forge("/run/cut_off", true),
              HasSubstr("claim: the plan states status optimal where"));
  EXPECT_THAT(forge("/run/max_operators", 1), HasSubstr("claim: the plan states score "));
  EXPECT_THAT(forge("/run/engines/0", "oracle"),
              HasSubstr("claim: the plan was made with engine 'oracle'"));
  EXPECT_THAT(forge("/objective/weights", {{"latency", 1}}),
              HasSubstr("metric: the plan states a score of"));
  EXPECT_THAT(forge("/objective/weights/energy", 3),
              HasSubstr("metric: the plan states a score of"));
  EXPECT_THAT(forge("/baseline/complete", false), HasSubstr("claim: the plan states "));
  EXPECT_THAT(forge("/lower_bounds/macs", 1),
              HasSubstr("metric: the lower bound states 1 MACs where"));
  EXPECT_THAT(forge("/lower_bounds/off_chip_by_cause/weights", 0),
              HasSubstr("off-chip bytes for 'weights'"));
}

}  // namespace
}  // namespace tessera::cli
