// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/explore_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "tessera/api/content.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/explore/expression.h"
#include "tessera/explore/output.h"
#include "tessera/explore/shard.h"
#include "tessera/explore/store.h"

namespace tessera::cli {

base::Expected<explore::Json> LatestDocument(const explore::Store& store, const std::string& path) {
  const std::optional<std::string> document = store.FindLatestResult();
  if (document) return explore::Json::parse(*document);
  base::Diagnostic fault;
  fault.file = path;
  fault.message = "the store has no finished exploration";
  fault.hint = "run `tessera explore SPEC --store " + path + "` to its end";
  return base::Unexpected(fault);
}

ExitCode RefuseStore(Console& console, const explore::StoreFault& fault) {
  const ExitCode code = console.Refuse(fault);
  return fault.is_of_writing ? ExitCode::kCannotWrite : code;
}

ExitCode WithStore(Console& console, const std::function<ExitCode()>& work) {
  try {
    return work();
  } catch (const explore::Json::exception& error) {
    base::Diagnostic fault;
    fault.message = "the store is damaged: one of its documents cannot be read";
    fault.found = error.what();
    fault.hint = "explore again with a new store";
    return console.Refuse(fault);
  }
}

namespace {

// "20%" and "0.2" are the same.
std::optional<double> ParseShare(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  if (is_percent) text.remove_suffix(1);
  const std::optional<double> number = explore::ParseQuantity(text);
  return number && is_percent ? *number / 100 : number;
}

}  // namespace

void ExploreQuestions::Declare(CLI::App& app) {
  app.add_flag("--exhaustive", request_.plan_all, "Plan every pair, whatever is proven of it");
  const auto read = [](const std::string& option, const std::string& text) {
    const std::optional<double> share = ParseShare(text);
    if (!share) throw CLI::ValidationError(option, "expected a share, as 20% or 0.2");
    return *share;
  };
  app.add_option_function<std::string>(
      "--adaptive",
      [this, read](const std::string& text) { request_.adaptive = read("--adaptive", text); },
      "Plan this share of the pairs at most, the most promising ones, and state the gap (20%)");
  app.add_flag("--marginal", request_.marginal,
               "Say what one step of each axis changes along the fronts");
  app.add_option_function<std::string>(
      "--uncertainty",
      [this, read](const std::string& text) { request_.uncertainty = read("--uncertainty", text); },
      "Say which points stay on the fronts if areas of parts are wrong by up to this share (20%)");
  app.add_flag("--relax", request_.relax,
               "Drop each restriction and each mode of the base profiles alone, and say what that "
               "gains or proves; no fronts");
  app.add_option("--least", request_.least,
                 "Find the least value of this entry, as memories.sram.capacity_bytes, with which "
                 "the networks keep their limits; no fronts");
}

std::string ExploreQuestions::CheckRequest() const { return explore::FaultOf(request_); }

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
    const InterruptGuard guard(api::StopOf(options.canceller));
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
  const InterruptGuard guard(api::StopOf(options.canceller));
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
