// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tessera/hw_profiles/read_sections.h"

namespace tessera::hw_profiles {
namespace {

using base::YamlNode;

Unroll ReadUnroll(const YamlNode& node) {
  Unroll unroll;
  if (!node) return unroll;
  RequireFields(node, kUnrollFields);
  ReadFields(node, kUnrollFields, unroll);
  return unroll;
}

std::optional<OtherSums> ReadOtherSums(const YamlNode& node) {
  if (!node || IsDropped(node)) return std::nullopt;
  OtherSums sums;
  RequireFields(node, kOtherSumsFields);
  ReadFields(node, kOtherSumsFields, sums);
  return sums;
}

// The key is an operator kind, or a kind and a data type: "conv.int16".
void ReadKey(const YamlNode& node, const std::string& key, Throughput& throughput) {
  const size_t dot = key.find('.');
  const std::optional<base::OperatorKind> kind = base::ParseOperatorKind(key.substr(0, dot));
  if (kind) throughput.kind = *kind;
  if (dot != std::string::npos) throughput.type = base::ParseDataType(key.substr(dot + 1));
  if (kind && (dot == std::string::npos || throughput.type)) return;

  // The keys that the user may have meant: kinds alone, or this kind with each data type.
  std::vector<std::string> written;
  if (kind) {
    for (const std::string_view type : base::DataTypeNames())
      written.push_back(key.substr(0, dot + 1) + std::string(type));
  } else {
    const std::string type = dot == std::string::npos ? "" : key.substr(dot);
    for (const std::string_view name : base::OperatorKindNames())
      written.push_back(std::string(name) + type);
  }
  const std::vector<std::string_view> names(written.begin(), written.end());
  node.KeyOneOf(names);
}

Throughput ReadThroughput(const YamlNode& node, const std::string& key) {
  Throughput throughput;
  ReadKey(node, key, throughput);
  const std::span<const Field<Throughput>> fields = ThroughputFieldsOf(throughput.kind);
  RequireFields(node, fields);
  if (base::TraitsOf(throughput.kind).multiplies) {
    throughput.unroll = ReadUnroll(node.Maybe("unroll"));
    throughput.other_sums = ReadOtherSums(node.Maybe("other_sums"));
  } else {
    throughput.cycles_per_output = 1;
  }
  ReadFields(node, fields, throughput);
  return throughput;
}

void ReadOperators(const YamlNode& node, Engine& engine) {
  const YamlNode operators = node.At("operators");
  for (const auto& [key, entry] : operators.Entries())
    engine.throughputs.push_back(ReadThroughput(entry, key));
  if (engine.throughputs.empty())
    operators.Complain("engine '" + engine.name + "' runs nothing", "at least one operator kind");
}

int64_t BlockSizes(const OutputBlocks& blocks, const Unroll& unroll) {
  const auto lengths = [](int64_t most, int64_t lanes) {
    return std::max<int64_t>(1, most / lanes);
  };
  return lengths(blocks.rows, unroll.out_rows) * lengths(blocks.columns, unroll.out_columns) *
         (blocks.channels / blocks.channel_step + 1);
}

void ReadBlocks(const YamlNode& node, Engine& engine) {
  if (!node || IsDropped(node)) return;
  RequireFields(node, kOutputBlocksFields);
  OutputBlocks& blocks = engine.blocks.emplace();
  ReadFields(node, kOutputBlocksFields, blocks);
  const auto check_step = [&](const std::string& name, int64_t step, int64_t channels,
                              const std::string& of_block) {
    if (step <= channels) return;
    node.Complain("'" + name + "_step' is " + std::to_string(step) + ", '" + name + "s' " +
                      std::to_string(channels),
                  "a step of at most all channels of " + of_block);
  };
  check_step("channel", blocks.channel_step, blocks.channels, "a block");
  check_step("input_channel", blocks.input_channel_step, blocks.input_channels, "an input block");
  for (const Throughput& throughput : engine.throughputs) {
    if (throughput.kind != base::OperatorKind::kConv &&
        throughput.kind != base::OperatorKind::kDepthwise)
      continue;
    const int64_t sizes = BlockSizes(blocks, throughput.unroll);
    if (sizes <= kMostBlockSizes) continue;
    node.Complain("blocks of '" + std::string(base::NameOf(throughput.kind)) + "' have " +
                      std::to_string(sizes) + " sizes",
                  "at most " + std::to_string(kMostBlockSizes) +
                      ": rows / out_rows * columns / out_columns * (channels / channel_step + 1)",
                  "raise channel_step, or state the lanes of the engine in unroll");
    return;
  }
}

// Reads the host. There is at most one, and it lists no operators.
void ReadHost(const YamlNode& node, const YamlNode& host, const Profile& profile, Engine& engine) {
  RequireFields(host, kHostFields);
  ReadFields(host, kHostFields, engine.host.emplace());
  if (const YamlNode operators = node.Maybe("operators")) {
    operators.Complain(
        "engine '" + engine.name + "' is the host, which runs what no other engine lists",
        "no operators");
  }
  if (const YamlNode blocks = node.Maybe("blocks"); blocks && !IsDropped(blocks))
    blocks.Complain("engine '" + engine.name + "' is the host, which makes no blocks", "no blocks");
  if (const Engine* other = HostOf(profile)) {
    host.Complain("'" + other->name + "' and '" + engine.name + "' are hosts", "one host at most");
  }
}

}  // namespace

void ReadEngines(const YamlNode& root, Profile& profile) {
  const YamlNode section = root.At("engines");
  for (const auto& [name, node] : section.Entries()) {
    RequireName(node, name);
    RequireFields(node, kEngineFields);
    Engine engine;
    engine.name = name;
    if (const YamlNode host = node.Maybe("host")) {
      ReadHost(node, host, profile, engine);
    } else {
      ReadOperators(node, engine);
      ReadBlocks(node.Maybe("blocks"), engine);
    }
    ReadFields(node, kEngineFields, engine);
    profile.engines.push_back(std::move(engine));
  }
  if (profile.engines.empty()) section.Complain("no engine is given", "at least one engine");
}

}  // namespace tessera::hw_profiles
