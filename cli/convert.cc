// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <tessera/lists.h>

#include <CLI/CLI.hpp>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/files.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"

// `tessera convert`: a list of buffers in the format of another tool. The text that it writes is
// read back, and must state as many buffers, the same load, and as many conflicting pairs.
namespace tessera::cli {
namespace {

class ConvertCommand final : public Command {
 public:
  std::string Name() const override { return "convert"; }
  std::string Summary() const override {
    return "Convert a list of buffers to the format of another tool";
  }
  std::string Examples() const override {
    return "What the target cannot state is refused by name. The number of buffers, the load and "
           "the "
           "number of\n"
           "pairs that must not share addresses are printed on stderr; they are the same before "
           "and "
           "after.\n\n"
           "Examples:\n"
           "  tessera convert old.csv --from-lifetimes inclusive --to csv\n"
           "  tessera convert buffers.csv --to dsa-solver --output problem.json\n"
           "  tessera convert trace.txt --from trace --to csv --output buffers.csv\n"
           "  tessera alloc buffers.csv --output placed.csv && tessera convert placed.csv --to "
           "tflite-micro\n";
  }

  void Declare(CLI::App& app) override {
    const std::vector<std::string> formats = *ListFormats();
    app.add_option("file", file_, "A list of buffers; - reads standard input")->required();
    app.add_option("--from", from_, "The format of the file (default: json or csv, by its text)")
        ->check(CLI::IsMember(formats));
    app.add_option("--to", to_, "The format to write")->check(CLI::IsMember(formats))->required();
    from_lifetimes_.Declare(
        app, "--from-lifetimes",
        "How the CSV that is read states lives: half-open [a, b), inclusive [a, "
        "b], or exclusive (a, b); a column 'end' is read only with it (default: "
        "half-open)");
    to_lifetimes_.Declare(app, "--to-lifetimes",
                          "How the CSV that is written states lives (default: half-open)");
    app.add_option("--output", output_, "Write here instead of to stdout");
  }

  ExitCode Run(Console& console) override {
    files_.Read("file", file_);
    files_.Write("--output", output_);
    return files_.Around(console, [&] { return Convert(console); });
  }

 private:
  ExitCode Convert(Console& console) {
    const Result<tessera::Problem> input =
        tessera::Problem::Load(file_, {from_, from_lifetimes_.Word()});
    if (!input) return console.Refuse(input.Error());
    for (const std::string& note : input->Notes()) console.Note(note);
    Result<WrittenList> written = WriteList(*input, {to_, to_lifetimes_.Word()});
    if (!written) return console.Refuse(written.Error(), file_ == "-" ? "standard input" : file_);
    console.Note(fmt::format("{} buffers, load {}, {} pairs that must not share addresses",
                             written->buffers, written->load, written->pairs));
    if (output_.empty()) {
      console.Print(written->text);
      return ExitCode::kAnswer;
    }
    return files_.Save(console, std::array{base::Output{output_, std::move(written->text)}});
  }

  std::string file_;
  std::string from_;
  std::string to_;
  LifetimesOption from_lifetimes_;
  LifetimesOption to_lifetimes_;
  std::string output_;
  Destinations files_;
};

}  // namespace

std::unique_ptr<Command> MakeConvertCommand() { return std::make_unique<ConvertCommand>(); }

}  // namespace tessera::cli
