// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/network_options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/files.h"
#include "tessera/base/text.h"
#include "tessera/cli/console.h"
#include "tessera/cli/inputs.h"
#include "tessera/graph/import/common/stored_sizes.h"
#include "tessera/graph/import/formats.h"
#include "tessera/graph/import/yaml/measured_costs.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/plan/plan.h"

namespace tessera::cli {

namespace {

using graph::import::common::Descriptions;
using graph::import::common::ImportOptions;
using graph::import::common::NetworkFormat;
using Loaded = tl::expected<LoadedNetwork, NetworkRefusal>;

tl::unexpected<NetworkRefusal> Refuse(base::Diagnostic diagnostic) {
  return tl::unexpected(NetworkRefusal{std::move(diagnostic), ExitCode::kBadInput});
}

NetworkRefusal UnknownFormat(const std::string& file) {
  base::Diagnostic fault;
  fault.file = file;
  fault.message = "the format of this file is unknown to this build";
  fault.expected = fmt::format("a network in {}", graph::import::NamesOfFormats());
  fault.hint =
      "formats are options of the build, named as folders of graph/import: -DTESSERA_NAME=ON";
  return {std::move(fault), ExitCode::kUnsupported};
}

base::Diagnostic UsageFault(const std::string& option, const std::string& value,
                            std::string expected) {
  base::Diagnostic fault;
  fault.message = fmt::format("--{} {}", option, value);
  fault.expected = std::move(expected);
  return fault;
}

base::Expected<std::map<std::string, int64_t>> ParseDims(const std::vector<std::string>& words) {
  constexpr int64_t kMostExtent = int64_t{1} << 56;
  std::map<std::string, int64_t> dims;
  for (const std::string& word : words) {
    const size_t sign = word.rfind('=');
    int64_t extent = 0;
    const char* end = word.data() + word.size();
    const char* rest = sign == std::string::npos
                           ? nullptr
                           : std::from_chars(word.data() + sign + 1, end, extent).ptr;
    if (rest != end || extent < 1 || extent > kMostExtent || sign == 0)
      return tl::unexpected(
          UsageFault("dim", word, "NAME=EXTENT with an extent from 1 to 2^56, as --dim batch=1"));
    if (!dims.emplace(word.substr(0, sign), extent).second)
      return tl::unexpected(UsageFault("dim", word, "each dimension once"));
  }
  return dims;
}

base::Expected<std::vector<std::pair<std::string, std::string>>> ParseStates(
    const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, std::string>> states;
  for (const std::string& word : words) {
    const size_t sign = word.find('=');
    if (sign == 0 || sign == std::string::npos || sign + 1 == word.size())
      return tl::unexpected(UsageFault("state", word, "INPUT=OUTPUT, as --state h_in=h_out"));
    states.emplace_back(word.substr(0, sign), word.substr(sign + 1));
  }
  return states;
}

// Loads the descriptions under `ops` of the ops file, of the profile, and of every file that the
// profile extends. The first of these that describes an operator has priority.
base::Expected<Descriptions> LoadDescriptions(const std::string& ops_file,
                                              const std::string& profile) {
  std::vector<std::pair<std::string, std::string>> texts;  // name and content, the strongest first
  if (!ops_file.empty()) {
    base::Expected<std::string> text = base::ReadInput(ops_file);
    if (!text) return tl::unexpected(text.error());
    texts.emplace_back(ops_file, *std::move(text));
  }
  if (!profile.empty()) {
    base::Expected<std::vector<std::pair<std::string, std::string>>> chain =
        ReadProfileTexts(profile);
    if (!chain) return tl::unexpected(chain.error());
    texts.insert(texts.end(), chain->begin(), chain->end());
  }
  Descriptions all;
  for (const auto& [name, text] : texts) {
    const base::Expected<Descriptions> some = graph::import::yaml::ReadDescriptions(text, name);
    if (!some) return tl::unexpected(some.error());
    all.insert(some->begin(), some->end());
  }
  return all;
}

// In messages.
std::string NameOfInput(const std::string& path) { return path == "-" ? "standard input" : path; }

}  // namespace

base::Expected<std::optional<std::string>> ReadCosts(const std::string& path,
                                                     graph::Graph& network) {
  const base::Expected<std::string> csv = base::ReadInput(path);
  if (!csv) return base::Unexpected(csv.error());
  return graph::import::yaml::ReadMeasuredCosts(*csv, NameOfInput(path), network);
}

void NetworkOptions::Declare(CLI::App& app) {
  std::vector<std::string> types;
  for (const std::string_view type : base::DataTypeNames()) types.emplace_back(type);
  app.add_option("--dim", dims_,
                 "NAME=EXTENT gives a symbolic dimension of an imported file its extent");
  app.add_option(
      "--state", states_,
      "INPUT=OUTPUT: this input of an imported file is what the run before gave as this output");
  app.add_option("--floats-as", floats_as_,
                 "The data type to plan with where an imported file has floats")
      ->check(CLI::IsMember(types));
  app.add_option(
      "--ops-file", ops_file_,
      "YAML that describes operators of an imported file under `ops`, as the profile may");
  app.add_option("--sizes", sizes_,
                 "CSV of constants and the bytes that they are stored in: tensor,bytes");
  app.add_option("--costs", costs_,
                 "CSV of tiles that were measured, in place of the cost model: "
                 "operator,tile,engine,cycles,pj");
}

void NetworkOptions::AddInputs(Destinations& files) const {
  files.Read("--ops-file", ops_file_);
  files.Read("--sizes", sizes_);
  files.Read("--costs", costs_);
}

base::Expected<ImportOptions> NetworkOptions::ReadOptions(const std::string& profile) const {
  ImportOptions options;
  auto dims = ParseDims(dims_);
  if (!dims) return tl::unexpected(dims.error());
  auto states = ParseStates(states_);
  if (!states) return tl::unexpected(states.error());
  auto descriptions = LoadDescriptions(ops_file_, profile);
  if (!descriptions) return tl::unexpected(descriptions.error());
  options.dims = *std::move(dims);
  options.states = *std::move(states);
  options.descriptions = *std::move(descriptions);
  if (!floats_as_.empty()) options.floats_as = base::ParseDataType(floats_as_);
  return options;
}

std::string NetworkOptions::NamesOfGivenOptions() const {
  std::vector<std::string_view> names;
  if (!dims_.empty()) names.emplace_back("--dim");
  if (!states_.empty()) names.emplace_back("--state");
  if (!floats_as_.empty()) names.emplace_back("--floats-as");
  if (!ops_file_.empty()) names.emplace_back("--ops-file");
  return base::Join(names, ", ");
}

Loaded NetworkOptions::Load(const std::string& path, const std::string& profile) const {
  const base::Expected<std::string> content = base::ReadInput(path);
  if (!content) return Refuse(content.error());
  const std::string name = NameOfInput(path);
  const NetworkFormat* format = graph::import::FormatOf(base::SuffixOf(path), *content);
  if (format == nullptr) return tl::unexpected(UnknownFormat(name));
  ImportOptions options;
  std::vector<std::string> notes;
  if (format->takes_options) {
    base::Expected<ImportOptions> given = ReadOptions(profile);
    if (!given) return Refuse(given.error());
    options = *std::move(given);
  } else if (const std::string names = NamesOfGivenOptions(); !names.empty()) {
    notes.push_back(fmt::format("no effect on a network in {}: {}", format->name, names));
  }
  base::Expected<graph::import::common::Import> import = format->read(*content, name, options);
  if (!import) return Refuse(import.error());
  notes.insert(notes.end(), import->notes.begin(), import->notes.end());
  Loaded loaded = LoadedNetwork{std::move(import->graph), std::move(notes)};
  if (!import->nodes.empty()) loaded->nodes = graph::import::common::TextOf(import->nodes);
  if (!sizes_.empty()) {
    const base::Expected<std::string> csv = base::ReadInput(sizes_);
    if (!csv) return Refuse(csv.error());
    const auto taken =
        graph::import::common::ReadStoredSizes(*csv, NameOfInput(sizes_), loaded->graph);
    if (!taken) return Refuse(taken.error());
  }
  if (!costs_.empty()) {
    base::Expected<std::optional<std::string>> note = ReadCosts(costs_, loaded->graph);
    if (!note) return Refuse(note.error());
    if (*note) loaded->notes.push_back(**std::move(note));
  }
  return loaded;
}

std::string ImportExamples() {
  std::string lines;
  for (const NetworkFormat* format : graph::import::NetworkFormats()) {
    if (!format->example.empty())
      lines += fmt::format("  tessera plan {} --hw npu.yaml\n", format->example);
  }
  return lines;
}

std::vector<std::string> LoadedNetwork::AllNotes() const {
  std::vector<std::string> all = notes;
  if (!nodes.empty()) all.push_back(nodes);
  return all;
}

CLI::Option* SubjectOptions::Declare(CLI::App& app) {
  CLI::Option* profile = app.add_option("--hw", profile_, "The hardware profile");
  app.add_option("--ops", interval_,
                 "FIRST..LAST, ids or numbers from 0, both included (default: all)")
      ->needs(profile);
  import_.Declare(app);
  return profile;
}

void SubjectOptions::AddInputs(Destinations& files) const {
  if (!profile_.empty()) AddProfile(files, profile_);
  import_.AddInputs(files);
}

tl::expected<TileSubject, NetworkRefusal> SubjectOptions::Load(Console& console,
                                                               const std::string& network) const {
  tl::expected<LoadedNetwork, NetworkRefusal> loaded = import_.Load(network, profile_);
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  if (auto note = plan::NoteOnUnknownWork(loaded->graph, {}))
    loaded->notes.push_back(*std::move(note));
  for (const std::string& note : loaded->notes) console.Note(note);
  base::Expected<hw_profiles::Profile> profile = LoadProfile(profile_);
  if (!profile) return tl::unexpected(NetworkRefusal{profile.error()});
  const base::Expected<graph::Interval> interval =
      api::parts::ParseInterval(interval_, loaded->graph);
  if (!interval) return tl::unexpected(NetworkRefusal{interval.error()});
  std::vector<std::string> notes = loaded->AllNotes();
  return api::parts::MakeTileSubject(std::move(loaded->graph), *profile, *interval,
                                     std::move(notes));
}

void TileChoice::Declare(CLI::App& app, CLI::Option* profile) {
  app.add_option("--tile", tile_,
                 "The tile of the last operator's output: ROWSxCOLUMNS or AXIS=EXTENT,... "
                 "(default: all of it)")
      ->needs(profile);
  app.add_option("--policy", policy_,
                 "How weights, results and halos are held, in the words of `tessera tile` "
                 "(default: what the profile prefers)")
      ->needs(profile);
}

tl::expected<problem::Problem, NetworkRefusal> TileChoice::Formulate(
    const TileSubject& subject) const {
  tl::expected<problem::Problem, api::parts::TileRefusal> problem =
      api::parts::FormulateTile(subject, tile_, policy_);
  if (problem) return *std::move(problem);
  return tl::unexpected(NetworkRefusal{
      std::move(problem.error().diagnostic),
      problem.error().is_unsupported ? ExitCode::kUnsupported : ExitCode::kBadInput});
}

}  // namespace tessera::cli
