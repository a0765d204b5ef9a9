#include "tessera/explore/area.h"

#include <algorithm>
#include <array>
#include <set>

#include "tessera/base/text.h"

namespace tessera::explore {
namespace {

constexpr std::array<std::string_view, 3> kSections = {"memories", "engines", "links"};

// "rw", or a list such as ["read", "dma.write"].
void AddAccesses(const Json& state, std::set<std::string>& accesses) {
  if (state.is_array()) {
    for (const Json& access : state) {
      if (access.is_string()) accesses.insert(access.get<std::string>());
    }
  } else if (state == "r" || state == "rw") {
    accesses.insert("read");
  }
  if (state == "w" || state == "rw") accesses.insert("write");
}

size_t BanksOf(const Json& memory) {
  const Json banks = memory.value("banks", Json(1));
  return banks.is_number() ? banks.get<size_t>() : banks.size();
}

double AccessesOf(const Json& memory) {
  const size_t banks = BanksOf(memory);
  const Json modes = memory.value("modes", Json::object());
  if (modes.empty()) return 2.0 * static_cast<double>(banks);
  size_t count = 0;
  for (size_t bank = 0; bank < banks; ++bank) {
    std::set<std::string> accesses;
    for (const Json& states : modes) {
      if (bank < states.size()) AddAccesses(states[bank], accesses);
    }
    count += accesses.size();
  }
  return static_cast<double>(count);
}

double MacsOf(const Json& engine) {
  double most = 0;
  for (const Json& speed : engine.value("operators", Json::object())) {
    if (!speed.is_object() || !speed.contains("unroll")) continue;
    double macs = 1;
    for (const Json& factor : speed.at("unroll")) macs *= factor.get<double>();
    const double cycles = speed.value("cycles_per_step", 1.0);
    if (cycles > 1) macs /= cycles;
    most = std::max(most, macs);
  }
  return most;
}

std::optional<double> FieldOf(const Json& fields, std::string_view name) {
  if (name == "banks") return static_cast<double>(BanksOf(fields));
  if (name == "accesses") return AccessesOf(fields);
  if (name == "macs") return MacsOf(fields);
  return NumberAt(fields, name);
}

bool Matches(const AreaRule& rule, const std::string& part, const Json& fields) {
  return base::MatchesGlob(part, rule.part) &&
         std::all_of(rule.conditions.begin(), rule.conditions.end(), [&](const auto& condition) {
           return FieldOf(fields, condition.first) == condition.second;
         });
}

}  // namespace

base::Expected<std::optional<double>> AreaModel::OfPart(const std::string& part, const Json& fields,
                                                        const Lookup& names) const {
  if (fields.contains("area_mm2") && fields.at("area_mm2").is_number())
    return fields.at("area_mm2").get<double>();
  const auto rule = std::find_if(rules_.begin(), rules_.end(),
                                 [&](const AreaRule& each) { return Matches(each, part, fields); });
  if (rule == rules_.end()) return std::nullopt;
  const base::Expected<Interval> area =
      rule->mm2.Evaluate([&](std::string_view name) -> std::optional<Interval> {
        std::optional<double> number = FieldOf(fields, name);
        if (!number) number = names(name);
        return number ? std::optional(Interval::Of(*number)) : std::nullopt;
      });
  if (!area) return base::Unexpected(area.error());
  return area->low;
}

base::Expected<double> AreaModel::Of(const Json& document, const Lookup& names) const {
  double sum = 0;
  std::string lacking;
  for (const std::string_view section : kSections) {
    const Json parts = document.value(std::string(section), Json::object());
    for (const auto& [name, fields] : parts.items()) {
      const std::string part = std::string(section) + "." + name;
      const base::Expected<std::optional<double>> area = OfPart(part, fields, names);
      if (!area) return base::Unexpected(area.error());
      if (*area) {
        sum += **area;
      } else {
        lacking += (lacking.empty() ? "" : ", ") + part;
      }
    }
  }
  if (lacking.empty()) return sum;
  base::Diagnostic fault;
  fault.message = "no area is known of " + lacking;
  fault.expected = "area_mm2 in the profile, or a rule under 'area' of the specification";
  fault.hint = "0 for parts that are not on the chip";
  return base::Unexpected(fault);
}

std::vector<std::string> CellsOf(std::string_view line) {
  std::vector<std::string> cells;
  while (true) {
    const size_t comma = line.find(',');
    std::string_view cell = line.substr(0, comma);
    const size_t begin = cell.find_first_not_of(" \t\r");
    cell = begin == std::string_view::npos
               ? ""
               : cell.substr(begin, cell.find_last_not_of(" \t\r") - begin + 1);
    cells.emplace_back(cell);
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

base::Expected<std::vector<AreaRule>> ReadAreaTable(std::string_view text,
                                                    const std::string& file) {
  std::vector<AreaRule> rules;
  std::vector<std::string> header;
  int number = 0;
  const auto refuse = [&](std::string message, std::string expected, std::string found) {
    base::Diagnostic fault;
    fault.message = std::move(message);
    fault.file = file;
    fault.line = number;
    fault.column = 1;
    fault.expected = std::move(expected);
    fault.found = std::move(found);
    return base::Unexpected(fault);
  };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    const std::vector<std::string> cells = CellsOf(line);
    if (cells.size() == 1 && cells.front().empty()) continue;
    if (header.empty()) {
      header = cells;
      if (header.size() < 2 || header.front() != "part" || header.back() != "area_mm2")
        return refuse("this is no table of areas", "the header part,..,area_mm2",
                      std::string(line));
      continue;
    }
    if (cells.size() != header.size())
      return refuse("the row has another number of cells than the header",
                    std::to_string(header.size()), std::to_string(cells.size()));
    AreaRule rule;
    rule.part = cells.front();
    for (size_t i = 1; i < cells.size(); ++i) {
      const bool is_area = i + 1 == cells.size();
      if (cells[i].empty() && !is_area) continue;
      const std::optional<double> value = ParseQuantity(cells[i]);
      if (!value) return refuse("'" + header[i] + "' has no number", "a number", cells[i]);
      if (is_area) {
        rule.mm2 = *Expression::Parse(cells[i]);
      } else {
        rule.conditions.emplace_back(header[i], *value);
      }
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace tessera::explore
