// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/explore/request.h"

namespace CLI {
class App;
}

namespace tessera::cli {

// The options of `tessera explore` that state the questions about a specification.
class ExploreQuestions {
 public:
  void Declare(CLI::App& app);
  const explore::Request& Get() const { return request_; }

  // Returns the fault in the combination of options; empty if there is none.
  std::string CheckRequest() const;

  // Returns whether the answer has fronts, which tables and pages show.
  bool WantsFront() const { return !request_.relax && request_.least.empty(); }

  // Returns whether only the pairs and their fronts are requested.
  bool AreOfPairs() const {
    return WantsFront() && !request_.marginal && !request_.uncertainty && !request_.adaptive;
  }

 private:
  explore::Request request_;
};

}  // namespace tessera::cli
