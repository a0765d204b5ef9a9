// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/space.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "tessera/base/json_document.h"
#include "tessera/base/text.h"

namespace tessera::explore {
namespace {

// Returns the number of banks, if they are equal banks that a number can state.
std::optional<size_t> CountOfEqualBanks(const Json& memory) {
  const Json& banks = memory.at("banks");
  if (!banks.is_object() || banks.empty()) return std::nullopt;
  const int64_t size =
      memory.at("capacity_bytes").get<int64_t>() / static_cast<int64_t>(banks.size());
  int64_t number = 0;
  for (const auto& [name, bank] : banks.items()) {
    if (name != "bank" + std::to_string(number) || bank.at("begin_bytes") != number * size ||
        bank.at("end_bytes") != (number + 1) * size ||
        bank.value("ports", Json::object()) != banks.front().value("ports", Json::object()))
      return std::nullopt;
    ++number;
  }
  return banks.size();
}

void Shorten(Json& memory) {
  if (memory.contains("banks")) {
    if (const std::optional<size_t> count = CountOfEqualBanks(memory)) {
      const Json ports = memory["banks"].front().value("ports", Json::object());
      memory["banks"] = *count;
      if (!ports.empty()) memory["bank_ports"] = ports;
    }
  }
  if (!memory.contains("port")) return;
  Json& port = memory["port"];
  const Json read = port.value("read_bytes_per_cycle", Json());
  if (read.is_null() || read != port.value("write_bytes_per_cycle", Json())) return;
  port.erase("read_bytes_per_cycle");
  port.erase("write_bytes_per_cycle");
  port["bytes_per_cycle"] = read;
}

void Find(const Json& at, std::string_view path, const std::string& pointer,
          std::vector<std::string>& found) {
  if (path.empty()) {
    found.push_back(pointer);
    return;
  }
  if (at.is_array()) {
    const std::string_view head = path.substr(0, path.find('.'));
    const std::string_view rest = path.substr(std::min(path.size(), head.size() + 1));
    for (size_t i = 0; i < at.size(); ++i) {
      if (head == "*" || head == std::to_string(i))
        Find(at[i], rest, pointer + "/" + std::to_string(i), found);
    }
    return;
  }
  if (!at.is_object()) return;
  for (const auto& [key, value] : at.items()) {
    const size_t length = path.starts_with("*") ? 1 : key.size();
    if (!path.starts_with("*") && !path.starts_with(key)) continue;
    if (path.size() > length && path[length] != '.') continue;
    Find(value, path.substr(std::min(path.size(), length + 1)), pointer + base::PointerSegment(key),
         found);
  }
}

}  // namespace

Json ShortForm(Json profile) {
  for (Json& memory : profile.at("memories")) Shorten(memory);
  return profile;
}

std::vector<std::string> FindEntries(const Json& document, std::string_view path) {
  std::vector<std::string> found;
  if (!path.empty()) Find(document, path, "", found);
  return found;
}

std::vector<std::string> FindPlaces(const Json& document, std::string_view path) {
  std::vector<std::string> places = FindEntries(document, path);
  const size_t dot = path.rfind('.');
  if (!places.empty() || path.find('*') != std::string_view::npos || dot == std::string_view::npos)
    return places;
  for (std::string& parent : FindEntries(document, path.substr(0, dot))) {
    if (document.at(Json::json_pointer(parent)).is_object())
      places.push_back(parent + base::PointerSegment(std::string(path.substr(dot + 1))));
  }
  return places;
}

void SetEntries(Json& document, const std::vector<std::string>& pointers, const Json& value) {
  for (const std::string& pointer : pointers) {
    const Json::json_pointer place(pointer);
    document[place] = value;
    if (place.back() != "bytes_per_cycle") continue;
    document[place.parent_pointer()].erase("read_bytes_per_cycle");
    document[place.parent_pointer()].erase("write_bytes_per_cycle");
  }
}

std::optional<double> NumberAt(const Json& document, std::string_view path) {
  std::optional<double> number;
  for (const std::string& pointer : FindEntries(document, path)) {
    const Json& value = document.at(Json::json_pointer(pointer));
    if (!value.is_number() && !value.is_boolean()) return std::nullopt;
    const double each = value.is_boolean() ? (value.get<bool>() ? 1 : 0) : value.get<double>();
    if (number && *number != each) return std::nullopt;
    number = each;
  }
  return number;
}

Json AsJson(double number) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: integers up to it are exact
  if (std::floor(number) == number && std::abs(number) <= kExact)
    return static_cast<int64_t>(number);
  return number;
}

