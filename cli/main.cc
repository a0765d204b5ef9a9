#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/suggest.h"
#include "tessera/cli/command.h"
#include "tessera/cli/console.h"

namespace tessera::cli {
namespace {

constexpr const char* kAbout =
    "Plans the memory of neural accelerators before the program runs: how a network is cut into subgraphs, "
    "how large a tile of each is "
    "held on chip, and the address, bank and mode of every buffer. Every answer is checked by code that "
    "shares nothing with the code "
    "that found it; what cannot fit is proven not to fit.";

constexpr const char* kExitCodes =
    "Exit codes: 0 answer found and verified; 2 usage; 3 bad input; 4 unsupported; 5 check refused; 10 limit "
    "reached without an answer; "
    "20 proven infeasible; 70 internal or verification failure; 74 cannot write; 130 interrupted.";

using Commands = std::array<std::unique_ptr<Command>, 10>;

// What may have been meant by a first word that is no command; empty when it is one, or an option.
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

int Main(int argc, char** argv) {
  CLI::App app(kAbout, "tessera");
  app.footer(kExitCodes);
  app.set_version_flag("--version", std::string("tessera ") + TESSERA_VERSION);
  app.require_subcommand(1);
  const Commands commands = {MakePlanCommand(),   MakeTileCommand(),  MakeAllocCommand(), MakeEncodeCommand(),
                             MakeDecodeCommand(), MakeCheckCommand(), MakeEvalCommand(),  MakeDiffCommand(),
                             MakeShowCommand(),   MakeModesCommand()};
  for (const auto& command : commands) {
    CLI::App* subcommand = app.add_subcommand(command->Name(), command->Summary());
    subcommand->footer(command->Examples());
    command->Declare(*subcommand);
  }
  if (const std::string hint = SuggestCommand(argc, argv, commands); !hint.empty()) {
    std::fprintf(stderr, "tessera: there is no command '%s'; %s\n", argv[1], hint.c_str());
    return static_cast<int>(ExitCode::kUsage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
  }
  Console console;
  for (const auto& command : commands) {
    if (!app.got_subcommand(command->Name())) continue;
    const ExitCode code = command->Run(console);
    return static_cast<int>(console.Flush() ? code : ExitCode::kCannotWrite);
  }
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace
}  // namespace tessera::cli

int main(int argc, char** argv) {
  // Without a handler mimalloc, which is C, ends the process where operator new has to throw.
  std::set_new_handler([] { throw std::bad_alloc(); });
  try {
    return tessera::cli::Main(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("unknown: memory is exhausted; nothing was written\n", stderr);
    return static_cast<int>(tessera::cli::ExitCode::kLimit);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "internal error: %s\n  please report this with the input that caused it\n",
                 error.what());
    return static_cast<int>(tessera::cli::ExitCode::kInternal);
  }
}
