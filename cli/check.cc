#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tessera/base/checked.h"
#include "tessera/base/json_writer.h"
#include "tessera/cli/answers.h"
#include "tessera/cli/command.h"
#include "tessera/cli/console.h"
#include "tessera/cli/refusals.h"
#include "tessera/plan/validator.h"
#include "tessera/problem/validator.h"

// `tessera check`: is this answer right? Asks no engine and believes nothing that can be recomputed.
namespace tessera::cli {
namespace {

class CheckCommand final : public Command {
 public:
  std::string Name() const override { return "check"; }
  std::string Summary() const override {
    return "Check a plan or an allocation, trusting nothing that made it";
  }
  std::string Examples() const override {
    return "A plan carries its network and profile; regions, lifespans and sizes are derived again from "
           "these.\n\n"
           "Examples:\n"
           "  tessera check plan.json\n"
           "  tessera check answer.csv --capacity 1048576      the CSV has an offset column\n"
           "  tessera check answer.json --problem problem.json\n";
  }

  void Declare(CLI::App& app) override {
    files_.Declare(app);
    app.add_option("--format", format_, "What stdout gets")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
  }

  ExitCode Run(Console& console) override {
    const base::Expected<Answer> answer = LoadAnswer(files_);
    if (!answer) return console.Refuse(answer.error());
    std::vector<std::string> violations;
    if (answer->plan) {
      for (const plan::Violation& violation : plan::Validate(*answer->plan)) {
        violations.push_back(fmt::format("{}: {}", NameOf(violation.kind), violation.message));
      }
    } else {
      for (const problem::Violation& violation :
           Validate(answer->problem, answer->allocation, answer->capacity)) {
        violations.push_back(fmt::format("{}: {}", NameOf(violation.kind), violation.message));
      }
    }
    const bool as_json = format_ == "json";
    if (!violations.empty()) {
      console.Print(DescribeRefusal(violations, as_json));
      return ExitCode::kCheckRefused;
    }
    console.Print(as_json ? AcceptanceAsJson() : AcceptanceAsText(*answer));
    return ExitCode::kAnswer;
  }

 private:
  static std::string AcceptanceAsJson() {
    nlohmann::ordered_json document;
    document["status"] = "accepted";
    document["violations"] = nlohmann::ordered_json::array();
    return base::WriteJson(document);
  }

  static std::string AcceptanceAsText(const Answer& answer) {
    const problem::Bytes peak = PeakOf(answer.problem, answer.allocation);
    const std::string room = answer.capacity < base::kMaxTotal
                                 ? fmt::format("{} of {} bytes", peak, answer.capacity)
                                 : fmt::format("{} bytes", peak);
    return fmt::format("accepted: {} buffers, peak {}\n", answer.problem.buffers.size(), room);
  }

  AnswerFiles files_;
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<Command> MakeCheckCommand() { return std::make_unique<CheckCommand>(); }

}  // namespace tessera::cli
