#pragma once

#include <tessera/call.h>
#include <tessera/evaluator.h>
#include <tessera/network.h>
#include <tessera/profile.h>
#include <tessera/session.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/serve/request.h"

namespace tessera::serve {

struct AnswererOptions {
  int threads = 1;                        // of each request
  std::optional<int64_t> memory_limit;    // bytes that the process holds
  size_t most_bytes = size_t{512} << 20;  // that are kept between requests, about
};

// Answers requests, one at a time. What it keeps between them changes the time of an answer, never
// its bytes. Inputs with the same text are read once; files are read for each request.
class Answerer {
 public:
  explicit Answerer(const AnswererOptions& options);

  // The answer on one line, which ends in a line break. Never fails: errors are answers. The
  // canceller ends a request early.
  std::string Answer(const Request& request, const Canceller& canceller);

 private:
  template <typename Value>
  using Known = std::list<std::pair<std::string, Value>>;  // by text, used last first

  Result<std::string> AnswerTo(const Request& request, const Canceller& canceller);
  Result<std::string> Plan(const Request& request, const Canceller& canceller);
  Result<std::string> Evaluate(const Request& request, const Canceller& canceller);
  Result<std::string> Allocate(const Request& request, const Canceller& canceller);
  Result<std::string> Check(const Request& request, const Canceller& canceller);

  void Limit(const Request& request, const Canceller& canceller, CallOptions& options) const;
  Result<Network> NetworkOf(const Document& document);
  Result<Profile> ProfileOf(const Document& document);
  Result<Evaluator> EvaluatorOf(const Request& request);

  AnswererOptions options_;
  Session session_;
  Known<Network> networks_;
  Known<Profile> profiles_;
  Known<Evaluator> evaluators_;
};

// The answer that a request failed.
std::string AnswerToError(const std::string& id, const Error& error);

}  // namespace tessera::serve
