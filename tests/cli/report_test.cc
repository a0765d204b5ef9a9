// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "command_line.h"

// The HTML report is one well-formed file that needs no other file and holds the whole plan as
// data. tests/browser tests it in a browser.
namespace tessera::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// Reads a page strictly. Elements close in order, except those without content. Attributes are in
// double quotes. The contents of scripts and styles are skipped.
class MarkupReader {
 public:
  explicit MarkupReader(std::string_view page) : rest_(page) {}

  // The first fault, or an empty text.
  std::string Fault() {
    while (fault_.empty() && !rest_.empty()) {
      const size_t at = rest_.find('<');
      const std::string_view text = rest_.substr(0, at);
      if (text.find('>') != std::string_view::npos) return "a bare > in text";
      if (at == std::string_view::npos) break;
      rest_.remove_prefix(at + 1);
      ReadTag();
    }
    if (fault_.empty() && !open_.empty()) fault_ = "never closed: " + open_.back();
    return fault_;
  }

 private:
  std::string Name() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(),
                                      [](unsigned char c) { return std::isalnum(c); });
    std::string name(rest_.begin(), end);
    rest_.remove_prefix(name.size());
    return name;
  }

  void ReadTag() {
    if (rest_.starts_with("!DOCTYPE html>")) return rest_.remove_prefix(14);
    const bool closes = rest_.starts_with('/');
    if (closes) rest_.remove_prefix(1);
    const std::string name = Name();
    if (name.empty()) return Fail("a tag without a name");
    if (closes) return Close(name);
    ReadAttributes();
    static constexpr std::array<std::string_view, 2> kVoid = {"meta", "input"};
    if (std::find(kVoid.begin(), kVoid.end(), name) != kVoid.end()) return;
    open_.push_back(name);
    if (name != "script" && name != "style") return;
    const size_t end = rest_.find("</" + name);
    if (end == std::string_view::npos) return Fail("no end of " + name);
    rest_.remove_prefix(end);
  }

  void Close(const std::string& name) {
    if (open_.empty() || open_.back() != name) return Fail("closed out of order: " + name);
    open_.pop_back();
    if (!rest_.starts_with('>')) return Fail("an end tag with more than a name: " + name);
    rest_.remove_prefix(1);
  }

  void ReadAttributes() {
    bool quoted = false;
    size_t at = 0;
    while (at < rest_.size() && (quoted || rest_[at] != '>')) {
      if (rest_[at] == '"') quoted = !quoted;
      if (rest_[at] == '<') return Fail("< in a tag");
      if (rest_[at] == '=' && !quoted && rest_.substr(at + 1, 1) != "\"")
        return Fail("an attribute without quotes");
      ++at;
    }
    if (at == rest_.size()) return Fail("a tag without an end");
    rest_.remove_prefix(at + 1);
  }

  void Fail(const std::string& fault) { fault_ = fault; }

  std::string_view rest_;
  std::vector<std::string> open_;
  std::string fault_;
};

