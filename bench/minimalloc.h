#pragma once

#include <optional>
#include <string>

#include "tessera/problem/problem.h"

namespace tessera::bench {

// Runs MiniMalloc's program at `path` on the Problem, with its capacity, for at most `seconds`:
// milliseconds from start to end of the process, reading and writing its files included, where it
// placed every buffer correctly; nullopt where it did not, or where CSV cannot state the Problem. A
// program that does not stop by itself is killed soon after.
std::optional<double> RunMiniMalloc(const std::string& path, problem::Problem question,
                                    double seconds);

}  // namespace tessera::bench
