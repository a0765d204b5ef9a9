// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tessera/explore/relax.h"
#include "tessera/explore/tables.h"

namespace tessera::explore {
namespace {

std::string VerdictOf(const Json& effect) {
  const std::string verdict = effect.at("verdict");
  if (verdict == "refused") return "no profile: " + effect.at("reason").get<std::string>();
  const bool proven = effect.at("proven");
  if (verdict == "none") return proven ? "none, proven" : "none found";
  return proven && verdict != "gain" ? verdict + ", proven" : verdict;
}

bool IsProvenNothing(const Json& item) {
  const Json& effects = item.at("effects");
  return std::all_of(effects.begin(), effects.end(), [](const Json& effect) {
    return effect.at("verdict") == "none" && effect.at("proven").get<bool>();
  });
}

std::string DescribeModes(const Json& modes) {
  std::string text = "modes\n";
  for (const Json& memory : modes.at("memories")) {
    const std::vector<std::string> removed = memory.at("remove");
    const std::string name = memory.at("memory");
    text += removed.empty()
                ? fmt::format("  of '{}', none was found that no network needs\n", name)
                : fmt::format("  of '{}', no network needs {}\n", name, fmt::join(removed, ", "));
  }
  for (const Json& kept : modes.at("kept")) {
    const std::string network = kept.at("network");
    text += fmt::format(
        "  '{}' {}{}{}: {}\n", kept.at("mode").get<std::string>(),
        kept.at("verdict").get<std::string>(), network.empty() ? "" : " by " + network,
        kept.at("proven").get<bool>() ? ", proven" : "", kept.at("reason").get<std::string>());
  }
  if (modes.contains("area_mm2"))
    text +=
        fmt::format("  area {} mm2 instead of {} mm2\n", Short(modes.at("area_mm2").at("after")),
                    Short(modes.at("area_mm2").at("before")));
  text += modes.at("confirmed").get<bool>()
              ? "  the plans of all networks, evaluated without these modes, cost the same\n"
              : "  the plans of the networks were not confirmed without these modes\n";
  return text;
}

std::string DescribeSufficient(const Json& sufficient) {
  const std::string outcome = sufficient.at("outcome");
  if (outcome != "sufficient")
    return fmt::format(
        "without any restriction {} {}\n", sufficient.at("network").get<std::string>(),
        outcome == "infeasible" ? "has no plan, proven" : "has no plan that was found");
  std::string text = "least change with which all networks have a plan\n";
  for (const Json& item : sufficient.at("dropped"))
    text += fmt::format("  without {}: with it, {} {}\n", item.at("what").get<std::string>(),
                        item.at("network").get<std::string>(),
                        item.at("kept_back") == "infeasible" ? "has no plan, proven"
                                                             : "has no plan that was found");
  return text;
}

}  // namespace

std::string DescribeRelaxation(const Json& document) {
  std::string text;
  for (const Json& profile : document.at("profiles")) {
    text += fmt::format(
        "{}{}\n", profile.at("profile").get<std::string>(),
        profile.contains("area_mm2") ? fmt::format(", {} mm2", Short(profile.at("area_mm2"))) : "");
    std::vector<std::vector<std::string>> rows = {
        {"without", "network", "minimized", "before", "after", "gain at most", "verdict"}};
    std::string nothing;
    for (const Json& item : profile.at("dropped")) {
      if (IsProvenNothing(item)) {
        nothing += fmt::format("  {}\n", item.at("what").get<std::string>());
        continue;
      }
      for (const Json& effect : item.at("effects"))
        rows.push_back({item.at("what"), effect.at("network"), effect.at("minimized"),
                        Short(effect.value("before", Json("-"))),
                        Short(effect.value("after", Json("-"))),
                        Short(effect.value("gain_at_most", Json("-"))), VerdictOf(effect)});
    }
    if (rows.size() > 1) text += AlignedTable(rows);
    if (!nothing.empty())
      text += "without any one of these no network has another value, proven\n" + nothing;
    if (profile.contains("modes")) text += DescribeModes(profile.at("modes"));
    if (profile.contains("sufficient")) text += DescribeSufficient(profile.at("sufficient"));
  }
  return text;
}

}  // namespace tessera::explore
