// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/call.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>

#include "tessera/serve/request.h"

namespace tessera::serve {

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
