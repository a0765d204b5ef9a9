// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "tessera/api/parts/certificate.h"
#include "tessera/api/parts/plan_check.h"
#include "tessera/base/arithmetic.h"
#include "tessera/base/json_document.h"
#include "tessera/base/text.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/inputs.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/problem/validator.h"

// `tessera check`: checks whether an answer is right. Recomputes everything that can be recomputed,
// and makes a plan again to check the claims that only a search can establish.
namespace tessera::cli {
namespace {

class CheckCommand final : public Command {
 public:
  std::string Name() const override { return "check"; }
  std::string Summary() const override {
    return "Check a plan, an allocation or a certificate, without trust in what made it";
  }
  std::string Examples() const override {
    return "A plan carries its network and profile; regions, lifespans and sizes are derived again "
           "from these.\n\n"
           "Examples:\n"
           "  tessera check plan.json\n"
           "  tessera check --execute plan.json                run it byte by byte, every tile, "
           "and look;\n"
           "                                                   its lowering too, in an order of "
           "its own\n"
           "  tessera check answer.csv --capacity 1048576      the CSV has an offset column\n"
           "  tessera check answer.json --problem problem.json\n"
           "  tessera check --certificate proof                the proof that nothing fits, or "
           "that no plan exists\n"
           "  tessera check --certificate proof --problem buffers.csv --capacity 1048575\n";
  }

  void Declare(CLI::App& app) override {
    files_.Declare(app);
    app.get_option("file")->required(false);
    app.add_option(
           "--certificate", certificate_,
           "Check the proof in this folder instead, of `tessera alloc` or `tessera plan`; with "
           "--problem, that it is about this Problem, with --capacity, that it covers so many "
           "bytes")
        ->type_name("DIR")
        ->excludes("file");
    app.add_flag(
           "--execute", execute_,
           "Run the plan as well, transfer by transfer and operator by operator, on simulated "
           "memories that record which value each byte holds")
        ->excludes("--certificate");
    app.add_flag("--no-search", no_search_,
                 "Do not make the plan again: the answer then says that its status, its baseline "
                 "and which tiles are the largest were not compared")
        ->excludes("--certificate");
    limits_.Declare(app,
                    "a plan or a certificate of one that was not checked in full by then is "
                    "neither accepted nor refused");
    threads_.Declare(app, "verdict");
    format_.Declare(app);
  }

  ExitCode Run(Console& console) override {
    if (!certificate_.empty()) return CheckCertificate(console);
    if (files_.file.empty()) {
      console.Note("file is required: a plan, an allocation, or a CSV; or --certificate DIR");
      return ExitCode::kUsage;
    }
    const base::Expected<Answer> answer = LoadAnswer(files_);
    if (!answer) return console.Refuse(answer.error());
    if (execute_ && !answer->plan) {
      console.Note("--execute: only a plan can be run");
      return ExitCode::kUsage;
    }
    if (answer->plan) return CheckPlan(console, *answer);
    std::vector<std::string> violations;
    for (const problem::Violation& violation :
         Validate(answer->problem, answer->allocation, answer->capacity)) {
      violations.push_back(fmt::format("{}: {}", NameOf(violation.kind), violation.message));
    }
    if (!violations.empty()) return RefuseAll(console, violations);
    console.Print(format_.IsJson() ? base::WriteJson(AcceptanceAsJson())
                                   : AcceptanceAsText(*answer));
    return ExitCode::kAnswer;
  }

 private:
  ExitCode RefuseAll(Console& console, const std::vector<std::string>& violations) const {
    console.Print(api::answers::DescribeRefusal(violations, format_.IsJson()));
    return ExitCode::kCheckRefused;
  }

  ExitCode CheckPlan(Console& console, const Answer& answer) const {
    base::Stop stop(limits_.Deadline());
    limits_.LimitLast(stop);
    bool interrupted = false;
    const auto around = [&](const std::function<void()>& part) {
      const InterruptGuard guard(stop);
      part();
      interrupted = interrupted || InterruptGuard::Interrupted();
    };
    const api::parts::PlanVerdict verdict = api::parts::CheckPlan(
        *answer.plan,
        {.execute = execute_, .search = !no_search_, .threads = threads_.Get(), .around = around},
        stop);
    if (!verdict.violations.empty()) return RefuseAll(console, verdict.violations);
    if (!verdict.cut_off.empty())
      return LeaveOpen(console, stop, "the plan", verdict.cut_off, interrupted);
    if (!verdict.obstacle.empty()) return Decline(console, verdict.obstacle);
    console.Print(format_.IsJson() ? AcceptanceAsJson(verdict) : AcceptanceAsText(answer, verdict));
    return ExitCode::kAnswer;
  }

