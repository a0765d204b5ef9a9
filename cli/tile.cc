#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "tessera/base/json_writer.h"
#include "tessera/base/suggest.h"
#include "tessera/cli/command.h"
#include "tessera/cli/console.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/interrupt.h"
#include "tessera/cli/reasons.h"
#include "tessera/cli/search_options.h"
#include "tessera/cli/tables.h"
#include "tessera/problem/json_explanation.h"
#include "tessera/search/tiling/tile_driver.h"

// `tessera tile`: how large a tile of an interval of operators fits, or how far up a ladder of one's own.
namespace tessera::cli {
namespace {

using search::RungAnswer;

constexpr int64_t kTileBudget = 200'000;

// One row of the answer.
struct Row {
  std::string name;
  std::string policy;
  int64_t tiles = 0;
  RungAnswer answer;
};

// A tile that is proven impossible, next to the largest that fits.
struct Refused {
  size_t row = 0;
  Collision collision;
};

struct Answer {
  std::string subject;
  std::vector<Row> rows;
  std::optional<size_t> largest;
  bool largest_proven = false;
  int64_t solves = 0;
  std::optional<Refused> refused = std::nullopt;
};

class TileCommand final : public Command {
 public:
  std::string Name() const override { return "tile"; }
  std::string Summary() const override {
    return "Find the largest tile of some operators that fits, and prove it";
  }
  std::string Examples() const override {
    return "Every tile shape is answered: placed, proven impossible, or not decided within the budget.\n\n"
           "Examples:\n"
           "  tessera tile examples/networks/patent_chain.yaml --hw hw_profiles/mcu_320k.yaml\n"
           "  tessera tile net.yaml --hw npu.yaml --ops conv1..conv3        both included; 0..2 does as "
           "well\n"
           "  tessera tile --ladder problem_with_ladder.json\n\n"
           "Of the next larger tile it says which few conditions collide and which single changes would "
           "help.\n";
  }

  void Declare(CLI::App& app) override {
    CLI::Option* network = app.add_option("network", network_, "The network; - reads standard input");
    CLI::Option* profile = app.add_option("--hw", profile_, "The hardware profile");
    network->needs(profile);
    profile->needs(network);
    app.add_option("--ops", interval_, "FIRST..LAST, ids or numbers from 0, both included (default: all)")
        ->needs(network);
    app.add_option("--ladder", ladder_, "A Problem with a ladder of sizes in JSON, instead of a network")
        ->excludes(network)
        ->excludes(profile);
    app.add_option("--format", format_, "What stdout gets")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    search_.Declare(app);
    reasons_.Declare(app);
  }

  ExitCode Run(Console& console) override {
    if (network_.empty() && ladder_.empty()) {
      console.Note("tile: expected a network with --hw, or --ladder; see `tessera tile --help`");
      return ExitCode::kUsage;
    }
    base::Stop stop(search_.Deadline());
    const InterruptGuard guard(stop);
    const base::Expected<Answer> answer = ladder_.empty() ? SearchNetwork(stop) : SearchOwnLadder(stop);
    if (!answer) {
      return unsupported_ ? (console.Refuse(answer.error()), ExitCode::kUnsupported)
                          : console.Refuse(answer.error());
    }
    console.Print(format_ == "json" ? AsJson(*answer) : AsText(*answer));
    if (InterruptGuard::Interrupted()) return ExitCode::kInterrupted;
    if (answer->largest) return ExitCode::kAnswer;
    return answer->largest_proven ? ExitCode::kInfeasible : ExitCode::kLimit;
  }

