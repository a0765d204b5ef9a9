// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace tessera::base {

// A report of long work: a line for people, and the same for programs.
struct Progress {
  std::string_view line;
  std::string_view phase = {};           // what is counted: "intervals", "orders", ..
  int64_t done = 0;                      // of the phase
  int64_t total = 0;                     // 0: not known
  std::optional<double> incumbent = {};  // the score of the best answer so far
  // Proven: no answer has a lower score, for the network in the form that is searched at that time.
  std::optional<double> bound = {};

  // Functions that receive progress may take the line alone.
  operator std::string_view() const { return line; }
};

// May be empty. Is called from any thread.
using ProgressFunction = std::function<void(const Progress&)>;

}  // namespace tessera::base
