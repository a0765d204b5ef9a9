// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tessera/base/text.h"

namespace tessera::explore {

std::string Short(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number()) return value.dump();
  const double number = value.get<double>();
  if (std::floor(number) == number && std::abs(number) < 1e15) return fmt::format("{:.0f}", number);
  return std::abs(number) >= 1e6 ? fmt::format("{:.0f}", number) : fmt::format("{:.6g}", number);
}

std::string AlignedTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += fmt::format("  {:>{}}", row[i], widths[i]);
    text += line + "\n";
  }
  return text;
}

std::string CsvCell(const Json& value) {
  std::string text = base::Printable(value.is_string() ? value.get<std::string>() : value.dump());
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace tessera::explore
