// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/spec_choices.h"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "tessera/base/files.h"
#include "tessera/graph/import/space/space.h"

namespace tessera::explore {
namespace {

namespace spaces = graph::import::space;
using base::YamlNode;

constexpr size_t kMostChoices = 1'000;
constexpr int64_t kMostValue = int64_t{1} << 40;

// Parameters and their chosen values, in the order of the file.
using Lists = std::vector<std::pair<std::string, std::vector<int64_t>>>;

spaces::Choice ChoiceOf(const NetworkEntry& entry) {
  return {entry.import.dims.begin(), entry.import.dims.end()};
}

// Returns all combinations; empty after a complaint.
std::vector<spaces::Choice> Combine(const YamlNode& choices, const Lists& lists) {
  std::vector<spaces::Choice> combinations = {{}};
  for (const auto& [name, values] : lists) {
    std::vector<spaces::Choice> more;
    for (const spaces::Choice& begun : combinations) {
      for (const int64_t value : values) {
        more.push_back(begun);
        more.back()[name] = value;
      }
    }
    combinations = std::move(more);
    if (!combinations.empty() && combinations.size() <= kMostChoices) continue;
    choices.Complain("these are too many or no choices", "1 to 1000");
    return {};
  }
  return combinations;
}

// Returns the entry with the values of these names, in the order of the file.
NetworkEntry Made(const NetworkEntry& pattern, const Lists& lists, const spaces::Choice& chosen) {
  NetworkEntry made = pattern;
  for (const auto& [name, values] : lists) {
    const auto value = chosen.find(name);
    if (value == chosen.end()) continue;
    made.import.dims.emplace_back(name, value->second);
    made.name += fmt::format(" {}={}", name, value->second);
  }
  return made;
}

class SpaceChoices {
 public:
  SpaceChoices(const YamlNode& choices, const NetworkEntry& pattern, const spaces::Space& space)
      : choices_(choices), pattern_(pattern), space_(space) {}

  NetworkChoices Read(const Lists& lists) {
    NetworkChoices result;
    if (!AreOfSpace(lists)) return result;
    std::set<std::string> effective;
    std::set<std::string> seen;  // texts of networks
    for (const spaces::Choice& chosen : Combine(choices_, lists)) {
      NetworkEntry entry = WithoutIdle(lists, chosen);
      for (const auto& [name, value] : entry.import.dims) effective.insert(name);
      const base::Expected<std::string> text = space_.Write(ChoiceOf(entry));
      if (text) {
        if (seen.insert(*text).second) result.networks.push_back(std::move(entry));
      } else if (seen.insert(entry.name).second) {
        result.refused.push_back({entry.name, text.error().message});
      }
    }
    if (result.networks.empty() && !result.refused.empty())
      choices_.Complain("no combination is a network: " + result.refused.front().reason);
    for (const auto& [name, node] : choices_.Entries()) {
      if (!result.networks.empty() && !effective.contains(name))
        node.ComplainOfKey(fmt::format("'{}' has no effect in any combination", name),
                           "parameters of blocks and layers that the depth leaves in");
    }
    for (const auto& [name, value] : pattern_.import.dims) {
      if (!result.networks.empty() && !effective.contains(name))
        choices_.Complain(fmt::format("'{}' of 'dims' has no effect in any combination", name),
                          "parameters of blocks and layers that the depth leaves in");
    }
    return result;
  }

 private:
  // Leaves out names that have no effect: those of blocks and layers beyond the depth.
  NetworkEntry WithoutIdle(const Lists& lists, spaces::Choice chosen) const {
    NetworkEntry pattern = pattern_;
    spaces::Choice all = chosen;
    all.insert(pattern.import.dims.begin(), pattern.import.dims.end());
    for (const std::string& idle : space_.NamesWithoutEffect(all)) {
      chosen.erase(idle);
      std::erase_if(pattern.import.dims, [&idle](const auto& dim) { return dim.first == idle; });
    }
    return Made(pattern, lists, chosen);
  }

  bool AreOfSpace(const Lists& lists) const {
    if (const auto fault = space_.CheckChoice(ChoiceOf(pattern_))) {
      choices_.Complain("of 'dims', " + fault->message, fault->expected, fault->hint);
      return false;
    }
    bool is_right = true;
    const auto entries = choices_.Entries();
    for (size_t i = 0; i < entries.size(); ++i) {
      const YamlNode& node = entries[i].second;
      for (const int64_t value : lists[i].second) {
        const auto fault = space_.CheckChoice({{lists[i].first, value}});
        if (!fault) continue;
        is_right = false;
        node.ComplainOfKey(fault->message, fault->expected, fault->hint);
        break;
      }
      if (!ChoiceOf(pattern_).contains(lists[i].first)) continue;
      is_right = false;
      node.ComplainOfKey(fmt::format("'{}' is under 'dims' too", lists[i].first));
    }
    return is_right;
  }

  const YamlNode& choices_;
  const NetworkEntry& pattern_;
  const spaces::Space& space_;
};

}  // namespace

bool IsSpace(const NetworkEntry& entry) { return base::SuffixOf(entry.file) == ".space"; }

base::Expected<NetworkChoices> ReadChoices(const YamlNode& choices, const NetworkEntry& pattern,
                                           const std::string& content) {
  Lists lists;
  for (const auto& [name, list] : choices.Entries())
    lists.emplace_back(name, list.Integers(1, kMostValue));
  if (IsSpace(pattern)) {
    const base::Expected<spaces::Space> space = spaces::Space::Parse(content, pattern.file);
    if (!space) return base::Unexpected(space.error());
    return SpaceChoices(choices, pattern, *space).Read(lists);
  }
  NetworkChoices result;
  for (const spaces::Choice& chosen : Combine(choices, lists))
    result.networks.push_back(Made(pattern, lists, chosen));
  return result;
}

}  // namespace tessera::explore