class ReportTest : public CommandLineTest {
 protected:
  std::string Report(const std::string& network, const std::string& profile,
                     const Arguments& more = {}) const {
    Arguments arguments = {"plan",     network,
                           "--hw",     Shipped("hw_profiles/" + profile + ".yaml"),
                           "--output", "plan.html"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Read("plan.html");
  }

  std::string ReportOnChain(const Arguments& more = {}) const {
    return Report(Shipped("examples/networks/patent_chain.yaml"), "three_bank_two_mode", more);
  }

  // The text of the element that holds the plan.
  static std::string DataText(const std::string& report) {
    const std::string mark = "id=\"plan\">";
    const size_t begin = report.find(mark) + mark.size();
    return report.substr(begin, report.find("</script>", begin) - begin);
  }
};

TEST_F(ReportTest, IsWellFormed) {
  const std::string report = ReportOnChain();
  EXPECT_THAT(report, StartsWith("<!DOCTYPE html>\n"));
  EXPECT_THAT(report, EndsWith("</html>\n"));
  EXPECT_THAT(MarkupReader(report).Fault(), IsEmpty());
}

TEST_F(ReportTest, NeedsNothingElse) {
  std::string report = ReportOnChain();
  EXPECT_THAT(report, HasSubstr("default-src 'none'"));
  for (const char* foreign :
       {"src=", "<link", "<img", "@import", "fetch(", "XMLHttpRequest", "WebSocket", "{{"}) {
    EXPECT_THAT(report, Not(HasSubstr(foreign)));
  }
  // Addresses are names of vocabularies; pictures are part of the page.
  for (size_t at = report.find("url("); at != std::string::npos; at = report.find("url(", at + 1))
    EXPECT_EQ(report[at + 4], '#');
  for (size_t at = report.find("://"); at != std::string::npos; at = report.find("://", at + 1))
    EXPECT_EQ(report.substr(at, 13), "://www.w3.org");
}

TEST_F(ReportTest, HoldsTheWholePlan) {
  const auto data = ParseJson(DataText(ReportOnChain({"--output", "plan.json"})));
  const auto plan = ReadJson("plan.json");
  EXPECT_EQ(data.at("network"), "patent_chain");
  EXPECT_EQ(data.at("totals").at("latency"), plan.at("totals").at("latency_cycles"));
  EXPECT_EQ(data.at("lower_bounds").at("off_chip_bytes"),
            plan.at("lower_bounds").at("off_chip_bytes"));
  EXPECT_EQ(data.at("baseline").at("totals").at("energy"),
            plan.at("baseline").at("totals").at("energy_pj"));
  EXPECT_EQ(data.at("subgraphs").size(), plan.at("subgraphs").size());
  EXPECT_EQ(data.at("notes"), plan.at("notes"));
  EXPECT_EQ(data.at("memories")[0].at("banks").size(), 3U);
  EXPECT_EQ(data.at("schedules")[0].size(), data.at("steps").size());
  size_t buffers = plan.at("buffers").size();
  for (const auto& subgraph : plan.at("subgraphs")) buffers += subgraph.at("buffers").size();
  EXPECT_EQ(data.at("buffers").size(), buffers);
}

TEST_F(ReportTest, StatesWhatWasRequired) {
  const auto data = ParseJson(DataText(ReportOnChain({"--apart", "conv2", "--spill", "conv1"})));
  EXPECT_EQ(data.at("constraints"), ParseJson(R"(["a subgraph that begins with operator 'conv2'",
                                              "tensor 'conv1' at home between subgraphs"])"));
  EXPECT_TRUE(ParseJson(DataText(ReportOnChain())).at("constraints").empty());
}

TEST_F(ReportTest, StatesTheAreaOfTheHardware) {
  Write("hw.yaml", "extends: " + Shipped("hw_profiles/edge_npu_1mib.yaml") +
                       "\nschema: 1\nname: sized\nmemories: {sram: {area_mm2: 1.25}}\n"
                       "engines: {npu: {area_mm2: 0.5}}\nlinks: {dma: {area_mm2: 0.125}}\n");
  const Outcome outcome = Run({"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                               "hw.yaml", "--output", "plan.html", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              testing::ContainsRegex("area of the hardware, mm2 +1.875 +1.875 +1.875"));
  EXPECT_EQ(ReadJson("plan.json").at("profile_totals").at("area_mm2"), 1.875);
  EXPECT_EQ(ParseJson(DataText(Read("plan.html"))).at("profile_totals"),
            ParseJson(R"([{"title": "area", "unit": "mm2", "value": 1.875}])"));
  const std::string plain = Run({"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                                 Shipped("hw_profiles/edge_npu_1mib.yaml")})
                                .out;
  EXPECT_THAT(plain, Not(HasSubstr("area")));
}

TEST_F(ReportTest, StatesTheRoleOfEachTensor) {
  Write("sum.yaml",
        "schema: 1\nname: sum\ndtype: int8\ninputs:\n  - {id: x, shape: [4, 16]}\n"
        "  - {id: total, shape: [4, 16], state: true, next: sum}\noperators:\n"
        "  - {id: sum, kind: elementwise, function: add, inputs: [x, total]}\n"
        "  - {id: half, kind: matmul, inputs: [sum], columns: 8}\noutputs: [half]\n");
  const auto data = ParseJson(DataText(Report("sum.yaml", "edge_npu_64kib")));
  std::map<std::string, std::string> roles;
  for (const auto& tensor : data.at("tensors"))
    roles[tensor.at("id").get<std::string>()] = tensor.at("role").get<std::string>();
  EXPECT_EQ(roles["x"], "network input");
  EXPECT_EQ(roles["total"], "state");
  EXPECT_EQ(roles["sum"], "next value of a state");
  EXPECT_EQ(roles["half"], "network output");
}

TEST_F(ReportTest, TimelinesAddUpToTheLatency) {
  const auto data = ParseJson(DataText(ReportOnChain()));
  int64_t cycles = 0;
  for (size_t i = 0; i < data.at("timelines").size(); ++i) {
    const auto& timeline = data.at("timelines")[i];
    EXPECT_EQ(timeline.at("cycles"), data.at("subgraphs")[i].at("metrics").at("latency"));
    EXPECT_EQ(timeline.at("busy").size(), data.at("tracks").size());
    EXPECT_FALSE(timeline.at("activities").empty());
    cycles += timeline.at("cycles").get<int64_t>();
  }
  EXPECT_EQ(cycles, data.at("totals").at("latency"));
}

// Layer by layer through a small memory, so that tensors lie off chip and share bytes.
TEST_F(ReportTest, DrawsTheChunksOfTensorsOffChip) {
  Write("hw.yaml", "extends: " + Shipped("hw_profiles/edge_npu_1mib.yaml") +
                       "\nschema: 1\nname: small\nmemories: {sram: {capacity_bytes: 2048}}\n");
  for (const std::string method : {"tile-aware", "whole"}) {
    SCOPED_TRACE(method);
    const Outcome outcome = Run({"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                                 "hw.yaml", "--off-chip", method, "--no-keep", "--max-operators",
                                 "1", "--output", "plan.json", "--output", "plan.html"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto data = ParseJson(DataText(Read("plan.html")));
    ASSERT_EQ(data.at("homes").size(), 1U);
    const auto& home = data.at("homes")[0];
    EXPECT_EQ(home.at("peak"), ReadJson("plan.json").at("homes")[0].at("peak"));
    EXPECT_EQ(home.at("unit"), method == "whole" ? "subgraph" : "slot");
    EXPECT_EQ(home.at("subgraphs").size(), data.at("subgraphs").size());
    struct Chunk {
      size_t tensor;
      std::array<int64_t, 4> box;  // addresses, times
    };
    std::vector<Chunk> chunks;
    size_t pairs_that_share = 0;
    for (size_t i = 0; i < home.at("tensors").size(); ++i) {
      const auto& tensor = home.at("tensors")[i];
      const auto offset = tensor.at("offset").get<int64_t>();
      int64_t end = 0;
      for (const auto& chunk : tensor.at("chunks")) {
        EXPECT_EQ(chunk[0], end);  // all bytes of the tensor, in order
        end = chunk[1].get<int64_t>();
        EXPECT_GE(chunk[2], tensor.at("life")[0]);
        EXPECT_LE(chunk[3], tensor.at("life")[1]);
        chunks.push_back({i,
                          {offset + chunk[0].get<int64_t>(), offset + end, chunk[2].get<int64_t>(),
                           chunk[3].get<int64_t>()}});
      }
      EXPECT_EQ(end, tensor.at("size"));
      for (size_t k = 0; k < i; ++k) {
        const auto& other = home.at("tensors")[k];
        const auto meet = [](int64_t a, int64_t b, int64_t c, int64_t d) { return a < d && c < b; };
        const auto at = other.at("offset").get<int64_t>();
        pairs_that_share +=
            meet(offset, offset + end, at, at + other.at("size").get<int64_t>()) &&
            meet(tensor.at("life")[0].get<int64_t>(), tensor.at("life")[1].get<int64_t>(),
                 other.at("life")[0].get<int64_t>(), other.at("life")[1].get<int64_t>());
      }
    }
    EXPECT_EQ(home.at("all_chunks"), chunks.size());
    int64_t highest = 0;
    for (const auto& range : home.at("lasting")) {
      EXPECT_LT(highest, range[1]);
      highest = range[1].get<int64_t>();
      for (const Chunk& chunk : chunks)
        EXPECT_TRUE(chunk.box[1] <= range[0].get<int64_t>() || highest <= chunk.box[0]);
    }
    for (const Chunk& chunk : chunks) highest = std::max(highest, chunk.box[1]);
    EXPECT_EQ(highest, home.at("peak"));
    EXPECT_EQ(pairs_that_share > 0, method == "tile-aware");
    for (size_t i = 0; i < chunks.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        const auto& [a, b] = std::tie(chunks[i].box, chunks[k].box);
        const bool collide = a[0] < b[1] && b[0] < a[1] && a[2] < b[3] && b[2] < a[3];
        EXPECT_FALSE(collide) << "chunks of tensors " << chunks[i].tensor << " and "
                              << chunks[k].tensor;
      }
    }
  }
}

TEST_F(ReportTest, NamesWithAnyCharactersAreData) {
  const std::string hostile = "</script><img src=x onerror=alert(1)>&\\u003c\"'`${1}\xE2\x80\xA8";
  const std::string quoted = nlohmann::json(hostile).dump();
  Write("net.yaml", "schema: 1\nname: " + quoted + "\ninputs: [{id: " + quoted +
                        ", shape: [1, 4, 8, 8]}]\noperators: [{id: a, kind: pool, inputs: [" +
                        quoted + "], kernel: 2, stride: 2}]\n");
  const std::string report = Report("net.yaml", "mcu_320k");
  EXPECT_THAT(MarkupReader(report).Fault(), IsEmpty());
  EXPECT_THAT(report, Not(HasSubstr("<img")));
  EXPECT_THAT(DataText(report), Not(HasSubstr("<")));
  const auto data = ParseJson(DataText(report));
  EXPECT_EQ(data.at("network"), hostile);
  EXPECT_EQ(data.at("tensors")[0].at("id"), hostile);
}

TEST_F(ReportTest, HasTheSameBytesOnAnyNumberOfThreads) {
  const std::string once = ReportOnChain({"--threads", "1"});
  EXPECT_EQ(ReportOnChain({"--threads", "2"}), once);
  ReportOnChain({"--report", "other.html"});
  EXPECT_EQ(Read("other.html"), once);
}

TEST_F(ReportTest, OfMobileNetItIsSmall) {
  const std::string report = Report(Shipped("examples/networks/mobilenet_v2.yaml"), "ethos_u65_256",
                                    {"--budget", "20000"});
  EXPECT_LT(report.size(), 2U << 20);
  EXPECT_EQ(ParseJson(DataText(report)).at("operators").size(), 64U);
}

}  // namespace
}  // namespace tessera::cli
