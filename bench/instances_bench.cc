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
    void (*print)(double seconds);
  };
  static constexpr Table kTables[] = {{"hardness", PrintHardness}, {"elementary", PrintElementary}};
  const std::string_view wanted = argc > 1 ? argv[1] : "all";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 10;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  bool printed = false;
  for (const Table& table : kTables) {
    if (wanted != "all" && wanted != table.name) continue;
    table.print(seconds);
    std::printf("\n");
    printed = true;
  }
  if (printed) return 0;
  std::fputs("usage: instances_bench [all|TABLE] [SECONDS]\nTables:", stderr);
  for (const Table& table : kTables) std::fprintf(stderr, " %s", std::string(table.name).c_str());
  std::fputs("\nSECONDS limit each answer (10).\n", stderr);
  return 2;
}
