// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/area.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "tessera/base/command.h"
#include "tessera/base/text.h"
#include "tessera/explore/expression.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"
#include "tessera/explore/tables.h"

namespace tessera::explore {
namespace {

constexpr std::chrono::seconds kMostTime{60};
constexpr size_t kMostShown = 80;  // bytes of an answer that is no number

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

double WidthOfMemory(const Json& memory) {
  const Json port = memory.value("port", Json::object());
  const double both = port.value("bytes_per_cycle", 1.0);
  const double reads = port.value("read_bytes_per_cycle", both);
  const double writes = port.value("write_bytes_per_cycle", both);
  return port.value("shared", true) ? std::max(reads, writes) : reads + writes;
}

double WidthOfLink(const Json& document, const Json& link) {
  std::optional<double> least;
  for (const Json& name : link.at("between")) {
    const double width = WidthOfMemory(document.at("memories").at(name.get<std::string>()));
    least = std::min(least.value_or(width), width);
  }
  return least.value_or(0);
}

// Figures that are derived from the fields of a part.
struct Derived {
  std::string_view section;
  std::string_view name;
  double (*value)(const Json& document, const Json& fields);
};

constexpr std::array<Derived, 5> kDerived = {
    {{"memories", "banks",
      [](const Json&, const Json& part) { return static_cast<double>(BanksOf(part)); }},
     {"memories", "accesses", [](const Json&, const Json& part) { return AccessesOf(part); }},
     {"memories", "width", [](const Json&, const Json& part) { return WidthOfMemory(part); }},
     {"links", "width", WidthOfLink},
     {"engines", "macs", [](const Json&, const Json& part) { return MacsOf(part); }}}};

std::optional<double> FieldOf(const std::string& part, const Json& document, const Json& fields,
                              std::string_view name) {
  for (const Derived& derived : kDerived) {
    if (derived.name == name && part.starts_with(derived.section))
      return derived.value(document, fields);
  }
  return NumberAt(fields, name);
}

// The input of an estimator.
std::string DescriptionOf(const std::string& part, const Json& document, const Json& fields) {
  Json json = {{"part", part}, {"fields", fields}, {"derived", Json::object()}};
  for (const Derived& derived : kDerived) {
    if (part.starts_with(derived.section))
      json["derived"][std::string(derived.name)] = AsJson(derived.value(document, fields));
  }
  return json.dump();
}

// Returns the complaint at a place.
base::Diagnostic At(const base::Diagnostic& place, base::Diagnostic fault) {
  fault.file = place.file;
  fault.line = place.line;
  fault.column = place.column;
  return fault;
}

bool Matches(const AreaRule& rule, const std::string& part, const Json& document,
             const Json& fields) {
  return base::MatchesGlob(part, rule.part) &&
         std::all_of(rule.conditions.begin(), rule.conditions.end(), [&](const auto& condition) {
           return FieldOf(part, document, fields, condition.first) == condition.second;
         });
}

void AddFields(const Json& at, const std::string& path, std::vector<std::string>& names) {
  if (!path.empty()) names.push_back(path);
  if (!at.is_object()) return;
  for (const auto& [key, value] : at.items()) {
    std::string inner = path.empty() ? "" : path + ".";
    AddFields(value, inner.append(key), names);
  }
}

}  // namespace

base::Expected<double> Estimator::AreaOf(const std::string& description) {
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(description); known != known_.end()) return known->second;
  const base::Expected<std::string> output = base::RunCommand(
      command_, folder_, description + "\n", kMostTime, [&] { return canceller_.IsCancelled(); });
  base::Diagnostic fault;
  if (!output) {
    fault = output.error();
    fault.hint = "the command is '" + command_ + "', and its input " + description;
    return base::Unexpected(fault);
  }
  const std::string_view answer = base::Trimmed(*output);
  const std::optional<double> mm2 = ParseQuantity(answer);
  if (mm2 && std::isfinite(*mm2) && *mm2 >= 0) return known_[description] = *mm2;
  fault.message = "the command gives no area";
  fault.expected = "a number of at least 0 on standard output, in mm2";
  fault.found = answer.empty() ? "nothing" : base::Printable(base::Shortened(answer, kMostShown));
  fault.hint = "the command is '" + command_ + "', and its input " + description;
  return base::Unexpected(fault);
}

void Estimator::Know(const std::string& description, double mm2) {
  const std::lock_guard lock(mutex_);
  known_[description] = mm2;
}

std::map<std::string, double> Estimator::Known() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

KeptEstimates::KeptEstimates(const Spec& spec, const Store& store, const Canceller& canceller)
    : store_(store) {
  for (const AreaRule& rule : spec.area.Rules()) {
    if (!rule.estimator) continue;
    rule.estimator->SetCanceller(canceller);
    estimators_.push_back(rule.estimator);
  }
  if (estimators_.empty()) return;
  store_.Query(
      "CREATE TABLE IF NOT EXISTS estimates (folder TEXT, command TEXT, part TEXT, mm2 TEXT,"
      " PRIMARY KEY (folder, command, part)) WITHOUT ROWID",
      {});
  for (const auto& estimator : estimators_) {
    for (const Store::Row& row :
         store_.Query("SELECT part, mm2 FROM estimates WHERE folder = ? AND command = ?",
                      {estimator->Folder(), estimator->Command()})) {
      if (const std::optional<double> mm2 = ParseQuantity(row[1])) estimator->Know(row[0], *mm2);
    }
  }
}

