// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/base/files.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/network_options.h"
#include "tessera/encoder/export/formula.h"

// `tessera encode`: writes a Problem, or that of a tile of a network, as a formula for any solver,
// or for human readers.
namespace tessera::cli {
namespace {

using encoder::exports::FormulaFormat;

class EncodeCommand final : public Command {
 public:
  std::string Name() const override { return "encode"; }
  std::string Summary() const override {
    return "Write a Problem as a formula: DIMACS, SMT-LIB, or sentences";
  }
  std::string Examples() const override {
    return "The formula is satisfiable exactly if everything fits within the capacity. `tessera "
           "decode` reads the answer of a solver.\n\n"
           "Examples:\n"
           "  tessera encode buffers.csv --capacity 1048576 --output formula.cnf\n"
           "  tessera encode problem.json --candidate rows=7 --output formula.smt2\n"
           "  tessera encode problem.json --format text | less        what a solver gets, in "
           "words\n"
           "  tessera encode examples/networks/patent_chain.yaml --hw "
           "hw_profiles/three_bank_two_mode.yaml --tile rows=2 --problem tile.json --output "
           "formula.cnf\n"
           "  cryptominisat5 formula.cnf > model.txt\n"
           "  tessera decode buffers.csv model.txt --formula formula.cnf\n";
  }

  void Declare(CLI::App& app) override {
    app.add_option("input", file_,
                   "Buffers: MiniMalloc's CSV, or a Problem in JSON; with --hw a network, of which "
                   "a tile of some operators is the Problem; - reads standard input")
        ->required();
    CLI::Option* profile = subject_.Declare(app);
    tile_.Declare(app, profile);
    app.add_option("--problem", problem_,
                   "Write that Problem here, in JSON, for `tessera alloc` and `decode`")
        ->needs(profile);
    choice_.Declare(app, nullptr);
    lifetimes_.Declare(app)->excludes(profile);
    app.add_option("--format", format_,
                   "dimacs, smtlib or text; without it the suffix of --output says which (.cnf, "
                   ".smt2, .txt), else text")
        ->check(CLI::IsMember({"dimacs", "smtlib", "text"}));
    app.add_option(
        "--output", output_,
        "Write the formula here and its size to stdout; without it the formula goes to stdout");
  }

  ExitCode Run(Console& console) override {
    if (!ChooseFormat(console)) return ExitCode::kUsage;
    files_.Read("input", file_);
    subject_.AddInputs(files_);
    files_.Write("--output", output_);
    files_.Write("--problem", problem_);
    return files_.Around(console, [&] { return Answer(console); });
  }

 private:
  ExitCode Answer(Console& console) {
    const tl::expected<problem::files::ProblemDocument, NetworkRefusal> input = Load(console);
    if (!input) {
      console.Refuse(input.error().diagnostic);
      return input.error().code;
    }
    base::Expected<encoder::exports::FormulaOptions> options = choice_.Resolve(*input, file_);
    if (!options) return console.Refuse(options.error());
    options->format = format_ == "dimacs"   ? FormulaFormat::kDimacs
                      : format_ == "smtlib" ? FormulaFormat::kSmtlib
                                            : FormulaFormat::kText;
    const base::Expected<encoder::exports::Formula> formula =
        encoder::exports::Encode(*input, *options);
    if (!formula) {
      console.Refuse(formula.error());
      return ExitCode::kLimit;
    }
    std::vector<base::Output> outputs;
    if (!output_.empty()) outputs.push_back({output_, formula->text});
    if (!problem_.empty())
      outputs.push_back({problem_, problem::files::WriteProblem(input->problem)});
    const ExitCode saved = files_.Save(console, outputs);
    console.Print(output_.empty() ? formula->text : formula->sizes);
    return saved;
  }

  tl::expected<problem::files::ProblemDocument, NetworkRefusal> Load(Console& console) const {
    if (!subject_.NamesProfile()) {
      base::Expected<problem::files::ProblemDocument> document =
          LoadProblem(file_, lifetimes_.Get());
      if (!document) return tl::unexpected(NetworkRefusal{document.error()});
      return *std::move(document);
    }
    const tl::expected<TileSubject, NetworkRefusal> subject = subject_.Load(console, file_);
    if (!subject) return tl::unexpected(subject.error());
    tl::expected<problem::Problem, NetworkRefusal> problem = tile_.Formulate(*subject);
    if (!problem) return tl::unexpected(problem.error());
    return problem::files::ProblemDocument{*std::move(problem), std::nullopt};
  }

  // Without --format the suffix of --output determines the format; the two must not contradict each
  // other.
  bool ChooseFormat(Console& console) {
    const std::string suffix = base::SuffixOf(output_);
    const std::string named = suffix == ".cnf"    ? "dimacs"
                              : suffix == ".smt2" ? "smtlib"
                              : suffix == ".txt"  ? "text"
                                                  : "";
    if (format_.empty() && named.empty() && !suffix.empty()) {
      console.Note(fmt::format(
          "--output {}: expected a name that ends in .cnf, .smt2 or .txt, or --format", output_));
      return false;
    }
    if (!format_.empty() && !named.empty() && named != format_) {
      console.Note(fmt::format("--output {}: this is no name for --format {}", output_, format_));
      return false;
    }
    if (format_.empty()) format_ = named.empty() ? "text" : named;
    return true;
  }

  std::string file_;
  SubjectOptions subject_;
  TileChoice tile_;
  std::string problem_;
  FormulaChoice choice_;
  LifetimesOption lifetimes_;
  std::string format_;
  std::string output_;
  Destinations files_;
};

}  // namespace

std::unique_ptr<Command> MakeEncodeCommand() { return std::make_unique<EncodeCommand>(); }

}  // namespace tessera::cli
