// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/cli/exit_code.h"

namespace tessera::cli {

class Console;

// A part of `tessera explore`, with the word behind it that chooses it.
class ExplorePart {
 public:
  ExplorePart() = default;
  ExplorePart(const ExplorePart&) = delete;
  ExplorePart& operator=(const ExplorePart&) = delete;
  virtual ~ExplorePart() = default;
  virtual ExitCode Run(Console& console) = 0;
};

}  // namespace tessera::cli
