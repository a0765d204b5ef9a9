// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/text.h"
#include "tessera/hw_profiles/read_sections.h"

namespace tessera::hw_profiles {

namespace {

using base::YamlNode;

void ReadPort(const YamlNode& node, Port& port) {
  if (!node) return;
  RequireFields(node, kPortFields);
  if (const YamlNode both = node.Maybe("bytes_per_cycle")) {
    ReadValue(both, kBandwidths, port.read_bytes_per_cycle);
    port.write_bytes_per_cycle = port.read_bytes_per_cycle;
  }
  ReadFields(node, kPortFields, port);
}

// Reads `begin_bytes` and `end_bytes` of a range inside a memory.
problem::AddressRange ReadRange(const YamlNode& node, int64_t capacity) {
  problem::AddressRange range;
  range.begin = node.At("begin_bytes").Integer(0, base::kMaxTotal);
  range.end = node.At("end_bytes").Integer(0, base::kMaxTotal);
  if (range.end <= range.begin) {
    node.Maybe("end_bytes")
        .Complain("the range is empty", "more than begin_bytes, " + std::to_string(range.begin),
                  "end_bytes is one past the last byte");
  } else if (range.end > capacity) {
    node.Maybe("end_bytes")
        .Complain("the range leaves the memory",
                  "at most its capacity, " + std::to_string(capacity));
  }
  return range;
}

void ReadReserved(const YamlNode& node, Memory& memory) {
  if (!node) return;
  for (const YamlNode& item : node.Items()) {
    item.OnlyKeys({"begin_bytes", "end_bytes", "reason"});
    problem::Reserved reserved;
    reserved.range = ReadRange(item, memory.capacity_bytes);
    reserved.reason = item.At("reason").Text();
    memory.reserved.push_back(std::move(reserved));
  }
}

void ReadPorts(const YamlNode& node, problem::Ports& ports) {
  if (!node) return;
  node.OnlyKeys({"total", "reads", "writes"});
  const auto read = [&](std::string_view key, std::optional<int>& count) {
    if (const YamlNode value = node.Maybe(key))
      count = static_cast<int>(value.Integer(1, kMostCount));
  };
  read("total", ports.total);
  read("reads", ports.reads);
  read("writes", ports.writes);
}

// `banks: 3` divides the memory into equal banks.
void DivideIntoBanks(const YamlNode& node, const problem::Ports& ports, Memory& memory) {
  constexpr int64_t kMostBanks = 4096;
  const int64_t count = node.Integer(1, kMostBanks);
  if (memory.capacity_bytes % count != 0) {
    node.Complain("the banks would not be of equal size",
                  "a divisor of the capacity, " + std::to_string(memory.capacity_bytes),
                  "write a map of banks with their ranges");
    return;
  }
  const int64_t size = memory.capacity_bytes / count;
  for (int64_t i = 0; i < count; ++i) {
    memory.banks.push_back({"bank" + std::to_string(i), {i * size, (i + 1) * size}, ports});
  }
}

void ReadBanks(const YamlNode& node, Memory& memory) {
  problem::Ports ports;
  const YamlNode ports_of_all = node.Maybe("bank_ports");
  ReadPorts(ports_of_all, ports);
  const YamlNode banks = node.Maybe("banks");
  if (!banks) {
    if (ports_of_all)
      ports_of_all.ComplainOfKey("bank_ports without banks", "", "add banks, or remove bank_ports");
    return;
  }
  if (!banks.IsMap()) return DivideIntoBanks(banks, ports, memory);
  for (const auto& [name, entry] : banks.Entries()) {
    RequireName(entry, name);
    entry.OnlyKeys({"begin_bytes", "end_bytes", "ports"});
    problem::Bank bank{name, ReadRange(entry, memory.capacity_bytes), ports};
    ReadPorts(entry.Maybe("ports"), bank.ports);
    for (const problem::Bank& other : memory.banks) {
      if (bank.range.begin >= other.range.end || other.range.begin >= bank.range.end) continue;
      entry.ComplainOfKey("bank '" + name + "' overlaps bank '" + other.name + "'",
                          "ranges that share no byte");
    }
    memory.banks.push_back(std::move(bank));
  }
}

// Reads the sets of banks for kinds of rules: lists of lists of names.
void ReadBankSets(const YamlNode& node, Memory& memory) {
  std::vector<std::string_view> names;
  for (const problem::Bank& bank : memory.banks) names.emplace_back(bank.name);
  for (const std::string_view key : problem::BankSetKeys()) {
    const YamlNode list = node.Maybe(key);
    if (!list) continue;
    if (names.empty()) {
      const std::string text(key);
      list.ComplainOfKey(text + " without banks", "", "add banks, or remove " + text);
      continue;
    }
    problem::BankSets& sets = memory.bank_sets[std::string(key)];
    std::vector<bool> taken(names.size(), false);
    for (const YamlNode& item : list.Items()) {
      std::vector<int>& set = sets.emplace_back();
      for (const YamlNode& bank : item.Items()) {
        set.push_back(static_cast<int>(bank.OneOf(names)));
        auto is_taken = taken[static_cast<size_t>(set.back())];
        if (is_taken) bank.Complain("bank '" + bank.Text() + "' is listed twice", "each bank once");
        is_taken = true;
      }
      if (set.empty()) item.Complain("no bank is listed", "at least one bank");
    }
    if (sets.empty()) list.Complain("no set of banks is listed", "at least one list of banks");
    if (const size_t listed = problem::BanksIn(sets); listed > problem::kMostBanksInSets)
      list.Complain(std::to_string(listed) + " banks are listed",
                    "at most " + std::to_string(problem::kMostBanksInSets));
  }
}

Memory ReadMemory(const YamlNode& node, const std::string& name) {
  RequireFields(node, kMemoryFields, problem::BankSetKeys());
  Memory memory;
  memory.name = name;
  ReadFields(node, kMemoryFields, memory);
  ReadPort(node.Maybe("port"), memory.port);
  ReadReserved(node.Maybe("reserved"), memory);
  ReadBanks(node, memory);
  ReadBankSets(node, memory);
  if (const YamlNode span = node.Maybe("span")) {
    memory.span = static_cast<problem::Span>(span.OneOf(problem::kSpanWords));
    if (memory.banks.empty() && memory.span != problem::Span::kAny) {
      span.Complain("a span needs banks", "banks in the same memory", "add banks, or remove span");
    }
  }
  if (memory.direct_write && !memory.writable) {
    node.Maybe("direct_write")
        .Complain("a memory that is not writable takes no direct writes", "false");
  }
  return memory;
}

}  // namespace

void ReadMemories(const YamlNode& root, Profile& profile) {
  const YamlNode section = root.At("memories");
  for (const auto& [name, node] : section.Entries()) {
    RequireName(node, name);
    profile.memories.push_back(ReadMemory(node, name));
  }
  if (profile.memories.empty()) section.Complain("no memory is given", "at least one memory");

  const YamlNode tile_memory = root.At("tile_memory");
  profile.tile_memory = ReadMemoryName(tile_memory, profile);
  if (!profile.memories.empty() &&
      !profile.memories[static_cast<size_t>(profile.tile_memory)].writable) {
    tile_memory.Complain("the tile memory must be writable", "a memory with writable: true");
  }
}

namespace {

using base::YamlNode;
using problem::AccessKind;
using problem::BankMode;
using problem::Permission;

// The names that a mode can use: engines and links, because both cause accesses.
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
    node.Complain("unknown kind of access",
                  "read or write, or either of one engine or link as in pe.read");
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
    node.ComplainOfKey(
        "mode '" + name + "' states " + std::to_string(mode.banks.size()) + " banks",
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
      if (memory.banks.empty())
        modes.ComplainOfKey("modes without banks", "", "add banks, or remove modes");
      for (const auto& [name, mode] : modes.Entries()) {
        RequireName(mode, name);
        memory.modes.push_back(ReadMode(mode, name, memory, profile));
      }
    }
    ReadTransitions(node.Maybe("transitions"), memory);
  }
}

}  // namespace tessera::hw_profiles
