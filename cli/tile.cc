#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <utility>

#include "tessera/cli/command.h"
#include "tessera/cli/console.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/interrupt.h"
#include "tessera/cli/reasons.h"
#include "tessera/cli/search_options.h"
#include "tessera/cli/tables.h"
#include "tessera/cli/tile_answer.h"
#include "tessera/cli/tile_words.h"
#include "tessera/search/simulate/simulate.h"
#include "tessera/search/tiling/cached_engines.h"
#include "tessera/search/tiling/staircase.h"

// `tessera tile`: how large a tile of an interval of operators fits, or how far up a ladder of one's own.
namespace tessera::cli {
namespace {

using problem::Status;

constexpr int64_t kTileBudget = 200'000;

// The network, the profile and the interval that a question is about.
struct Subject {
  graph::Graph network;
  hw_profiles::Profile profile;
  graph::Interval interval;

  std::string Text() const {
    const auto id = [this](int op) { return network.operators[static_cast<size_t>(op)].id; };
    return fmt::format("{}, operators {} to {}", network.name, id(interval.first), id(interval.last));
  }
};

class TileCommand final : public Command {
 public:
  std::string Name() const override { return "tile"; }
  std::string Summary() const override {
    return "Find the largest tiles of some operators that fit, and prove that no larger ones do";
  }
  std::string Examples() const override {
    return "A corner is a tile shape that fits while no shape that contains it does. Of each it says what it "
           "costs, and why the\n"
           "next larger along each axis is impossible. --why-not asks about one shape: 7x56 is rows by "
           "columns, "
           "rows=7,channels=32\n"
           "names axes, and 1x24x7x56 gives every extent of the output.\n\n"
           "Examples:\n"
           "  tessera tile examples/networks/patent_chain.yaml --hw hw_profiles/mcu_320k.yaml\n"
           "  tessera tile examples/networks/mobilenet_v2.yaml --hw hw_profiles/edge_npu_1mib.yaml --ops "
           "block1_expand..block1_project\n"
           "  tessera tile examples/networks/mobilenet_v2.yaml --hw hw_profiles/edge_npu_1mib.yaml --ops "
           "3..5 "
           "--why-not 56x56\n"
           "  tessera tile --ladder examples/problems/halo_ladder.json\n\n"
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
    CLI::Option* why_not = app.add_option("--why-not", shape_,
                                          "Answer for this tile shape alone: ROWSxCOLUMNS or AXIS=EXTENT,...")
                               ->needs(network);
    app.add_flag("--all", all_, "List every tile shape that was considered, not only the corners")
        ->needs(network)
        ->excludes(why_not);
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
    if (!ladder_.empty()) return Finish(console, ClimbLadder(stop));
    const base::Expected<Subject> subject = Load();
    if (!subject) return console.Refuse(subject.error());
    const EngineSet engines(search_);
    const search::CachedEngines cached(engines.Pointers());
    search::TileOptions options;
    options.engines = cached.Pointers();
    options.budget = search_.Limit(kTileBudget);
    const ExitCode code = shape_.empty() ? FindCorners(console, *subject, options, stop)
                                         : AskShape(console, *subject, options, stop);
    if (search_.verbose) {
      const search::VerdictCache::Counts counts = cached.Count();
      console.Note(
          fmt::format("{} of {} answers were known from others", counts.hits, counts.hits + counts.misses));
    }
    return code;
  }

 private:
  base::Expected<Subject> Load() const {
    base::Expected<graph::Graph> network = LoadNetwork(network_);
    if (!network) return tl::unexpected(network.error());
    base::Expected<hw_profiles::Profile> profile = LoadProfile(profile_);
    if (!profile) return tl::unexpected(profile.error());
    const base::Expected<graph::Interval> interval = ParseInterval(interval_, *network);
    if (!interval) return tl::unexpected(interval.error());
    return Subject{*std::move(network), *std::move(profile), *interval};
  }

  ExitCode Finish(Console& console, const base::Expected<TileAnswer>& answer) const {
    if (!answer) return console.Refuse(answer.error());
    console.Print(format_ == "json" ? TileJson(*answer) : TileText(*answer));
    if (answer->largest) return Ended(Status::kFeasible);
    return Ended(answer->largest_proven ? Status::kInfeasible : Status::kUnknown);
  }

