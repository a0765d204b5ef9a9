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
#include <optional>
#include <string>
#include <vector>

#include "tessera/serve/recent.h"
#include "tessera/serve/request.h"

namespace tessera::serve {

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
