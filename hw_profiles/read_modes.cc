#include <algorithm>
#include <string>
#include <vector>

#include "tessera/base/suggest.h"
#include "tessera/hw_profiles/sections.h"

namespace tessera::hw_profiles {
namespace {

using base::YamlNode;
using problem::AccessKind;
using problem::BankMode;
using problem::Permission;

// What a mode can name: engines and links, for both cause accesses.
std::vector<std::string_view> AccessorsOf(const Profile& profile) {
  std::vector<std::string_view> names;
  for (const Engine& engine : profile.engines) names.emplace_back(engine.name);
  for (const Link& link : profile.links) names.emplace_back(link.name);
  return names;
}

// "read", "write", or either with an engine before it: "pe.read".
Permission ReadPermission(const YamlNode& node, const Profile& profile) {
  const std::string text = node.Text();
  const size_t dot = text.rfind('.');
  const std::string engine = dot == std::string::npos ? "" : text.substr(0, dot);
  const std::string kind = dot == std::string::npos ? text : text.substr(dot + 1);
  if (kind != "read" && kind != "write") {
    node.Complain("unknown kind of access", "read or write, or either of one engine or link as in pe.read");
    return {};
  }
  const std::vector<std::string_view> names = AccessorsOf(profile);
  if (dot != std::string::npos && std::find(names.begin(), names.end(), engine) == names.end()) {
    node.Complain("no engine or link is called '" + engine + "'", "one of " + base::Join(names),
                  base::DidYouMean(engine, names));
  }
  return {engine, kind == "read" ? AccessKind::kRead : AccessKind::kWrite};
}

BankMode ReadBankMode(const YamlNode& node, const Profile& profile) {
  BankMode mode;
  if (node.IsList()) {
    for (const YamlNode& item : node.Items()) mode.allowed.push_back(ReadPermission(item, profile));
    return mode;
  }
  const std::string text = node.Text();
  if (text == "r" || text == "rw") mode.allowed.push_back({"", AccessKind::kRead});
  if (text == "w" || text == "rw") mode.allowed.push_back({"", AccessKind::kWrite});
  mode.off = text == "off";
  if (mode.allowed.empty() && !mode.off && text != "hold") {
    node.Complain("unknown state of a bank",
                  "one of r, w, rw, hold, off, or a list such as [pe.read, dma.write]");
  }
  return mode;
}

problem::Mode ReadMode(const YamlNode& node, const std::string& name, const Memory& memory,
                       const Profile& profile) {
  problem::Mode mode;
  mode.name = name;
  for (const YamlNode& item : node.Items()) mode.banks.push_back(ReadBankMode(item, profile));
  if (mode.banks.size() != memory.banks.size()) {
    node.ComplainOfKey("mode '" + name + "' states " + std::to_string(mode.banks.size()) + " banks",
                       std::to_string(memory.banks.size()) + ", one for each bank of '" + memory.name + "'");
  }
  const auto idle = [](const BankMode& bank) { return bank.allowed.empty(); };
  if (std::all_of(mode.banks.begin(), mode.banks.end(), idle)) {
    node.ComplainOfKey("mode '" + name + "' allows no access in any bank",
                       "at least one bank with r, w or rw");
  }
  return mode;
}

void ReadTransitions(const YamlNode& node, Memory& memory) {
  if (!node) return;
  std::vector<std::string_view> names;
  for (const problem::Mode& mode : memory.modes) names.emplace_back(mode.name);
  if (names.empty()) {
    node.ComplainOfKey("transitions without modes", "", "add modes, or remove transitions");
    return;
  }
  memory.transitions.emplace();
  for (const YamlNode& item : node.Items()) {
    const std::vector<YamlNode> pair = item.Items();
    if (pair.size() != 2) {
      item.Complain("a transition has two ends", "a list of two modes: [from, to]");
      return;
    }
    memory.transitions->emplace_back(static_cast<int>(pair[0].OneOf(names)),
                                     static_cast<int>(pair[1].OneOf(names)));
  }
}

}  // namespace

void ReadModes(const YamlNode& root, Profile& profile) {
  for (Memory& memory : profile.memories) {
    const YamlNode node = root.At("memories").At(memory.name);
    if (const YamlNode modes = node.Maybe("modes")) {
      if (memory.banks.empty()) modes.ComplainOfKey("modes without banks", "", "add banks, or remove modes");
      for (const auto& [name, mode] : modes.Entries()) {
        RequireName(mode, name);
        memory.modes.push_back(ReadMode(mode, name, memory, profile));
      }
    }
    ReadTransitions(node.Maybe("transitions"), memory);
  }
}

}  // namespace tessera::hw_profiles
