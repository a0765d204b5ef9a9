// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "tessera/base/files.h"
#include "tessera/base/text.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/inputs.h"
#include "tessera/problem/draw/pictures.h"
#include "tessera/problem/explanation.h"
#include "tessera/report/text_table.h"

// `tessera show`: the memory map of an answer as a picture, or in letters for a terminal.
namespace tessera::cli {
namespace {

class ShowCommand final : public Command {
 public:
  std::string Name() const override { return "show"; }
  std::string Summary() const override {
    return "Draw the memory map of a plan or an allocation as SVG or in letters";
  }
  std::string Examples() const override {
    return "Time runs to the right, addresses upwards; banks are bands. Hold the pointer on a "
           "buffer to read about it. Of an infeasible answer it\n"
           "draws what collides. In letters (--format text) rows are addresses, columns are steps, "
           "and a plan is shown subgraph by subgraph.\n\n"
           "Examples:\n"
           "  tessera show plan.json --output map.svg\n"
           "  tessera show plan.json --format text --subgraph 3\n"
           "  tessera show answer.csv --capacity 1048576 > map.svg\n";
  }

  void Declare(CLI::App& app) override {
    files_.Declare(app);
    app.add_option("--output", output_,
                   "Write the picture here instead of to stdout: .svg, or .txt in letters");
    format_option_ = app.add_option("--format", format_, "What the picture is made of")
                         ->check(CLI::IsMember({"svg", "text"}))
                         ->capture_default_str();
    app.add_option("--subgraph", subgraph_, "Draw only this subgraph of a plan, counted from 0")
        ->transform(WholeNumber(0, std::numeric_limits<int32_t>::max()));
  }

  ExitCode Run(Console& console) override {
    if (!ChooseFormat(console)) return ExitCode::kUsage;
    destinations_.Read("file", files_.file);
    destinations_.Read("--problem", files_.problem);
    destinations_.Write("--output", output_);
    return destinations_.Around(console, [&] { return Draw(console); });
  }

 private:
  // The suffix determines the format of the picture, if it has a meaning; it must not contradict
  // --format.
  bool ChooseFormat(Console& console) {
    const std::string suffix = base::SuffixOf(output_);
    if (suffix.empty()) return true;
    const std::string made_of = suffix == ".svg" ? "svg" : suffix == ".txt" ? "text" : "";
    if (made_of.empty()) {
      console.Note(fmt::format(
          "--output {}: expected a name that ends in .svg, or in .txt for letters", output_));
      return false;
    }
    if (format_option_->count() > 0 && format_ != made_of) {
      console.Note(fmt::format("--output {}: this is no name for --format {}", output_, format_));
      return false;
    }
    format_ = made_of;
    return true;
  }

  ExitCode Draw(Console& console) {
    const base::Expected<Answer> answer = LoadAnswer(files_, true);
    if (!answer) return console.Refuse(answer.error());
    if (subgraph_ && (!answer->plan || *subgraph_ >= answer->plan->subgraphs.size())) {
      console.Note(answer->plan ? fmt::format("--subgraph {}: the plan has {}", *subgraph_,
                                              answer->plan->subgraphs.size())
                                : "--subgraph: only plans have subgraphs");
      return ExitCode::kUsage;
    }
    const std::string picture = format_ == "text" ? InLetters(*answer) : AsSvg(*answer);
    if (output_.empty()) {
      console.Print(picture);
      return ExitCode::kAnswer;
    }
    return destinations_.Save(console, std::array{base::Output{output_, picture}});
  }

  std::string AsSvg(const Answer& answer) const {
    if (answer.explanation) {
      return problem::draw::WriteCollisionSvg(answer.problem, *answer.explanation, answer.capacity);
    }
    if (!subgraph_)
      return problem::draw::WriteSvg(answer.problem, answer.allocation, answer.capacity);
    const problem::draw::Window window = WindowOf(*answer.plan, *subgraph_);
    return problem::draw::WriteSvg(window.problem, window.allocation, answer.capacity);
  }

  std::string InLetters(const Answer& answer) const {
    std::string text;
    if (answer.explanation) {
      for (const std::string& line :
           problem::Sentences(answer.problem, *answer.explanation, answer.capacity))
        text += line + '\n';
      return text;
    }
    if (!answer.plan)
      return problem::draw::WriteTextMap(answer.problem, answer.allocation, answer.capacity);
    const plan::Plan& plan = *answer.plan;
    for (size_t i = subgraph_.value_or(0); i < (subgraph_ ? *subgraph_ + 1 : plan.subgraphs.size());
         ++i) {
      const plan::Subgraph& subgraph = plan.subgraphs[i];
      const auto id = [&](int op) { return plan.network.operators[static_cast<size_t>(op)].id; };
      const problem::draw::Window window = WindowOf(plan, i);
      text += fmt::format("{}subgraph {}: {}..{}, {} tile{} of {}\n", text.empty() ? "" : "\n", i,
                          base::Printable(id(subgraph.interval.first)),
                          base::Printable(id(subgraph.interval.last)), subgraph.tiles,
                          subgraph.tiles == 1 ? "" : "s", report::ShapeText(subgraph.tile));
      text += problem::draw::WriteTextMap(window.problem, window.allocation, answer.capacity);
    }
    return text;
  }

  // Returns the steps of one subgraph.
  static problem::draw::Window WindowOf(const plan::Plan& plan, size_t subgraph) {
    const auto of_subgraph = [subgraph](const plan::StepUse& step) {
      return static_cast<size_t>(step.subgraph) == subgraph;
    };
    const auto first = std::find_if(plan.steps.begin(), plan.steps.end(), of_subgraph);
    const auto end = std::find_if_not(first, plan.steps.end(), of_subgraph);
    return problem::draw::CutWindow(plan.problem, plan.allocation, first - plan.steps.begin(),
                                    end - plan.steps.begin());
  }

  AnswerFiles files_;
  std::string output_;
  std::string format_ = "svg";
  CLI::Option* format_option_ = nullptr;
  Destinations destinations_;
  std::optional<size_t> subgraph_;
};

}  // namespace

std::unique_ptr<Command> MakeShowCommand() { return std::make_unique<ShowCommand>(); }

}  // namespace tessera::cli
