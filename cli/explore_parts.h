// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/cli/exit_code.h"
#include "tessera/explore/request.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

namespace CLI {
class App;
}

// The parts of `tessera explore`: questions about a specification, and the words after `explore`.
namespace tessera::cli {

class Console;

// A part of `tessera explore` that a further word chooses, such as `merge`.
class ExplorePart {
 public:
  ExplorePart() = default;
  ExplorePart(const ExplorePart&) = delete;
  ExplorePart& operator=(const ExplorePart&) = delete;
  virtual ~ExplorePart() = default;
  virtual ExitCode Run(Console& console) = 0;
};

// Returns the document of the exploration that a store finished last.
base::Expected<explore::Json> LatestDocument(const explore::Store& store, const std::string& path);

// Reports an error of work with a store, which may be an output that cannot be written.
ExitCode RefuseStore(Console& console, const explore::StoreFault& fault);

// Does the work of a command that reads a store. Only this program writes the documents of stores,
// so a document that cannot be read is damaged; the console reports it.
ExitCode WithStore(Console& console, const std::function<ExitCode()>& work);

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

// Explorations by several processes: `tessera explore SPEC --shard` and `tessera explore merge`.

class Console;

// --shard and --retry-failed.
class ShardChoice {
 public:
  void Declare(CLI::App& app, CLI::Option* store);
  bool IsGiven() const { return !piece_.empty(); }

  // `text` is the content of the specification.
  ExitCode Run(Console& console, const explore::Spec& spec, const std::string& text,
               const explore::Store& store, int threads, bool plan_all) const;

 private:
  std::string piece_;
  bool retry_failed_ = false;
};

// Returns the code of a finished exploration: 0 if some pair has a plan, 20 if it is proven that
// none has one, and 11 if an answer failed. If only the set has a front, the points of the front
// replace the pairs.
ExitCode CodeOfExploration(const explore::Json& document);

std::unique_ptr<ExplorePart> MakeMergePart(CLI::App& app);

}  // namespace tessera::cli
