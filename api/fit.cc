// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/fit/fit.h"

#include <fmt/core.h>
#include <tessera/fit.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/base/json_document.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/report/text_table.h"
#include "tessera/search/fit/measurements.h"

namespace tessera {
inline namespace v0 {

struct Measurements::Content {
  std::vector<search::fit::Measurement> measurements;
  std::string file;
  std::vector<std::string> networks;  // paths
};

}  // namespace v0
}  // namespace tessera

namespace tessera::api {
namespace {

using search::fit::Fit;

constexpr std::array<const char*, 5> kOutcomes = {"fitted", "at_limit", "no_effect", "not_tried",
                                                  "indistinct"};

using LoadedNetwork = base::Expected<std::shared_ptr<const graph::Graph>>;

LoadedNetwork GraphOf(const Network& network) {
  const auto content = std::make_shared<const Network>(network);
  return std::shared_ptr<const graph::Graph>(content, &content->Get().graph);
}

base::Diagnostic NoSuchNetwork(const std::string& expected) {
  base::Diagnostic fault;
  fault.message = "no file of this name";
  fault.expected = expected;
  return fault;
}

Result<Measurements> Read(std::string_view csv, const std::string& name, const Profile& profile,
                          const search::fit::NetworkLoader& load,
                          std::vector<std::string> networks = {}) {
  auto read = search::fit::ReadMeasurements(csv, name, profile.Get().profile, load);
  if (!read) return BadInput(read.error());
  return Measurements(std::make_shared<const Measurements::Content>(
      Measurements::Content{*std::move(read), name, std::move(networks)}));
}

Result<Measurements> ReadFile(const std::string& csv, const std::string& path,
                              const Profile& profile) {
  std::vector<std::string> networks;
  const auto load = [&](const std::string& name) -> LoadedNetwork {
    const std::string file = (std::filesystem::path(path).parent_path() / name).string();
    if (file.empty() || file == "-") {
      return base::Unexpected(
          NoSuchNetwork("the name of a network's file, from the folder of the measurements"));
    }
    networks.push_back(file);
    ImportOptions options;
    options.profile = &profile;
    const Result<Network> network = Network::Load(file, options);
    if (!network) return base::Unexpected(AsDiagnostic(network.Error()));
    return GraphOf(*network);
  };
  // The list of networks is complete only after the text was read.
  Result<Measurements> read = Read(csv, path, profile, load);
  if (!read) return read;
  Measurements::Content content = read->Get();
  content.networks = std::move(networks);
  return Measurements(std::make_shared<const Measurements::Content>(std::move(content)));
}

std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string ValueText(double value) {
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string OutcomeText(const FittedConstant& constant) {
  switch (constant.outcome) {
    case FitOutcome::kAtLimit:
      return "at its limit: the measurements ask for more";
    case FitOutcome::kNotTried:
      return "not tried";
    case FitOutcome::kNoEffect:
      return "not identified: no measurement depends on it";
    case FitOutcome::kIndistinct:
      return "not identified: others, as " + constant.alike + ", explain the same";
    case FitOutcome::kFitted:
      break;
  }
  return "fitted";
}

// Returns the parts that the stop left out.
std::string StopText(const ProfileFit& fit, size_t measurements) {
  if (!fit.before) return "\nStopped early, before all measurements were predicted once.\n";
  const bool leaves_out = measurements >= search::fit::kLeastHeldOut;
  return fmt::format("\nStopped early: the best so far.{}\n",
                     leaves_out ? " How far off it is for other measurements is not known." : "");
}

std::string AsText(const ProfileFit& fit, size_t measurements) {
  report::Table table({"constant", "before", "after", ""});
  for (const FittedConstant& each : fit.constants)
    table.Add({each.name, ValueText(each.before), ValueText(each.after), OutcomeText(each)});
  std::string text = fmt::format("{} measurements\n\n{}\n", measurements, table.Text());
  report::Table errors({"cycles differ from measured", "half of them by less", "90 % by less"});
  const auto add = [&](const std::string& name, const std::optional<FitError>& error) {
    if (error) errors.Add({name, Percent(error->median), Percent(error->nine_of_ten)});
  };
  add("before", fit.before);
  add("after", fit.after);
  add("left out of their fit", fit.held_out);
  if (fit.before) text += errors.Text();
  if (measurements < search::fit::kLeastHeldOut) {
    text += fmt::format("\nToo few measurements to leave some out: at least {} are needed.\n",
                        search::fit::kLeastHeldOut);
  }
  if (fit.stopped) text += StopText(fit, measurements);
  return text;
}

std::string AsJson(const ProfileFit& fit, size_t measurements) {
  nlohmann::ordered_json document;
  document["measurements"] = measurements;
  document["complete"] = !fit.stopped;
  auto& constants = document["constants"] = nlohmann::ordered_json::array();
  for (const FittedConstant& each : fit.constants) {
    auto& entry = constants.emplace_back();
    entry["name"] = each.name;
    entry["before"] = each.before;
    entry["after"] = each.after;
    entry["outcome"] = NameOf(each.outcome);
    if (!each.alike.empty()) entry["alike"] = each.alike;
  }
  auto& errors = document["errors"] = nlohmann::ordered_json::object();
  const auto add = [&](const char* name, const std::optional<FitError>& error) {
    if (error) errors[name] = {{"median", error->median}, {"nine_of_ten", error->nine_of_ten}};
  };
  add("before", fit.before);
  add("after", fit.after);
  add("held_out", fit.held_out);
  return base::WriteJson(document);
}

// The fitted profile states how far it is from measurements that its fit has not seen, if that is
// known. The descriptions of operators stay.
Profile FittedProfile(const Profile::Content& given, const Fit& fit, const std::string& file) {
  Profile::Content content = given;
  content.profile = fit.profile;
  content.profile.known_error.reset();
  if (fit.held_out) {
    content.profile.known_error = {.source = "measurements left out of its fit: " +
                                             std::filesystem::path(file).filename().string(),
                                   .median = fit.held_out->median,
                                   .nine_of_ten = fit.held_out->most_of_ten};
  }
  content.json = hw_profiles::WriteProfileJson(content.profile);
  return Profile(std::make_shared<const Profile::Content>(std::move(content)));
}

std::optional<FitError> ErrorOf(const std::optional<search::fit::Error>& error) {
  if (!error) return std::nullopt;
  return FitError{error->median, error->most_of_ten};
}

Result<ProfileFit> Run(const Profile& profile, const Measurements::Content& measured,
                       const CallOptions& options) {
  const CallStop stop(options);
  const Fit fit =
      search::fit::FitConstants(profile.Get().profile, measured.measurements, stop.Get());
  ProfileFit answer{FittedProfile(profile.Get(), fit, measured.file)};
  for (const search::fit::FittedConstant& each : fit.constants) {
    answer.constants.push_back(
        {each.name, each.before, each.after, static_cast<FitOutcome>(each.outcome), each.alike});
  }
  answer.before = ErrorOf(fit.before);
  answer.after = ErrorOf(fit.after);
  answer.held_out = ErrorOf(fit.held_out);
  answer.stopped = !fit.is_complete;
  answer.text = AsText(answer, measured.measurements.size());
  answer.json = AsJson(answer, measured.measurements.size());
  return answer;
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Measurements::Measurements(std::shared_ptr<const Content> content) noexcept
    : content_(std::move(content)) {}

Result<Measurements> Measurements::Load(const std::string& path, const Profile& profile) {
  return api::LoadFrom(path,
                       [&](const std::string& text) { return api::ReadFile(text, path, profile); });
}

Result<Measurements> Measurements::Parse(
    std::string_view csv, const Profile& profile,
    const std::vector<std::pair<std::string, Network>>& networks, const std::string& name) {
  return api::Guarded([&] {
    return api::Read(csv, name, profile, [&](const std::string& wanted) -> api::LoadedNetwork {
      for (const auto& [known, network] : networks) {
        if (known == wanted) return api::GraphOf(network);
      }
      return base::Unexpected(api::NoSuchNetwork("the name of a network of the call"));
    });
  });
}

std::size_t Measurements::Count() const noexcept { return content_->measurements.size(); }

const std::vector<std::string>& Measurements::NetworkFiles() const noexcept {
  return content_->networks;
}

const char* NameOf(FitOutcome outcome) noexcept {
  return api::kOutcomes[static_cast<size_t>(outcome)];
}

Result<ProfileFit> FitProfile(const Profile& profile, const Measurements& measured,
                              const CallOptions& options) {
  return api::Guarded([&] { return api::Run(profile, measured.Get(), options); });
}

}  // namespace v0
}  // namespace tessera
