// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/bench/challenging_tables.h"
#include "tessera/bench/family_tables.h"

// Prints tables about the allocator with all its engines (scripts/bench).
namespace {

using tessera::bench::Arguments;

using Challenges = std::vector<tessera::problem::Problem>;
namespace bench = tessera::bench;

constexpr double kSecondsOfMinimising = 20;
constexpr int kMostRunsOfSeeds = 3;

struct Table {
  std::string_view name;
  void (*print)(const Challenges& challenges, const Arguments& arguments);
};

constexpr Table kTables[] = {
    {"decided", [](const Challenges& c, const Arguments& a) { bench::PrintDecided(c, a); }},
    {"seeds", [](const Challenges& c,
                 const Arguments& a) { bench::PrintSeeds(c, std::min(a.runs, kMostRunsOfSeeds)); }},
    {"deadlines", [](const Challenges& c, const Arguments&) { bench::PrintDeadlines(c); }},
    {"threads", [](const Challenges& c, const Arguments&) { bench::PrintSpeedUp(c); }},
    {"minimal",
     [](const Challenges& c, const Arguments&) { bench::PrintMinimal(c, kSecondsOfMinimising); }},
    {"micro", [](const Challenges&, const Arguments& a) { bench::PrintMicro(a); }},
    {"families", [](const Challenges&, const Arguments& a) { bench::PrintFamilies(a); }},
};

std::optional<Arguments> Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool takes_value =
        word == "--runs" || word == "--minimalloc" || word == "--engine" || word == "--table";
    if (takes_value && i + 1 == argc) return std::nullopt;
    if (word == "--runs") {
      arguments.runs = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--minimalloc") {
      arguments.minimalloc = argv[++i];
    } else if (word == "--engine") {
      arguments.engine = argv[++i];
    } else if (word == "--table") {
      arguments.table = argv[++i];
    } else if (word.starts_with("-") || !arguments.data.empty()) {
      return std::nullopt;
    } else {
      arguments.data = word;
    }
  }
  const bool known = arguments.table.empty() ||
                     std::any_of(std::begin(kTables), std::end(kTables),
                                 [&](const Table& table) { return table.name == arguments.table; });
  return arguments.data.empty() || !known ? std::nullopt : std::optional(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Arguments> arguments = Parse(argc, argv);
  if (!arguments) {
    std::fputs(
        "usage: allocate_bench DATA_FOLDER [--runs N] [--minimalloc PROGRAM] [--engine NAME] "
        "[--table NAME]\n"
        "DATA_FOLDER, or its folder 'challenging', holds MiniMalloc's challenging problems "
        "A.1048576.csv to\n"
        "K.1048576.csv. --engine asks one engine alone about the families, --table prints one "
        "table of:",
        stderr);
    for (const Table& table : kTables) std::fprintf(stderr, " %s", table.name.data());
    std::fputs("\n", stderr);
    return 2;
  }
  if (!arguments->minimalloc.empty() && access(arguments->minimalloc.c_str(), X_OK) != 0) {
    std::fprintf(stderr, "allocate_bench: %s is no program that may be run\n",
                 arguments->minimalloc.c_str());
    return 3;
  }
  const auto challenges = bench::ReadChallenges(*arguments);
  if (!challenges) return 3;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  for (const Table& table : kTables) {
    if (arguments->table.empty() || arguments->table == table.name)
      table.print(*challenges, *arguments);
  }
  return 0;
}
