// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "tessera/serve/answerer.h"
#include "tessera/serve/request_stream.h"

// What stands between a stream and the answers of a session.
namespace tessera::serve {
namespace {

constexpr std::chrono::milliseconds kNoTime{0};

// A pipe that a test writes.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~Pipe() { Close(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int Reader() const { return ends_[0]; }
  void Write(std::string_view text) const {
    EXPECT_EQ(write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void Close() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
};

TEST(Lines, ComeAsTheyAreWritten) {
  Pipe pipe;
  Lines lines(pipe.Reader());
  std::string line;
  EXPECT_EQ(lines.Next(line, kNoTime), Lines::Event::kNothingYet);
  pipe.Write("one\n\ntw");
  EXPECT_EQ(lines.Next(line, kNoTime), Lines::Event::kLine);
  EXPECT_EQ(line, "one");
  EXPECT_EQ(lines.Next(line, kNoTime), Lines::Event::kLine);
  EXPECT_EQ(line, "");
  EXPECT_EQ(lines.Next(line, kNoTime), Lines::Event::kNothingYet);
  pipe.Write("o\nlast");
  EXPECT_EQ(lines.Next(line, kNoTime), Lines::Event::kLine);
  EXPECT_EQ(line, "two");
  pipe.Close();
  EXPECT_EQ(lines.Next(line, kNoTime), Lines::Event::kLine);
  EXPECT_EQ(line, "last");
  EXPECT_EQ(lines.Next(line, kNoTime), Lines::Event::kEnd);
  EXPECT_EQ(lines.BytesRead(), 13);
}

TEST(Lines, OneThatIsTooLongIsNamedAndTheNextIsRead) {
  Pipe pipe;
  Lines lines(pipe.Reader());
  std::thread writer([&] {
    const std::string block(size_t{1} << 20, 'x');
    for (int i = 0; i < 64; ++i) pipe.Write(block);
    pipe.Write("x\nnext\n");
    pipe.Close();
  });
  std::string line;
  const auto next = [&] {
    Lines::Event event = Lines::Event::kNothingYet;
    while (event == Lines::Event::kNothingYet)
      event = lines.Next(line, std::chrono::milliseconds(50));
    return event;
  };
  EXPECT_EQ(next(), Lines::Event::kTooLong);
  EXPECT_EQ(next(), Lines::Event::kLine);
  EXPECT_EQ(line, "next");
  EXPECT_EQ(next(), Lines::Event::kEnd);
  writer.join();
}

TEST(Lines, WithoutAStreamAreAFault) {
  Lines lines(-1);
  std::string line;
  EXPECT_EQ(lines.Next(line, kNoTime), Lines::Event::kFault);
  EXPECT_EQ(lines.Error(), EBADF);
}

TEST(Waiting, HasRoomForSoManyBytes) {
  Waiting waiting(100);
  Request request;
  EXPECT_TRUE(waiting.Add(request, 60, kNoTime));
  EXPECT_TRUE(waiting.Add(request, 40, kNoTime));
  EXPECT_FALSE(waiting.Add(request, 1, kNoTime));
  waiting.RemoveFirst();
  EXPECT_TRUE(waiting.Add(request, 1, kNoTime));
  EXPECT_FALSE(waiting.Add(request, 101, kNoTime));
  waiting.RemoveFirst();
  waiting.RemoveFirst();
  EXPECT_TRUE(waiting.Add(request, 101, kNoTime));  // alone
  EXPECT_FALSE(waiting.Add(request, 0, kNoTime) && waiting.Add(request, 1, kNoTime));
}

TEST(Waiting, HasRoomForSoManyRequests) {
  Waiting waiting(100'000);
  Request request;
  for (size_t i = 0; i < Waiting::kMostRequests; ++i) EXPECT_TRUE(waiting.Add(request, 2, kNoTime));
  EXPECT_FALSE(waiting.Add(request, 2, kNoTime));
  waiting.Close();
  while (waiting.AwaitFirst() != nullptr) waiting.RemoveFirst();
  EXPECT_TRUE(waiting.AwaitNone(kNoTime));
}

TEST(Recent, KeepsTheLastOnesWithinItsBytes) {
  Recent<int> recent(3, 10'000);
  int made = 0;
  const auto find = [&](const std::string& key, size_t bytes) {
    return *recent.FindOr(key, bytes, [&] { return std::optional<int>(++made); });
  };
  EXPECT_EQ(find("a", 1'000), 1);
  EXPECT_EQ(find("b", 1'000), 2);
  EXPECT_EQ(find("c", 1'000), 3);
  EXPECT_EQ(find("a", 1'000), 1);
  EXPECT_EQ(find("d", 1'000), 4);  // drops b
  EXPECT_EQ(find("a", 1'000), 1);
  EXPECT_EQ(find("b", 1'000), 5);
  EXPECT_EQ(find("large", 9'000), 6);  // drops others until it fits
  EXPECT_EQ(recent.Count(), 1U);
  EXPECT_EQ(find("larger", 10'000), 7);  // is not kept
  EXPECT_EQ(find("larger", 10'000), 8);
  EXPECT_EQ(find("large", 9'000), 6);
  EXPECT_EQ(find(std::string(9'900, 'k'), 0), 9);  // keys count
  EXPECT_EQ(recent.Count(), 1U);
  recent.Clear();
  EXPECT_EQ(find("large", 9'000), 10);
}

}  // namespace
}  // namespace tessera::serve
