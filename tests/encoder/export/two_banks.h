// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/problem/files/problem_files.h"

namespace tessera::encoder {

// Two buffers that live together at step 1, in two banks of 32 bytes. One is read and one is
// written there, and no bank allows both in one mode.
//
//     64 +--------+
//        |   b1   |   m0: b0 read,  b1 write
//     32 +--------+   m1: b0 write, b1 read
//        |   b0   |
//      0 +--------+
inline problem::files::ProblemDocument TwoBanks() {
  problem::files::ProblemDocument document;
  problem::Problem& problem = document.problem;
  problem.name = "two banks";
  problem::Memory& memory = problem.memories.emplace_back();
  memory.name = "sram";
  memory.capacity = 64;
  for (const int64_t begin : {0, 32}) {
    problem::Bank& bank = memory.banks.emplace_back();
    bank.name = begin == 0 ? "b0" : "b1";
    bank.range = {begin, begin + 32};
  }
  const problem::BankMode read{false, {{"", problem::AccessKind::kRead}}};
  const problem::BankMode write{false, {{"", problem::AccessKind::kWrite}}};
  memory.modes = {{"m0", {read, write}}, {"m1", {write, read}}};
  for (const char* id : {"in", "out"}) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = id;
    buffer.size = 16;
    buffer.lifespans = {{1, 2}};
    buffer.span = problem::Span::kSingle;
  }
  problem.buffers[0].accesses = {{1, "", problem::AccessKind::kRead}};
  problem.buffers[1].accesses = {{1, "", problem::AccessKind::kWrite}};
  return document;
}

}  // namespace tessera::encoder
