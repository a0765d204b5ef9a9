#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <utility>

#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/network_options.h"
#include "tessera/cli/search_options.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/graph/import/formats.h"
#include "tessera/report/answer_text.h"
#include "tessera/report/text_table.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/tiling/engine_cache.h"
#include "tessera/search/tiling/feasible_frontier.h"

// `tessera tile`: the largest tile of an interval of operators that fits, or the largest candidate
// of a given ladder.
namespace tessera::cli {
namespace {

using problem::Status;

constexpr int64_t kTileBudget = 200'000;

// Converts the result of a search to the answer of `tessera tile`: with costs, and with reasons if
// something is impossible. All arguments must outlive this object.
class TileAnswerBuilder {
 public:
  TileAnswerBuilder(const SearchOptions& search, const Reasons& reasons, const base::Stop& stop)
      : search_(search), reasons_(reasons), stop_(stop) {}

  // Searches the ladder in that file.
  base::Expected<report::TileAnswer> SearchTileCandidates(const std::string& path,
                                                          base::Budget budget) const;

  // The corners; and every shape that was considered if `all` is true.
  report::TileAnswer Build(const TileSubject& subject, const search::tiling::Staircase& found,
                           bool all) const;

  // One shape, decided under every policy.
  report::ShapeAnswer Build(const TileSubject& subject, const graph::tiling::TileShape& shape,
                            const search::tiling::IntervalTiles& tiles) const;

 private:
  std::string ReasonOf(const search::tiling::IntervalTiles& tiles, size_t candidate) const;
  std::optional<report::Collision> Explain(const search::tiling::IntervalTiles& tiles,
                                           size_t candidate) const;

