// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/explore_shards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string_view>
#include <vector>

#include "tessera/api/content.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/explore/merge.h"
#include "tessera/explore/output.h"
#include "tessera/explore/shard.h"
#include "tessera/explore/store.h"

namespace tessera::cli {
namespace {

using explore::Json;

class MergePart final : public ExplorePart {
 public:
  explicit MergePart(CLI::App& app) {
    app.add_option("stores", stores_, "Stores of pieces, or of the whole")->required();
    app.add_option("--output", output_, "The store that gets all of it; it may exist")->required();
    threads_.Declare(app, "document");
    format_.Declare(app);
    app.footer(
        "Examples:\n"
        "  tessera explore merge piece1.db piece2.db --output all.db\n"
        "  tessera explore export all.db --canonical\n");
  }

  ExitCode Run(Console& console) override {
    for (const std::string& store : stores_) destinations_.Read("store", store);
    destinations_.Update("--output", output_);
    return destinations_.Around(console, [&] { return Answer(console); });
  }

 private:
  ExitCode Answer(Console& console) const {
    explore::MergeOptions options;
    options.threads = threads_.Get();
    options.progress = [&](std::string_view line) { console.Progress(line); };
    const InterruptGuard guard(options.canceller.Get().stop);
    const auto report = explore::Merge(stores_, output_, options);
    if (!report) return RefuseStore(console, report.error());
    if (!*report) {
      console.Note("interrupted; the same command goes on from here");
      return ExitCode::kInterrupted;
    }
    console.Note(fmt::format("{} answers, of which {} were planned now", (*report)->answers,
                             (*report)->planned));
    if (!(*report)->document) {
      console.Note(fmt::format("pieces {} are not done; merge again with their stores",
                               fmt::join((*report)->missing, ", ")));
      return ExitCode::kIncomplete;
    }
    const Json& document = *(*report)->document;
    console.Print(format_.IsJson() ? explore::DocumentText(document)
                                   : explore::DescribeDocument(document));
    return CodeOfExploration(document);
  }

  std::vector<std::string> stores_;
  std::string output_;
  ThreadCount threads_;
  AnswerFormat format_;
  Destinations destinations_;
};

}  // namespace

void ShardChoice::Declare(CLI::App& app, CLI::Option* store) {
  CLI::Option* shard =
      app.add_option("--shard", piece_,
                     "I/N: plan piece I of N alone, for one of several processes; the store is "
                     "common to them, or one for each, which `explore merge` unites")
          ->needs(store)
          ->check([](const std::string& text) {
            return explore::ParsePiece(text) ? std::string()
                                             : "expected I/N with 1 <= I <= N <= 10000";
          });
  app.add_flag("--retry-failed", retry_failed_, "Ask again what failed twice")->needs(shard);
}

ExitCode ShardChoice::Run(Console& console, const explore::Spec& spec, const std::string& text,
                          const explore::Store& store, int threads, bool plan_all) const {
  explore::ShardOptions options;
  options.piece = *explore::ParsePiece(piece_);
  options.threads = threads;
  options.plan_all = plan_all;
  options.retry_failed = retry_failed_;
  options.progress = [&](std::string_view line) { console.Progress(line); };
  const InterruptGuard guard(options.canceller.Get().stop);
  const auto report = explore::ExploreShard(spec, text, store, options);
  if (!report) return RefuseStore(console, store.FaultOr(report.error()));
  if (!*report) {
    console.Note("interrupted; the same command goes on from here");
    return ExitCode::kInterrupted;
  }
  console.Print(fmt::format("piece {}: {} pairs, {} planned, {} skipped\n", piece_,
                            (*report)->pairs, (*report)->planned, (*report)->skipped));
  for (const std::string& failed : (*report)->failed) console.Print("failed: " + failed + "\n");
  return (*report)->failed.empty() ? ExitCode::kAnswer : ExitCode::kIncomplete;
}

namespace {

// Without a front of the set, some network must be proven to have no plan at each point.
bool IsSetInfeasible(const Json& document) {
  std::set<size_t> without;
  for (const Json& pair : document.at("pairs")) {
    bool is_infeasible = pair.value("outcome", "") == "infeasible";
    for (const Json& answer : pair.value("answers", Json::array()))
      is_infeasible = is_infeasible || answer.at("outcome") == "infeasible";
    if (is_infeasible) without.insert(pair.at("point").get<size_t>());
  }
  return without.size() == document.at("points").size();
}

}  // namespace

ExitCode CodeOfExploration(const Json& document) {
  bool is_open = false;
  bool has_plan = false;
  for (const Json& pair : document.at("pairs")) {
    is_open = is_open || (pair.value("outcome", "") != "infeasible" && !pair.contains("answers"));
    for (const Json& answer : pair.value("answers", Json::array())) {
      if (answer.at("outcome") == explore::kFailed) return ExitCode::kIncomplete;
      has_plan = has_plan || answer.contains("metrics");
      is_open = is_open || answer.at("outcome") != "infeasible";
    }
  }
  if (document.contains("set_front") && document.at("fronts").empty()) {
    has_plan = !document.at("set_front").empty();
    is_open = !IsSetInfeasible(document);
  }
  if (has_plan) return ExitCode::kAnswer;
  return is_open ? ExitCode::kLimit : ExitCode::kInfeasible;
}

std::unique_ptr<ExplorePart> MakeMergePart(CLI::App& app) {
  return std::make_unique<MergePart>(app);
}

}  // namespace tessera::cli
