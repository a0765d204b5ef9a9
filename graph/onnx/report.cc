#include "tessera/graph/onnx/report.h"

#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace tessera::graph::onnx {
namespace {

std::string Listed(const std::vector<std::string>& names, size_t most) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

}  // namespace

void Report::Add(Event event, std::string name, std::string detail) {
  entries_.push_back({event, std::move(name), std::move(detail)});
}

std::string Report::NameOf(const Node& node) {
  if (!node.name.empty()) return node.name;
  return node.outputs.empty() ? "#" + std::to_string(node.index) : node.outputs.front();
}

std::vector<std::string> Report::Lines(size_t most_names) const {
  static constexpr std::array<std::pair<Event, std::string_view>, 4> kGrouped = {
      {{Event::kFolded, "folded constants"},
       {Event::kDropped, "dropped"},
       {Event::kFused, "fused"},
       {Event::kTyped, "set data types"}}};
  std::vector<std::string> lines;
  for (const auto& [event, title] : kGrouped) {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) {
      if (entry.event == event)
        names.push_back(entry.detail.empty() ? entry.name : entry.name + " (" + entry.detail + ")");
    }
    if (names.empty()) continue;
    lines.push_back(std::string(title) + ", " + std::to_string(names.size()) + ": " +
                    Listed(names, most_names));
  }
  for (const Entry& entry : entries_) {
    if (entry.event == Event::kState) lines.push_back("state " + entry.name + ": " + entry.detail);
    if (entry.event == Event::kAssumed) lines.push_back("assumed of " + entry.name + ": " + entry.detail);
  }
  for (const Entry& entry : entries_) {
    if (entry.event == Event::kFenced) lines.push_back("barrier " + entry.name + ": " + entry.detail);
  }
  return lines;
}

}  // namespace tessera::graph::onnx