  static ExitCode Ended(Status status) {
    if (InterruptGuard::Interrupted()) return ExitCode::kInterrupted;
    if (status == Status::kFeasible) return ExitCode::kAnswer;
    return status == Status::kInfeasible ? ExitCode::kInfeasible : ExitCode::kLimit;
  }

  // What the encoder refuses the profile cannot run.
  static ExitCode Decline(Console& console, const base::Diagnostic& refusal) {
    console.Refuse(refusal);
    return ExitCode::kUnsupported;
  }

  base::Expected<TileAnswer> ClimbLadder(const base::Stop& stop) const {
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
    const std::vector<problem::Rung>& rungs = input->ladder->rungs;
    const EngineSet engines(search_);
    const search::LadderOutcome outcome = search::SearchLadder(
        input->problem, *input->ladder, engines.Pointers(), {.budget = search_.Limit(kTileBudget)}, stop);
    TileAnswer answer;
    answer.subject = input->problem.name;
    if (outcome.largest) answer.largest = rungs[*outcome.largest].name;
    answer.largest_proven = outcome.largest_proven;
    answer.solves = outcome.solves;
    for (size_t i = 0; i < rungs.size(); ++i) answer.rows.push_back({rungs[i].name, "", 0, outcome.rungs[i]});
    if (const std::optional<size_t> refused = FindRefused(outcome)) {
      const problem::Problem sized = AtRung(input->problem, rungs[*refused]);
      std::optional<Collision> collision =
          reasons_.Find(sized, sized.memories[0].capacity, search_, stop, &*input->ladder, *refused);
      if (collision) answer.refused = RefusedTile{rungs[*refused].name, *std::move(collision)};
    }
    return answer;
  }

  // The first impossible rung above the largest that fits; where that is the last, the first of all.
  static std::optional<size_t> FindRefused(const search::LadderOutcome& outcome) {
    std::optional<size_t> first;
    for (size_t i = 0; i < outcome.rungs.size(); ++i) {
      if (outcome.rungs[i].status != Status::kInfeasible) continue;
      if (!outcome.largest || i > *outcome.largest) return i;
      if (!first) first = i;
    }
    return first;
  }

  ExitCode FindCorners(Console& console, const Subject& subject, const search::TileOptions& options,
                       const base::Stop& stop) const {
    const base::Expected<search::Staircase> found =
        search::FindStaircase(subject.network, subject.profile, subject.interval, options, stop);
    if (!found) return Decline(console, found.error());
    if (const base::Diagnostic* fault = found->tiles.Fault()) return console.Fail(*fault);
    return Finish(console, Tell(subject, *found, stop));
  }

  TileAnswer Tell(const Subject& subject, const search::Staircase& found, const base::Stop& stop) const {
    TileAnswer answer;
    answer.subject = subject.Text();
    answer.is_network = true;
    answer.largest_proven = found.largest_proven;
    answer.solves = found.tiles.Solves();
    answer.thinned = found.grid.thinned;
    if (found.fewest) answer.fewest = FewestTilesFound{found.fewest->tiles, found.fewest->proven};
    if (found.largest) answer.largest = ShapeText(found.tiles.Candidates()[*found.largest].choice.tile);

    const search::Simulator simulator(subject.network, subject.profile);
    std::map<size_t, std::string> reasons;
    for (const search::PolicyStaircase& policy : found.policies) {
      for (const search::Corner& corner : policy.corners) {
        CornerRow& row = answer.corners.emplace_back();
        row.row = RowOf(found.tiles, corner.candidate, subject, &simulator);
        row.proven = corner.proven;
        for (const size_t larger : corner.beyond) {
          const auto [reason, fresh] = reasons.try_emplace(larger);
          if (fresh) reason->second = ReasonOf(found.tiles, larger, stop);
          row.beyond.push_back({ShapeText(found.tiles.Candidates()[larger].choice.tile),
                                found.tiles.Known(larger).status, reason->second});
        }
      }
    }
    for (size_t i = 0; all_ && i < found.tiles.Candidates().size(); ++i)
      answer.rows.push_back(RowOf(found.tiles, i, subject, nullptr));
    if (const std::optional<size_t> next = FindNextLarger(found)) {
      std::optional<Collision> collision = Explain(found.tiles, *next, stop);
      if (collision) {
        answer.refused =
            RefusedTile{ShapeText(found.tiles.Candidates()[*next].choice.tile), *std::move(collision)};
      }
    }
    return answer;
  }

