#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>

#include "tessera/cli/command.h"
#include "tessera/cli/console.h"
#include "tessera/cli/files.h"
#include "tessera/cli/formula_options.h"
#include "tessera/cli/inputs.h"
#include "tessera/encoder/export/formula.h"

// `tessera encode`: a Problem as a formula for any solver, or for people.
namespace tessera::cli {
namespace {

using encoder::FormulaFormat;

class EncodeCommand final : public Command {
 public:
  std::string Name() const override { return "encode"; }
  std::string Summary() const override {
    return "Write a Problem as a formula: DIMACS, SMT-LIB, or sentences";
  }
  std::string Examples() const override {
    return "The formula is satisfiable exactly if everything fits within the capacity. `tessera decode` "
           "reads the "
           "answer of a solver.\n\n"
           "Examples:\n"
           "  tessera encode buffers.csv --capacity 1048576 --output formula.cnf\n"
           "  tessera encode problem.json --rung rows=7 --output formula.smt2\n"
           "  tessera encode problem.json --format text | less        what a solver is told, in words\n"
           "  cryptominisat5 formula.cnf > model.txt\n"
           "  tessera decode buffers.csv model.txt --formula formula.cnf\n";
  }

  void Declare(CLI::App& app) override {
    app.add_option("problem", file_,
                   "Buffers: MiniMalloc's CSV, or a Problem in JSON; - reads standard input")
        ->required();
    choice_.Declare(app, nullptr);
    app.add_option("--format", format_,
                   "dimacs, smtlib or text; without it the suffix of --output says which (.cnf, .smt2), else "
                   "text")
        ->check(CLI::IsMember({"dimacs", "smtlib", "text"}));
    app.add_option("--output", output_,
                   "Write the formula here and its size to stdout; without it the formula goes to stdout");
  }

  ExitCode Run(Console& console) override {
    const base::Expected<problem::ProblemDocument> input = LoadProblem(file_);
    if (!input) return console.Refuse(input.error());
    base::Expected<encoder::FormulaOptions> options = choice_.Resolve(*input, file_);
    if (!options) return console.Refuse(options.error());
    options->format = ChooseFormat();
    const base::Expected<encoder::Formula> formula = encoder::Encode(*input, *options);
    if (!formula) {
      console.Refuse(formula.error());
      return ExitCode::kLimit;
    }
    if (output_.empty()) {
      console.Print(formula->text);
      return ExitCode::kAnswer;
    }
    const std::array files = {Output{output_, formula->text}};
    if (const auto written = WriteOutputs(files); !written) {
      console.Refuse(written.error());
      return ExitCode::kCannotWrite;
    }
    console.Print(formula->sizes);
    return ExitCode::kAnswer;
  }

 private:
  FormulaFormat ChooseFormat() const {
    const std::string suffix = SuffixOf(output_);
    const std::string word = !format_.empty()    ? format_
                             : suffix == ".cnf"  ? "dimacs"
                             : suffix == ".smt2" ? "smtlib"
                                                 : "text";
    if (word == "dimacs") return FormulaFormat::kDimacs;
    return word == "smtlib" ? FormulaFormat::kSmtlib : FormulaFormat::kText;
  }

  std::string file_;
  FormulaChoice choice_;
  std::string format_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> MakeEncodeCommand() { return std::make_unique<EncodeCommand>(); }

}  // namespace tessera::cli
