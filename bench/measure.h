// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::bench {

struct Measurement {
  problem::Result result;
  double milliseconds = 0;
};

struct Task {
  std::optional<problem::Bytes> capacity;  // nullopt: minimise
  uint64_t seed = 0;
  double seconds = 10;  // limit
  int runs = 1;         // the best counts
  int threads = 1;
  std::string engine = {};  // runs alone; empty: all
  base::Budget budget = {};
};

struct Arguments {
  std::filesystem::path data;
  int runs = 5;
  std::string minimalloc;  // its program; empty: not run
  std::string engine;      // runs alone; empty: all
  std::string table;       // printed alone; empty: all
};

// Returns the answer of the portfolio with default options, and its time from a Problem in memory
// to a validated Result. A wrong answer ends the program.
Measurement Measure(const problem::Problem& question, const Task& task);

// Returns the number with one digit after the point; "-" for none.
std::string Cell(const std::optional<double>& milliseconds);

// Returns the problem of a CSV file. Returns nullopt if there is no file, or, with a message on
// standard error, if it is faulty.
std::optional<problem::Problem> ReadProblem(const std::filesystem::path& path);

}  // namespace tessera::bench
