// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "tessera/api/answers/answer_text.h"
#include "tessera/api/parts/tile_answers.h"
#include "tessera/base/stop.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/network_options.h"
#include "tessera/graph/import/formats.h"
#include "tessera/search/tiling/engine_cache.h"
#include "tessera/search/tiling/feasible_frontier.h"

// `tessera tile`: the largest tile of an interval of operators that fits, or the largest candidate
// of a given ladder.
namespace tessera::cli {
namespace {

using problem::Status;

using api::parts::TileAnswers;

class TileCommand final : public Command {
 public:
  std::string Name() const override { return "tile"; }
  std::string Summary() const override {
    return "Find the largest tiles of some operators that fit, and prove that no larger ones do";
  }
  std::string Examples() const override {
    return "A corner is a tile shape that fits while no shape that contains it does. For each "
           "corner "
           "the command prints the\n"
           "costs, and why the next larger tile along each axis is impossible. --why-not asks "
           "about "
           "one shape: 7x56 is "
           "rows by columns, rows=7,channels=32\n"
           "names axes, and 1x24x7x56 gives every extent of the output.\n\n"
           "Examples:\n"
           "  tessera tile examples/networks/patent_chain.yaml --hw hw_profiles/mcu_320k.yaml\n"
           "  tessera tile examples/networks/mobilenet_v2.yaml --hw hw_profiles/edge_npu_1mib.yaml "
           "--ops block1_expand..block1_project\n"
           "  tessera tile examples/networks/mobilenet_v2.yaml --hw hw_profiles/edge_npu_1mib.yaml "
           "--ops 3..5 --why-not 56x56\n"
           "  tessera tile --candidates examples/problems/halo_candidates.json\n\n"
           "For the next larger tile it names the few conditions that collide and the single "
           "changes "
           "that would help.\n";
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
    const api::parts::EngineSet engines = search_.Engines();
    const TileAnswers builder(engines, search_.budget, !reasons_.AreOff(), stop);
    if (!ladder_.empty()) {
      const base::Expected<problem::files::ProblemDocument> input = LoadProblem(ladder_);
      if (!input) return console.Refuse(input.error());
      return Finish(console, builder.SearchCandidates(*input, ladder_));
    }
    const tl::expected<TileSubject, NetworkRefusal> subject = subject_.Load(console, network_);
    if (!subject) {
      console.Refuse(subject.error().diagnostic);
      return subject.error().code;
    }
    const search::tiling::CachedEngines cached(engines.Pointers());
    search::tiling::TileOptions options;
    options.engines = cached.Pointers();
    options.budget = search_.Limit(api::parts::kTileBudget);
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
  ExitCode Finish(Console& console, const base::Expected<api::answers::TileAnswer>& answer) const {
    if (!answer) return console.Refuse(answer.error());
    console.Print(format_.IsJson() ? api::answers::TileJson(*answer)
                                   : api::answers::TileText(*answer));
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
                       const TileAnswers& builder) const {
    auto kept = std::make_unique<const base::Expected<search::tiling::Staircase>>(
        search::tiling::FindStaircase(subject.network, subject.profile, subject.interval, options,
                                      stop));
    const base::Expected<search::tiling::Staircase>& found = *kept;
    if (!found) return Decline(console, found.error());
    if (const base::Diagnostic* fault = found->tiles.Fault()) return console.Fail(*fault);
    const ExitCode code = Finish(console, builder.Build(subject, *found, all_));
    base::FreeUnlessAtEnd(std::move(kept), stop);
    return code;
  }

  ExitCode AskShape(Console& console, const TileSubject& subject,
                    search::tiling::TileOptions options, const base::Stop& stop,
                    const TileAnswers& builder) const {
    const base::Expected<graph::tiling::TileShape> shape =
        api::parts::ParseTileShape(shape_, subject.network, subject.profile, subject.interval);
    if (!shape) return console.Refuse(shape.error());
    options.shapes = {*shape};
    base::Expected<search::tiling::IntervalTiles> tiles = search::tiling::IntervalTiles::Build(
        subject.network, subject.profile, subject.interval, options);
    if (!tiles) return Decline(console, tiles.error());
    tiles->DecideAll(stop);
    if (const base::Diagnostic* fault = tiles->Fault()) return console.Fail(*fault);
    const api::answers::ShapeAnswer answer = builder.Build(subject, *shape, *tiles);
    console.Print(format_.IsJson() ? api::answers::ShapeAnswerJson(answer)
                                   : api::answers::ShapeAnswerText(answer));
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
