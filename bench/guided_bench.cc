// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/bench/challenging_tables.h"
#include "tessera/bench/guided_inputs.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/problem/generate/families.h"
#include "tessera/search/engines/guided/guided.h"

// Prints tables about the guided engine (docs/guided-search.md). Each engine runs alone.
namespace tessera::bench {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Status;
namespace generate = problem::generate;
using search::engines::guided::GuidedEngine;

bool Wanted(const GuidedSettings& settings, const std::string& name) {
  return settings.data.engine.empty() || settings.data.engine == name;
}

void PrintChallenging(const GuidedSettings& settings) {
  const auto challenges = ReadChallenges(settings.data);
  if (!challenges) return;
  std::printf("A..K at 1048576 bytes, at most %.0f s each: steps and seconds; ?: open\n",
              settings.seconds);
  for (const GuidedVariant& variant : AllGuidedVariants()) {
    if (!Wanted(settings, variant.name)) continue;
    int decided = 0;
    std::printf("%-15s", variant.name.c_str());
    for (const Problem& problem : *challenges) {
      const GuidedAnswer answer = AskEngine(GuidedEngine(variant.options), problem,
                                            problem.memories[0].capacity, settings.seconds);
      decided += answer.Decided() ? 1 : 0;
      std::printf(" %s%s %lld %.1f", problem.name.c_str(), answer.Decided() ? "" : "?",
                  static_cast<long long>(answer.result.statistics.nodes), answer.seconds);
    }
    std::printf("  decided %d\n", decided);
  }
}

struct Share {
  int placed = 0, refuted = 0, soon = 0, where_first_is_open = 0;
  double seconds = 0;
};

// Compares the engines that support banks and modes.
void PrintBanked(const GuidedSettings& settings) {
  std::vector<std::unique_ptr<problem::Engine>> engines;
  engines.push_back(std::make_unique<encoder::sat::SatEngine>());
  engines.push_back(std::make_unique<GuidedEngine>());
  std::printf("banked, %d %% slack, at most %.0f s each\n%-8s %-8s %6s %6s %8s %5s %8s %9s %s\n",
              settings.slack_percent, settings.seconds, "buffers", "engine", "drawn", "placed",
              "refuted", "open", "in 1 s", "seconds", "decided where cadical is open");
  for (const int buffers : {50, 100, 200, 400}) {
    std::vector<Share> shares(engines.size());
    int open = 0;
    for (uint64_t seed = 1; seed <= settings.seeds; ++seed) {
      const Problem problem =
          generate::MakeBanked({buffers, buffers / 2, 8, 4, settings.slack_percent}, seed);
      bool first_decided = false;
      for (size_t e = 0; e < engines.size(); ++e) {
        const GuidedAnswer answer =
            AskEngine(*engines[e], problem, problem.memories[0].capacity, settings.seconds);
        if (e == 0) first_decided = answer.Decided();
        Share& share = shares[e];
        share.placed += answer.result.allocation ? 1 : 0;
        share.refuted += answer.result.status == Status::kInfeasible ? 1 : 0;
        share.soon += answer.Decided() && answer.seconds <= 1 ? 1 : 0;
        share.where_first_is_open += answer.Decided() && !first_decided ? 1 : 0;
        share.seconds += answer.seconds;
      }
      open += first_decided ? 0 : 1;
    }
    for (size_t e = 0; e < engines.size(); ++e) {
      const Share& share = shares[e];
      const int drawn = static_cast<int>(settings.seeds);
      std::printf("%-8d %-8s %6d %6d %8d %5d %8d %9.1f %d of %d\n", buffers,
                  std::string(engines[e]->Name()).c_str(), drawn, share.placed, share.refuted,
                  drawn - share.placed - share.refuted, share.soon, share.seconds,
                  share.where_first_is_open, open);
    }
  }
}

// Solves TelaMalloc's micro-instances.
void PrintMicro(const GuidedSettings& settings) {
  const auto stairs = [](int buffers, problem::Step apart) {
    Problem problem = generate::MakePerfect({1, 1, buffers}, 0);
    problem::Buffer buffer = problem.buffers[0];
    problem.buffers.clear();
    for (int i = 0; i < buffers; ++i) {
      buffer.id = "b" + std::to_string(i);
      buffer.size = 1;
      buffer.lifespans = {{i * apart, i * apart + 1}};
      problem.buffers.push_back(buffer);
    }
    return problem;
  };
  for (const auto& [name, problem] : {std::pair("10000 disjoint", stairs(10'000, 1)),
                                      std::pair("1000 overlapping", stairs(1000, 0))}) {
    const GuidedAnswer answer =
        AskEngine(GuidedEngine(), problem, problem.memories[0].capacity, settings.seconds);
    std::printf("%-18s %s %.1f ms\n", name,
                std::string(problem::NameOf(answer.result.status)).c_str(), 1000 * answer.seconds);
  }
}

struct Table {
  std::string_view name;
  void (*print)(const GuidedSettings& settings);
};

constexpr Table kTables[] = {{"challenging", PrintChallenging},
                             {"failures", PrintGuidedFailures},
                             {"learning", PrintGuidedLearning},
                             {"banked", PrintBanked},
                             {"micro", PrintMicro}};

// Returns false if some argument is unknown.
bool Read(int argc, char** argv, GuidedSettings& settings) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view word = argv[i];
    if (i + 1 == argc) return false;
    const char* value = argv[i + 1];
    if (word == "--data") {
      settings.data.data = value;
    } else if (word == "--seconds") {
      settings.seconds = std::atof(value);
    } else if (word == "--steps") {
      settings.steps = std::atoll(value);
    } else if (word == "--seeds") {
      settings.seeds = static_cast<uint64_t>(std::atoll(value));
    } else if (word == "--slack") {
      settings.slack_percent = std::atoi(value);
    } else if (word == "--variant") {
      settings.data.engine = value;
    } else if (word == "--table") {
      settings.data.table = value;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  using tessera::bench::kTables;
  tessera::bench::GuidedSettings settings;
  const auto* table = std::end(kTables);
  if (tessera::bench::Read(argc, argv, settings)) {
    table = std::find_if(std::begin(kTables), std::end(kTables),
                         [&](const auto& each) { return each.name == settings.data.table; });
  }
  if (table == std::end(kTables)) {
    std::fputs(
        "usage: guided_bench --table challenging|failures|learning|banked|micro [--data FOLDER] "
        "[--seconds S] [--steps N] [--seeds N] [--slack PERCENT] [--variant NAME]\n"
        "FOLDER, or its folder 'challenging', holds A.1048576.csv to K.1048576.csv.\n",
        stderr);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  table->print(settings);
  return 0;
}
