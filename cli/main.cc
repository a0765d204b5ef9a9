// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/cli/command.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/self_description.h"

namespace tessera::cli {
namespace {

constexpr const char* kAbout =
    "Plans the memory of neural accelerators before the program runs: how a network is cut into "
    "subgraphs, how large a tile of each is held on chip, and the address, bank and mode of every "
    "buffer. Every answer is checked by code that shares nothing with the code that found it; what "
    "cannot fit is proven not to fit.";

constexpr const char* kExitCodes =
    "Exit codes: 0 answer found and verified; 2 usage; 3 bad input; 4 unsupported; 5 check "
    "refused; 10 limit reached without an answer; 11 a part failed; 20 proven infeasible; 70 "
    "internal or "
    "verification failure; 74 cannot write; 130 interrupted.";

constexpr std::string_view kExhausted = "unknown: memory is exhausted\n";

using Commands = std::array<std::unique_ptr<Command>, 16>;

// Allocates nothing and changes nothing.
[[noreturn]] void SayExhausted() {
  static_cast<void>(write(STDERR_FILENO, kExhausted.data(), kExhausted.size()));
  std::_Exit(static_cast<int>(ExitCode::kLimit));
}

// Whether an allocation of this process has failed.
std::atomic<bool>& HasExhaustedMemory() {
  static std::atomic<bool> exhausted{false};
  return exhausted;
}

[[noreturn]] void ThrowExhausted() {
  HasExhaustedMemory() = true;
  throw std::bad_alloc();
}

// Libraries abort if they cannot continue after a failed allocation. JSON documents need memory for
// their destruction, and leave arrays behind that their own assertions refuse.
void OnAbort(int /*signal*/) {
  if (HasExhaustedMemory()) SayExhausted();
}

// Returns the command that an unknown first word may mean; empty if it is a command or an option.
std::string SuggestCommand(int argc, char** argv, const Commands& commands) {
  const std::string_view word = argc > 1 ? argv[1] : "-";
  if (word.starts_with('-')) return {};
  std::vector<std::string> names;
  for (const auto& command : commands) names.push_back(command->Name());
  const std::vector<std::string_view> views(names.begin(), names.end());
  if (std::find(views.begin(), views.end(), word) != views.end()) return {};
  const std::string guess = base::DidYouMean(word, views);
  return guess.empty() ? "there are " + base::Join(views) : guess;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Called after the subcommands are declared.
void DeclareDescriptions(CLI::App& app) {
  std::set<std::string> names = {app.get_name()};
  for (const CLI::App* command : app.get_subcommands({})) names.insert(command->get_name());
  app.add_option_function<std::string>(
         "--completion",
         [&app](const std::string& name) {
           const Shell shell = name == "bash"  ? Shell::kBash
                               : name == "zsh" ? Shell::kZsh
                                               : Shell::kFish;
           throw CLI::CallForVersion(CompletionScript(app, shell), 0);
         },
         "Print a script that completes commands and options in this shell, and exit")
      ->check(CLI::IsMember({"bash", "fish", "zsh"}));
  app.add_option_function<std::string>(
         "--manual",
         [&app](const std::string& name) {
           const bool is_all = name == app.get_name();
           throw CLI::CallForVersion(ManualPage(is_all ? app : *app.get_subcommand(name)), 0);
         },
         "Print the page for man of all commands or of one, and exit")
      ->check(CLI::IsMember(names));
}

ExitCode Run(Console& console, int argc, char** argv) {
  CLI::App app(kAbout, "tessera");
  app.footer(kExitCodes);
  bool verbose = false;
  app.add_flag("--verbose", verbose, "With --version: also the compiler, solvers and libraries");
  app.add_flag_callback(
      "--version",
      [&verbose] {
        throw CLI::CallForVersion(
            verbose ? VersionReport() : std::string("tessera ") + TESSERA_VERSION, 0);
      },
      "Print the version and exit");
  app.require_subcommand(1);
  const Commands commands = {
      MakePlanCommand(),   MakeTileCommand(),    MakeAllocCommand(),   MakeEncodeCommand(),
      MakeDecodeCommand(), MakeCheckCommand(),   MakeEvalCommand(),    MakeDiffCommand(),
      MakeShowCommand(),   MakeModesCommand(),   MakeConvertCommand(), MakeGenerateCommand(),
      MakeStatsCommand(),  MakeExploreCommand(), MakeServeCommand(),   MakeProfileCommand()};
  for (const auto& command : commands) {
    CLI::App* subcommand = app.add_subcommand(command->Name(), command->Summary());
    subcommand->footer(command->Examples());
    command->Declare(*subcommand);
  }
  DeclareDescriptions(app);
  const std::span<char* const> words(argv, static_cast<size_t>(argc));
  if (const std::string hint = SuggestCommand(argc, argv, commands); !hint.empty()) {
    console.Note(fmt::format("tessera: there is no command '{}'; {}", argv[1], hint));
    for (const std::string& line : DescribeOldOutputs(words)) console.Note(line);
    return ExitCode::kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream help;
    std::ostringstream fault;
    const bool helped = app.exit(error, help, fault) == 0;
    console.Print(help.str());
    for (const std::string& line : LinesOf(fault.str())) console.Note(line);
    if (helped) return ExitCode::kAnswer;
    for (const std::string& line : DescribeOldOutputs(words)) console.Note(line);
    return ExitCode::kUsage;
  }
  for (const auto& command : commands) {
    if (!app.got_subcommand(command->Name())) continue;
    std::signal(SIGABRT, &OnAbort);
    std::set_new_handler(&ThrowExhausted);
    return command->Run(console);
  }
  return ExitCode::kUsage;
}

// Returns the exit code after everything is printed. If a reader closed its end early, the command
// ends as any other would: by SIGPIPE, without a message.
int Finish(Console& console, ExitCode code, void (*on_broken_pipe)(int)) {
  const int error = console.Flush();
  if (error == 0) return static_cast<int>(code);
  if (error == EPIPE) {
    std::signal(SIGPIPE, on_broken_pipe);
    std::raise(SIGPIPE);
  } else {
    console.Note(fmt::format("standard output: error: cannot write: {}", std::strerror(error)));
  }
  return static_cast<int>(ExitCode::kCannotWrite);
}

// Opens a file that cannot be used on each standard stream that the caller closed. Otherwise the
// next opened file would get its number, and messages would end up in an answer.
void FillStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace
}  // namespace tessera::cli

int main(int argc, char** argv) {
  using namespace tessera::cli;
  // Functions of the option parser must not throw, so until it is done memory exhaustion ends the
  // process.
  std::set_new_handler(&SayExhausted);
  EndOnInterrupt();
  FillStandardStreams();
  // An output that is a broken pipe, or beyond a limit on files, must fail alone, without ending
  // the process before the others are written.
  void (*const on_broken_pipe)(int) = std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    Console console;
    const ExitCode code = Run(console, argc, argv);
    return Finish(console, code, on_broken_pipe);
  } catch (const std::bad_alloc&) {
    SayExhausted();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "internal error: %s\n  please report this with the input that caused it\n",
                 tessera::base::Printable(error.what()).c_str());
    return static_cast<int>(ExitCode::kInternal);
  }
}
