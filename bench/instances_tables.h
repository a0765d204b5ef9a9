// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <filesystem>

// Tables about generated and published instances, printed to standard output.
namespace tessera::bench {

struct Settings {
  double seconds = 10;         // limit of each answer
  std::filesystem::path data;  // published instances are in its folder 'large'; those that are
                               // missing are left out
};

// Compares predicted hardness with measured processor time, and prints their rank correlation.
void PrintHardness(const Settings& settings);

// Solves buffers that never overlap and buffers of one size, up to a million.
void PrintElementary(const Settings& settings);

// Chooses the most valuable buffers (search/choose) among 60 and among 10 000; the limit of the
// latter is half of `seconds`.
void PrintChoice(const Settings& settings);

// Runs boxing with each of its extensions switched off.
void PrintBoxing(const Settings& settings);

}  // namespace tessera::bench
