// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "tessera/cli/exit_code.h"
#include "tessera/cli/explore_part.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// Explorations by several processes: `tessera explore SPEC --shard` and `tessera explore merge`.
namespace tessera::cli {

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
