// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "tessera/bench/encode_tables.h"

namespace {

using tessera::bench::EncodeArguments;

constexpr const char* kUsage =
    "usage: encode_bench [--table crossover|refinements|chains|banked] [--root FOLDER] [--seeds N] "
    "[--slack "
    "PERCENT]\n"
    "                    [--seconds LIMIT]\n"
    "FOLDER holds hw_profiles/ and examples/networks/ (default: here); seeds and slack are those "
    "of banked "
    "problems.\n";

struct CommandLine {
  std::string table;  // printed alone; empty: all
  EncodeArguments arguments;
};

std::optional<CommandLine> Parse(int argc, char** argv) {
  CommandLine line;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return std::nullopt;
    const std::string word = argv[i];
    const char* value = argv[i + 1];
    if (word == "--table") {
      line.table = value;
    } else if (word == "--root") {
      line.arguments.root = value;
    } else if (word == "--seeds") {
      line.arguments.seeds = std::strtoull(value, nullptr, 10);
    } else if (word == "--slack") {
      line.arguments.slack_percent = std::atoi(value);
    } else if (word == "--seconds") {
      line.arguments.seconds = std::atof(value);
    } else {
      return std::nullopt;
    }
  }
  const bool known = line.table.empty() || line.table == "crossover" ||
                     line.table == "refinements" || line.table == "chains" ||
                     line.table == "banked";
  return known ? std::optional(line) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<CommandLine> line = Parse(argc, argv);
  if (!line) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto wanted = [&](const char* table) {
    return line->table.empty() || line->table == table;
  };
  if (wanted("crossover")) tessera::bench::PrintCrossover(line->arguments);
  if (wanted("refinements")) tessera::bench::PrintRefinements(line->arguments);
  if (wanted("chains") && !tessera::bench::PrintChains(line->arguments)) return 3;
  if (wanted("banked")) tessera::bench::PrintBanked(line->arguments);
  return 0;
}
