#include "tessera/cli/network_options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "tessera/cli/files.h"
#include "tessera/cli/inputs.h"
#include "tessera/graph/stored_sizes.h"
#include "tessera/graph/yaml.h"
#ifdef TESSERA_ONNX
#include "tessera/graph/onnx/import.h"
#endif

namespace tessera::cli {
namespace {

using Loaded = tl::expected<LoadedNetwork, NetworkRefusal>;

tl::unexpected<NetworkRefusal> Refuse(base::Diagnostic diagnostic) {
  return tl::unexpected(NetworkRefusal{std::move(diagnostic), ExitCode::kBadInput});
}

// The suffix says it; where there is none, the first byte does, which no text begins with.
bool IsOnnx(const std::string& path, const std::string& content) {
  constexpr char kFirstField = 0x08;
  return SuffixOf(path) == ".onnx" || (content.size() > 2 && content[0] == kFirstField);
}

#ifdef TESSERA_ONNX

base::Diagnostic UsageFault(const std::string& option, const std::string& value, std::string expected) {
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
    const char* rest =
        sign == std::string::npos ? nullptr : std::from_chars(word.data() + sign + 1, end, extent).ptr;
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

// Descriptions under `ops` of every file that the profile extends, the profile's own and the ops file's last.
base::Expected<graph::onnx::Descriptions> LoadDescriptions(const std::string& ops_file,
                                                           const std::string& profile) {
  std::vector<std::pair<std::string, std::string>> texts;  // name and content, the strongest first
  if (!ops_file.empty()) {
    base::Expected<std::string> text = ReadInput(ops_file);
    if (!text) return tl::unexpected(text.error());
    texts.emplace_back(ops_file, *std::move(text));
  }
  if (!profile.empty()) {
    base::Expected<std::vector<std::pair<std::string, std::string>>> chain = ReadProfileTexts(profile);
    if (!chain) return tl::unexpected(chain.error());
    texts.insert(texts.end(), chain->begin(), chain->end());
  }
  graph::onnx::Descriptions all;
  for (const auto& [name, text] : texts) {
    const base::Expected<graph::onnx::Descriptions> some = graph::onnx::ReadDescriptions(text, name);
    if (!some) return tl::unexpected(some.error());
    all.insert(some->begin(), some->end());
  }
  return all;
}

#endif

}  // namespace

void NetworkOptions::Declare(CLI::App& app) {
  std::vector<std::string> types;
  for (const std::string_view type : base::DataTypeNames()) types.emplace_back(type);
  app.add_option("--dim", dims_, "NAME=EXTENT gives a symbolic dimension of an ONNX file its extent");
  app.add_option("--state", states_,
                 "INPUT=OUTPUT: this input of an ONNX file is what the run before gave as this output");
  app.add_option("--floats-as", floats_as_, "The data type to plan with where an ONNX file has floats")
      ->check(CLI::IsMember(types));
  app.add_option("--ops-file", ops_file_,
                 "YAML that describes operators of an ONNX file under `ops`, as the profile may");
  app.add_option("--sizes", sizes_, "CSV of constants and the bytes that they are stored in: tensor,bytes");
}

void NetworkOptions::AddInputs(Destinations& files) const {
  files.Read("--ops-file", ops_file_);
  files.Read("--sizes", sizes_);
}

#ifdef TESSERA_ONNX

Loaded NetworkOptions::LoadOnnx(const std::string& bytes, const std::string& name,
                                const std::string& profile) const {
  graph::onnx::ImportOptions options;
  auto dims = ParseDims(dims_);
  if (!dims) return Refuse(dims.error());
  auto states = ParseStates(states_);
  if (!states) return Refuse(states.error());
  auto descriptions = LoadDescriptions(ops_file_, profile);
  if (!descriptions) return Refuse(descriptions.error());
  options.dims = *std::move(dims);
  options.states = *std::move(states);
  options.descriptions = *std::move(descriptions);
  if (!floats_as_.empty()) options.floats_as = base::ParseDataType(floats_as_);
  base::Expected<graph::onnx::Import> import = graph::onnx::ImportOnnx(bytes, name, options);
  if (!import) return Refuse(import.error());
  return LoadedNetwork{std::move(import->graph), std::move(import->notes),
                       graph::onnx::TextOf(import->nodes)};
}

#else

Loaded NetworkOptions::LoadOnnx(const std::string&, const std::string& name, const std::string&) const {
  base::Diagnostic fault;
  fault.file = name;
  fault.message = "this build does not read ONNX files";
  fault.expected = "a network in YAML or JSON";
  fault.hint = "build with -DTESSERA_ONNX=ON, which needs Debian's libonnx-dev and libprotobuf-dev";
  return tl::unexpected(NetworkRefusal{std::move(fault), ExitCode::kUnsupported});
}

#endif

Loaded NetworkOptions::Load(const std::string& path, const std::string& profile) const {
  const base::Expected<std::string> content = ReadInput(path);
  if (!content) return Refuse(content.error());
  const std::string name = path == "-" ? "standard input" : path;
  Loaded loaded;
  if (IsOnnx(path, *content)) {
    loaded = LoadOnnx(*content, name, profile);
  } else {
    base::Expected<graph::Graph> graph = graph::ReadNetwork(*content, name);
    if (!graph) return Refuse(graph.error());
    loaded = LoadedNetwork{*std::move(graph), {}};
  }
  if (!loaded || sizes_.empty()) return loaded;
  const base::Expected<std::string> csv = ReadInput(sizes_);
  if (!csv) return Refuse(csv.error());
  if (const auto read = graph::ReadStoredSizes(*csv, sizes_, loaded->graph); !read)
    return Refuse(read.error());
  return loaded;
}

}  // namespace tessera::cli
