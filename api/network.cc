// SPDX-License-Identifier: Apache-2.0

#include <tessera/network.h>

#include "tessera/api/content.h"
#include "tessera/base/files.h"
#include "tessera/base/vocabulary.h"
#include "tessera/graph/import/common/import_report.h"
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
  auto import = format->read(bytes, name, *options);
  if (!import) return BadInput(import.error());
  Network::Content content{std::move(import->graph), std::move(import->notes), {}, {}};
  if (!import->nodes.empty()) content.nodes = graph::import::common::TextOf(import->nodes);
  return Network(std::make_shared<const Network::Content>(std::move(content)));
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Network::Network(std::shared_ptr<const Content> content) noexcept : content_(std::move(content)) {}

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

const std::string& Network::Name() const noexcept { return content_->graph.name; }

std::size_t Network::OperatorCount() const noexcept { return content_->graph.operators.size(); }

const std::vector<std::string>& Network::Notes() const noexcept { return content_->notes; }

}  // namespace v0
}  // namespace tessera
