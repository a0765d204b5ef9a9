// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cases.h"
#include "draws.h"
#include "run.h"

// Draws questions and compares their answers with each other, with exhaustive search, and with all
// checkers; docs/audits.md.
namespace tessera::audit {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  double seconds = 60;
  uint64_t seed = 1;
  int64_t draws = 0;  // of each family; 0: as many as the time allows
  int64_t draw = -1;  // this one alone
  int64_t plans = 0;  // least number of plans, in all
  std::vector<std::string> families;
  std::string output;
  bool reduce = false;
  bool verbose = false;
};

constexpr int64_t kMostCases = 60;     // written for one family; further findings are counted
constexpr double kReduceSeconds = 20;  // for one finding

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The state of one family.
struct Course {
  const Family* family = nullptr;
  size_t number = 0;
  Tally tally;
  uint64_t next = 0;  // draw
  int64_t findings = 0;
  double spent = 0;  // seconds
};

// The smallest question in which a family finds the same kind of fault.
Finding Smallest(const Finding& found, const PlanRequest& drawn, uint64_t seed,
                 const Family& family) {
  Finding smallest = found;
  const auto shows = [&](const PlanRequest& question) {
    Tally unused;
    Run run(unused);
    family.check(question, seed, run);
    for (const Finding& finding : run.Findings()) {
      if (finding.kind != found.kind) continue;
      smallest = finding;
      return true;
    }
    return false;
  };
  Reduce(drawn, shows, kReduceSeconds);
  return smallest;
}

void DrawOnce(Course& course, uint64_t draw, const Options& options,
              const std::filesystem::path& output) {
  const uint64_t seed = SeedOf(options.seed, course.number, draw);
  base::Random random(seed);
  const PlanRequest question = course.family->draw(random);
  Run run(course.tally);
  ++course.tally.drawn;
  course.family->check(question, seed, run);
  std::set<std::string> kinds;
  for (const Finding& found : run.Findings()) {
    if (!kinds.insert(found.kind).second) continue;
    ++course.findings;
    const std::string name = fmt::format("{}-{}{}", course.family->name, draw,
                                         kinds.size() == 1 ? "" : fmt::format("-{}", kinds.size()));
    fmt::print("{}: {}: {}\n", name, found.kind, found.what);
    std::fflush(stdout);
    if (course.findings > kMostCases) continue;
    WriteCase(options.reduce ? Smallest(found, question, seed, *course.family) : found,
              output / name);
  }
}

std::string ListOf(const std::map<std::string, int64_t>& counts) {
  std::string list;
  for (const auto& [name, times] : counts)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", name, times);
  return list;
}

constexpr int64_t kEnough = 100;      // draws, or cases of an aim: fewer say nothing
constexpr double kMostSkipped = 0.3;  // of the draws of a family

// Reports counts of a family that are out of range: too many skipped draws, an aim not reached.
std::vector<std::string> ShortfallsOf(const Course& course) {
  const Tally& tally = course.tally;
  std::vector<std::string> shortfalls;
  if (tally.drawn >= kEnough &&
      static_cast<double>(tally.Skipped()) > kMostSkipped * static_cast<double>(tally.drawn))
    shortfalls.push_back(fmt::format("{}: {} of {} draws were skipped", course.family->name,
                                     tally.Skipped(), tally.drawn));
  for (const Aim& aim : course.family->aims) {
    const auto count = [&](std::string_view name) {
      const auto found = tally.counts.find(std::string(name));
      return found == tally.counts.end() ? 0 : found->second;
    };
    const double share = static_cast<double>(count(aim.count)) /
                         static_cast<double>(std::max<int64_t>(1, count(aim.of)));
    if (count(aim.of) >= kEnough && share < aim.share)
      shortfalls.push_back(fmt::format("{}: '{}' is {:.1f} % of '{}'; the aim is {:.0f} %",
                                       course.family->name, aim.count, 100 * share, aim.of,
                                       100 * aim.share));
  }
  return shortfalls;
}