// If memory runs out, a later run asks again.
KeptEstimates::~KeptEstimates() {
  if (estimators_.empty()) return;
  try {
    Keep();
  } catch (const std::bad_alloc&) {
    return;
  }
}

void KeptEstimates::Keep() const {
  store_.Begin();
  for (const auto& estimator : estimators_) {
    for (const auto& [description, mm2] : estimator->Known())
      store_.Query(
          "INSERT OR IGNORE INTO estimates VALUES (?, ?, ?, ?)",
          {estimator->Folder(), estimator->Command(), description, fmt::format("{}", mm2)});
  }
  store_.Commit();
}

std::vector<std::string> PartsOf(const Json& document) {
  std::vector<std::string> parts;
  for (const std::string_view section : kSections) {
    const Json of_section = document.value(std::string(section), Json::object());
    for (const auto& [name, fields] : of_section.items()) {
      std::string part(section);
      parts.push_back(part.append(".").append(name));
    }
  }
  return parts;
}

std::vector<std::string> NamesOfPart(const Json& document, const std::string& part) {
  const size_t dot = part.find('.');
  std::vector<std::string> names;
  for (const Derived& derived : kDerived) {
    if (part.substr(0, dot) == derived.section) names.emplace_back(derived.name);
  }
  AddFields(document.at(part.substr(0, dot)).at(part.substr(dot + 1)), "", names);
  return names;
}

base::Expected<std::optional<double>> AreaModel::OfPart(const std::string& part,
                                                        const Json& document, const Json& fields,
                                                        const Lookup& names) const {
  if (fields.contains("area_mm2") && fields.at("area_mm2").is_number())
    return fields.at("area_mm2").get<double>();
  const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const AreaRule& each) {
    return Matches(each, part, document, fields);
  });
  if (rule == rules_.end()) return std::nullopt;
  if (rule->estimator) {
    const base::Expected<double> mm2 =
        rule->estimator->AreaOf(DescriptionOf(part, document, fields));
    if (mm2) return *mm2;
    return base::Unexpected(At(rule->place, mm2.error()));
  }
  const base::Expected<NumberInterval> area =
      rule->mm2.Evaluate([&](std::string_view name) -> std::optional<NumberInterval> {
        std::optional<double> number = FieldOf(part, document, fields, name);
        if (!number) number = names(name);
        return number ? std::optional(NumberInterval::Of(*number)) : std::nullopt;
      });
  base::Diagnostic fault = rule->place;
  if (!area) {
    fault.message = area.error().message;
    return base::Unexpected(fault);
  }
  if (std::isfinite(area->low) && area->low >= 0) return area->low;
  fault.message = "the area of " + part + " is no number of at least 0";
  fault.found = std::to_string(area->low);
  return base::Unexpected(fault);
}

base::Expected<std::vector<PartArea>> AreaModel::PartsOf(const Json& document,
                                                         const Lookup& names) const {
  std::vector<PartArea> areas;
  std::string lacking;
  for (const std::string& part : explore::PartsOf(document)) {
    const size_t dot = part.find('.');
    const Json& fields = document.at(part.substr(0, dot)).at(part.substr(dot + 1));
    const base::Expected<std::optional<double>> area = OfPart(part, document, fields, names);
    if (!area) return base::Unexpected(area.error());
    if (*area) {
      areas.push_back({part, **area});
    } else {
      lacking += (lacking.empty() ? "" : ", ") + part;
    }
  }
  if (lacking.empty()) return areas;
  base::Diagnostic fault = place_;
  fault.message = "no area is known of " + lacking;
  fault.expected = "area_mm2 in the profile, or a rule under 'area' of the specification";
  fault.hint = "0 for parts that are not on the chip";
  return base::Unexpected(fault);
}

base::Expected<double> AreaModel::Of(const Json& document, const Lookup& names) const {
  const base::Expected<std::vector<PartArea>> parts = PartsOf(document, names);
  if (!parts) return base::Unexpected(parts.error());
  double sum = 0;
  for (const PartArea& part : *parts) sum += part.mm2;
  return sum;
}

base::Expected<std::vector<AreaRule>> ReadAreaTable(std::string_view text,
                                                    const std::string& file) {
  const base::Expected<FigureTable> table = ReadTable(text, file, "part");
  if (!table) return base::Unexpected(table.error());
  const std::vector<std::string>& header = table->header;
  if (header.size() < 2 || header.back() != "area_mm2")
    return RefuseLine(*table, 1, "this is no table of areas", "the header part,..,area_mm2",
                      header.back());
  std::vector<AreaRule> rules;
  for (const TableRow& row : table->rows) {
    AreaRule rule;
    rule.part = row.cells.front();
    rule.place.file = file;
    rule.place.line = row.line;
    rule.place.column = 1;
    for (size_t i = 1; i < row.cells.size(); ++i) {
      const bool is_area = i + 1 == row.cells.size();
      if (row.cells[i].empty() && !is_area) continue;
      const base::Expected<double> value = NumberIn(*table, row, i);
      if (!value) return base::Unexpected(value.error());
      if (is_area) {
        rule.mm2 = *Expression::Parse(row.cells[i]);
      } else {
        rule.conditions.emplace_back(header[i], *value);
      }
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace tessera::explore
