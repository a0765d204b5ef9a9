// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <tessera/tessera.h>

#include <algorithm>
#include <map>

#include "fixture.h"
#include "tessera/explore/analyses.h"
#include "tessera/explore/request.h"

// The least value of an entry, against plans with each value of the range.
namespace tessera::explore {
namespace {

using testing::HasSubstr;

class LeastTest : public SpecTest {
 protected:
  LeastTest() : store_(*Store::Open(":memory:")) { WriteBursts(); }

  Json LeastOf(const std::string& range, int limit, int budget = 200'000) const {
    const auto spec =
        Read("schema: 1\nnetworks: [{file: one.yaml, limit: {latency: " + std::to_string(limit) +
             "}}]\nprofile: bursts.yaml\nvary:\n  roles.network_input.request_bytes: " + range +
             "\nminimize: [latency]\noptions: {budget: " + std::to_string(budget) + "}\n");
    EXPECT_TRUE(spec) << base::Format(spec.error());
    const auto document = Ask(*spec, store_, {.least = "roles.network_input.request_bytes"}, {});
    EXPECT_TRUE(document) << base::Format(document.error());
    return (**document).at("profiles")[0];
  }

  // The optimal latency with requests of so many bytes.
  double LatencyOf(int request) const {
    const auto profile = Profile::Load(PathOf("bursts.yaml"));
    Json document = Json::parse(profile->Json());
    document["roles"]["network_input"]["request_bytes"] = request;
    const auto network = Network::Load(PathOf("one.yaml"));
    const auto answer = MakePlan(*network, *Profile::Parse(document.dump()));
    EXPECT_EQ(answer->outcome, Outcome::kOptimal);
    return answer->plan->FindMetric("latency")->value;
  }

  Store store_;
};

TEST_F(LeastTest, AValueBetweenInsufficientEndsIsFound) {
  std::map<int, double> latencies;
  for (int request = 30; request <= 34; ++request) latencies[request] = LatencyOf(request);
  const double best = latencies.at(32);
  ASSERT_LT(best, latencies.at(30));
  ASSERT_LT(best, latencies.at(34));
  const int limit = static_cast<int>(best);
  const Json range = LeastOf("[30, 34]", limit);
  const Json& network = range.at("networks")[0];
  ASSERT_TRUE(network.contains("found")) << network;
  EXPECT_LE(latencies.at(network.at("found").get<int>()), limit);
  EXPECT_GT(latencies.at(network.at("insufficient").get<int>()), limit);
  for (const auto& [request, latency] : latencies) {
    if (network.at("exact") == true && request < network.at("found").get<int>()) {
      EXPECT_GT(latency, limit) << request;
    }
  }
  EXPECT_EQ(range.at("set").at("found"), network.at("found"));
  EXPECT_EQ(range.at("set").at("none_suffices"), false);
}

TEST_F(LeastTest, ThatNoneSufficesIsClaimedWhereEachValueIsProven) {
  int limit = 1'000'000;
  for (int request = 30; request <= 34; ++request)
    limit = std::min(limit, static_cast<int>(LatencyOf(request)) - 1);
  const Json range = LeastOf("[30, 34]", limit);
  EXPECT_EQ(range.at("set").at("none_suffices"), true);
  EXPECT_FALSE(range.at("set").contains("found"));
  // Without work, bounds do not prove it.
  const Json open = LeastOf("[30, 34]", limit, 1);
  EXPECT_FALSE(open.at("set").contains("found"));
  EXPECT_EQ(open.at("set").at("none_suffices"), false);
  EXPECT_THAT(DescribeLeast({{"path", "p"}, {"profiles", {open}}}),
              HasSubstr("no value that suffices was found; it is not proven of all of them"));
}

// The greatest value is tried, whether or not steps from the least one reach it; and a profile
// below one step is tried as it is.
TEST_F(LeastTest, TheGreatestValueBelongsToTheRange) {
  const auto least_of = [this](int capacity) {
    Write("small.yaml", "extends: " + Shipped("hw_profiles/mcu_320k.yaml") +
                            "\nname: small\nmemories: {sram: {capacity_bytes: " +
                            std::to_string(capacity) + ", alignment_bytes: 16}}\n");
    const auto spec =
        Read("schema: 1\nnetworks: [" + Shipped("examples/networks/patent_chain.yaml") +
             "]\nprofile: small.yaml\nminimize: [latency]\n");
    EXPECT_TRUE(spec) << base::Format(spec.error());
    const auto document = Ask(*spec, store_, {.least = "memories.sram.capacity_bytes"}, {});
    EXPECT_TRUE(document) << base::Format(document.error());
    return (**document).at("profiles")[0];
  };
  const Json fits = least_of(1404);
  EXPECT_EQ(fits.at("set").at("found"), 1404);
  EXPECT_EQ(fits.at("set").at("none_suffices"), false);
  const Json tiny = least_of(8);
  EXPECT_EQ(tiny.at("from"), 8);
  EXPECT_EQ(tiny.at("networks")[0].at("insufficient"), 8);
}

TEST_F(LeastTest, TheFirstValueIsExactIfItSuffices) {
  const Json range = LeastOf("[32, 40]", static_cast<int>(LatencyOf(32)));
  EXPECT_EQ(range.at("networks")[0].at("found"), 32);
  EXPECT_EQ(range.at("networks")[0].at("exact"), true);
  EXPECT_EQ(range.at("set").at("exact"), true);
}

}  // namespace
}  // namespace tessera::explore
