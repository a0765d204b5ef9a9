// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/common_options.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tessera/api/parts/allocation.h"
#include "tessera/base/arithmetic.h"
#include "tessera/base/process.h"
#include "tessera/cli/inputs.h"
#include "tessera/search/allocate/engine_queries.h"

namespace tessera::cli {
namespace {

struct Prefix {
  std::optional<int64_t> value;  // of the digits; nullopt where there are none, or too many
  std::string_view rest;
};

Prefix ReadDigits(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  if (word.empty() || std::isdigit(static_cast<unsigned char>(word.front())) == 0)
    return {std::nullopt, word};
  const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
  if (hexadecimal) word.remove_prefix(2);
  if (word.starts_with('-')) return {std::nullopt, word};
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), value, hexadecimal ? 16 : 10);
  const std::string_view rest = word.substr(static_cast<size_t>(end - word.data()));
  return {error == std::errc() ? std::optional(value) : std::nullopt, rest};
}

// Returns the factor of a unit; nullopt if there is no such unit.
std::optional<int64_t> FactorOf(std::string_view unit) {
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  std::string word;
  for (const char c : unit) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word.empty() || word == "b") return 1;
  const size_t power = std::string_view("kmgtpe").find(word.front());
  const std::string_view rest = std::string_view(word).substr(1);
  if (power == std::string_view::npos ||
      (!rest.empty() && rest != "b" && rest != "i" && rest != "ib"))
    return std::nullopt;
  return int64_t{1} << (10 * (power + 1));
}

std::string Wanted(std::string_view what, std::string_view word) {
  return fmt::format("expected {}, found {}", what, word.empty() ? "nothing" : word);
}

}  // namespace

CLI::Validator WholeNumber(int64_t least, int64_t most) {
  const auto check = [least, most](std::string& word) -> std::string {
    const Prefix number = ReadDigits(word);
    if (!number.value || !number.rest.empty() || *number.value < least || *number.value > most)
      return Wanted(fmt::format("a whole number from {} to {}", least, most), word);
    word = std::to_string(*number.value);
    return "";
  };
  return {check, fmt::format("INT in [{} - {}]", least, most)};
}

CLI::Validator ByteCount() {
  const auto check = [](std::string& word) -> std::string {
    const Prefix number = ReadDigits(word);
    const std::optional<int64_t> factor = FactorOf(number.rest);
    int64_t bytes = 0;
    if (!number.value || !factor || __builtin_mul_overflow(*number.value, *factor, &bytes) ||
        bytes > base::kMaxTotal)
      return Wanted("bytes from 0 to 4Ei, as 393216 or 384Ki", word);
    word = std::to_string(bytes);
    return "";
  };
  return {check, "SIZE [b, kb(=1024b), ...]"};
}

CLI::Validator Seconds() {
  const auto check = [](std::string& word) -> std::string {
    const std::optional<double> seconds = ParseDecimal(word);
    return seconds && *seconds >= 0 ? "" : Wanted("seconds from 0 up", word);
  };
  return {check, "SECONDS"};
}

CLI::Validator PartsPerMillion(int most_percent) {
  const auto check = [most_percent](std::string& word) -> std::string {
    std::string_view number = word;
    const bool marked = number.ends_with('%');
    if (marked) number.remove_suffix(1);
    const std::optional<double> percent = ParseDecimal(number);
    if (!marked || !percent || *percent < 0 || *percent > most_percent)
      return Wanted(fmt::format("a percentage from 0% to {}%, as 0.5%", most_percent), word);
    word = std::to_string(std::llround(*percent * 1e4));
    return "";
  };
  return {check, "PERCENT"};
}

CLI::Option* LifetimesOption::Declare(CLI::App& app) {
  return Declare(app, "--lifetimes",
                 "How a CSV states lives: half-open [a, b), inclusive [a, b], or exclusive (a, b); "
                 "a column 'end' is read only with it (default: half-open)");
}

CLI::Option* LifetimesOption::Declare(CLI::App& app, std::string_view name, std::string_view what) {
  return app.add_option(std::string(name), word_, std::string(what))
      ->check(CLI::IsMember(std::vector<std::string>(problem::files::kLifetimesWords.begin(),
                                                     problem::files::kLifetimesWords.end())));
}

std::optional<problem::files::Lifetimes> LifetimesOption::Get() const {
  const auto& words = problem::files::kLifetimesWords;
  const auto* const found = std::find(words.begin(), words.end(), word_);
  if (found == words.end()) return std::nullopt;
  return static_cast<problem::files::Lifetimes>(found - words.begin());
}

std::optional<double> ParseDecimal(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

void AnswerFormat::Declare(CLI::App& app) {
  app.add_option("--format", format_, "The format of standard output")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

ThreadCount::ThreadCount()
    : threads_(static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))) {}

int ThreadCount::Get() const { return base::UsableThreads(threads_); }

void ThreadCount::Declare(CLI::App& app, std::string_view answer) {
  app.add_option("--threads", threads_,
                 fmt::format("Threads to work with; they change the time, never the {}", answer))
      ->transform(WholeNumber(1, 256))
      ->capture_default_str();
}

