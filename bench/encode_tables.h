// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/problem/engine.h"

// The tables of docs/encoding.md. Times are processor time of one thread, in ms, so that a busy
// machine disturbs them little. Limits are wall clock.
namespace tessera::bench {

struct EncodeArguments {
  std::filesystem::path root = ".";  // holds hw_profiles/ and examples/networks/
  uint64_t seeds = 100;              // of banked Problems
  int slack_percent = 10;            // of banked Problems
  double seconds = 10;               // limit for each question
};

// Compares order literals with bits over the number of positions.
void PrintCrossover(const EncodeArguments& arguments);

// Solves families of Problems with each refinement switched off in turn.
void PrintRefinements(const EncodeArguments& arguments);

// Solves chains of candidates by three methods: candidates selected in an open formula, a new
// formula for each candidate, and the lazy engine. Returns false if the networks cannot be read.
bool PrintChains(const EncodeArguments& arguments);

// Solves Problems with banks and modes, by CaDiCaL alone and by the portfolio.
void PrintBanked(const EncodeArguments& arguments);

struct Timed {
  problem::Result result;
  double milliseconds = 0;
};

// Opens a session and solves once, within memories[0].capacity.
Timed SolveAnew(const problem::Engine& engine, const problem::Problem& problem, double seconds);

}  // namespace tessera::bench
