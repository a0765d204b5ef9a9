// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/explore/request.h"

namespace CLI {
class App;
}

namespace tessera::cli {

// The options of `tessera explore` that say what is asked of a specification.
class ExploreQuestions {
 public:
  void Declare(CLI::App& app);
  const explore::Request& Get() const { return request_; }

  // The fault in the combination of options; empty if there is none.
  std::string FindFault() const;

  // Whether the answer has fronts, which tables and pages show.
  bool WantsFront() const { return !request_.relax && request_.least.empty(); }

  // Whether nothing but the pairs and their fronts is asked for.
  bool AreOfPairs() const {
    return WantsFront() && !request_.marginal && !request_.uncertainty && !request_.adaptive;
  }

 private:
  explore::Request request_;
};

}  // namespace tessera::cli
