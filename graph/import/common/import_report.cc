// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/common/import_report.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace tessera::graph::import::common {
namespace {

std::string Listed(const std::vector<std::string>& names, size_t most) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

std::string Because(const std::string& reason) { return reason.empty() ? "" : " (" + reason + ")"; }

std::string TextOf(const NodeFate& node) {
  const std::string ids = Listed(node.operators, node.operators.size());
  switch (node.fate) {
    case Fate::kOperator:
      return (node.operators.size() == 1 ? "is operator " : "is operators ") + ids;
    case Fate::kBarrier:
      return "is barrier " + ids + Because(node.reason);
    case Fate::kFused:
      return "is part of " + ids + Because(node.reason);
    case Fate::kFolded:
      return "is a constant";
    case Fate::kRemoved:
      break;
  }
  return "is removed" + Because(node.reason);
}

}  // namespace

std::string TextOf(const std::vector<NodeFate>& nodes) {
  std::string text =
      std::to_string(nodes.size()) + (nodes.size() == 1 ? " node" : " nodes") + " of the file: ";
  for (size_t i = 0; i < nodes.size(); ++i)
    text += (i == 0 ? "" : "; ") + nodes[i].name + " (" + nodes[i].type + ") " + TextOf(nodes[i]);
  return text;
}

void Report::Add(Event event, const Node& node, std::string detail) {
  Add(event, NameOf(node), std::move(detail));
  entries_.back().node = node.index;
  if (event != Event::kAssumed) own_[node.index] = entries_.back();
}

void Report::Add(Event event, std::string name, std::string detail) {
  entries_.push_back({event, std::move(name), std::move(detail)});
}

void Report::Made(const std::string& op) {
  if (node_ >= 0) made_[node_].push_back(op);
}

void Report::Join(Event event, const std::string& op, const std::string& into, std::string detail) {
  ends_[op] = {into, detail};
  Add(event, op, event == Event::kFused ? detail + " into " + into : std::move(detail));
}

void Report::Remove(Event event, const std::string& op, std::string why, bool quiet) {
  ends_[op] = {"", why};
  if (!quiet) Add(event, op, std::move(why));
}

void Report::Rewind(Mark mark) {
  entries_.resize(mark.entries);
  own_.erase(node_);
  made_.erase(node_);
}

std::string Report::NameOf(const Node& node) {
  if (!node.name.empty()) return node.name;
  return node.outputs.empty() ? "#" + std::to_string(node.index) : node.outputs.front();
}

std::vector<std::string> Report::Lines(size_t most_names) const {
  static constexpr std::array<std::pair<Event, std::string_view>, 5> kGrouped = {
      {{Event::kFolded, "folded constants"},
       {Event::kDropped, "dropped"},
       {Event::kFused, "fused"},
       {Event::kTyped, "set data types"},
       {Event::kCopied, "transposes that copy"}}};
  std::vector<std::string> lines;
  for (const auto& [event, title] : kGrouped) {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) {
      const bool stayed = event == Event::kDropped && made_.count(entry.node) > 0;  // as a copy
      if (entry.event == event && !stayed)
        names.push_back(entry.detail.empty() ? entry.name : entry.name + " (" + entry.detail + ")");
    }
    if (names.empty()) continue;
    lines.push_back(std::string(title) + ", " + std::to_string(names.size()) + ": " +
                    Listed(names, most_names));
  }
  for (const Entry& entry : entries_) {
    if (entry.event == Event::kState) lines.push_back("state " + entry.name + ": " + entry.detail);
    if (entry.event == Event::kAssumed)
      lines.push_back("assumed of " + entry.name + ": " + entry.detail);
  }
  for (const Entry& entry : entries_) {
    if (entry.event == Event::kFenced)
      lines.push_back("barrier " + entry.name + ": " + entry.detail);
  }
  return lines;
}

const std::string* Report::Heir(const std::string& op) const {
  const std::string* heir = &op;
  for (auto end = ends_.find(op); end != ends_.end(); end = ends_.find(*heir)) {
    if (end->second.into.empty()) return nullptr;
    heir = &end->second.into;
  }
  return heir;
}

NodeFate Report::FateOf(const Node& node, const std::set<std::string>& standing) const {
  NodeFate fate;
  fate.node = node.index;
  fate.name = NameOf(node);
  fate.type = node.domain.empty() ? node.type : node.domain + ":" + node.type;
  const auto own = own_.find(node.index);
  const auto befell = [&](Event event) { return own != own_.end() && own->second.event == event; };
  const auto made = made_.find(node.index);
  if (made == made_.end()) {
    if (befell(Event::kFolded) || befell(Event::kGiven)) fate.fate = Fate::kFolded;
    if (befell(Event::kDropped)) fate.reason = own->second.detail;
    return fate;
  }
  std::vector<std::string> heirs;
  for (const std::string& op : made->second) {
    if (standing.count(op) > 0) fate.operators.push_back(op);
    const auto end = ends_.find(op);
    if (end != ends_.end()) fate.reason = end->second.why;
    if (const std::string* heir = Heir(op)) heirs.push_back(*heir);
  }
  if (!fate.operators.empty()) {
    fate.fate = befell(Event::kFenced) ? Fate::kBarrier : Fate::kOperator;
    fate.reason = befell(Event::kFenced) ? own->second.detail : "";
  } else if (!heirs.empty()) {
    fate.fate = Fate::kFused;
  }
  for (const std::string& heir : heirs) {
    if (std::find(fate.operators.begin(), fate.operators.end(), heir) == fate.operators.end())
      fate.operators.push_back(heir);
  }
  return fate;
}

std::vector<NodeFate> Report::Fates(const Model& model, const Graph& graph) const {
  std::set<std::string> standing;
  for (const Operator& op : graph.operators) standing.insert(op.id);
  std::vector<NodeFate> fates;
  for (const Node& node : model.nodes) fates.push_back(FateOf(node, standing));
  std::sort(fates.begin(), fates.end(),
            [](const NodeFate& a, const NodeFate& b) { return a.node < b.node; });
  return fates;
}

}  // namespace tessera::graph::import::common
