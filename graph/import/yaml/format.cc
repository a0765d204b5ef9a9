// SPDX-License-Identifier: Apache-2.0

// The uses of YAML in import: the text format of networks, and descriptions of operators for every
// format.
#include "tessera/graph/import/common/format.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/yaml_reader.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/import/yaml/read_sections.h"

namespace tessera::graph::import::yaml {

namespace {

using base::YamlNode;
using common::Description;
using common::Descriptions;

std::vector<int> ReadOperandNumbers(const YamlNode& node) {
  std::vector<int> numbers;
  for (const int64_t number : node.Integers(0, std::numeric_limits<int>::max()))
    numbers.push_back(static_cast<int>(number));
  return numbers;
}

Description ReadDescription(const YamlNode& node) {
  constexpr int64_t kMostBytes = int64_t{1} << 56;
  node.OnlyKeys(
      {"accesses", "shape", "shape_of", "macs_per_output", "scratch_bytes", "engine", "in_place"});
  Description description;
  const YamlNode accesses = node.At("accesses");
  for (const YamlNode& access : accesses.Items())
    description.accesses.push_back(ReadAccess(access));
  if (description.accesses.empty())
    accesses.Complain("no accesses", "one for each operand that is no constant");
  if (const YamlNode shape = node.Maybe("shape")) description.shape = ReadShape(shape);
  if (const YamlNode of = node.Maybe("shape_of"))
    description.shape_of = static_cast<int>(of.Integer(0, std::numeric_limits<int>::max()));
  if (description.shape && description.shape_of)
    node.Maybe("shape_of").Complain("shape_of together with shape", "one of them");
  if (const YamlNode macs = node.Maybe("macs_per_output"))
    description.macs_per_output = macs.Integer(0, base::kMaxTotal);
  if (const YamlNode scratch = node.Maybe("scratch_bytes"))
    description.scratch_bytes = scratch.Integer(0, kMostBytes);
  if (const YamlNode engine = node.Maybe("engine")) description.engine = engine.Text();
  if (const YamlNode in_place = node.Maybe("in_place"))
    description.in_place = ReadOperandNumbers(in_place);
  return description;
}

// Text does not begin with control characters, except those between words and lines.
bool LooksLikeText(std::string_view bytes) {
  const std::string_view first = bytes.substr(0, 4);
  return std::none_of(first.begin(), first.end(), [](char byte) {
    return static_cast<unsigned char>(byte) < ' ' && byte != '\t' && byte != '\n' && byte != '\r';
  });
}

base::Expected<common::Import> Read(std::string_view text, const std::string& file_name,
                                    const common::ImportOptions&) {
  base::Expected<Graph> graph = ReadNetwork(text, file_name);
  if (!graph) return base::Unexpected(graph.error());
  return common::Import{.graph = *std::move(graph)};
}

}  // namespace

base::Expected<Descriptions> ReadDescriptions(std::string text, const std::string& file_name) {
  const base::Expected<base::YamlFile> file = base::YamlFile::Parse(std::move(text), file_name);
  if (!file) return base::Unexpected(file.error());
  base::YamlReader reader(*file);
  Descriptions descriptions;
  if (const YamlNode ops = reader.Root().Maybe("ops")) {
    for (const auto& [type, node] : ops.Entries())
      descriptions.emplace(type, ReadDescription(node));
  }
  if (reader.Failed()) return base::Unexpected(reader.TakeFault());
  return descriptions;
}

extern const common::NetworkFormat kFormat = {
    .name = "YAML/JSON",
    .suffix = ".yaml",
    .example = "",
    .takes_options = false,
    .recognizes = LooksLikeText,
    .read = Read,
};

}  // namespace tessera::graph::import::yaml