  // Neither accepts nor refuses an answer whose check the stop cut off.
  ExitCode LeaveOpen(Console& console, const base::Stop& stop, std::string_view what,
                     std::string_view when, bool interrupted) const {
    const bool meets_limit = stop.IsOutOfMemory() || stop.HasDeclined();
    const std::string_view cause = interrupted        ? "a signal"
                                   : meets_limit      ? "--memory-limit"
                                   : stop.Requested() ? "--timeout"
                                                      : "a lack of memory";
    const std::string reason =
        fmt::format("{} ended the check of {} {}; nothing is wrong so far", cause, what, when);
    console.Print(format_.IsJson()
                      ? base::WriteJson({{"status", "unknown"},
                                         {"reason", reason},
                                         {"violations", nlohmann::ordered_json::array()}})
                      : fmt::format("unknown: {}\n", reason));
    return interrupted ? ExitCode::kInterrupted : ExitCode::kLimit;
  }

  // Reports a valid plan that is too large for an execution.
  static ExitCode Decline(Console& console, const std::string& obstacle) {
    base::Diagnostic fault;
    fault.message = "--execute: " + obstacle;
    fault.hint = "without --execute the plan is accepted";
    console.Refuse(fault);
    return ExitCode::kUnsupported;
  }

  ExitCode CheckCertificate(Console& console) const {
    const base::Expected<api::parts::CertificateFiles> files =
        api::parts::ReadCertificate(certificate_);
    if (!files) return console.Refuse(files.error());
    if (api::parts::IsRefutation(*files)) return CheckRefutation(console, *files);
    const base::Expected<problem::proof::CheckedCertificate> checked =
        api::parts::CheckProblemCertificate(*files, certificate_);
    if (!checked) return console.Refuse(checked.error());
    base::Expected<std::vector<std::string>> violations = FindOtherClaim(*checked);
    if (!violations) return console.Refuse(violations.error());
    const problem::proof::ProofCheck& verdict = checked->verdict;
    if (!verdict.accepted) {
      violations->push_back(
          fmt::format("{}:{}: {}", problem::proof::kProofName, verdict.line, verdict.flaw));
    }
    if (!violations->empty()) return RefuseAll(console, *violations);
    const std::string text = fmt::format(
        "accepted: nothing fits into {} bytes; {} buffers, {} clause{}\n", checked->claim.capacity,
        checked->problem.buffers.size(), verdict.clauses, verdict.clauses == 1 ? "" : "s");
    console.Print(format_.IsJson() ? base::WriteJson(AcceptanceAsJson()) : text);
    return ExitCode::kAnswer;
  }

  ExitCode CheckRefutation(Console& console, const api::parts::CertificateFiles& files) const {
    if (!files_.problem.empty() || files_.capacity) {
      console.Note(
          "--certificate: this one says that a network has no plan; --problem and --capacity are "
          "not for it");
      return ExitCode::kUsage;
    }
    base::Stop stop(limits_.Deadline());
    limits_.LimitLast(stop);
    const InterruptGuard guard(stop);
    const base::Expected<plan::verify::infeasibility::RefutationResult> checked =
        api::parts::CheckRefutation(files, certificate_, stop);
    if (!checked) return console.Refuse(checked.error());
    if (stop.HasCutOff())
      return LeaveOpen(console, stop, "the proof", "before its end", InterruptGuard::Interrupted());
    if (!checked->refutation) return RefuseAll(console, {checked->gap});
    const plan::verify::infeasibility::Refutation& refutation = *checked->refutation;
    const std::string text = fmt::format(
        "accepted: no plan exists: {}; {} intervals, {} configurations, {} placements\n",
        base::Printable(refutation.argument), refutation.intervals, refutation.configs,
        refutation.proofs.size());
    console.Print(format_.IsJson() ? base::WriteJson(AcceptanceAsJson()) : text);
    return ExitCode::kAnswer;
  }

