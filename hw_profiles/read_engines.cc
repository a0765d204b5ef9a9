#include <string>
#include <vector>

#include "tessera/hw_profiles/read_sections.h"

namespace tessera::hw_profiles {
namespace {

using base::YamlNode;

Unroll ReadUnroll(const YamlNode& node) {
  Unroll unroll;
  if (!node) return unroll;
  node.OnlyKeys({"batch", "out_rows", "out_columns", "out_channels", "in_channels", "kernel_rows",
                 "kernel_columns"});
  ReadInteger(node, "batch", 1, kMostCount, unroll.batch);
  ReadInteger(node, "out_rows", 1, kMostCount, unroll.out_rows);
  ReadInteger(node, "out_columns", 1, kMostCount, unroll.out_columns);
  ReadInteger(node, "out_channels", 1, kMostCount, unroll.out_channels);
  ReadInteger(node, "in_channels", 1, kMostCount, unroll.in_channels);
  ReadInteger(node, "kernel_rows", 1, kMostCount, unroll.kernel_rows);
  ReadInteger(node, "kernel_columns", 1, kMostCount, unroll.kernel_columns);
  return unroll;
}

// The key is an operator kind, or a kind and a data type: "conv.int16".
void ReadKey(const YamlNode& node, const std::string& key, Throughput& throughput) {
  const size_t dot = key.find('.');
  const std::optional<base::OperatorKind> kind = base::ParseOperatorKind(key.substr(0, dot));
  if (kind) throughput.kind = *kind;
  if (dot != std::string::npos) throughput.type = base::ParseDataType(key.substr(dot + 1));
  if (kind && (dot == std::string::npos || throughput.type)) return;

  // The keys that could have been meant: kinds alone, or this kind with each data type.
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
  if (base::TraitsOf(throughput.kind).multiplies) {
    node.OnlyKeys({"unroll", "cycles_per_step", "cycles_per_output", "start_cycles"});
    throughput.unroll = ReadUnroll(node.Maybe("unroll"));
    ReadNumber(node, "cycles_per_step", 0, kMostRate, throughput.cycles_per_step);
  } else {
    node.OnlyKeys({"cycles_per_output", "start_cycles"});
    throughput.cycles_per_output = 1;
  }
  ReadNumber(node, "cycles_per_output", 0, kMostRate, throughput.cycles_per_output);
  ReadInteger(node, "start_cycles", 0, kMostCycles, throughput.start_cycles);
  return throughput;
}

}  // namespace

void ReadEngines(const YamlNode& root, Profile& profile) {
  const YamlNode section = root.At("engines");
  for (const auto& [name, node] : section.Entries()) {
    RequireName(node, name);
    node.OnlyKeys({"operators", "mac_pj", "outstanding"});
    Engine engine;
    engine.name = name;
    const YamlNode operators = node.At("operators");
    for (const auto& [key, entry] : operators.Entries())
      engine.throughputs.push_back(ReadThroughput(entry, key));
    if (engine.throughputs.empty())
      operators.Complain("engine '" + name + "' runs nothing", "at least one operator kind");
    ReadNumber(node, "mac_pj", 0, kMostRate, engine.mac_pj);
    ReadInteger(node, "outstanding", 1, kMostCount, engine.outstanding);
    profile.engines.push_back(std::move(engine));
  }
  if (profile.engines.empty()) section.Complain("no engine is given", "at least one engine");
}

}  // namespace tessera::hw_profiles