 private:
  base::Expected<Answer> SearchOwnLadder(const base::Stop& stop) {
    const base::Expected<problem::ProblemDocument> input = LoadProblem(ladder_);
    if (!input) return tl::unexpected(input.error());
    if (!input->ladder) {
      base::Diagnostic fault;
      fault.file = ladder_;
      fault.message = "the file has no ladder";
      fault.expected = "a \"ladder\" with a size for every buffer on every rung";
      fault.hint = "`tessera alloc` answers for a Problem with one size each";
      return tl::unexpected(std::move(fault));
    }
    const EngineSet engines(search_);
    const search::LadderOutcome outcome = search::SearchLadder(
        input->problem, *input->ladder, engines.Pointers(), {.budget = search_.Limit(kTileBudget)}, stop);
    Answer answer{.subject = input->problem.name,
                  .rows = {},
                  .largest = outcome.largest,
                  .largest_proven = outcome.largest_proven,
                  .solves = outcome.solves};
    for (size_t i = 0; i < outcome.rungs.size(); ++i) {
      answer.rows.push_back({input->ladder->rungs[i].name, "", 0, outcome.rungs[i]});
    }
    if (const std::optional<size_t> refused = FindRefused(outcome)) {
      const problem::Problem sized = AtRung(input->problem, input->ladder->rungs[*refused]);
      Explain(answer, *refused, sized, stop, &*input->ladder);
    }
    return answer;
  }

  // The first impossible rung above the largest that fits; where that is the last, the first of all.
  static std::optional<size_t> FindRefused(const search::LadderOutcome& outcome) {
    std::optional<size_t> first;
    for (size_t i = 0; i < outcome.rungs.size(); ++i) {
      if (outcome.rungs[i].status != problem::Status::kInfeasible) continue;
      if (!outcome.largest || i > *outcome.largest) return i;
      if (!first) first = i;
    }
    return first;
  }

  base::Expected<Answer> SearchNetwork(const base::Stop& stop) {
    const base::Expected<graph::Graph> network = LoadNetwork(network_);
    if (!network) return tl::unexpected(network.error());
    const base::Expected<hw_profiles::Profile> profile = LoadProfile(profile_);
    if (!profile) return tl::unexpected(profile.error());
    const base::Expected<graph::Interval> interval = ParseInterval(*network);
    if (!interval) return tl::unexpected(interval.error());
    const EngineSet engines(search_);
    search::TileOptions options;
    options.engines = engines.Pointers();
    options.budget = search_.Limit(kTileBudget);
    const base::Expected<search::TileSearch> found =
        search::SearchTiles(*network, *profile, *interval, options, stop);
    if (!found) {
      unsupported_ = true;
      return tl::unexpected(found.error());
    }
    Answer answer;
    answer.subject = fmt::format("{}, operators {} to {}", network->name,
                                 network->operators[static_cast<size_t>(interval->first)].id,
                                 network->operators[static_cast<size_t>(interval->last)].id);
    const auto candidates = found->tiles.Candidates();
    for (size_t i = 0; i < candidates.size(); ++i) {
      const encoder::SubgraphChoice& choice = candidates[i].choice;
      answer.rows.push_back({ShapeText(choice.tile),
                             PolicyText(choice.policy.weights, choice.policy.in_place, choice.policy.halo),
                             found->tiles.TilingOf(i).tiles, found->tiles.Known(i)});
    }
    answer.largest = found->largest;
    answer.largest_proven = found->largest_proven;
    answer.solves = found->tiles.Solves();
    if (const std::optional<size_t> next = FindNextLarger(*found))
      Explain(answer, *next, found->tiles.ProblemOf(*next), stop, nullptr);
    return answer;
  }

  // Of the impossible candidates with more elements than the largest that fits the smallest.
  static std::optional<size_t> FindNextLarger(const search::TileSearch& found) {
    const auto candidates = found.tiles.Candidates();
    const auto elements = [&](size_t i) { return graph::ElementsOf(candidates[i].choice.tile); };
    std::optional<size_t> next;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (found.tiles.Known(i).status != problem::Status::kInfeasible) continue;
      if (found.largest && elements(i) <= elements(*found.largest)) continue;
      if (!next || elements(i) < elements(*next)) next = i;
    }
    return next;
  }

  void Explain(Answer& answer, size_t row, const problem::Problem& problem, const base::Stop& stop,
               const problem::Ladder* ladder) const {
    std::optional<Collision> collision =
        reasons_.Find(problem, problem.memories[0].capacity, search_, stop, ladder, row);
    if (collision) answer.refused = {row, *std::move(collision)};
  }