  // Returns the differences between the certificate and the command line.
  base::Expected<std::vector<std::string>> FindOtherClaim(
      const problem::proof::CheckedCertificate& checked) const {
    std::vector<std::string> others;
    const problem::proof::Claim& claim = checked.claim;
    if (files_.capacity && *files_.capacity > claim.capacity) {
      others.push_back(fmt::format("it speaks of {} bytes, so it does not cover {}", claim.capacity,
                                   *files_.capacity));
    }
    if (files_.problem.empty()) return others;
    const base::Expected<problem::files::ProblemDocument> own =
        LoadProblem(files_.problem, files_.lifetimes.Get());
    if (!own) return tl::unexpected(own.error());
    problem::Problem sized = own->problem;
    for (const problem::CandidateSizes& candidate :
         own->ladder.value_or(problem::Ladder{}).candidates) {
      if (claim.candidate == candidate.name) sized = AtCandidate(own->problem, candidate);
    }
    if (problem::files::WriteProblem(sized) != problem::files::WriteProblem(checked.problem)) {
      others.push_back(fmt::format("it is about another problem than {}", files_.problem));
    }
    return others;
  }

  static nlohmann::ordered_json AcceptanceAsJson() {
    return {{"status", "accepted"}, {"violations", nlohmann::ordered_json::array()}};
  }

  static std::string AcceptanceAsJson(const api::parts::PlanVerdict& verdict) {
    nlohmann::ordered_json document = AcceptanceAsJson();
    if (verdict.execution) {
      const plan::lowering::Tally& tally = verdict.execution->tally;
      document["execution"] = {{"tiles", tally.tiles},
                               {"steps", tally.steps},
                               {"operators", tally.operators},
                               {"transfers", tally.transfers},
                               {"bytes_moved", tally.bytes_moved},
                               {"cells_checked", tally.cells_checked}};
    }
    if (verdict.interpreted) document["lowering"] = {{"jobs_run", verdict.interpreted->tally.jobs}};
    document["made_again"] = verdict.searched_again;
    if (verdict.bound) {
      document["bound"] = {{"claim", verdict.bound->claim},
                           {"confirmed", verdict.bound->confirmed},
                           {"gap", verdict.bound->gap}};
    }
    document["exempt"] = plan::files::kExempt;
    return base::WriteJson(document);
  }

  static std::string AcceptanceAsText(const Answer& answer) {
    const problem::Bytes peak = PeakOf(answer.problem, answer.allocation);
    const std::string room = answer.capacity < base::kMaxTotal
                                 ? fmt::format("{} of {} bytes", peak, answer.capacity)
                                 : fmt::format("{} bytes", peak);
    return fmt::format("accepted: {} buffers, peak {}\n", answer.problem.buffers.size(), room);
  }

  static std::string BoundAsText(const search::partition::analysis::BoundConfirmation& bound) {
    if (bound.confirmed) return fmt::format("confirmed without the search: {}\n", bound.claim);
    return fmt::format("by the search alone: {}; the independent check says: {}\n", bound.claim,
                       base::Printable(bound.gap));
  }

  static std::string AcceptanceAsText(const Answer& answer,
                                      const api::parts::PlanVerdict& verdict) {
    std::string text = AcceptanceAsText(answer);
    if (verdict.execution) {
      const plan::lowering::Tally& tally = verdict.execution->tally;
      text += fmt::format(
          "executed: {} tiles, {} steps, {} operators, {} transfers of {} bytes, {} cells "
          "checked\n",
          tally.tiles, tally.steps, tally.operators, tally.transfers, tally.bytes_moved,
          tally.cells_checked);
    }
    if (verdict.interpreted) {
      text +=
          fmt::format("lowered: {} runs of jobs in an order of their own, as depends_on permits\n",
                      verdict.interpreted->tally.jobs);
    }
    text += fmt::format("{}: status, score{} and largest tiles\n",
                        verdict.searched_again ? "made again" : "not made again (--no-search)",
                        answer.plan && answer.plan->baseline ? ", baseline" : "");
    if (verdict.bound) text += BoundAsText(*verdict.bound);
    return text + fmt::format("not checked, for readers only: {}\n",
                              fmt::join(plan::files::kExempt, ", "));
  }

  AnswerFiles files_;
  std::string certificate_;
  bool execute_ = false;
  bool no_search_ = false;
  CallLimits limits_;
  ThreadCount threads_;
  AnswerFormat format_;
};

}  // namespace

std::unique_ptr<Command> MakeCheckCommand() { return std::make_unique<CheckCommand>(); }

}  // namespace tessera::cli
