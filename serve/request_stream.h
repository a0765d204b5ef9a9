// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/call.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/serve/protocol.h"

// Requests from a stream: its lines, and the requests that wait.
namespace tessera::serve {

// The lines of a stream that may come slowly. Owns its descriptor.
class Lines {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;  // of a line

  enum class Event : uint8_t {
    kLine,
    kTooLong,   // a line that has more than kMostBytes
    kNoMemory,  // a line that there was no memory for
    kNothingYet,
    kEnd,
    kFault,  // see Error()
  };

  explicit Lines(int descriptor) : descriptor_(descriptor) {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines();

  // Returns the next line without its line break; waits for it no longer than `patience`. Throws
  // std::bad_alloc only if there is no memory even for a block of the stream.
  Event Next(std::string& line, std::chrono::milliseconds patience);

  int64_t BytesRead() const { return bytes_read_; }
  int Error() const { return error_; }  // of errno

 private:
  std::optional<Event> Fill(std::chrono::milliseconds patience);
  void Append(std::string_view bytes);
  void Skip(Event why);
  Event TakeLine(size_t length, std::string& line);

  int descriptor_;
  std::string buffer_;
  size_t searched_ = 0;         // bytes without a line break
  std::optional<Event> skips_;  // why the rest of a line is left out
  bool ended_ = false;
  int64_t bytes_read_ = 0;
  int error_ = 0;
};

// Returns standard input under another descriptor. Descriptor 0 becomes an empty file, so that
// nothing else in the process reads standard input, whatever name it uses ("-", /dev/stdin).
// Returns -1, with errno, if there is no standard input.
int TakeStandardInput();

// Requests in the order of their lines; the first one is being answered. One thread adds and one
// thread removes requests.
class Waiting {
 public:
  struct Entry {
    Request request;
    Canceller canceller;
    size_t bytes = 0;  // of its line
  };

  static constexpr size_t kMostRequests = 1'000;

  // There is room while fewer than kMostRequests wait, and while their lines together have at most
  // `most_bytes` bytes. A longer line has room only if no request waits.
  explicit Waiting(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Takes the request and returns true, or returns false if there is no room within `patience`. If
  // it throws std::bad_alloc, the request is unchanged.
  bool Add(Request& request, size_t bytes, std::chrono::milliseconds patience);

  // Waits for the first request, which stays there until RemoveFirst; nullptr at the end. Entries
  // of a deque stay in place.
  const Entry* AwaitFirst();
  void RemoveFirst();

  void Cancel(const std::string& id);
  void CancelAll();

  // From now on, no request may be added.
  void Close();

  // Returns whether all requests are removed within `patience`.
  bool AwaitNone(std::chrono::milliseconds patience);

 private:
  bool HasRoom(size_t bytes) const {
    return entries_.empty() || (entries_.size() < kMostRequests &&
                                bytes <= most_bytes_ - std::min(most_bytes_, bytes_));
  }

  const size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  size_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace tessera::serve
