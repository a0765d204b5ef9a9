// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::problem {

inline Buffer MakeBuffer(std::string id, Step lower, Step upper, Bytes size) {
  Buffer buffer;
  buffer.id = std::move(id);
  buffer.size = size;
  buffer.lifespans = {{lower, upper}};
  return buffer;
}

// One memory of 16 bytes without banks.
inline Problem PlainProblem(std::vector<Buffer> buffers) {
  Problem problem;
  problem.buffers = std::move(buffers);
  problem.memories.resize(1);
  problem.memories[0].capacity = 16;
  return problem;
}

// One memory of 16 bytes with banks "low" [0, 8) and "high" [8, 16), and modes "rw" (low read, high
// written), "wr" (the reverse) and "sleep" (low off, high holds).
inline Problem BankedProblem(std::vector<Buffer> buffers) {
  Problem problem = PlainProblem(std::move(buffers));
  const BankMode reads = {false, {{"", AccessKind::kRead}}};
  const BankMode writes = {false, {{"", AccessKind::kWrite}}};
  Memory& memory = problem.memories[0];
  memory.banks = {{"low", {0, 8}, {}}, {"high", {8, 16}, {}}};
  memory.modes = {{"rw", {reads, writes}}, {"wr", {writes, reads}}, {"sleep", {{true, {}}, {}}}};
  return problem;
}

}  // namespace tessera::problem
