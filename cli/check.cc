#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "tessera/base/checked.h"
#include "tessera/base/json_writer.h"
#include "tessera/cli/answers.h"
#include "tessera/cli/certificates.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/refusals.h"
#include "tessera/plan/execute/execute.h"
#include "tessera/plan/lowering/difference.h"
#include "tessera/plan/lowering/interpret.h"
#include "tessera/plan/lowering/lower.h"
#include "tessera/plan/validator.h"
#include "tessera/problem/validator.h"
#include "tessera/search/partition/pricing.h"

// `tessera check`: is this answer right? Asks no engine and believes nothing that can be recomputed.
namespace tessera::cli {
namespace {

class CheckCommand final : public Command {
 public:
  std::string Name() const override { return "check"; }
  std::string Summary() const override {
    return "Check a plan, an allocation or a certificate, trusting nothing that made it";
  }
  std::string Examples() const override {
    return "A plan carries its network and profile; regions, lifespans and sizes are derived again from "
           "these.\n\n"
           "Examples:\n"
           "  tessera check plan.json\n"
           "  tessera check --execute plan.json                run it byte by byte, every tile, and look;\n"
           "                                                   its lowering too, in an order of its own\n"
           "  tessera check answer.csv --capacity 1048576      the CSV has an offset column\n"
           "  tessera check answer.json --problem problem.json\n"
           "  tessera check --certificate proof                the proof that nothing fits\n"
           "  tessera check --certificate proof --problem buffers.csv --capacity 1048575\n";
  }

  void Declare(CLI::App& app) override {
    files_.Declare(app);
    app.get_option("file")->required(false);
    app.add_option(
           "--certificate", certificate_,
           "Check the proof in this folder instead; with --problem, that it is about this Problem, with "
           "--capacity, that it covers so many bytes")
        ->type_name("DIR")
        ->excludes("file");
    app.add_flag("--execute", execute_,
                 "Run the plan as well, transfer by transfer and operator by operator, on memories whose "
                 "bytes know "
                 "what they hold")
        ->excludes("--certificate");
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
    std::vector<std::string> violations;
    if (answer->plan) {
      for (const plan::Violation& violation : plan::Validate(*answer->plan)) {
        violations.push_back(fmt::format("{}: {}", NameOf(violation.kind), violation.message));
      }
      if (violations.empty()) {
        for (const plan::Violation& violation : search::FindMispriced(*answer->plan))
          violations.push_back(fmt::format("{}: {}", NameOf(violation.kind), violation.message));
      }
    } else {
      for (const problem::Violation& violation :
           Validate(answer->problem, answer->allocation, answer->capacity)) {
        violations.push_back(fmt::format("{}: {}", NameOf(violation.kind), violation.message));
      }
    }
    std::optional<plan::execute::Report> execution;
    if (execute_) {
      execution = plan::execute::Execute(*answer->plan);
      if (violations.empty() && !execution->obstacle.empty()) return Decline(console, execution->obstacle);
      AddFindings(*execution, violations);
    }
    std::optional<plan::lowering::Report> lowering;
    if (answer->plan && answer->plan->lowering) {
      lowering = CheckLowering(*answer->plan, violations);
      if (violations.empty() && !lowering->obstacle.empty()) return Decline(console, lowering->obstacle);
    }
    const bool as_json = format_.IsJson();
    if (!violations.empty()) {
      console.Print(DescribeRefusal(violations, as_json));
      return ExitCode::kCheckRefused;
    }
    console.Print(as_json ? AcceptanceAsJson(execution, lowering)
                          : AcceptanceAsText(*answer, execution, lowering));
    return ExitCode::kAnswer;
  }

 private:
  // A plan that holds, yet is beyond what an execution can follow.
  static ExitCode Decline(Console& console, const std::string& obstacle) {
    base::Diagnostic fault;
    fault.message = "--execute: " + obstacle;
    fault.hint = "without --execute the plan is accepted";
    console.Refuse(fault);
    return ExitCode::kUnsupported;
  }

  // Held against what follows from the plan; with --execute, also run.
  plan::lowering::Report CheckLowering(const plan::Plan& plan, std::vector<std::string>& violations) const {
    plan::lowering::Report report;
    if (execute_) {
      report = plan::lowering::Interpret(plan, plan.seed);
      for (const std::string& finding : report.findings) violations.push_back("lowering: " + finding);
      const auto told = static_cast<int64_t>(report.findings.size());
      if (report.found > told) violations.push_back(fmt::format("lowering: {} more", report.found - told));
    }
    const base::Expected<plan::lowering::Program> expected = plan::lowering::Lower(plan);
    if (!expected) {
      violations.push_back("lowering: " + expected.error().message);
    } else if (violations.empty()) {
      for (const std::string& difference : plan::lowering::FindDifferences(*plan.lowering, *expected))
        violations.push_back("lowering: " + difference);
    }
    return report;
  }

