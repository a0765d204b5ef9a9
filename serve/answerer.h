// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/call.h>
#include <tessera/evaluator.h>
#include <tessera/network.h>
#include <tessera/profile.h>
#include <tessera/session.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/serve/protocol.h"

namespace tessera::serve {

// A cache of values by text, with limits on the number of values and on their bytes. If space is
// short, the least recently used are dropped first.
template <typename Value>
class Recent {
 public:
  Recent(size_t most_values, size_t most_bytes)
      : most_values_(most_values), most_bytes_(most_bytes) {}

  // Returns the value with the same key, or else that of `make`, a Result, which is then kept,
  // unless it alone is too large. `bytes` is the approximate size of the value without the key.
  template <typename Make>
  auto FindOr(const std::string& key, size_t bytes, const Make& make) -> decltype(make()) {
    for (auto at = values_.begin(); at != values_.end(); ++at) {
      if (at->key != key) continue;
      values_.splice(values_.begin(), values_, at);
      return at->value;
    }
    auto value = make();
    bytes += key.size() + sizeof(Entry);
    if (!value || bytes > most_bytes_) return value;
    while (values_.size() >= most_values_ || bytes_ + bytes > most_bytes_) {
      bytes_ -= values_.back().bytes;
      values_.pop_back();
    }
    values_.push_front({key, *value, bytes});
    bytes_ += bytes;
    return value;
  }

  void Clear() {
    values_.clear();
    bytes_ = 0;
  }

  size_t Count() const { return values_.size(); }

 private:
  struct Entry {
    std::string key;
    Value value;
    size_t bytes;
  };

  const size_t most_values_;
  const size_t most_bytes_;
  size_t bytes_ = 0;
  std::list<Entry> values_;  // most recently used first
};

struct AnswererOptions {
  int threads = 1;                      // of each request
  std::optional<int64_t> memory_limit;  // bytes that the process holds
  // bytes kept between requests, approximately; at most a quarter of the memory limit
  size_t most_bytes = size_t{512} << 20;
};

// Answers requests, one at a time. The state that it keeps between them changes the time of an
// answer, never its bytes. Inputs with the same text are read once; files are read for each
// request.
//
// Kept answers count against the memory limit of a request. So they are dropped if the process
// holds more than half of the limit, or if the limit cuts a request off, which is then answered
// once more without them.
class Answerer {
 public:
  explicit Answerer(const AnswererOptions& options);

  // Returns the answer on one line, which ends in a line break. Never fails: errors are answers.
  // The canceller ends a request early.
  std::string Answer(const Request& request, const Canceller& canceller);

 private:
  using Clock = std::chrono::steady_clock;

  Result<std::string> AnswerTo(const Request& request, const Canceller& canceller);
  Result<std::string> Plan(const Request& request, const Canceller& canceller);
  Result<std::string> Evaluate(const Request& request, const Canceller& canceller);
  Result<std::string> Allocate(const Request& request, const Canceller& canceller);
  Result<std::string> Check(const Request& request, const Canceller& canceller);

  Result<std::string> Try(const Request& request, const Canceller& canceller);
  void MakeRoom();
  void Forget();
  void Limit(const Canceller& canceller, CallOptions& options) const;
  Result<Network> NetworkOf(const Request& request);
  Result<Profile> ProfileOf(const Document& document);
  Result<Evaluator> EvaluatorOf(const Request& request);

  AnswererOptions options_;
  Session session_;
  Recent<Network> networks_;
  Recent<Profile> profiles_;
  Recent<Evaluator> evaluators_;
  bool keeps_ = false;                         // something between requests
  bool out_of_memory_ = false;                 // in this request
  std::optional<Clock::time_point> deadline_;  // of this request
};

}  // namespace tessera::serve
