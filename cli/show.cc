#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>

#include "tessera/cli/answers.h"
#include "tessera/cli/command.h"
#include "tessera/cli/console.h"
#include "tessera/cli/files.h"
#include "tessera/problem/svg.h"

// `tessera show`: the memory map of an answer as a picture.
namespace tessera::cli {
namespace {

class ShowCommand final : public Command {
 public:
  std::string Name() const override { return "show"; }
  std::string Summary() const override { return "Draw the memory map of a plan or an allocation as SVG"; }
  std::string Examples() const override {
    return "Time runs to the right, addresses upwards; banks are bands. Hold the pointer on a buffer to read "
           "about it. Of an infeasible answer it\n"
           "draws what collides.\n\n"
           "Examples:\n"
           "  tessera show plan.json --output map.svg\n"
           "  tessera show answer.csv --capacity 1048576 > map.svg\n";
  }

  void Declare(CLI::App& app) override {
    files_.Declare(app);
    app.add_option("--output", output_, "Write the picture here instead of to stdout");
  }

  ExitCode Run(Console& console) override {
    const base::Expected<Answer> answer = LoadAnswer(files_, true);
    if (!answer) return console.Refuse(answer.error());
    const std::string picture =
        answer->explanation
            ? problem::WriteCollisionSvg(answer->problem, *answer->explanation, answer->capacity)
            : problem::WriteSvg(answer->problem, answer->allocation, answer->capacity);
    if (output_.empty()) {
      console.Print(picture);
      return ExitCode::kAnswer;
    }
    const std::array files = {Output{output_, picture}};
    if (const auto written = WriteOutputs(files); !written) {
      console.Refuse(written.error());
      return ExitCode::kCannotWrite;
    }
    return ExitCode::kAnswer;
  }

 private:
  AnswerFiles files_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> MakeShowCommand() { return std::make_unique<ShowCommand>(); }

}  // namespace tessera::cli
