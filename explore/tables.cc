// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tessera/base/csv_table.h"
#include "tessera/base/text.h"
#include "tessera/explore/expression.h"

namespace tessera::explore {

base::Unexpected RefuseLine(const FigureTable& table, int line, std::string message,
                            std::string expected, std::string found) {
  base::Diagnostic fault;
  fault.message = std::move(message);
  fault.file = table.file;
  fault.line = line;
  fault.column = 1;
  fault.expected = std::move(expected);
  fault.found = std::move(found);
  return base::Unexpected(fault);
}

base::Expected<FigureTable> ReadTable(std::string_view text, const std::string& file,
                                      std::string_view first) {
  FigureTable table{file, {}, {}};
  int number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    std::vector<std::string> cells;
    for (base::CsvCell& cell : base::CsvCellsOf(line)) cells.push_back(std::move(cell.text));
    if (cells.size() == 1 && cells.front().empty()) continue;
    if (table.header.empty()) {
      if (cells.front() != first)
        return RefuseLine(table, number, "the table cannot be read",
                          "a header that begins with '" + std::string(first) + "'",
                          std::string(line));
      table.header = std::move(cells);
      continue;
    }
    if (cells.size() != table.header.size())
      return RefuseLine(table, number, "the row has another number of cells than the header",
                        std::to_string(table.header.size()), std::to_string(cells.size()));
    table.rows.push_back({number, std::move(cells)});
  }
  if (table.header.empty())
    return RefuseLine(table, 1, "the table is empty",
                      "a header that begins with '" + std::string(first) + "'", "the end");
  return table;
}

base::Expected<double> NumberIn(const FigureTable& table, const TableRow& row, size_t cell) {
  if (const std::optional<double> value = ParseQuantity(row.cells[cell])) return *value;
  return RefuseLine(table, row.line, "'" + table.header[cell] + "' has no number", "a number",
                    row.cells[cell]);
}

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