  base::Expected<graph::Interval> ParseInterval(const graph::Graph& network) const {
    const int last = static_cast<int>(network.operators.size()) - 1;
    if (interval_.empty()) return graph::Interval{0, last};
    const size_t dots = interval_.find("..");
    const base::Expected<int> first_index = ParseOperator(network, interval_.substr(0, dots));
    if (!first_index) return tl::unexpected(first_index.error());
    const base::Expected<int> last_index =
        dots == std::string::npos ? first_index : ParseOperator(network, interval_.substr(dots + 2));
    if (!last_index) return tl::unexpected(last_index.error());
    if (*first_index <= *last_index) return graph::Interval{*first_index, *last_index};
    base::Diagnostic fault;
    fault.message = fmt::format("--ops {}: the first operator comes after the last", interval_);
    fault.hint = "the order is that of the network file";
    return tl::unexpected(std::move(fault));
  }

  base::Expected<int> ParseOperator(const graph::Graph& network, const std::string& word) const {
    std::vector<std::string_view> names;
    for (size_t i = 0; i < network.operators.size(); ++i) {
      if (network.operators[i].id == word || std::to_string(i) == word) return static_cast<int>(i);
      names.emplace_back(network.operators[i].id);
    }
    base::Diagnostic fault;
    fault.message = fmt::format("--ops {}: there is no operator '{}'", interval_, word);
    fault.expected = fmt::format("an id, or a number from 0 to {}", network.operators.size() - 1);
    fault.hint = base::DidYouMean(word, names);
    return tl::unexpected(std::move(fault));
  }

  static std::string AsJson(const Answer& answer) {
    nlohmann::ordered_json document;
    document["subject"] = answer.subject;
    document["status"] = answer.largest ? "feasible" : answer.largest_proven ? "infeasible" : "unknown";
    document["largest"] =
        answer.largest ? nlohmann::ordered_json(answer.rows[*answer.largest].name) : nullptr;
    document["largest_proven"] = answer.largest_proven;
    document["solves"] = answer.solves;
    document["candidates"] = nlohmann::ordered_json::array();
    for (const Row& row : answer.rows) {
      nlohmann::ordered_json entry;
      entry["tile"] = row.name;
      if (row.tiles > 0) entry["tiles"] = row.tiles;
      if (!row.policy.empty()) entry["policy"] = row.policy;
      entry["status"] = NameOf(row.answer.status);
      entry["lower_bound"] = row.answer.lower_bound;
      if (row.answer.peak) entry["peak"] = *row.answer.peak;
      entry["engine"] = row.answer.engine;
      if (!row.answer.reason.empty()) entry["reason"] = row.answer.reason;
      document["candidates"].push_back(std::move(entry));
    }
    if (answer.refused) {
      const Collision& collision = answer.refused->collision;
      document["refused"] = {
          {"tile", answer.rows[answer.refused->row].name},
          {"reason", collision.Summary()},
          {"explanation", ExplanationToJson(collision.problem, collision.explanation, collision.capacity)}};
    }
    return base::WriteJson(document);
  }

  static std::string AsText(const Answer& answer) {
    Table table({"tile", "tiles", "policy", "status", "lower bound", "peak", "by"});
    for (const Row& row : answer.rows) {
      table.Add({row.name, row.tiles > 0 ? Grouped(row.tiles) : "", row.policy,
                 std::string(NameOf(row.answer.status)), Grouped(row.answer.lower_bound),
                 row.answer.peak ? Grouped(*row.answer.peak) : "",
                 row.answer.implied_by ? "dominance" : row.answer.engine});
    }
    std::string text = answer.subject + "\n\n" + table.Text() + '\n';
    if (answer.largest) {
      text += fmt::format("largest tile that fits: {}\n", answer.rows[*answer.largest].name);
      text += answer.largest_proven ? "every larger one is proven impossible\n"
                                    : "a larger one may exist: some were not decided within the budget\n";
    } else {
      text += answer.largest_proven ? "nothing fits: every tile is proven impossible\n"
                                    : "nothing found; not all is proven\n";
    }
    if (answer.refused) {
      text += fmt::format("\nwhy {} does not fit: {}", answer.rows[answer.refused->row].name,
                          answer.refused->collision.Text(2));
    }
    return text;
  }

  std::string network_;
  std::string profile_;
  std::string interval_;
  std::string ladder_;
  std::string format_ = "text";
  SearchOptions search_;
  Reasons reasons_;
  bool unsupported_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeTileCommand() { return std::make_unique<TileCommand>(); }

}  // namespace tessera::cli