Json AsJson(const std::map<std::string, double>& figures) {
  Json json = Json::object();
  for (const auto& [name, value] : figures) json[name] = AsJson(value);
  return json;
}

int64_t Space::Combinations() const {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  auto product = static_cast<int64_t>(bases_.size());
  for (const Axis& axis : axes_) {
    if (axis.expression) continue;
    const auto values = static_cast<int64_t>(axis.values.size());
    product = values != 0 && product > kMost / values ? kMost : product * values;
  }
  return product;
}

std::optional<double> Space::Lookup(const std::vector<Json>& values, const Json& document,
                                    std::string_view name) const {
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name != name) continue;
    return values[i].is_number() ? std::optional(values[i].get<double>())
                                 : NumberAt(document, axes_[i].path);
  }
  return NumberAt(document, name);
}

base::Expected<double> Space::Evaluate(const Expression& expression,
                                       const std::vector<Json>& values,
                                       const Json& document) const {
  const base::Expected<NumberInterval> value =
      expression.Evaluate([&](std::string_view name) -> std::optional<NumberInterval> {
        const std::optional<double> number = Lookup(values, document, name);
        return number ? std::optional(NumberInterval::Of(*number)) : std::nullopt;
      });
  if (!value) return base::Unexpected(value.error());
  return value->low;
}

base::Expected<Point> Space::Make(size_t base, int64_t combination, Json& document) const {
  Point point{std::vector<Json>(axes_.size()), base, {}};
  document = bases_[base].document;
  for (size_t i = axes_.size(); i-- > 0;) {
    if (axes_[i].expression) continue;
    const auto values = static_cast<int64_t>(axes_[i].values.size());
    point.values[i] = axes_[i].values[static_cast<size_t>(combination % values)];
    combination /= values;
    SetEntries(document, FindPlaces(document, axes_[i].path), point.values[i]);
  }
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (!axes_[i].expression) continue;
    const base::Expected<double> value = Evaluate(*axes_[i].expression, point.values, document);
    if (!value) return base::Unexpected(value.error());
    point.values[i] = AsJson(*value);
    SetEntries(document, FindPlaces(document, axes_[i].path), point.values[i]);
  }
  if (document != bases_[base].document) document.erase("known_error");  // it was of the base
  point.text = document.dump();
  return point;
}

base::Expected<bool> Space::Satisfies(const Point& point, const Json& document) const {
  for (const Expression& condition : where_) {
    const base::Expected<double> value = Evaluate(condition, point.values, document);
    if (!value) return base::Unexpected(value.error());
    if (*value == 0 || !std::isfinite(*value)) return false;
  }
  return true;
}

base::Expected<std::vector<Point>> Space::Enumerate() const {
  if (Combinations() > kMostCombinations) {
    base::Diagnostic fault;
    fault.message = "the space has " + std::to_string(Combinations()) + " combinations";
    fault.expected = "at most " + std::to_string(kMostCombinations);
    fault.hint = "give an axis fewer values";
    return base::Unexpected(fault);
  }
  std::vector<Point> points;
  std::unordered_set<std::string> seen;
  const int64_t each = Combinations() / std::max<int64_t>(1, static_cast<int64_t>(bases_.size()));
  for (size_t base = 0; base < bases_.size(); ++base) {
    for (int64_t combination = 0; combination < each; ++combination) {
      Json document;
      base::Expected<Point> point = Make(base, combination, document);
      if (!point) return base::Unexpected(point.error());
      const base::Expected<bool> satisfies = Satisfies(*point, document);
      if (!satisfies) return base::Unexpected(satisfies.error());
      if (*satisfies && seen.insert(point->text).second) points.push_back(*std::move(point));
    }
  }
  return points;
}

}  // namespace tessera::explore