void FormulaChoice::Declare(CLI::App& app, CLI::Option* exclude) {
  const auto alone = [exclude](CLI::Option* option) {
    if (exclude != nullptr) option->excludes(exclude);
  };
  alone(app.add_option("--capacity", capacity, "Bytes of the (first) memory; suffixes as in 384Ki")
            ->transform(ByteCount()));
  alone(app.add_option(
      "--candidate", candidate,
      "The tile candidate of the file whose sizes count; without it each candidate is a variable "
      "and one of them must hold"));
  alone(
      app.add_option(
             "--integers", integers,
             "How DIMACS says addresses: a variable for each bound (order), for each digit (bits), "
             "or what suits their number (auto)")
          ->check(CLI::IsMember({"auto", "order", "bits"}))
          ->capture_default_str());
}

base::Expected<encoder::exports::FormulaOptions> FormulaChoice::Resolve(
    const problem::files::ProblemDocument& document, const std::string& path) const {
  encoder::exports::FormulaOptions options;
  options.capacity = capacity.value_or(document.problem.memories[0].capacity);
  if (options.capacity >= base::kMaxTotal) {
    base::Diagnostic fault;
    fault.file = path;
    fault.message = "the file does not say how large the memory is";
    fault.hint = "add --capacity BYTES";
    return tl::unexpected(std::move(fault));
  }
  if (!candidate.empty()) {
    const base::Expected<size_t> index = FindCandidate(document, candidate, path);
    if (!index) return tl::unexpected(index.error());
    options.candidate = *index;
  }
  options.integers = integers == "order"  ? encoder::sat::IntegerEncoding::kOrder
                     : integers == "bits" ? encoder::sat::IntegerEncoding::kBits
                                          : encoder::sat::IntegerEncoding::kByMagnitude;
  return options;
}

base::Stop::Clock::time_point ProcessBegin() {
  const std::chrono::duration<double> used(static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  return base::Stop::Clock::now() - std::chrono::duration_cast<base::Stop::Clock::duration>(used);
}

void CallLimits::Declare(CLI::App& app, std::string_view outcome) {
  app.add_option(
         "--timeout", timeout_s,
         fmt::format("Most seconds of wall clock from the start of the process; {} (default: none)",
                     outcome))
      ->transform(Seconds());
  app.add_option(
         "--memory-limit", memory_limit,
         fmt::format("Most bytes of memory; {}; suffixes as in 2Gi (default: three quarters of "
                     "what the machine or its control group has)",
                     outcome))
      ->transform(ByteCount());
}

void SearchOptions::Declare(CLI::App& app) {
  app.add_option("--seed", seed, "Seed of every random choice; one seed gives one answer")
      ->transform(WholeNumber(0, base::kMaxTotal))
      ->capture_default_str();
  app.add_option("--budget", budget,
                 "Most work for each question put to an engine, counted in nodes and conflicts; "
                 "`plan` also limits its whole search to it, in tile shapes times operators. The "
                 "answer then depends on no clock")
      ->transform(WholeNumber(0, base::kMaxTotal));
  CallLimits::Declare(app, "the best answer so far is given");
  app.add_option(
         "--engine", engine,
         "Ask this engine alone; z3, and ipasir where it is built in, are asked only by name")
      ->check(CLI::IsMember(api::parts::EngineSet::Names()));
  app.add_option("--switch-off", switched_off,
                 "Search without this rule of the engines, to see what it is worth: answers stay "
                 "right but come slower; may be repeated")
      ->check(CLI::IsMember(api::parts::EngineSet::Rules()))
      ->type_name("RULE");
  app.add_flag("--verbose", verbose, "Tell on stderr what each engine found and when");
}

std::optional<base::Stop::Clock::time_point> CallLimits::Deadline() const {
  if (!timeout_s) return std::nullopt;
  // A year serves as infinity and cannot overflow the clock.
  constexpr double kYear = 365.0 * 24 * 3600;
  return begin + std::chrono::duration_cast<base::Stop::Clock::duration>(
                     std::chrono::duration<double>(std::min(*timeout_s, kYear)));
}

CallOptions CallLimits::ForCall() const {
  CallOptions options;
  if (const auto deadline = Deadline())
    options.timeout_s = std::chrono::duration<double>(*deadline - base::Stop::Clock::now()).count();
  options.memory_limit = memory_limit;
  options.canceller.emplace();
  return options;
}

tessera::SearchOptions SearchOptions::ForSearch() const {
  tessera::SearchOptions options;
  static_cast<CallOptions&>(options) = ForCall();
  options.seed = seed;
  options.budget = budget;
  options.engine = engine;
  options.switched_off = switched_off;
  return options;
}

void CallLimits::LimitLast(base::Stop& stop) const {
  stop.LimitMemory(memory_limit ? *memory_limit : base::UsableBytes() / 4 * 3);
  stop.EndProcess();
}

api::parts::EngineSet SearchOptions::Engines() const {
  return api::parts::EngineSet(api::parts::EngineSet::NamesOfWanted(engine), switched_off, seed);
}

void Reasons::Declare(CLI::App& app) {
  app.add_flag("--no-reasons", off_,
               "Do not look for the few conditions that collide where nothing fits, nor for what "
               "would help");
}

std::optional<api::answers::Collision> Reasons::Find(
    const problem::Problem& problem, problem::Bytes capacity, const SearchOptions& search,
    const base::Stop& stop, const problem::Ladder* ladder, size_t candidate) const {
  if (off_) return std::nullopt;
  return api::answers::Collision{
      problem, capacity,
      api::parts::ExplainInfeasible(problem, capacity, search.Engines(), search.budget, stop,
                                    ladder, candidate)};
}

}  // namespace tessera::cli