std::string LineOf(const Course& course) {
  const Tally& tally = course.tally;
  std::string line =
      fmt::format("{:<10} drawn {}, skipped {}", course.family->name, tally.drawn, tally.Skipped());
  if (!tally.skipped.empty()) line += fmt::format(" ({})", ListOf(tally.skipped));
  line += fmt::format("; plans {}; answers: {}", tally.plans, ListOf(tally.statuses));
  if (!tally.counts.empty()) line += "; " + ListOf(tally.counts);
  return line + fmt::format("; findings {}; {:.0f} s", course.findings, course.spent);
}

// Prints a line for each family; returns the exit code.
int Conclude(const std::vector<Course>& courses, const Options& options,
             const std::filesystem::path& output) {
  int64_t findings = 0;
  int64_t plans = 0;
  std::vector<std::string> shortfalls;
  for (const Course& course : courses) {
    fmt::print("{}\n", LineOf(course));
    findings += course.findings;
    plans += course.tally.plans;
    for (std::string& shortfall : ShortfallsOf(course)) shortfalls.push_back(std::move(shortfall));
  }
  if (plans < options.plans)
    shortfalls.push_back(fmt::format("{} plans were made; {} are asked for", plans, options.plans));
  for (const std::string& shortfall : shortfalls) fmt::print("{}\n", shortfall);
  fmt::print("{} plans, {} findings{}\n", plans, findings,
             findings > 0 ? "; cases in " + output.string() : "");
  return findings > 0 || !shortfalls.empty() ? 1 : 0;
}

int Main(const Options& options) {
  const std::filesystem::path output =
      options.output.empty()
          ? std::filesystem::temp_directory_path() / fmt::format("tessera-audit-{}", options.seed)
          : std::filesystem::path(options.output);
  std::vector<Course> courses;
  for (size_t i = 0; i < Families().size(); ++i) {
    const auto& wanted = options.families;
    const bool runs = wanted.empty() ||
                      std::find(wanted.begin(), wanted.end(), Families()[i].name) != wanted.end();
    if (runs) courses.push_back({&Families()[i], i, {}, 0, 0, 0});
  }
  // Of each; 0: as time allows.
  const uint64_t most = options.draw >= 0 ? 1 : static_cast<uint64_t>(options.draws);
  const auto start = Clock::now();
  while (most > 0 || SecondsSince(start) < options.seconds) {
    Course* behind = nullptr;  // has used the least of its share of the time
    for (Course& course : courses) {
      if (most > 0 && course.next >= most) continue;
      if (behind == nullptr ||
          course.spent / course.family->share < behind->spent / behind->family->share)
        behind = &course;
    }
    if (behind == nullptr) break;
    const auto began = Clock::now();
    const uint64_t draw = options.draw >= 0 ? static_cast<uint64_t>(options.draw) : behind->next;
    DrawOnce(*behind, draw, options, output);
    ++behind->next;
    behind->spent += SecondsSince(began);
    if (options.verbose)
      fmt::print("{} {}: {:.2f} s\n", behind->family->name, draw, SecondsSince(began));
  }
  return Conclude(courses, options, output);
}

}  // namespace
}  // namespace tessera::audit

int main(int count, char** words) {
  tessera::audit::Options options;
  CLI::App app("Draws questions and audits the answers; docs/audits.md");
  app.add_option("seconds", options.seconds, "How long to go on")->capture_default_str();
  app.add_option("--seed", options.seed, "Of everything that is drawn")->capture_default_str();
  app.add_option("--draws", options.draws, "So many draws of each family, instead of a time");
  app.add_option("--draw", options.draw, "This draw alone of each family");
  app.add_option("--plans", options.plans, "Fail where fewer plans than these are made in all");
  app.add_option("--family", options.families, "These families alone");
  app.add_option("--output", options.output,
                 "The folder for cases; default: one in the folder for temporary files");
  app.add_flag("--reduce", options.reduce, "Make each case smaller before it is written");
  app.add_flag("--verbose", options.verbose, "Also print how long each draw took");
  CLI11_PARSE(app, count, words);
  return tessera::audit::Main(options);
}
