// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tessera/base/files.h"
#include "tessera/base/json_document.h"
#include "tessera/base/yaml_reader.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/outputs.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/report/text_table.h"
#include "tessera/search/fit/fit.h"

// `tessera profile fit`: fits constants of a profile to measurements.
namespace tessera::cli {
namespace {

using search::fit::Error;
using search::fit::Fit;
using search::fit::FittedConstant;
using search::fit::Outcome;

std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string ValueText(double value) {
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string OutcomeText(const FittedConstant& constant) {
  if (constant.outcome == Outcome::kAtLimit) return "at its limit: the measurements ask for more";
  if (constant.outcome == Outcome::kNotTried) return "not tried";
  if (constant.outcome == Outcome::kNoEffect) return "not identified: no measurement depends on it";
  if (constant.outcome == Outcome::kIndistinct)
    return "not identified: others, as " + constant.alike + ", explain the same";
  return "fitted";
}

// Returns the parts that the stop left out.
std::string StopText(const Fit& fit, size_t measurements) {
  if (!fit.before) return "\nStopped early, before all measurements were predicted once.\n";
  const bool leaves_out = measurements >= search::fit::kLeastHeldOut;
  return fmt::format("\nStopped early: the best so far.{}\n",
                     leaves_out ? " How far off it is for other measurements is not known." : "");
}

std::string AsText(const Fit& fit, size_t measurements) {
  report::Table table({"constant", "before", "after", ""});
  for (const FittedConstant& each : fit.constants)
    table.Add({each.name, ValueText(each.before), ValueText(each.after), OutcomeText(each)});
  std::string text = fmt::format("{} measurements\n\n{}\n", measurements, table.Text());
  report::Table errors({"cycles differ from measured", "half of them by less", "90 % by less"});
  const auto add = [&](const std::string& name, const std::optional<Error>& error) {
    if (error) errors.Add({name, Percent(error->median), Percent(error->most_of_ten)});
  };
  add("before", fit.before);
  add("after", fit.after);
  add("left out of their fit", fit.held_out);
  if (fit.before) text += errors.Text();
  if (measurements < search::fit::kLeastHeldOut) {
    text += fmt::format("\nToo few measurements to leave some out: at least {} are needed.\n",
                        search::fit::kLeastHeldOut);
  }
  if (!fit.is_complete) text += StopText(fit, measurements);
  return text;
}

nlohmann::ordered_json ErrorAsJson(const Error& error) {
  return {{"median", error.median}, {"nine_of_ten", error.most_of_ten}};
}

std::string AsJson(const Fit& fit, size_t measurements) {
  constexpr const char* kOutcomes[] = {"fitted", "at_limit", "no_effect", "not_tried",
                                       "indistinct"};
  nlohmann::ordered_json document;
  document["measurements"] = measurements;
  document["complete"] = fit.is_complete;
  auto& constants = document["constants"] = nlohmann::ordered_json::array();
  for (const FittedConstant& each : fit.constants) {
    auto& entry = constants.emplace_back();
    entry["name"] = each.name;
    entry["before"] = each.before;
    entry["after"] = each.after;
    entry["outcome"] = kOutcomes[static_cast<size_t>(each.outcome)];
    if (!each.alike.empty()) entry["alike"] = each.alike;
  }
  auto& errors = document["errors"] = nlohmann::ordered_json::object();
  if (fit.before) errors["before"] = ErrorAsJson(*fit.before);
  if (fit.after) errors["after"] = ErrorAsJson(*fit.after);
  if (fit.held_out) errors["held_out"] = ErrorAsJson(*fit.held_out);
  return base::WriteJson(document);
}

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
    const base::Expected<hw_profiles::Profile> profile = LoadProfile(profile_);
    if (!profile) return console.Refuse(profile.error());
    const base::Expected<std::string> text = base::ReadInput(measured_);
    if (!text) return console.Refuse(text.error());
    if (!output_.empty()) {
      if (const auto fault = FindOps()) return console.Refuse(*fault);
    }
    std::vector<std::string> networks;
    const auto measurements = search::fit::ReadMeasurements(
        *text, measured_, *profile, [this, &networks](const std::string& name) {
          networks.push_back(PathOf(name));
          return LoadNetwork(name);
        });
    for (const std::string& network : networks) {
      const ExitCode code = files_.ReadDuring(console, "network", network);
      if (code != ExitCode::kAnswer) return code;
    }
    if (!measurements) return console.Refuse(measurements.error());
    base::Stop stop(limits_.Deadline());
    limits_.LimitLast(stop);
    const InterruptGuard guard(stop);
    const Fit fit = search::fit::FitConstants(*profile, *measurements, stop);
    std::vector<base::Output> outputs;
    if (!output_.empty()) outputs.push_back({output_, WriteFitted(fit)});
    const ExitCode saved = files_.Save(console, outputs);
    console.Print(format_.IsJson() ? AsJson(fit, measurements->size())
                                   : AsText(fit, measurements->size()));
    if (saved != ExitCode::kAnswer) return saved;
    if (InterruptGuard::Interrupted()) return ExitCode::kInterrupted;
    return fit.is_complete ? ExitCode::kAnswer : ExitCode::kLimit;
  }

  // The fitted profile states how far it is from measurements that its fit has not seen, if that is
  // known.
  std::string WriteFitted(const Fit& fit) const {
    hw_profiles::Profile profile = fit.profile;
    profile.known_error.reset();
    if (fit.held_out) {
      profile.known_error = {.source = "measurements left out of its fit: " +
                                       std::filesystem::path(measured_).filename().string(),
                             .median = fit.held_out->median,
                             .nine_of_ten = fit.held_out->most_of_ten};
    }
    return hw_profiles::WriteProfileJson(profile);
  }

  // Descriptions of operators for ONNX files are read with networks, and are not a part of the
  // written profile.
  std::optional<base::Diagnostic> FindOps() const {
    const auto texts = ReadProfileTexts(profile_);
    if (!texts) return std::nullopt;  // standard input, which cannot be read twice
    for (const auto& [name, text] : *texts) {
      const base::Expected<base::YamlFile> file = base::YamlFile::Parse(text, name);
      if (!file) continue;
      base::YamlReader reader(*file);
      if (const base::YamlNode ops = reader.Root().Maybe("ops")) {
        return ops.Located("the fitted profile would lack these 'ops'", "a profile without them",
                           "move 'ops' into a profile that extends this one, and fit this one");
      }
    }
    return std::nullopt;
  }

  std::string PathOf(const std::string& name) const {
    return (std::filesystem::path(measured_).parent_path() / name).string();
  }

  base::Expected<std::shared_ptr<const graph::Graph>> LoadNetwork(const std::string& name) const {
    const std::string path = PathOf(name);
    if (path == "-" || path.empty()) {
      base::Diagnostic fault;
      fault.message = "no file of this name";
      fault.expected = "the name of a network's file, from the folder of the measurements";
      return base::Unexpected(fault);
    }
    const base::Expected<std::string> text = base::ReadInput(path);
    if (!text) return base::Unexpected(text.error());
    base::Expected<graph::Graph> network = graph::import::yaml::ReadNetwork(*text, path);
    if (!network) return base::Unexpected(network.error());
    return std::make_shared<const graph::Graph>(*std::move(network));
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
