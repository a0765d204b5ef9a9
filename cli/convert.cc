// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/files.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/problem/files/other_formats.h"

// `tessera convert`: a list of buffers in the format of another tool. The text that it writes is
// read back, and must state as many buffers, the same load, and as many conflicting pairs.
namespace tessera::cli {
namespace {

using problem::files::Lifetimes;
using problem::files::ListFormat;

std::vector<std::string> FormatWords() {
  return {problem::files::kListFormatWords.begin(), problem::files::kListFormatWords.end()};
}

ListFormat FormatNamed(const std::string& word) {
  const auto& words = problem::files::kListFormatWords;
  return static_cast<ListFormat>(std::find(words.begin(), words.end(), word) - words.begin());
}

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
    app.add_option("file", file_, "A list of buffers; - reads standard input")->required();
    app.add_option("--from", from_, "The format of the file (default: json or csv, by its text)")
        ->check(CLI::IsMember(FormatWords()));
    app.add_option("--to", to_, "The format to write")
        ->check(CLI::IsMember(FormatWords()))
        ->required();
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
    const base::Expected<std::string> text = base::ReadInput(file_);
    if (!text) return console.Refuse(text.error());
    const std::string name = file_ == "-" ? "standard input" : file_;
    const auto input =
        from_.empty()
            ? problem::files::ReadCsvOrJson(*text, name, from_lifetimes_.Get())
            : problem::files::ReadList(FormatNamed(from_), *text, name, from_lifetimes_.Get());
    if (!input) return console.Refuse(input.error());
    for (const std::string& note : input->notes) console.Note(note);
    const ListFormat to = FormatNamed(to_);
    const Lifetimes lifetimes = to_lifetimes_.Get().value_or(Lifetimes::kHalfOpen);
    base::Expected<std::string> written = problem::files::WriteList(to, *input, lifetimes);
    if (!written) {
      written.error().file = name;
      return console.Refuse(written.error());
    }
    const problem::files::ListSummary summary = problem::files::Summarize(input->problem);
    if (const auto fault = FindChange(to, *written, lifetimes, summary))
      return console.Fail(*fault);
    console.Note(fmt::format("{} buffers, load {}, {} pairs that must not share addresses",
                             summary.buffers, summary.load, summary.pairs));
    if (output_.empty()) {
      console.Print(*written);
      return ExitCode::kAnswer;
    }
    const std::vector<base::Output> outputs = {{output_, *std::move(written)}};
    return files_.Save(console, outputs);
  }

  // Lists of conflicts have no lives, so their load is not compared; offline plans are not read.
  static std::optional<base::Diagnostic> FindChange(ListFormat to, const std::string& written,
                                                    Lifetimes lifetimes,
                                                    const problem::files::ListSummary& expected) {
    if (to == ListFormat::kTfliteMicro) return std::nullopt;
    const auto again =
        problem::files::ReadList(to, written, "the text that was written", lifetimes);
    if (!again) return again.error();
    problem::files::ListSummary found = problem::files::Summarize(again->problem);
    if (to == ListFormat::kTvm) found.load = expected.load;
    if (found == expected) return std::nullopt;
    base::Diagnostic fault;
    fault.message = "the conversion changes the list of buffers";
    fault.expected = fmt::format("{} buffers, load {}, {} pairs", expected.buffers, expected.load,
                                 expected.pairs);
    fault.found =
        fmt::format("{} buffers, load {}, {} pairs", found.buffers, found.load, found.pairs);
    return fault;
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
