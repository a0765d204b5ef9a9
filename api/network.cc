// SPDX-License-Identifier: Apache-2.0

#include <tessera/network.h>

#include <nlohmann/json.hpp>

#include "tessera/api/content.h"
#include "tessera/base/files.h"
#include "tessera/base/json_document.h"
#include "tessera/base/vocabulary.h"
#include "tessera/graph/import/common/import_report.h"
#include "tessera/graph/import/common/stored_sizes.h"
#include "tessera/graph/import/formats.h"
#include "tessera/graph/import/yaml/measured_costs.h"
#include "tessera/graph/import/yaml/network_yaml.h"

namespace tessera::api {
namespace {

using graph::import::common::Descriptions;
using graph::import::common::NetworkFormat;
using Options = graph::import::common::ImportOptions;

// Descriptions of the caller have priority over those of the profile, and these over the ones of
// the files that it extends.
base::Expected<Descriptions> DescriptionsOf(const ImportOptions& given) {
  std::vector<std::pair<std::string, std::string>> texts;
  if (!given.operators.empty()) texts.emplace_back("operators", given.operators);
  if (given.profile != nullptr) {
    const auto& own = given.profile->Get().texts;
    texts.insert(texts.end(), own.begin(), own.end());
  }
  Descriptions all;
  for (const auto& [name, text] : texts) {
    const base::Expected<Descriptions> some = graph::import::yaml::ReadDescriptions(text, name);
    if (!some) return base::Unexpected(some.error());
    all.insert(some->begin(), some->end());
  }
  return all;
}

Result<Options> Translate(const ImportOptions& given) {
  constexpr std::int64_t kMostExtent = std::int64_t{1} << 56;
  Options options;
  for (const auto& [name, extent] : given.dims) {
    if (name.empty() || extent < 1 || extent > kMostExtent)
      return BadArgument("dimension '" + name + "' has the extent " + std::to_string(extent),
                         "a name, and an extent from 1 to 2^56");
    if (!options.dims.emplace(name, extent).second)
      return BadArgument("dimension '" + name + "' is given twice", "each dimension once");
  }
  options.states = given.states;
  if (!given.floats_as.empty()) {
    options.floats_as = base::ParseDataType(given.floats_as);
    if (!options.floats_as)
      return BadArgument("there is no data type '" + given.floats_as + "'", "a data type, as int8");
  }
  base::Expected<Descriptions> descriptions = DescriptionsOf(given);
  if (!descriptions) return BadInput(descriptions.error());
  options.descriptions = *std::move(descriptions);
  return options;
}

base::Expected<Network> ReadAs(const graph::import::common::NetworkFormat& format,
                               std::string_view bytes, const std::string& name,
                               const Options& options) {
  auto import = format.read(bytes, name, options);
  if (!import) return base::Unexpected(import.error());
  Network::Content content{std::move(import->graph), std::move(import->notes), {}, {}};
  if (!import->nodes.empty()) content.nodes = graph::import::common::TextOf(import->nodes);
  return Network(std::make_shared<const Network::Content>(std::move(content)));
}

Result<Network> Read(std::string_view bytes, const std::string& name, const ImportOptions& given) {
  const NetworkFormat* format = graph::import::FormatOf(base::SuffixOf(name), bytes);
  if (format == nullptr) {
    base::Diagnostic fault;
    fault.file = name;
    fault.message = "the format of this file is unknown to this build";
    fault.expected = "a network in " + graph::import::NamesOfFormats();
    return AsError(CallStatus::kUnsupported, fault);
  }
  Result<Options> options = Translate(given);
  if (!options) return options.Error();
  base::Expected<Network> network = ReadAs(*format, bytes, name, *options);
  if (!network) return BadInput(network.error());
  return *std::move(network);
}

// The document of a network in code, with one part on each line.
class Document {
 public:
  explicit Document(const NetworkParts& parts) {
    Begin("{\"schema\":1,\"name\":" + base::WriteJsonLine(parts.name) +
              ",\"dtype\":" + base::WriteJsonLine(parts.dtype),
          "");
    AddTensors("inputs", parts.inputs);
    AddTensors("constants", parts.constants);
    std::vector<Json> operators;
    for (const NetworkParts::Operator& each : parts.operators) {
      Json& entry = operators.emplace_back();
      entry["id"] = each.id;
      entry["kind"] = each.kind;
      if (!each.inputs.empty()) entry["inputs"] = each.inputs;
      AddKeys(each.keys, entry);
    }
    AddList("operators", operators);
    if (!parts.outputs.empty()) AddList("outputs", {parts.outputs.begin(), parts.outputs.end()});
    text_ += '}';
  }

