// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "tessera/api/parts/model_answer.h"
#include "tessera/base/files.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/outputs.h"
#include "tessera/encoder/export/formula.h"
#include "tessera/problem/files/problem_files.h"

// `tessera decode`: converts the answer of a solver to a formula of `tessera encode` to an
// allocation. The solver is not trusted: its model must satisfy the formula, and the allocation is
// validated like any other. A claim of infeasibility comes without a proof, so it leaves the
// question open.
namespace tessera::cli {
namespace {

using encoder::exports::Decoded;

class DecodeCommand final : public Command {
 public:
  std::string Name() const override { return "decode"; }
  std::string Summary() const override {
    return "Turn a solver's answer to a formula into a verified allocation";
  }
  std::string Examples() const override {
    return "The model is the output of a SAT solver (lines s and v) or of an SMT solver (sat and "
           "the answer of get-model or get-value). Give the formula, or the options with which it "
           "was written. A solver's claim that nothing fits is reported as unknown (exit code 10), "
           "because no proof comes with it.\n\n"
           "Examples:\n"
           "  tessera decode buffers.csv model.txt --formula formula.cnf --output map.svg\n"
           "  tessera decode problem.json model.txt --candidate rows=7 --format json\n"
           "  cvc5 formula.smt2 | tessera decode problem.json - --formula formula.smt2\n";
  }

  void Declare(CLI::App& app) override {
    app.add_option("problem", file_, "The Problem that was encoded: CSV or JSON")->required();
    app.add_option("model", model_, "What the solver printed; - reads standard input")->required();
    CLI::Option* formula =
        app.add_option("--formula", formula_,
                       "The file that `tessera encode` wrote; its first line has the options");
    choice_.Declare(app, formula);
    lifetimes_.Declare(app);
    format_.Declare(app);
    app.add_option("--output", outputs_, "Also write the allocation here: .csv, .json or .svg");
  }

  ExitCode Run(Console& console) override {
    if (!CheckSuffixes(console, outputs_, {".csv", ".json", ".svg"})) return ExitCode::kUsage;
    files_.Read("problem", file_);
    files_.Read("model", model_);
    files_.Read("--formula", formula_);
    for (const std::string& path : outputs_) files_.Write("--output", path);
    return files_.Around(console, [&] { return Answer(console); });
  }

 private:
  ExitCode Answer(Console& console) {
    const base::Expected<problem::files::ProblemDocument> input =
        LoadProblem(file_, lifetimes_.Get());
    if (!input) return console.Refuse(input.error());
    const base::Expected<encoder::exports::FormulaOptions> options = ChooseOptions(*input);
    if (!options) return console.Refuse(options.error());
    const base::Expected<std::string> output = base::ReadInput(model_);
    if (!output) return console.Refuse(output.error());
    const base::Expected<Decoded> decoded = encoder::exports::Decode(
        *input, *options, *output, model_ == "-" ? "standard input" : model_);
    if (!decoded) return console.Refuse(decoded.error());
    if (!decoded->broken.empty()) {
      console.Print(api::answers::DescribeRefusal({"formula: the model breaks " + decoded->broken},
                                                  format_.IsJson()));
      return ExitCode::kCheckRefused;
    }
    return Report(console, *input, *options, *decoded);
  }

  base::Expected<encoder::exports::FormulaOptions> ChooseOptions(
      const problem::files::ProblemDocument& input) const {
    if (formula_.empty()) return choice_.Resolve(input, file_);
    const base::Expected<std::string> formula = base::ReadInput(formula_);
    if (!formula) return tl::unexpected(formula.error());
    return encoder::exports::ReadOptions(*formula, formula_, input);
  }

  ExitCode Report(Console& console, const problem::files::ProblemDocument& input,
                  const encoder::exports::FormulaOptions& options, const Decoded& decoded) {
    const api::parts::ModelAnswer answer = api::parts::JudgeModel(input, options, decoded);
    if (const auto fault = FindUnwritable(outputs_, answer.problem)) return console.Refuse(*fault);
    if (!answer.wrong.empty()) {
      base::Diagnostic fault;
      fault.message = "a model of the formula is no answer to the problem: " + answer.wrong;
      return console.Fail(fault);
    }
    const ExitCode saved =
        WriteAllocations(console, files_, outputs_, answer.problem, answer.document);
    console.Print(format_.IsJson()
                      ? problem::files::WriteAllocation(answer.problem, answer.document)
                      : DescribeAllocation(answer.problem, answer.document));
    return saved == ExitCode::kAnswer ? ExitCodeOf(answer.document.result) : saved;
  }

  std::string file_;
  std::string model_;
  std::string formula_;
  FormulaChoice choice_;
  LifetimesOption lifetimes_;
  AnswerFormat format_;
  std::vector<std::string> outputs_;
  Destinations files_;
};

}  // namespace

std::unique_ptr<Command> MakeDecodeCommand() { return std::make_unique<DecodeCommand>(); }

}  // namespace tessera::cli