  // With its cost where it fits and a simulator is handed in.
  static TileRow RowOf(const search::IntervalTiles& tiles, size_t candidate, const Subject& subject,
                       const search::Simulator* simulator) {
    const encoder::SubgraphChoice& choice = tiles.Candidates()[candidate].choice;
    TileRow row{ShapeText(choice.tile), PolicyText(choice.policy.weights, choice.policy.in_place),
                tiles.TilingOf(candidate).tiles, tiles.Known(candidate)};
    if (simulator != nullptr && Fits(row.answer))
      row.cost = simulator->Run(graph::Tile(subject.network, choice.interval, choice.tile), choice.policy);
    return row;
  }

  std::string ReasonOf(const search::IntervalTiles& tiles, size_t candidate, const base::Stop& stop) const {
    const search::RungAnswer& known = tiles.Known(candidate);
    if (known.status != Status::kInfeasible) return known.reason;
    const std::optional<Collision> collision = Explain(tiles, candidate, stop);
    return collision ? collision->Summary() : known.reason;
  }

  std::optional<Collision> Explain(const search::IntervalTiles& tiles, size_t candidate,
                                   const base::Stop& stop) const {
    const problem::Problem problem = tiles.ProblemOf(candidate);
    return reasons_.Find(problem, problem.memories[0].capacity, search_, stop);
  }

  // Of the impossible candidates with more elements than the largest that fits the smallest.
  static std::optional<size_t> FindNextLarger(const search::Staircase& found) {
    const auto candidates = found.tiles.Candidates();
    const auto elements = [&](size_t i) { return graph::ElementsOf(candidates[i].choice.tile); };
    std::optional<size_t> next;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (found.tiles.Known(i).status != Status::kInfeasible) continue;
      if (found.largest && elements(i) <= elements(*found.largest)) continue;
      if (!next || elements(i) < elements(*next)) next = i;
    }
    return next;
  }

  ExitCode AskShape(Console& console, const Subject& subject, search::TileOptions options,
                    const base::Stop& stop) const {
    const base::Expected<graph::TileShape> shape =
        ParseTileShape(shape_, subject.network, subject.profile, subject.interval);
    if (!shape) return console.Refuse(shape.error());
    options.shapes = {*shape};
    base::Expected<search::IntervalTiles> tiles =
        search::IntervalTiles::Build(subject.network, subject.profile, subject.interval, options);
    if (!tiles) return Decline(console, tiles.error());
    tiles->DecideAll(stop);
    if (const base::Diagnostic* fault = tiles->Fault()) return console.Fail(*fault);
    const search::Simulator simulator(subject.network, subject.profile);
    ShapeAnswer answer{subject.Text(), ShapeText(*shape), {}};
    for (size_t i = 0; i < tiles->Candidates().size(); ++i) {
      ShapeAnswer::UnderPolicy& policy = answer.policies.emplace_back();
      policy.row = RowOf(*tiles, i, subject, &simulator);
      if (policy.row.answer.status == Status::kInfeasible) policy.collision = Explain(*tiles, i, stop);
    }
    console.Print(format_ == "json" ? ShapeAnswerJson(answer) : ShapeAnswerText(answer));
    return Ended(answer.Status());
  }

  std::string network_;
  std::string profile_;
  std::string interval_;
  std::string shape_;
  std::string ladder_;
  std::string format_ = "text";
  bool all_ = false;
  SearchOptions search_;
  Reasons reasons_;
};

}  // namespace

std::unique_ptr<Command> MakeTileCommand() { return std::make_unique<TileCommand>(); }

}  // namespace tessera::cli