  const std::string& Text() const { return text_; }

  // Where the part of a line is: a JSON pointer.
  base::Diagnostic Locate(base::Diagnostic fault) const {
    const auto line = static_cast<size_t>(fault.line);
    if (fault.line >= 1 && line <= pointers_.size()) fault.pointer = pointers_[line - 1];
    fault.file.clear();
    fault.excerpt.clear();
    fault.line = fault.column = 0;
    return fault;
  }

 private:
  using Json = nlohmann::ordered_json;

  // A key that is stated twice is written twice, so that it is refused.
  static void AddKeys(const NetworkParts::Keys& keys, Json& entry) {
    auto& members = entry.get_ref<Json::object_t&>();
    for (const auto& [name, value] : keys) {
      Json json = std::visit([](const auto& given) { return Json(given); }, value.value);
      members.Json::object_t::Container::emplace_back(name, std::move(json));
    }
  }

  void AddTensors(const std::string& key, const std::vector<NetworkParts::Tensor>& tensors) {
    if (tensors.empty()) return;
    std::vector<Json> entries;
    for (const NetworkParts::Tensor& tensor : tensors) {
      Json& entry = entries.emplace_back();
      entry["id"] = tensor.id;
      entry["shape"] = tensor.shape;
      AddKeys(tensor.keys, entry);
    }
    AddList(key, entries);
  }

  void AddList(const std::string& key, const std::vector<Json>& entries) {
    Begin(",\"" + key + "\":[", "/" + key);
    for (size_t i = 0; i < entries.size(); ++i)
      Begin((i == 0 ? "" : ",") + base::WriteJsonLine(entries[i]),
            "/" + key + "/" + std::to_string(i));
    text_ += ']';
  }

  void Begin(const std::string& line, std::string pointer) {
    if (!text_.empty()) text_ += '\n';
    text_ += line;
    pointers_.push_back(std::move(pointer));
  }

  std::string text_;
  std::vector<std::string> pointers_;  // by line
};

Result<Network> MakeOf(const NetworkParts& parts) {
  const Document document(parts);
  const std::string name = "network.json";
  base::Expected<Network> network = ReadAs(
      *graph::import::FormatOf(base::SuffixOf(name), document.Text()), document.Text(), name, {});
  if (!network) return BadInput(document.Locate(network.error()));
  return *std::move(network);
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Network::Network(std::shared_ptr<const Content> content) noexcept : content_(std::move(content)) {}

Result<Network> Network::Make(const NetworkParts& parts) {
  return api::Guarded([&] { return api::MakeOf(parts); });
}

Result<Network> Network::Load(const std::string& path, const ImportOptions& options) {
  return api::Guarded([&]() -> Result<Network> {
    const base::Expected<std::string> bytes = base::ReadInput(path);
    if (!bytes) return api::BadInput(bytes.error());
    return api::Read(*bytes, path, options);
  });
}

Result<Network> Network::Parse(std::string_view bytes, const std::string& name,
                               const ImportOptions& options) {
  return api::Guarded([&] { return api::Read(bytes, name, options); });
}

Result<Network> Network::WithCosts(std::string_view csv, const std::string& name) const {
  return api::Guarded([&]() -> Result<Network> {
    Content content{content_->graph, content_->notes, content_->nodes, {}};
    const auto taken = graph::import::yaml::ReadMeasuredCosts(csv, name, content.graph);
    if (!taken) return api::BadInput(taken.error());
    if (*taken) content.notes.push_back(**taken);
    return Network(std::make_shared<const Content>(std::move(content)));
  });
}

Result<Network> Network::WithSizes(std::string_view csv, const std::string& name) const {
  return api::Guarded([&]() -> Result<Network> {
    Content content{content_->graph, content_->notes, content_->nodes, {}};
    const auto read = graph::import::common::ReadStoredSizes(csv, name, content.graph);
    if (!read) return api::BadInput(read.error());
    return Network(std::make_shared<const Content>(std::move(content)));
  });
}

const std::string& Network::Name() const noexcept { return content_->graph.name; }

std::size_t Network::OperatorCount() const noexcept { return content_->graph.operators.size(); }

const std::vector<std::string>& Network::Notes() const noexcept { return content_->notes; }

}  // namespace v0
}  // namespace tessera
