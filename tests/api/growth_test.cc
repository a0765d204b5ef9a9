// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <string>

#include "fixture.h"
#include "tessera/tests/draws.h"

// A process that plans many networks does not grow.
namespace tessera::tests {
namespace {

constexpr int kWarm = 200;
constexpr int kCalls = 1000;

// Freed bytes that malloc keeps for the next call of a thread count as allocated.
constexpr size_t kMostKept = 32 * 1024;

// Different networks for different numbers below 1 000.
Network NetworkOf(int number) {
  const std::string extent = std::to_string(8 + number / 10 % 10);
  const std::string few = std::to_string(8 + 8 * (number % 10));
  const std::string many = std::to_string(16 + number / 100);
  std::string text = "schema: 1\nname: n" + std::to_string(number) + "\ninputs:\n";
  text += "  - {id: x, shape: [1, 3, " + extent + ", " + extent + "]}\noperators:\n";
  text += "  - {id: a, kind: conv, inputs: [x], out_channels: " + few + ", kernel: 3}\n";
  text += "  - {id: b, kind: conv, inputs: [a], out_channels: " + many + ", kernel: 1}\n";
  return Must(Network::Parse(text + "outputs: [b]\n"));
}

struct Held {
  size_t resident = 0;
  size_t heap = 0;  // what was allocated and not freed
};

// How much malloc keeps depends on the last call, so the same one precedes each look.
Held HeldAfterAPlanOf(const Network& network, const Profile& profile) {
  PlanOf(network, profile);
  size_t size = 0;
  size_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return {resident * static_cast<size_t>(sysconf(_SC_PAGESIZE)), mallinfo2().uordblks};
}

TEST(Growth, OfAProcessThatMakesPlansIsUnderOnePercent) {
  const Profile profile = Npu();
  const Network chain = Chain();
  Held before;
  for (int call = 0; call < DrawsOf(kCalls); ++call) {
    if (call == DrawsOf(kWarm)) before = HeldAfterAPlanOf(chain, profile);
    PlanOf(NetworkOf(call), profile);
  }
  const Held after = HeldAfterAPlanOf(chain, profile);
  RecordProperty("resident_before", static_cast<int>(before.resident));
  RecordProperty("resident_after", static_cast<int>(after.resident));
  EXPECT_GT(before.resident, 0U);
  // A sanitizer keeps what is freed for a while, and finds what is not freed.
  if (kSanitized) return;
  EXPECT_LT(after.resident, before.resident + before.resident / 100);
  EXPECT_LT(after.heap, before.heap + kMostKept);
}

}  // namespace
}  // namespace tessera::tests
