// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace CLI {
class App;
}

// Manual pages and completions of shells, made from the declared options, as --help is. No text
// ends with a line feed.
namespace tessera::cli {

// A manual page of section 1 in the man macros of troff, for the command itself or for one of its
// subcommands.
std::string ManualPage(const CLI::App& app);

enum class Shell { kBash, kZsh, kFish };

// A script that the shell reads, for the command with its subcommands.
std::string CompletionScript(const CLI::App& app, Shell shell);

// Returns the version, and those of the compiler, the solvers, the network formats and the
// libraries.
std::string VersionReport();

}  // namespace tessera::cli
