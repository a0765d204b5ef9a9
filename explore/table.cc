// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/base/csv_table.h"
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

}  // namespace tessera::explore