  static void AddFindings(const plan::execute::Report& execution, std::vector<std::string>& violations) {
    if (!execution.obstacle.empty()) violations.push_back("execution: " + execution.obstacle);
    for (const plan::execute::Finding& finding : execution.findings) {
      violations.push_back(fmt::format("execution: {}: {}", NameOf(finding.kind), finding.message));
    }
    const auto told = static_cast<int64_t>(execution.findings.size());
    if (execution.found > told)
      violations.push_back(fmt::format("execution: {} more", execution.found - told));
  }

  ExitCode CheckCertificate(Console& console) const {
    const base::Expected<problem::proof::Judgement> judgement = CheckCertificateIn(certificate_);
    if (!judgement) return console.Refuse(judgement.error());
    base::Expected<std::vector<std::string>> violations = FindOtherClaim(*judgement);
    if (!violations) return console.Refuse(violations.error());
    const problem::proof::Verdict& verdict = judgement->verdict;
    if (!verdict.accepted) {
      violations->push_back(fmt::format("{}:{}: {}", problem::proof::kProofName, verdict.line, verdict.flaw));
    }
    const bool as_json = format_.IsJson();
    if (!violations->empty()) {
      console.Print(DescribeRefusal(*violations, as_json));
      return ExitCode::kCheckRefused;
    }
    const std::string text = fmt::format("accepted: nothing fits into {} bytes; {} buffers, {} clause{}\n",
                                         judgement->claim.capacity, judgement->problem.buffers.size(),
                                         verdict.clauses, verdict.clauses == 1 ? "" : "s");
    console.Print(as_json ? AcceptanceAsJson(std::nullopt, std::nullopt) : text);
    return ExitCode::kAnswer;
  }

  // Where the certificate speaks of something else than the command line.
  base::Expected<std::vector<std::string>> FindOtherClaim(const problem::proof::Judgement& judgement) const {
    std::vector<std::string> others;
    const problem::proof::Claim& claim = judgement.claim;
    if (files_.capacity && *files_.capacity > claim.capacity) {
      others.push_back(
          fmt::format("it speaks of {} bytes, so it does not cover {}", claim.capacity, *files_.capacity));
    }
    if (files_.problem.empty()) return others;
    const base::Expected<problem::ProblemDocument> own = LoadProblem(files_.problem);
    if (!own) return tl::unexpected(own.error());
    problem::Problem sized = own->problem;
    for (const problem::Rung& rung : own->ladder.value_or(problem::Ladder{}).rungs) {
      if (claim.rung == rung.name) sized = AtRung(own->problem, rung);
    }
    if (WriteProblem(sized) != WriteProblem(judgement.problem)) {
      others.push_back(fmt::format("it is about another problem than {}", files_.problem));
    }
    return others;
  }

  using Execution = std::optional<plan::execute::Report>;

  using LoweredExecution = std::optional<plan::lowering::Report>;

  static std::string AcceptanceAsJson(const Execution& execution, const LoweredExecution& lowering) {
    nlohmann::ordered_json document;
    document["status"] = "accepted";
    document["violations"] = nlohmann::ordered_json::array();
    if (execution) {
      const plan::execute::Tally& tally = execution->tally;
      document["execution"] = {{"tiles", tally.tiles},
                               {"steps", tally.steps},
                               {"operators", tally.operators},
                               {"transfers", tally.transfers},
                               {"bytes_moved", tally.bytes_moved},
                               {"cells_checked", tally.cells_checked}};
    }
    if (execution && lowering) document["lowering"] = {{"jobs_run", lowering->jobs}};
    return base::WriteJson(document);
  }

  static std::string AcceptanceAsText(const Answer& answer, const Execution& execution,
                                      const LoweredExecution& lowering) {
    const problem::Bytes peak = PeakOf(answer.problem, answer.allocation);
    const std::string room = answer.capacity < base::kMaxTotal
                                 ? fmt::format("{} of {} bytes", peak, answer.capacity)
                                 : fmt::format("{} bytes", peak);
    std::string text = fmt::format("accepted: {} buffers, peak {}\n", answer.problem.buffers.size(), room);
    if (!execution) return text;
    const plan::execute::Tally& tally = execution->tally;
    text += fmt::format(
        "executed: {} tiles, {} steps, {} operators, {} transfers of {} bytes, {} cells checked\n",
        tally.tiles, tally.steps, tally.operators, tally.transfers, tally.bytes_moved, tally.cells_checked);
    if (lowering) {
      text += fmt::format("lowered: {} runs of jobs in an order of their own, as depends_on permits\n",
                          lowering->jobs);
    }
    return text;
  }

  AnswerFiles files_;
  std::string certificate_;
  bool execute_ = false;
  AnswerFormat format_;
};

}  // namespace

std::unique_ptr<Command> MakeCheckCommand() { return std::make_unique<CheckCommand>(); }

}  // namespace tessera::cli