  const SearchOptions& search_;
  const Reasons& reasons_;
  const base::Stop& stop_;
};

// The first impossible candidate above the largest that fits; where that is the last, the first of
// all.
std::optional<size_t> FindRefused(const search::tiling::CandidateOutcome& outcome) {
  std::optional<size_t> first;
  for (size_t i = 0; i < outcome.candidates.size(); ++i) {
    if (outcome.candidates[i].status != Status::kInfeasible) continue;
    if (!outcome.largest || i > *outcome.largest) return i;
    if (!first) first = i;
  }
  return first;
}

// Of the impossible candidates with more elements than the largest that fits the smallest.
std::optional<size_t> FindNextLarger(const search::tiling::Staircase& found) {
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

// With its cost where it fits and a simulator is handed in.
report::TileRow RowOf(const search::tiling::IntervalTiles& tiles, size_t candidate,
                      const TileSubject& subject, const search::cost::Simulator* simulator) {
  const encoder::program::SubgraphChoice& choice = tiles.Candidates()[candidate].choice;
  report::TileRow row{
      report::ShapeText(choice.tile),
      report::PolicyText(choice.policy.weights, choice.policy.in_place, choice.policy.halo,
                         choice.policy.k_extent, choice.policy.serialized),
      tiles.TilingOf(candidate).tiles, tiles.Known(candidate)};
  if (simulator != nullptr && Fits(row.answer)) {
    const graph::tiling::TiledSubgraph tiling = encoder::program::CutTiles(
        subject.network, choice.interval, choice.tile, choice.policy.halo);
    row.cost = simulator->Run(tiling, choice.policy);
  }
  return row;
}

base::Expected<report::TileAnswer> TileAnswerBuilder::SearchTileCandidates(
    const std::string& path, base::Budget budget) const {
  const base::Expected<problem::files::ProblemDocument> input = LoadProblem(path);
  if (!input) return tl::unexpected(input.error());
  if (!input->ladder) {
    base::Diagnostic fault;
    fault.file = path;
    fault.message = "the file has no tile candidates";
    fault.expected = "a \"tile_candidates\" with a size for every buffer on every candidate";
    fault.hint = "`tessera alloc` answers for a Problem with one size each";
    return tl::unexpected(std::move(fault));
  }
  const std::vector<problem::CandidateSizes>& candidates = input->ladder->candidates;
  const api::parts::EngineSet engines = search_.Engines();
  const search::tiling::CandidateOutcome outcome = search::tiling::SearchCandidates(
      input->problem, *input->ladder, engines.Pointers(), {.budget = budget}, stop_);
  report::TileAnswer answer;
  answer.subject = input->problem.name;
  if (outcome.largest) answer.largest = candidates[*outcome.largest].name;
  answer.largest_proven = outcome.largest_proven;
  answer.solves = outcome.solves;
  for (size_t i = 0; i < candidates.size(); ++i)
    answer.rows.push_back({candidates[i].name, "", 0, outcome.candidates[i]});
  if (const std::optional<size_t> refused = FindRefused(outcome)) {
    const problem::Problem sized = AtCandidate(input->problem, candidates[*refused]);
    std::optional<report::Collision> collision =
        reasons_.Find(sized, sized.memories[0].capacity, search_, stop_, &*input->ladder, *refused);
    if (collision)
      answer.refused = report::RefusedTile{candidates[*refused].name, *std::move(collision)};
  }
  return answer;
}

report::TileAnswer TileAnswerBuilder::Build(const TileSubject& subject,
                                            const search::tiling::Staircase& found,
                                            bool all) const {
  report::TileAnswer answer;
  answer.subject = subject.Text();
  answer.is_network = true;
  answer.notes = subject.notes;
  answer.largest_proven = found.largest_proven;
  answer.solves = found.tiles.Solves();
  answer.thinned = found.grid.thinned;
  if (found.fewest)
    answer.fewest = report::FewestTilesFound{found.fewest->tiles, found.fewest->proven};
  if (found.largest)
    answer.largest = report::ShapeText(found.tiles.Candidates()[*found.largest].choice.tile);

  const search::cost::Simulator simulator(subject.network, subject.profile);
  std::map<size_t, std::string> reasons;
  for (const search::tiling::PolicyStaircase& policy : found.policies) {
    for (const search::tiling::Corner& corner : policy.corners) {
      report::CornerRow& row = answer.corners.emplace_back();
      row.row = RowOf(found.tiles, corner.candidate, subject, &simulator);
      row.proven = corner.proven;
      for (const size_t larger : corner.beyond) {
        const auto [reason, fresh] = reasons.try_emplace(larger);
        if (fresh) reason->second = ReasonOf(found.tiles, larger);
        row.beyond.push_back({report::ShapeText(found.tiles.Candidates()[larger].choice.tile),
                              found.tiles.Known(larger).status, reason->second});
      }
    }
  }
  for (size_t i = 0; all && i < found.tiles.Candidates().size(); ++i)
    answer.rows.push_back(RowOf(found.tiles, i, subject, nullptr));
  if (const std::optional<size_t> next = FindNextLarger(found)) {
    std::optional<report::Collision> collision = Explain(found.tiles, *next);
    if (collision) {
      answer.refused = report::RefusedTile{
          report::ShapeText(found.tiles.Candidates()[*next].choice.tile), *std::move(collision)};
    }
  }
  return answer;
}

report::ShapeAnswer TileAnswerBuilder::Build(const TileSubject& subject,
                                             const graph::tiling::TileShape& shape,
                                             const search::tiling::IntervalTiles& tiles) const {
  const search::cost::Simulator simulator(subject.network, subject.profile);
  report::ShapeAnswer answer{subject.Text(), report::ShapeText(shape), {}, subject.notes};
  for (size_t i = 0; i < tiles.Candidates().size(); ++i) {
    report::ShapeAnswer::UnderPolicy& policy = answer.policies.emplace_back();
    policy.row = RowOf(tiles, i, subject, &simulator);
    if (policy.row.answer.status == Status::kInfeasible) policy.collision = Explain(tiles, i);
  }
  return answer;
}

std::string TileAnswerBuilder::ReasonOf(const search::tiling::IntervalTiles& tiles,
                                        size_t candidate) const {
  const search::tiling::CandidateAnswer& known = tiles.Known(candidate);
  if (known.status != Status::kInfeasible) return known.reason;
  const std::optional<report::Collision> collision = Explain(tiles, candidate);
  return collision ? collision->Summary() : known.reason;
}

std::optional<report::Collision> TileAnswerBuilder::Explain(
    const search::tiling::IntervalTiles& tiles, size_t candidate) const {
  const problem::Problem problem = tiles.ProblemOf(candidate);
  return reasons_.Find(problem, problem.memories[0].capacity, search_, stop_);
}

class TileCommand final : public Command {
 public:
  std::string Name() const override { return "tile"; }
  std::string Summary() const override {
    return "Find the largest tiles of some operators that fit, and prove that no larger ones do";
  }
  std::string Examples() const override {
    return "A corner is a tile shape that fits while no shape that contains it does. Of each it "
           "says what it costs, and why the\n"
           "next larger along each axis is impossible. --why-not asks about one shape: 7x56 is "
           "rows by columns, rows=7,channels=32\n"
           "names axes, and 1x24x7x56 gives every extent of the output.\n\n"
           "Examples:\n"
           "  tessera tile examples/networks/patent_chain.yaml --hw hw_profiles/mcu_320k.yaml\n"
           "  tessera tile examples/networks/mobilenet_v2.yaml --hw hw_profiles/edge_npu_1mib.yaml "
           "--ops block1_expand..block1_project\n"
           "  tessera tile examples/networks/mobilenet_v2.yaml --hw hw_profiles/edge_npu_1mib.yaml "
           "--ops 3..5 --why-not 56x56\n"
           "  tessera tile --candidates examples/problems/halo_ladder.json\n\n"
           "Of the next larger tile it says which few conditions collide and which single changes "
           "would help.\n";
  }

  void Declare(CLI::App& app) override {
    CLI::Option* network = app.add_option(
        "network", network_,
        fmt::format("The network in {}; - reads standard input", graph::import::NamesOfFormats()));
    CLI::Option* profile = subject_.Declare(app);
    network->needs(profile);
    profile->needs(network);
    CLI::Option* why_not =
        app.add_option("--why-not", shape_,
                       "Answer for this tile shape alone: ROWSxCOLUMNS or AXIS=EXTENT,...")
            ->needs(network);
    app.add_flag("--all", all_, "List every tile shape that was considered, not only the corners")
        ->needs(network)
        ->excludes(why_not);
    app.add_option("--candidates", ladder_,
                   "A Problem with tile candidates in JSON, instead of a network")
        ->excludes(network)
        ->excludes(profile);
    format_.Declare(app);
    search_.Declare(app);
    reasons_.Declare(app);
  }

  ExitCode Run(Console& console) override {
    if (network_.empty() && ladder_.empty()) {
      console.Note(
          "tile: expected a network with --hw, or --candidates; see `tessera tile --help`");
      return ExitCode::kUsage;
    }
    base::Stop stop(search_.Deadline());
    search_.LimitLast(stop);
    const InterruptGuard guard(stop);
    const TileAnswerBuilder builder(search_, reasons_, stop);
    if (!ladder_.empty())
      return Finish(console, builder.SearchTileCandidates(ladder_, search_.Limit(kTileBudget)));
    const tl::expected<TileSubject, NetworkRefusal> subject = subject_.Load(console, network_);
    if (!subject) {
      console.Refuse(subject.error().diagnostic);
      return subject.error().code;
    }
    const api::parts::EngineSet engines = search_.Engines();
    const search::tiling::CachedEngines cached(engines.Pointers());
    search::tiling::TileOptions options;
    options.engines = cached.Pointers();
    options.budget = search_.Limit(kTileBudget);
    const ExitCode code = shape_.empty() ? FindCorners(console, *subject, options, stop, builder)
                                         : AskShape(console, *subject, options, stop, builder);
    if (search_.verbose) {
      const search::tiling::ResultCache::Counts counts = cached.Count();
      console.Note(fmt::format("{} of {} answers were known from others", counts.hits,
                               counts.hits + counts.misses));
    }
    return code;
  }

 private:
  ExitCode Finish(Console& console, const base::Expected<report::TileAnswer>& answer) const {
    if (!answer) return console.Refuse(answer.error());
    console.Print(format_.IsJson() ? report::TileJson(*answer) : report::TileText(*answer));
    if (answer->largest) return Ended(Status::kFeasible);
    return Ended(answer->largest_proven ? Status::kInfeasible : Status::kUnknown);
  }

  static ExitCode Ended(Status status) {
    if (InterruptGuard::Interrupted()) return ExitCode::kInterrupted;
    if (status == Status::kFeasible) return ExitCode::kAnswer;
    return status == Status::kInfeasible ? ExitCode::kInfeasible : ExitCode::kLimit;
  }

  // Reports an error of the encoder as unsupported: the profile cannot run the network.
  static ExitCode Decline(Console& console, const base::Diagnostic& refusal) {
    console.Refuse(refusal);
    return ExitCode::kUnsupported;
  }

  ExitCode FindCorners(Console& console, const TileSubject& subject,
                       const search::tiling::TileOptions& options, const base::Stop& stop,
                       const TileAnswerBuilder& builder) const {
    const base::Expected<search::tiling::Staircase> found = search::tiling::FindStaircase(
        subject.network, subject.profile, subject.interval, options, stop);
    if (!found) return Decline(console, found.error());
    if (const base::Diagnostic* fault = found->tiles.Fault()) return console.Fail(*fault);
    return Finish(console, builder.Build(subject, *found, all_));
  }

  ExitCode AskShape(Console& console, const TileSubject& subject,
                    search::tiling::TileOptions options, const base::Stop& stop,
                    const TileAnswerBuilder& builder) const {
    const base::Expected<graph::tiling::TileShape> shape =
        ParseTileShape(shape_, subject.network, subject.profile, subject.interval);
    if (!shape) return console.Refuse(shape.error());
    options.shapes = {*shape};
    base::Expected<search::tiling::IntervalTiles> tiles = search::tiling::IntervalTiles::Build(
        subject.network, subject.profile, subject.interval, options);
    if (!tiles) return Decline(console, tiles.error());
    tiles->DecideAll(stop);
    if (const base::Diagnostic* fault = tiles->Fault()) return console.Fail(*fault);
    const report::ShapeAnswer answer = builder.Build(subject, *shape, *tiles);
    console.Print(format_.IsJson() ? report::ShapeAnswerJson(answer)
                                   : report::ShapeAnswerText(answer));
    return Ended(answer.Status());
  }

  std::string network_;
  SubjectOptions subject_;
  std::string shape_;
  std::string ladder_;
  AnswerFormat format_;
  bool all_ = false;
  SearchOptions search_;
  Reasons reasons_;
};

}  // namespace

std::unique_ptr<Command> MakeTileCommand() { return std::make_unique<TileCommand>(); }

}  // namespace tessera::cli
