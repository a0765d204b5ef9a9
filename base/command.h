// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "tessera/base/diagnostic.h"

// Commands of the user.
namespace tessera::base {

// Runs `sh -c command` in a folder and gives what it writes to standard output. Its standard input
// is `input`; standard error is that of this process. The complaint says why there is no output:
// the command cannot start, ends with another exit code than 0, takes longer than `most`, or
// `stops` gives true. After these two it is killed. Cost: a process.
Expected<std::string> RunCommand(const std::string& command, const std::string& folder,
                                 const std::string& input, std::chrono::milliseconds most,
                                 const std::function<bool()>& stops);

}  // namespace tessera::base
