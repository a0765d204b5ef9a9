// SPDX-License-Identifier: Apache-2.0

#include <tessera/fit.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tessera/base/files.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/outputs.h"

// `tessera profile fit`: fits constants of a profile to measurements.
namespace tessera::cli {
namespace {

class ProfileCommand final : public Command {
 public:
  std::string Name() const override { return "profile"; }
  std::string Summary() const override {
    return "Fit constants of a hardware profile to measured cycles";
  }
  std::string Examples() const override {
    return "The measurements are CSV with a head. Columns: network (a file, found from the "
           "CSV's folder), operators (ID or\n"
           "FIRST..LAST), rows (of a tile; empty: all), weights (a policy; empty: resident), "
           "cycles. The command fits the\n"
           "start-up of each engine, and the latencies and the bytes per cycle of each memory. A "
           "value that the measurements\n"
           "cannot identify stays as it is, and the answer says why. Each fifth measurement in "
           "turn "
           "is left out of a fit and\n"
           "predicted by it, so the last row of errors holds for what was not measured.\n\n"
           "Examples:\n"
           "  tessera profile fit hw_profiles/edge_npu_1mib.yaml measured.csv\n"
           "  tessera profile fit mine.yaml measured.csv --output fitted.json\n";
  }

  void Declare(CLI::App& app) override {
    app.add_option("action", action_, "fit: constants that come closest to measured cycles")
        ->required()
        ->check(CLI::IsMember({"fit"}));
    app.add_option("profile", profile_, "The hardware profile")->required();
    app.add_option("measured", measured_, "The measurements in CSV; - reads standard input")
        ->required();
    app.add_option(
        "--output", output_,
        "Also write the fitted profile here (.yaml or .json), in JSON, which is YAML too");
    format_.Declare(app);
    limits_.Declare(app, "the best constants so far are given");
  }

  ExitCode Run(Console& console) override {
    if (!output_.empty() && !CheckSuffixes(console, {output_}, {".yaml", ".json"}))
      return ExitCode::kUsage;
    AddProfile(files_, profile_, "profile");
    files_.Read("measured", measured_);
    files_.Write("--output", output_);
    return files_.Around(console, [&] { return Answer(console); });
  }

 private:
  ExitCode Answer(Console& console) {
    const Result<tessera::Profile> profile = tessera::Profile::Load(profile_);
    if (!profile) return console.Refuse(profile.Error());
    if (!output_.empty()) {
      const Result<std::string> text = profile->Render();
      if (!text) return console.Refuse(text.Error());
    }
    const Result<Measurements> measured = Measurements::Load(measured_, *profile);
    if (!measured) return console.Refuse(measured.Error());
    for (const std::string& network : measured->NetworkFiles()) {
      const ExitCode code = files_.ReadDuring(console, "network", network);
      if (code != ExitCode::kAnswer) return code;
    }
    CallOptions options = limits_.ForCall();
    const InterruptGuard guard(*options.canceller);
    const Result<ProfileFit> fit = FitProfile(*profile, *measured, options);
    if (!fit) return console.Refuse(fit.Error());
    std::vector<base::Output> outputs;
    if (!output_.empty()) {
      Result<std::string> text = fit->profile.Render();
      if (!text) return console.Refuse(text.Error());
      outputs.push_back({output_, *std::move(text)});
    }
    const ExitCode saved = files_.Save(console, outputs);
    console.Print(format_.IsJson() ? fit->json : fit->text);
    if (saved != ExitCode::kAnswer) return saved;
    if (InterruptGuard::Interrupted()) return ExitCode::kInterrupted;
    return fit->stopped ? ExitCode::kLimit : ExitCode::kAnswer;
  }

  std::string action_;
  std::string profile_;
  std::string measured_;
  std::string output_;
  AnswerFormat format_;
  CallLimits limits_;
  Destinations files_;
};

}  // namespace

std::unique_ptr<Command> MakeProfileCommand() { return std::make_unique<ProfileCommand>(); }

}  // namespace tessera::cli
