// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tessera/bench/instances_tables.h"

// Tables about generated instances. Times are processor time of all threads; answers are limited by
// wall clock.
int main(int argc, char** argv) {
  using namespace tessera::bench;
  struct Table {
    std::string_view name;
    void (*print)(const Settings& settings);
  };
  static constexpr Table kTables[] = {{"hardness", PrintHardness},
                                      {"elementary", PrintElementary},
                                      {"choice", PrintChoice},
                                      {"boxing", PrintBoxing}};
  const std::string_view wanted = argc > 1 ? argv[1] : "all";
  Settings settings;
  if (argc > 2) settings.seconds = std::atof(argv[2]);
  if (argc > 3) settings.data = argv[3];
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  bool printed = false;
  for (const Table& table : kTables) {
    if (wanted != "all" && wanted != table.name) continue;
    table.print(settings);
    std::printf("\n");
    printed = true;
  }
  if (printed) return 0;
  std::fputs("usage: instances_bench [all|TABLE] [SECONDS] [DATA_FOLDER]\nTables:", stderr);
  for (const Table& table : kTables) std::fprintf(stderr, " %s", std::string(table.name).c_str());
  std::fputs(
      "\nSECONDS limit each answer (10). DATA_FOLDER has a folder large with G_1.csv, "
      "resnet50.csv,\npangu_2.6B.csv and S_1.csv; those that are missing are left out.\n",
      stderr);
  return 2;
}
