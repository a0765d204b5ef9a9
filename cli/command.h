// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tessera/cli/exit_code.h"

namespace CLI {
class App;
}

namespace tessera::cli {

class Console;

// One subcommand of `tessera`. It declares its options, then runs with their values from the
// command line.
class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  virtual std::string Name() const = 0;
  virtual std::string Summary() const = 0;   // one line, for the list of commands
  virtual std::string Examples() const = 0;  // shown below the options

  virtual void Declare(CLI::App& app) = 0;
  virtual ExitCode Run(Console& console) = 0;
};

std::unique_ptr<Command> MakePlanCommand();
std::unique_ptr<Command> MakeTileCommand();
std::unique_ptr<Command> MakeAllocCommand();
std::unique_ptr<Command> MakeEncodeCommand();
std::unique_ptr<Command> MakeDecodeCommand();
std::unique_ptr<Command> MakeCheckCommand();
std::unique_ptr<Command> MakeDiffCommand();
std::unique_ptr<Command> MakeEvalCommand();
std::unique_ptr<Command> MakeShowCommand();
std::unique_ptr<Command> MakeModesCommand();
std::unique_ptr<Command> MakeConvertCommand();
std::unique_ptr<Command> MakeGenerateCommand();
std::unique_ptr<Command> MakeStatsCommand();
std::unique_ptr<Command> MakeExploreCommand();
std::unique_ptr<Command> MakeServeCommand();
std::unique_ptr<Command> MakeProfileCommand();

}  // namespace tessera::cli
