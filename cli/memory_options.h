// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/problem.h"
#include "tessera/search/allocate/several_memories.h"

namespace tessera::cli {

// --capacity and --minimize: the memories of a Problem by name.
class MemoryOptions {
 public:
  // Returns --minimize, which other options exclude.
  CLI::Option* Declare(CLI::App& app);

  // Sets the capacities that are given by name, and determines what is minimised. Refuses a memory
  // that the Problem does not have.
  std::optional<base::Diagnostic> ApplyTo(problem::Problem& problem);

  std::optional<int64_t> Capacity() const { return capacity_; }  // of the first memory
  bool Minimizes() const { return !minimized_.empty(); }

  // Whether --capacity names another memory than the first.
  bool SetsOthers() const { return sets_others_; }

  // The objective of --minimize, unless it concerns the first memory alone.
  const std::optional<search::allocate::PeakObjective>& Objective() const { return objective_; }

 private:
  std::optional<base::Diagnostic> SetCapacities(problem::Problem& problem);

  std::string capacities_;  // "64", "sram=64,tcm=32"
  std::string minimized_;   // "sum", "relative", "sram", "sram=2,tcm=1"; empty: nothing
  std::optional<int64_t> capacity_;
  bool sets_others_ = false;
  std::optional<search::allocate::PeakObjective> objective_;
};

}  // namespace tessera::cli
