// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "tessera/base/diagnostic.h"

// Runs shell commands from a user's file.
namespace tessera::base {

// Runs `sh -c command` in a folder and returns its standard output. Its standard input is `input`;
// it shares the standard error of this process. Returns a diagnostic if the command cannot start,
// ends with a signal or an exit code other than 0, takes longer than `most`, or if `stops` returns
// true. In the last two cases it is killed. Cost: a process.
Expected<std::string> RunCommand(const std::string& command, const std::string& folder,
                                 const std::string& input, std::chrono::milliseconds most,
                                 const std::function<bool()>& stops);

}  // namespace tessera::base
